// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"
	"strconv"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// switchType resolves a switch and the layouts of its arms.
func (b *body) switchType(it *Item, d *syntax.Switch) bool {
	if d.Selector.Kind != syntax.ExprPath || isUpper(d.Selector.Names[0].Text) {
		b.c.reportExpr("E0503", d.Selector, "a switch selects by one item")
		return false
	}
	x := b.env().integer(d.Selector)
	if x == nil {
		return false
	}
	if x.Op != OpRef {
		b.c.reportExpr("E0503", d.Selector, "a switch selects by one item")
		return false
	}
	labels := 0
	for _, a := range d.Arms {
		labels += len(a.Labels)
	}
	if b.c.tooMany(labels, d.Pos, "labels") {
		return false
	}
	if x.Min.Sign() < 0 {
		b.c.reportExpr("E0503", d.Selector, "a switch selects by a number that is not negative")
		return false
	}
	sw := &Switch{Selector: x.Ref}
	it.Kind, it.Switch = KindSwitch, sw
	faults := len(b.c.f.Diags)
	look := &armScope{enum: enumOf(x), selector: x}
	if slices.ContainsFunc(b.s.Items, func(o *Item) bool { return o.Kind == KindSwitch }) {
		look.prefix = camel(it.Name.Schema)
	}
	for _, a := range d.Arms {
		if arm := b.arm(a, look); arm != nil {
			sw.Arms = append(sw.Arms, arm)
			b.c.origin[arm] = a.Pos
		}
	}
	if len(b.c.f.Diags) == faults {
		b.c.overlaps(sw)
		b.c.exhaustive(d, sw, x)
		b.ahead = b.armRules(sw, look)
	}
	return len(b.c.f.Diags) == faults
}

func (b *body) arm(d *syntax.Arm, look *armScope) *Arm {
	arm := &Arm{Doc: b.c.f.Doc(d.Pos)}
	for i, l := range d.Labels {
		if isDefault(l) {
			if len(d.Labels) > 1 {
				last := d.Labels[len(d.Labels)-1]
				b.c.report("E0504", l.Pos, "`_` stands alone").Fix("leave the other labels out", syntax.Replace(d.Labels[0].Pos, last.EndPos, "_"))
				return nil
			}
			arm.Name = typeName(look.prefix + "Other")
			continue
		}
		r, ok := b.c.label(l, look.enum, look.selector)
		if !ok {
			return nil
		}
		arm.Labels = append(arm.Labels, r)
		if i == 0 {
			arm.Name = labelName(look.prefix, l, r)
		}
	}
	arm.Labels = merged(arm.Labels)
	clauses, ok := b.aged(arm, d, look)
	if !ok {
		return nil
	}
	if d.Reject != nil {
		arm.Reject = b.c.errorNamed(d.Reject)
		if arm.Reject == nil {
			return nil
		}
		return b.armClauses(arm, clauses)
	}
	if !simple(d.Type) {
		return b.armBody(arm, d.Type, wrapped(d.Type, clauses))
	}
	if !b.armLayout(arm, d.Type) {
		return nil
	}
	return b.armClauses(arm, clauses)
}

// simple tells whether a type needs no body around it to be the layout of an arm or of a TLV.
func simple(t *syntax.Type) bool {
	return t.Nothing || t.Body != nil && t.Body.Array == nil || t.Named != nil && t.Named.Array == nil
}

// wrapped makes any type a body with one item, called value.
func wrapped(t *syntax.Type, clauses []*syntax.Clause) *syntax.Body {
	f := &syntax.Field{Names: []*syntax.Ident{{Pos: t.Pos, Text: "value"}}, Type: t, Clauses: clauses}
	return &syntax.Body{Pos: t.Pos, EndPos: t.EndPos, Items: []*syntax.Item{{Pos: t.Pos, EndPos: t.EndPos, Field: f}}}
}

// armBody resolves an arm with a body of its own.
func (b *body) armBody(arm *Arm, t *syntax.Type, d *syntax.Body) *Arm {
	arm.Struct, arm.Args = b.inner(arm.Name.Schema, t, d)
	arm.Struct.Doc = arm.Doc
	return arm
}

// inner makes a struct of a body that stands inside this one.
func (b *body) inner(name string, t *syntax.Type, d *syntax.Body) (*Struct, []*Expr) {
	s := &Struct{Name: typeName(b.s.Name.Schema + name), Owner: b.s}
	b.c.origin[s] = t.Pos
	var args []*Expr
	for _, k := range b.c.fill(s, b, d) {
		args = append(args, k.arg)
	}
	b.c.p.Structs = append(b.c.p.Structs, s)
	return s, args
}

func (b *body) armClauses(arm *Arm, clauses []*syntax.Clause) *Arm {
	if len(clauses) > 0 {
		b.c.report("E0312", clauses[0].Pos, "`%s` does not fit an arm", clauseWord(clauses[0])).
			Fix("remove it", b.c.f.Remove(clauses[0].Pos, clauses[0].EndPos))
		return nil
	}
	return arm
}

func isDefault(r *syntax.Range) bool {
	e := r.First.Expr
	return r.Last == nil && e.Kind == syntax.ExprPath && len(e.Names) == 1 && e.Names[0].Text == "_"
}

// labelName names an arm after its first label.
func labelName(prefix string, l *syntax.Range, r Range) Name {
	if e := l.First.Expr; e.Kind == syntax.ExprPath {
		return typeName(prefix + e.Names[len(e.Names)-1].Text)
	}
	return typeName(prefix + "Case" + strconv.FormatUint(r.First, 10))
}

// label resolves an arm's label: a bare member of the selector's enum, or constants.
func (c *compiler) label(l *syntax.Range, enum *Enum, selector *Expr) (Range, bool) {
	first, ok := c.labelEnd(&l.First.Expr, enum, selector)
	if !ok || l.Last == nil {
		return first, ok
	}
	last, ok := c.labelEnd(&l.Last.Expr, enum, selector)
	if ok && last.Last < first.First {
		c.fixOrder(c.f.Report("E0308", c.f.Range(l.Pos, l.EndPos), "the range ends before it begins"), l)
		ok = false
	}
	return Range{first.First, last.Last}, ok
}

func (c *compiler) labelEnd(e *syntax.Expr, enum *Enum, selector *Expr) (Range, bool) {
	if enum != nil && e.Kind == syntax.ExprPath && len(e.Names) == 1 {
		if m := enum.member(e.Names[0].Text); m != nil {
			return Range{m.First, m.Last}, true
		}
		if c.names[e.Names[0].Text] == nil {
			c.reportExpr("E0101", e, "`%s` has no member `%s`", enum.Name.Schema, e.Names[0].Text).
				Suggest(e.Names[0].Text, enum.memberNames())
			return Range{}, false
		}
	}
	v, ok := c.constUint(e, selector.Max.Uint64())
	return Range{v, v}, ok
}

func (e *Enum) memberNames() (names []string) {
	for _, m := range e.Members {
		names = append(names, m.Name.Schema)
	}
	return names
}

// armLayout resolves what follows when an arm is chosen.
func (b *body) armLayout(arm *Arm, t *syntax.Type) bool {
	switch {
	case t.Nothing:
		return true
	case t.Body != nil:
		b.armBody(arm, t, t.Body.Body)
		return true
	}
	n := b.c.scoped(t.Named.Scope, t.Named.Name, t.Named.Pos)
	if n == nil || n.missing {
		return false
	}
	if n.str == nil {
		b.armBody(arm, t, wrapped(t, nil))
		return true
	}
	var ok bool
	arm.Struct = n.str
	arm.Args, ok = b.args(n.str.Params, t.Named)
	return ok
}

// overlaps reports numbers that two arms claim.
func (c *compiler) overlaps(sw *Switch) {
	var def *Arm
	for i, a := range sw.Arms {
		if a.Labels == nil {
			if def != nil {
				c.report("E0502", c.origin[a], "there are two `_` arms").Label(c.f.At(c.origin[def]), "the first")
			}
			def = a
			continue
		}
		for _, other := range sw.Arms[:i] {
			if r, ok := common(a.Labels, other.Labels); ok {
				c.report("E0502", c.origin[a], "two arms claim %s", r).Label(c.f.At(c.origin[other]), "the other one")
				break
			}
		}
		for _, other := range sw.Arms[:i] {
			if other.Name.Schema == a.Name.Schema {
				c.report("E0502", c.origin[a], "two arms are called `%s`", a.Name.Schema).Label(c.f.At(c.origin[other]), "the other one")
			}
		}
	}
}

// common finds the first number in both of two sorted sets.
func common(a, b []Range) (Range, bool) {
	for _, x := range a {
		for _, y := range b {
			if x.First <= y.Last && y.First <= x.Last {
				return Range{max(x.First, y.First), min(x.Last, y.Last)}, true
			}
		}
	}
	return Range{}, false
}

// String prints a range as in the schema.
func (r Range) String() string {
	first := strconv.FormatUint(r.First, 10)
	if r.First == r.Last {
		return first
	}
	return first + ".." + strconv.FormatUint(r.Last, 10)
}

// exhaustive reports numbers that no arm claims.
func (c *compiler) exhaustive(d *syntax.Switch, sw *Switch, selector *Expr) {
	var all []Range
	for _, a := range sw.Arms {
		if a.Labels == nil {
			return
		}
		all = append(all, a.Labels...)
	}
	gap, open := firstGap(merged(all), domain(selector))
	if open {
		c.fixSwitch(c.reportExpr("E0501", d.Selector, "no arm claims %s", gap), d)
	}
}

// domain is what a selector can be: the members of a closed enum, else its interval.
func domain(x *Expr) []Range {
	if it := x.Ref.Last(); it != nil && it.Scalar.Enum != nil && it.Scalar.Enum.Closed {
		var out []Range
		for _, m := range it.Scalar.Enum.Members {
			out = append(out, Range{m.First, m.Last})
		}
		return merged(out)
	}
	return []Range{{x.Min.Uint64(), x.Max.Uint64()}}
}

// firstGap finds the first part of the domain that a sorted set does not cover.
func firstGap(set, domain []Range) (Range, bool) {
	for _, d := range domain {
		next := d.First
		done := false
		for _, r := range set {
			if r.Last < next || done {
				continue
			}
			if r.First > next {
				break
			}
			if r.Last >= d.Last {
				done = true
				break
			}
			next = r.Last + 1
		}
		if !done {
			last := d.Last
			for _, r := range set {
				if r.First > next {
					last = min(last, r.First-1)
					break
				}
			}
			return Range{next, last}, true
		}
	}
	return Range{}, false
}
