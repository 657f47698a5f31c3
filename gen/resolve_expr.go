// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// env is where an expression stands: what it may name and what is known to hold there.
type env struct {
	c       *compiler
	b       *body    // nil: constants only
	facts   []string // keys of conditions that hold
	derived bool     // of a derived field: absent items read as zero
}

func constExpr(v *big.Int) *Expr { return &Expr{Op: OpConst, Value: v, Min: v, Max: v} }

// truths are the numbers of the truth values.
var truths = map[bool]*big.Int{false: zero, true: one}

// truthConst is a truth value: zero or one.
func truthConst(v *big.Int) *Expr { return &Expr{Op: OpConst, Value: v, Bool: true} }

func (e *Expr) interval() interval { return interval{e.Min, e.Max} }

// isFlag tells whether an expression is a bit, which may be read as a number and as a truth value.
func (e *Expr) isFlag() bool {
	if e.Op != OpRef || e.Bool {
		return false
	}
	if it := e.Ref.Last(); it != nil {
		return it.Scalar != nil && it.Scalar.Flag
	}
	return e.Ref.Param.Struct == nil && e.Ref.Param.Bits == 1
}

func asTruth(x *Expr) *Expr {
	if !x.Bool && x.isFlag() {
		y := *x
		y.Bool, y.Min, y.Max = true, nil, nil
		return &y
	}
	return x
}

// truth resolves an expression that must be a truth value; nil when a fault is reported.
func (v *env) truth(e *syntax.Expr) *Expr {
	x := v.any(e)
	if x == nil {
		return nil
	}
	if x = asTruth(x); !x.Bool {
		v.c.fixTruth(v.c.reportExpr("E0302", e, "this is a number where a truth value must stand").Help("compare it with something, for example `!= 0`"), e)
		return nil
	}
	return x
}

// integer resolves an expression that must be a number; nil when a fault is reported.
func (v *env) integer(e *syntax.Expr) *Expr {
	x := v.any(e)
	if x == nil {
		return nil
	}
	if x.Bool {
		v.c.fixNumber(v.c.reportExpr("E0302", e, "this is a truth value where a number must stand").Help("write `condition ? 1 : 0`"), e)
		return nil
	}
	return x
}

// any resolves an expression of either type; nil when a fault is reported.
func (v *env) any(e *syntax.Expr) *Expr {
	switch e.Kind {
	case syntax.ExprNumber:
		return v.bounded(e, constExpr(e.Num))
	case syntax.ExprBool:
		return truthConst(truths[e.Text == "true"])
	case syntax.ExprText:
		v.c.reportExpr("E0301", e, "a text cannot stand in an expression")
	case syntax.ExprSelf:
		v.c.reportExpr("E0010", e, "`self` has no value").Help("`over self` is the header that holds a checksum; in an expression name an item")
	case syntax.ExprPath:
		return v.path(e)
	case syntax.ExprCall:
		return v.call(e)
	case syntax.ExprUnary:
		return v.unary(e)
	case syntax.ExprBinary:
		return v.binary(e)
	case syntax.ExprTernary:
		return v.ternary(e)
	case syntax.ExprIn:
		return v.member(e)
	}
	return nil
}

// bounded reports a number that may leave 64 bits.
func (v *env) bounded(e *syntax.Expr, x *Expr) *Expr {
	if !x.interval().fits() {
		v.c.reportExpr("E0401", e, "the value may leave 64 bits").Mark("%s to %s", brief(x.Min), brief(x.Max))
		return nil
	}
	return x
}

func brief(n *big.Int) string {
	if s := n.String(); len(s) <= 24 {
		return s
	}
	return "about 2^" + big.NewInt(int64(n.BitLen())).String()
}

func (v *env) unary(e *syntax.Expr) *Expr {
	if e.Text == "!" {
		x := v.truth(e.Args[0])
		if x == nil {
			return nil
		}
		return negate(x)
	}
	x := v.integer(e.Args[0])
	if x == nil {
		return nil
	}
	lo, hi := new(big.Int).Neg(x.Max), new(big.Int).Neg(x.Min)
	if x.Op == OpConst {
		return v.bounded(e, constExpr(lo))
	}
	return v.bounded(e, &Expr{Op: OpNeg, Args: []*Expr{x}, Min: lo, Max: hi})
}

// negate returns !x without a double negation.
func negate(x *Expr) *Expr {
	switch x.Op {
	case OpConst:
		return truthConst(truths[x.Value.Sign() == 0])
	case OpNot:
		return x.Args[0]
	}
	return &Expr{Op: OpNot, Args: []*Expr{x}, Bool: true}
}

var operators = map[string]Op{
	"+": OpAdd, "-": OpSub, "*": OpMul, "/": OpDiv, "%": OpMod, "&": OpAnd, "|": OpOr, "^": OpXor, "<<": OpShl, ">>": OpShr,
	"==": OpEq, "!=": OpNe, "<": OpLt, "<=": OpLe, ">": OpGt, ">=": OpGe, "&&": OpAndAnd, "||": OpOrOr,
}

func (v *env) binary(e *syntax.Expr) *Expr {
	op := operators[e.Text]
	switch op {
	case OpAndAnd, OpOrOr:
		return v.logic(op, e)
	case OpEq, OpNe, OpLt, OpLe, OpGt, OpGe:
		return v.comparison(op, e)
	}
	a, b := v.integer(e.Args[0]), v.integer(e.Args[1])
	if a == nil || b == nil || !v.operands(op, e, [2]interval{a.interval(), b.interval()}) {
		return nil
	}
	if a.Op == OpConst && b.Op == OpConst {
		return v.bounded(e, constExpr(fold(op, a.Value, b.Value)))
	}
	r := arithInterval(op, a.interval(), b.interval())
	return v.bounded(e, &Expr{Op: op, Args: []*Expr{a, b}, Min: r.lo, Max: r.hi})
}

// operands checks what an operator demands of its operands.
func (v *env) operands(op Op, e *syntax.Expr, x [2]interval) bool {
	switch op {
	case OpDiv, OpMod:
		if x[1].has(zero) {
			v.c.reportExpr("E0402", e.Args[1], "the divisor may be zero")
			return false
		}
	case OpShl, OpShr:
		if !x[1].within(upTo(63)) {
			v.c.reportExpr("E0404", e.Args[1], "the shift count may leave 0..63")
			return false
		}
		fallthrough
	case OpAnd, OpOr, OpXor:
		if x[0].lo.Sign() < 0 || x[1].lo.Sign() < 0 {
			v.c.reportExpr("E0404", e, "an operand of `%s` may be negative", e.Text)
			return false
		}
	}
	return true
}

func (v *env) logic(op Op, e *syntax.Expr) *Expr {
	a := v.truth(e.Args[0])
	if a == nil {
		return nil
	}
	inner := *v
	if op == OpAndAnd {
		inner.facts = append(slices.Clone(v.facts), factsOf(a)...)
	} else {
		inner.facts = append(slices.Clone(v.facts), factsOf(negate(a))...)
	}
	b := inner.truth(e.Args[1])
	if b == nil {
		return nil
	}
	for _, pair := range [][2]*Expr{{a, b}, {b, a}} {
		if pair[0].Op == OpConst {
			if (pair[0].Value.Sign() != 0) == (op == OpAndAnd) {
				return pair[1]
			}
			return pair[0]
		}
	}
	return joined(op, a, b)
}

// joined puts b behind a chain of one operator; what stands in the chain already is left out.
func joined(op Op, a, b *Expr) *Expr {
	if b.Op == op {
		return joined(op, joined(op, a, b.Args[0]), b.Args[1])
	}
	if holdsLink(op, a, key(b)) {
		return a
	}
	return &Expr{Op: op, Args: []*Expr{a, b}, Bool: true}
}

// holdsLink tells whether an operand of a chain has a key.
func holdsLink(op Op, chain *Expr, k string) bool {
	if chain.Op == op {
		return holdsLink(op, chain.Args[0], k) || holdsLink(op, chain.Args[1], k)
	}
	return key(chain) == k
}

func (v *env) comparison(op Op, e *syntax.Expr) *Expr {
	a, b := v.any(e.Args[0]), v.any(e.Args[1])
	if a == nil || b == nil {
		return nil
	}
	if a.Bool || b.Bool {
		a, b = asTruth(a), asTruth(b)
	}
	if a.Bool != b.Bool || a.Bool && op != OpEq && op != OpNe {
		v.c.reportExpr("E0302", e, "`%s` cannot compare a truth value here", e.Text).Help("compare numbers with numbers and truth values with == or !=")
		return nil
	}
	if !v.sameEnum(e, a, b) {
		return nil
	}
	if a.Op == OpConst && b.Op == OpConst {
		return truthConst(fold(op, a.Value, b.Value))
	}
	return &Expr{Op: op, Args: []*Expr{a, b}, Bool: true}
}

// enumOf returns the enum that an expression's values belong to; nil for plain numbers.
func enumOf(x *Expr) *Enum {
	if x.Op == OpConst {
		return x.Enum
	}
	if it := x.Ref.Last(); x.Op == OpRef && it != nil && it.Scalar != nil {
		return it.Scalar.Enum
	}
	return nil
}

func (v *env) sameEnum(e *syntax.Expr, a, b *Expr) bool {
	x, y := enumOf(a), enumOf(b)
	if x != nil && y != nil && x != y {
		v.c.reportExpr("E0305", e, "members of `%s` and `%s` are compared", x.Name.Schema, y.Name.Schema)
		return false
	}
	return true
}

func (v *env) ternary(e *syntax.Expr) *Expr {
	cond := v.truth(e.Args[0])
	if cond == nil {
		return nil
	}
	yes, no := *v, *v
	yes.facts = append(slices.Clone(v.facts), factsOf(cond)...)
	no.facts = append(slices.Clone(v.facts), factsOf(negate(cond))...)
	a, b := yes.any(e.Args[1]), no.any(e.Args[2])
	if a == nil || b == nil {
		return nil
	}
	if a.Bool || b.Bool {
		a, b = asTruth(a), asTruth(b)
	}
	if a.Bool != b.Bool {
		v.c.reportExpr("E0302", e, "one branch is a number and the other a truth value").Help("make both of one type")
		return nil
	}
	if cond.Op == OpConst {
		if cond.Value.Sign() != 0 {
			return a
		}
		return b
	}
	x := &Expr{Op: OpCond, Args: []*Expr{cond, a, b}, Bool: a.Bool}
	if !a.Bool {
		r := a.interval().join(b.interval())
		x.Min, x.Max = r.lo, r.hi
		return v.bounded(e, x)
	}
	return x
}

func (v *env) member(e *syntax.Expr) *Expr {
	a := v.integer(e.Args[0])
	set, ok := v.c.set(e.Ranges, maxOfBits(64))
	if a == nil || !ok {
		return nil
	}
	if a.Op == OpConst {
		return truthConst(truths[a.Value.IsUint64() && contains(set, a.Value.Uint64())])
	}
	return &Expr{Op: OpIn, Args: []*Expr{a}, Set: set, Bool: true}
}

func contains(set []Range, n uint64) bool {
	return slices.ContainsFunc(set, func(r Range) bool { return r.First <= n && n <= r.Last })
}

// set evaluates ranges of constants, sorts and merges them. `Enum.Member` may name a range.
func (c *compiler) set(ranges []*syntax.Range, most uint64) ([]Range, bool) {
	var out []Range
	for _, r := range ranges {
		v, ok := c.memberRange(r)
		if !ok {
			if v, ok = c.constRange(r, most); !ok {
				return nil, false
			}
		}
		out = append(out, v)
	}
	return merged(out), true
}

// memberRange resolves `Enum.Member` when the member names a range.
func (c *compiler) memberRange(r *syntax.Range) (Range, bool) {
	e := &r.First.Expr
	if r.Last != nil || e.Kind != syntax.ExprPath || len(e.Names) != 2 {
		return Range{}, false
	}
	n := c.names[e.Names[0].Text]
	if n == nil || n.enum == nil {
		return Range{}, false
	}
	m := n.enum.member(e.Names[1].Text)
	if m == nil || m.First == m.Last {
		return Range{}, false
	}
	return Range{m.First, m.Last}, true
}

func merged(set []Range) []Range {
	slices.SortFunc(set, func(a, b Range) int {
		if a.First < b.First {
			return -1
		}
		return int(min(a.First-b.First, 1))
	})
	var out []Range
	for _, r := range set {
		if n := len(out); n > 0 && (r.First <= out[n-1].Last || r.First == out[n-1].Last+1) {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out
}
