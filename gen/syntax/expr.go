// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Binding strengths of the binary operators; comparison does not chain.
const (
	strengthCompare = 3
	strengthOr      = 4 // the weakest operator of a Term
)

var strengths = map[string]int{
	"||": 1, "&&": 2,
	"==": strengthCompare, "!=": strengthCompare, "<": strengthCompare, "<=": strengthCompare,
	">": strengthCompare, ">=": strengthCompare, "in": strengthCompare,
	"|": strengthOr, "^": 5, "&": 6, "<<": 7, ">>": 7, "+": 8, "-": 8, "*": 9, "/": 9, "%": 9,
}

// exprParser climbs over one expression.
type exprParser struct {
	lex   *lexer.PeekingLexer
	depth int
}

// fault is a syntax error in our own words. It satisfies participle.Error.
type fault struct {
	at   lexer.Token
	want string // what should stand there
	say  string // the whole message instead
	code string
}

func (e *fault) Error() string   { return e.want }
func (e *fault) Message() string { return e.want }
func (e *fault) Position() Pos   { return e.at.Pos }
func (p *exprParser) mark() Pos  { return p.lex.Peek().Pos }
func (p *exprParser) end() Pos   { return p.lex.RawPeek().Pos }
func (p *exprParser) is(t string) bool {
	next := p.lex.Peek()
	return next.Value == t && next.Type != tokString && !next.EOF()
}

func (p *exprParser) fail(want string) error {
	return &fault{at: *p.lex.Peek(), want: want, code: "E0007"}
}

func (p *exprParser) take(t string) error {
	if !p.is(t) {
		return p.fail("`" + t + "`")
	}
	p.lex.Next()
	return nil
}

// Parse reads an expression. It implements participle's Parseable.
func (e *Expr) Parse(lex *lexer.PeekingLexer) error {
	return e.parse(lex, (*exprParser).expr)
}

// Parse reads an expression without comparisons. It implements participle's Parseable.
func (t *Term) Parse(lex *lexer.PeekingLexer) error {
	return t.Expr.parse(lex, func(p *exprParser) (*Expr, error) { return p.binary(strengthOr) })
}

func (e *Expr) parse(lex *lexer.PeekingLexer, read func(*exprParser) (*Expr, error)) error {
	p := &exprParser{lex: lex}
	if !p.startsOperand() {
		return participle.NextMatch
	}
	got, err := read(p)
	if err != nil {
		return err
	}
	*e = *got
	return nil
}

func (p *exprParser) startsOperand() bool {
	t := p.lex.Peek()
	switch t.Type {
	case tokNumber, tokString, tokName, tokType:
		return true
	case tokKeyword:
		return t.Value == "true" || t.Value == "false" || t.Value == "self"
	}
	return !t.EOF() && (t.Value == "(" || t.Value == "!" || t.Value == "-")
}

func (p *exprParser) enter() error {
	if p.depth++; p.depth > MaxDepth {
		return &fault{at: *p.lex.Peek(), want: "", say: "the expression nests too deep", code: "E0006"}
	}
	return nil
}

func (p *exprParser) expr() (*Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	start := p.mark()
	cond, err := p.binary(1)
	if err != nil || !p.is("?") {
		return cond, err
	}
	p.lex.Next()
	yes, err := p.expr()
	if err != nil {
		return nil, err
	}
	if err := p.take(":"); err != nil {
		return nil, err
	}
	no, err := p.expr()
	if err != nil {
		return nil, err
	}
	return &Expr{Pos: start, EndPos: p.end(), Kind: ExprTernary, Args: []*Expr{cond, yes, no}}, nil
}

func (p *exprParser) binary(least int) (*Expr, error) {
	start := p.mark()
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		op := p.lex.Peek()
		strength := strengths[op.Value]
		if op.EOF() || op.Type == tokString || strength < least || strength == 0 {
			return left, nil
		}
		if strength == strengthCompare && isComparison(left) && !left.Paren {
			return nil, &fault{at: *op, want: "", say: "comparisons do not chain", code: "E0007"}
		}
		if n > 8*MaxDepth {
			return nil, &fault{at: *op, want: "", say: "the expression is too long", code: "E0006"}
		}
		p.lex.Next()
		if op.Value == "in" {
			left, err = p.member(start, left)
		} else {
			left, err = p.right(start, left, op.Value)
		}
		if err != nil {
			return nil, err
		}
	}
}

func isComparison(e *Expr) bool {
	return e.Kind == ExprIn || e.Kind == ExprBinary && strengths[e.Text] == strengthCompare
}

func (p *exprParser) right(start Pos, left *Expr, op string) (*Expr, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	right, err := p.binary(strengths[op] + 1)
	if err != nil {
		return nil, err
	}
	return &Expr{Pos: start, EndPos: p.end(), Kind: ExprBinary, Text: op, Args: []*Expr{left, right}}, nil
}

func (p *exprParser) member(start Pos, left *Expr) (*Expr, error) {
	e := &Expr{Pos: start, Kind: ExprIn, Args: []*Expr{left}}
	braces := p.is("{")
	if braces {
		p.lex.Next()
	}
	for {
		r, err := p.rangeOf()
		if err != nil {
			return nil, err
		}
		e.Ranges = append(e.Ranges, r)
		if !braces {
			break
		}
		if p.is("}") {
			p.lex.Next()
			break
		}
		if err := p.take(","); err != nil {
			return nil, err
		}
	}
	e.EndPos = p.end()
	return e, nil
}

func (p *exprParser) rangeOf() (*Range, error) {
	r := &Range{Pos: p.mark()}
	first, err := p.binary(strengthOr)
	if err != nil {
		return nil, err
	}
	r.First = &Term{*first}
	if p.is("..") {
		p.lex.Next()
		last, err := p.binary(strengthOr)
		if err != nil {
			return nil, err
		}
		r.Last = &Term{*last}
	}
	r.EndPos = p.end()
	return r, nil
}

func (p *exprParser) unary() (*Expr, error) {
	if !p.is("!") && !p.is("-") {
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	op := *p.lex.Next()
	arg, err := p.unary()
	if err != nil {
		return nil, err
	}
	return &Expr{Pos: op.Pos, EndPos: p.end(), Kind: ExprUnary, Text: op.Value, Args: []*Expr{arg}}, nil
}

func (p *exprParser) primary() (*Expr, error) {
	if !p.startsOperand() {
		return nil, p.fail("a value")
	}
	t := *p.lex.Next()
	e := &Expr{Pos: t.Pos, Text: t.Value}
	switch t.Type {
	case tokNumber:
		e.Kind = ExprNumber
		e.Num, _ = ParseNumber(t.Value)
	case tokString:
		e.Kind = ExprText
		e.Text, _ = unquote(t.Value)
	case tokKeyword:
		e.Kind = ExprBool
		if t.Value == "self" {
			e.Kind = ExprSelf
		}
	case tokName, tokType:
		return p.named(t)
	default: // "("
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer func() { p.depth-- }()
		inner, err := p.expr()
		if err != nil {
			return nil, err
		}
		if err := p.take(")"); err != nil {
			return nil, err
		}
		inner.Pos, inner.Paren = t.Pos, true
		inner.EndPos = p.end()
		return inner, nil
	}
	e.EndPos = p.end()
	return e, nil
}

// named reads a dotted name or a call.
func (p *exprParser) named(t lexer.Token) (*Expr, error) {
	e := &Expr{Pos: t.Pos, Kind: ExprPath, Names: []*Ident{{t.Pos, t.Value}}}
	for p.is(".") {
		p.lex.Next()
		n := *p.lex.Peek()
		if n.Type != tokName && n.Type != tokType && n.Type != tokKeyword {
			return nil, p.fail("a name")
		}
		p.lex.Next()
		e.Names = append(e.Names, &Ident{n.Pos, n.Value})
		e.EndPos = p.end()
	}
	if p.is("(") {
		p.lex.Next()
		return p.call(e)
	}
	e.EndPos = p.end()
	return e, nil
}

// call reads the arguments of a call; an option's value may call a dotted name.
func (p *exprParser) call(callee *Expr) (*Expr, error) {
	e := &Expr{Pos: callee.Pos, Kind: ExprCall, Text: callee.Names[0].Text, Names: callee.Names}
	for _, n := range callee.Names[1:] {
		e.Text += "." + n.Text
	}
	for !p.is(")") {
		if len(e.Args) > 0 {
			if err := p.take(","); err != nil {
				return nil, err
			}
		}
		arg, err := p.expr()
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, arg)
	}
	p.lex.Next()
	e.EndPos = p.end()
	return e, nil
}

// End is the `;` of a line; it may be left out after a `}`.
type End struct{}

// Parse implements participle's Parseable.
func (*End) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Value == ";" && t.Type != tokString {
		lex.Next()
		return nil
	}
	if i := lex.RawCursor(); i > 0 && lex.Range(i-1, i)[0].Value == "}" {
		return nil
	}
	return &fault{at: *t, want: "`;`", code: "E0007"}
}
