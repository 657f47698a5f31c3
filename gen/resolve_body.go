// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// body resolves the items of one struct. The body of an arm sees the items before the switch as well: each outer name that
// it uses becomes a parameter of its struct.
type body struct {
	c       *compiler
	s       *Struct
	parent  *body // scope around an arm; nil for a declared struct
	items   map[string]*Item
	params  map[string]*Param // by name; answers to questions about the body around this one by "?" and the question
	lets    map[string]*shorthand
	places  map[string]syntax.Pos // every name that the body declares, also those not yet decoded
	broken  map[string]bool       // items whose faults are reported
	used    map[*Param]bool       // parameters that layout or rules read
	taken   []*capture            // outer names in use
	lost    bool                  // a derived field has no value, because of a fault in what it names
	facts   []string              // conditions of the if-blocks around the current line
	when    *Expr                 // the same, as one expression
	rules   int                   // rules so far, for their order
	derived []pending
	ahead   []node // rules in front of the item that is being resolved
	arrays  []solvable
	covers  []covering
	whole   *syntax.Expr // `sized` of the struct, when it depends on the packet
}

// node is one line of a body.
type node struct {
	item *Item
	cond *Expr // if-block
	then []node
	els  []node
	rule *rule
}

// rule is a where or a derived field: a check that waits for its last input.
type rule struct {
	check *Check
	order int
}

// pending is a derived field whose expression may name later items.
type pending struct {
	item *Item
	expr *syntax.Expr
	rule *rule
}

// solvable is an array or a span whose count or size the encoder could write back, or an item or struct with `sized`.
type solvable struct {
	item  *Item // nil = the struct itself
	e     *syntax.Expr
	count *Expr
}

func (c *compiler) newBody(s *Struct, parent *body) *body {
	b := &body{c: c, s: s, parent: parent, items: map[string]*Item{}, params: map[string]*Param{}, lets: map[string]*shorthand{}, used: map[*Param]bool{}, places: map[string]syntax.Pos{}, broken: map[string]bool{}}
	for _, p := range s.Params {
		b.params[p.Name.Schema] = p
	}
	return b
}

// env returns what an expression on the current line may use.
func (b *body) env() *env { return &env{c: b.c, b: b, facts: b.facts} }

// structure compiles a header or a packet.
func (c *compiler) structure(n *named, d *syntax.Struct) {
	s := &Struct{Name: typeName(n.name), Doc: c.f.Doc(n.decl.Pos), Packet: d.Kind == "packet"}
	n.str = s
	c.origin[s] = n.pos
	faults := len(c.f.Diags)
	c.nameAttrs(&s.Name, d.Attrs)
	s.Params = c.parameters(d.Params)
	b := c.newBody(s, nil)
	if d.Sized != nil && namesItem(d.Sized) {
		b.whole = d.Sized
	}
	b.fill(d.Body)
	if len(c.f.Diags) > faults {
		n.missing = true
	} else {
		c.limits(s, d)
	}
	c.p.Structs = append(c.p.Structs, s)
}

// parameters resolves the parameters of a header or of a TLV list.
func (c *compiler) parameters(params []*syntax.Param) (all []*Param) {
	for _, p := range params {
		c.fieldCase(p.Name)
		out := &Param{Name: itemName(p.Name.Text)}
		c.origin[out] = p.Name.Pos
		switch t := p.Types[0]; {
		case len(p.Types) > 1:
			out.Any = c.alternatives(p.Types)
		case isUpper(t.Text):
			out.Struct = c.headerNamed(t)
		default:
			out.Bits = c.width(&syntax.Ident{Pos: t.Pos, Text: t.Text})
		}
		if p.Default != nil {
			c.paramDefault(out, p.Default)
		}
		if slices.ContainsFunc(all, func(q *Param) bool { return q.Name.Schema == out.Name.Schema }) {
			c.report("E0102", p.Name.Pos, "`%s` is a parameter already", p.Name.Text)
		}
		all = append(all, out)
	}
	return all
}

// alternatives resolves the types of a union, which are headers.
func (c *compiler) alternatives(types []*syntax.TypeRef) (all []*Struct) {
	for _, t := range types {
		s := c.headerNamed(t)
		if s == nil {
			continue
		}
		if slices.Contains(all, s) {
			c.report("E0102", t.Pos, "`%s` stands twice", t.Text)
		}
		all = append(all, s)
	}
	return all
}

func (c *compiler) headerNamed(t *syntax.TypeRef) *Struct {
	if !isUpper(t.Text) {
		c.report("E0301", t.Pos, "`%s` is no header", t.Text)
		return nil
	}
	n := c.scoped(t.Scope, t.Text, t.Pos)
	if n == nil {
		return nil
	}
	if n.str == nil {
		c.report("E0301", t.Pos, "`%s` is no header", t.Text)
	}
	return n.str
}

func (c *compiler) paramDefault(p *Param, e *syntax.Expr) {
	if p.Bits == 0 {
		c.reportExpr("E0312", e, "only a number can have a default")
		return
	}
	if e.Kind == syntax.ExprBool && p.Bits == 1 {
		e = &syntax.Expr{Pos: e.Pos, EndPos: e.EndPos, Kind: syntax.ExprNumber, Num: truths[e.Text == "true"]}
	}
	if v, ok := c.constUint(e, maxOfBits(p.Bits)); ok {
		p.Default = &v
	}
}

// fill resolves a body into a struct and lays it out. It returns the outer names that the body uses.
func (c *compiler) fill(s *Struct, parent *body, d *syntax.Body) []*capture {
	return c.newBody(s, parent).fill(d)
}

func (b *body) fill(d *syntax.Body) []*capture {
	c, s := b.c, b.s
	faults := len(c.f.Diags)
	b.declare(d)
	if c.tooMany(b.lineCount(d), d.Pos, "lines") {
		return nil
	}
	nodes := b.lines(d)
	if b.whole != nil {
		b.ownSize(b.whole)
	}
	b.resolveDerived()
	b.resolveCovers()
	for _, k := range b.taken {
		s.Params = append(s.Params, k.param)
	}
	if len(s.Items) == 0 && len(c.f.Diags) == faults && len(b.broken) == 0 {
		c.fixEmpty(c.report("E0212", d.Pos, "`%s` has no items", s.Name.Schema), d)
	}
	if len(c.f.Diags) == faults && !b.lost && len(b.broken) == 0 {
		b.solveAll()
		c.layOut(b, nodes)
	} else {
		c.partial[s] = true
	}
	return b.taken
}

// declare notes the names of all items, so that a use before the item is told from a misspelling.
func (b *body) declare(d *syntax.Body) {
	for _, it := range d.Items {
		switch {
		case it.Field != nil:
			for _, id := range it.Field.Names {
				b.place(id.Text, id.Pos)
			}
		case it.Let != nil:
			b.place(it.Let.Name.Text, it.Let.Name.Pos)
		case it.Nested != nil:
			b.place(snake(it.Nested.Type.Name), it.Nested.Type.Pos)
		case it.If != nil:
			b.declare(it.If.Then)
			for _, m := range it.If.More {
				b.declare(m.Then)
			}
			if it.If.Else != nil {
				b.declare(it.If.Else)
			}
		}
	}
}

func (b *body) place(name string, at syntax.Pos) {
	if name == "_" {
		return
	}
	if old, ok := b.places[name]; ok {
		b.c.report("E0102", at, "`%s` is declared twice in `%s`", name, b.s.Name.Schema).Label(b.c.f.At(old), "first here")
		return
	}
	if p := b.params[name]; p != nil {
		b.c.report("E0102", at, "`%s` is a parameter already", name).Label(b.c.f.At(b.c.origin[p]), "this one")
	}
	b.places[name] = at
}

// find resolves the first part of a dotted name.
func (b *body) find(id *syntax.Ident) (Ref, bool) {
	if it := b.items[id.Text]; it != nil {
		return Ref{Path: []*Item{it}}, true
	}
	if p := b.params[id.Text]; p != nil {
		b.used[p] = true
		return Ref{Param: p}, true
	}
	if b.broken[id.Text] {
		return Ref{}, false
	}
	if b.lets[id.Text] != nil {
		b.c.report("E0301", id.Pos, "`%s` is an expression and no item", id.Text)
		return Ref{}, false
	}
	if at, ok := b.places[id.Text]; ok {
		b.c.report("E0405", id.Pos, "`%s` is not decoded yet", id.Text).Label(b.c.f.At(at), "it stands here")
		return Ref{}, false
	}
	if b.parent != nil && b.parent.knows(id.Text) {
		return b.capture(id)
	}
	b.c.report("E0101", id.Pos, "there is no item `%s` here", id.Text).Suggest(id.Text, b.known())
	return Ref{}, false
}

func (b *body) knows(name string) bool {
	return b.items[name] != nil || b.params[name] != nil || b.places[name] != (syntax.Pos{}) || b.parent != nil && b.parent.knows(name)
}

func (b *body) known() (names []string) {
	for ; b != nil; b = b.parent {
		for n := range b.items {
			names = append(names, n)
		}
		for n := range b.params {
			if !strings.HasPrefix(n, "?") {
				names = append(names, n)
			}
		}
		for n := range b.lets {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// lines resolves the lines of a body or of an if-block.
func (b *body) lines(d *syntax.Body) []node {
	var out []node
	for _, it := range d.Items {
		switch {
		case it.If != nil:
			out = append(out, b.ifBlock(it.If)...)
		case it.Where != nil:
			if r := b.where(it.Where); r != nil {
				out = append(out, node{rule: r})
			}
		case it.Let != nil:
			b.let(it.Let)
		case it.Field != nil:
			for _, id := range it.Field.Names {
				b.c.fieldCase(id)
				out = append(out, b.field(fieldDecl{id.Text, id.Pos, it.Field.Type, it.Field.Clauses, b.c.f.Doc(it.Pos)})...)
			}
		case it.Nested != nil:
			t := &syntax.Type{Pos: it.Nested.Type.Pos, EndPos: it.Nested.Type.EndPos, Named: it.Nested.Type}
			out = append(out, b.field(fieldDecl{snake(it.Nested.Type.Name), it.Pos, t, it.Nested.Clauses, b.c.f.Doc(it.Pos)})...)
		}
	}
	return out
}

// under runs visit with one more condition.
func (b *body) under(cond *Expr, visit func()) {
	facts, when := b.facts, b.when
	b.facts = append(slices.Clone(facts), factsOf(cond)...)
	if when == nil {
		b.when = cond
	} else {
		b.when = &Expr{Op: OpAndAnd, Args: []*Expr{when, cond}, Bool: true}
	}
	visit()
	b.facts, b.when = facts, when
}

func (b *body) ifBlock(d *syntax.If) []node {
	conds := []*syntax.Expr{d.Cond}
	bodies := []*syntax.Body{d.Then}
	for _, m := range d.More {
		conds = append(conds, m.Cond)
		bodies = append(bodies, m.Then)
	}
	if len(conds) > syntax.MaxDepth {
		b.c.report("E0006", d.Pos, "more than %d branches", syntax.MaxDepth)
		return nil
	}
	return b.branch(conds, bodies, d.Else)
}

func (b *body) branch(conds []*syntax.Expr, bodies []*syntax.Body, last *syntax.Body) []node {
	cond := b.env().truth(conds[0])
	if cond == nil {
		return nil
	}
	if cond.Op == OpConst {
		b.c.reportExpr("E0411", conds[0], "this condition is always the same")
		return nil
	}
	n := node{cond: cond}
	b.under(cond, func() { n.then = b.lines(bodies[0]) })
	b.under(negate(cond), func() {
		if len(conds) > 1 {
			n.els = b.branch(conds[1:], bodies[1:], last)
		} else if last != nil {
			n.els = b.lines(last)
		}
	})
	return []node{n}
}

// where resolves a constraint.
func (b *body) where(d *syntax.Where) *rule {
	code := b.c.builtin(WhereNumber)
	lint := d.Else != nil && d.Else.Text == "lint"
	if d.Else != nil && !lint {
		if code = b.c.errorNamed(d.Else); code == nil {
			return nil
		}
	}
	hold := b.env().truth(d.Cond)
	if hold == nil {
		return nil
	}
	if hold.Op == OpConst {
		b.c.fixAlways(b.c.reportExpr("E0411", d.Cond, "this rule is always the same"), hold, b.c.f.ItemAt(d.Pos))
		return nil
	}
	text := b.c.f.Text(d.Cond.Pos, d.Cond.EndPos)
	if lint {
		if b.when != nil {
			hold = &Expr{Op: OpOrOr, Args: []*Expr{negate(b.when), hold}, Bool: true}
		}
		b.s.Lints = append(b.s.Lints, &Check{Kind: CheckWhere, Code: code, Item: b.lastRef(hold), Hold: hold, Bit: -1, Text: text})
		return nil
	}
	b.rules++
	return &rule{check: &Check{Kind: CheckWhere, Code: code, Hold: hold, Bit: -1, Text: text}, order: b.rules}
}

// errorNamed finds a schema's own error code.
func (c *compiler) errorNamed(id *syntax.Ident) *Code {
	for _, k := range c.p.Codes {
		if k.Name == id.Text && k.Number < firstOwnCode {
			return k
		}
	}
	n := c.lookup(id.Text, id.Pos)
	if n == nil || n.missing {
		return nil
	}
	if n.code == nil {
		c.report("E0301", id.Pos, "`%s` is no error code", id.Text)
	}
	return n.code
}

// lineCount counts the lines of a body, those of its if-blocks included.
func (b *body) lineCount(d *syntax.Body) int {
	n := 0
	for _, it := range d.Items {
		n++
		if it.Field != nil {
			n += len(it.Field.Names)
		}
		if it.If == nil {
			continue
		}
		n += b.lineCount(it.If.Then)
		for _, m := range it.If.More {
			n += b.lineCount(m.Then)
		}
		if it.If.Else != nil {
			n += b.lineCount(it.If.Else)
		}
	}
	return n
}
