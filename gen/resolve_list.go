// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"github.com/openmetaroce/metaroce/gen/syntax"
)

// tlv compiles a TLV list.
func (c *compiler) tlv(n *named, d *syntax.List) {
	l := &List{Name: typeName(n.name), Doc: c.f.Doc(n.decl.Pos), ElementAlign: 1}
	n.list = l
	c.origin[l] = n.pos
	faults := len(c.f.Diags)
	n.missing = c.tooMany(len(d.Rules), n.pos, "rules")
	if n.missing {
		return
	}
	t := &listRules{c: c, l: l, seen: map[string]bool{}}
	if len(d.Params) > 0 {
		c.unsupported(d.Params[0].Pos, "parameters of a TLV list")
	}
	if d.Max == nil {
		c.report("E0211", n.pos, "a TLV list needs `max`")
	} else if v, ok := c.constUint(d.Max, maxSpan); ok {
		l.Max = int(v)
	}
	t.headRules(d)
	if l.Head != nil && l.Key != nil && l.LengthOf != nil && len(c.f.Diags) == faults {
		for _, r := range d.Rules {
			t.rule(r)
		}
	} else if len(c.f.Diags) == faults {
		c.report("E0524", n.pos, "a TLV list needs `head`, `key` and `length`")
	}
	n.missing = len(c.f.Diags) > faults
	c.p.Lists = append(c.p.Lists, l)
}

// listRules reads the lines of a TLV list.
type listRules struct {
	c    *compiler
	l    *List
	body *body // of the head
	seen map[string]bool
	end  syntax.Pos
}

// once reports a rule that stands twice.
func (t *listRules) once(word string, at syntax.Pos) bool {
	if t.seen[word] {
		t.c.report("E0524", at, "`%s` stands twice", word)
		return false
	}
	t.seen[word] = true
	return true
}

// headRules reads head, key and length, which all other rules need.
func (t *listRules) headRules(d *syntax.List) {
	for _, r := range d.Rules {
		switch {
		case r.Head != nil:
			if t.once("head", r.Pos) {
				t.head(r)
			}
		case t.body == nil:
		case r.Key != nil:
			if t.once("key", r.Pos) {
				t.key(r.Key)
			}
		case r.Length != nil:
			if t.once("length", r.Pos) {
				t.length(r.Length)
			}
		}
	}
}

func (t *listRules) head(r *syntax.Rule) {
	s := &Struct{Name: typeName(t.l.Name.Schema + "Head"), List: t.l}
	t.c.origin[s] = r.Pos
	t.body = t.c.newBody(s, nil)
	faults := len(t.c.f.Diags)
	t.c.fill(s, nil, r.Head)
	if len(t.c.f.Diags) > faults {
		t.body = nil
		return
	}
	if !s.FixedSize {
		t.c.report("E0525", r.Pos, "the head must have a fixed size")
		t.body = nil
		return
	}
	for _, it := range s.Items {
		t.body.items[it.Name.Schema] = it
	}
	t.l.Head = s
	t.c.p.Structs = append(t.c.p.Structs, s)
}

func (t *listRules) key(ids []*syntax.Ident) {
	if len(ids) > 1 {
		t.c.unsupported(ids[1].Pos, "a key of several fields")
		return
	}
	if t.l.Key = t.headScalar(ids[0]); t.l.Key == nil {
		t.c.report("E0525", ids[0].Pos, "`%s` is no number of the head", ids[0].Text)
	}
}

func (t *listRules) headScalar(id *syntax.Ident) *Item {
	it := t.body.items[id.Text]
	if it == nil || it.Kind != KindScalar {
		return nil
	}
	return it
}

func (t *listRules) length(e *syntax.Expr) {
	x := t.body.size(e)
	if x == nil {
		return
	}
	if x.Op != OpRef || len(x.Ref.Path) != 1 {
		t.c.unsupported(e.Pos, "a length that is not one item of the head")
		return
	}
	t.l.Length, t.l.LengthOf = x, x.Ref.Last()
	if s := t.l.LengthOf.Scalar; s.Fixed != nil || s.Derived != nil || t.l.LengthOf == t.l.Key {
		t.c.reportExpr("E0525", e, "`%s` cannot be the length", t.l.LengthOf.Name.Schema)
	}
}

func (t *listRules) rule(r *syntax.Rule) {
	switch {
	case r.Bare != nil:
		t.bare(r)
	case r.Element != "":
		v, ok := smallNumber(r.Element, 256)
		if !ok || v&(v-1) != 0 {
			t.c.report("E0525", r.Pos, "elements align to 1, 2, 4 … 256")
		} else if t.once("element", r.Pos) {
			t.l.ElementAlign = v
		}
	case r.Align != nil:
		t.c.unsupported(r.Pos, "`align` of a whole list")
	case r.Order != nil:
		t.order(r.Order)
	case r.Unknown != nil:
		if t.once("unknown", r.Pos) {
			t.unknown(r.Unknown)
		}
	case r.Case != nil:
		for _, k := range r.Case.Keys {
			t.caseOf(r.Case, k)
		}
	}
}

func (t *listRules) bare(r *syntax.Rule) {
	b := r.Bare
	if b.Name.Text != "end" || b.Key.Last != nil {
		t.c.unsupported(b.Name.Pos, "a bare element other than `end`")
		return
	}
	if !t.once("bare", r.Pos) {
		return
	}
	if t.l.Head.Items[0] != t.l.Key || t.l.Key.Scalar.Bits%8 != 0 {
		t.c.report("E0521", r.Pos, "the key must come first in the head and fill whole bytes")
		return
	}
	if v, ok := t.c.constUint(&b.Key.First.Expr, maxOfBits(t.l.Key.Scalar.Bits)); ok {
		t.l.End, t.end = &v, r.Pos
	}
}

func (t *listRules) order(id *syntax.Ident) {
	if !t.once("order", id.Pos) {
		return
	}
	switch id.Text {
	case "any":
	case "ascending":
		t.l.Ascending = true
	case "strict":
		t.c.unsupported(id.Pos, "`order strict`")
	default:
		t.c.report("E0012", id.Pos, "the order is any, ascending or strict, not `%s`", id.Text)
	}
}

func (t *listRules) unknown(u *syntax.Unknown) {
	code := u.Code
	if code == nil {
		code = u.Name
	}
	if code != nil {
		t.c.unsupported(code.Pos, "an error code of its own for unknown elements")
		return
	}
	switch {
	case u.Reject:
		t.l.SkipIf = truthConst(zero)
	case u.If != nil:
		t.l.SkipIf = t.body.env().truth(u.If)
	}
}

func (t *listRules) caseOf(d *syntax.Case, k *syntax.CaseKey) {
	t.c.fieldCase(k.Name)
	if k.Key.Last != nil {
		t.c.unsupported(k.Key.Pos, "a range of keys")
		return
	}
	key, ok := t.c.constUint(&k.Key.First.Expr, maxOfBits(t.l.Key.Scalar.Bits))
	if !ok {
		return
	}
	cs, ok := t.c.sortClauses(d.Clauses)
	if !ok {
		return
	}
	if cs.in != nil || cs.equals != nil || cs.initial != nil || cs.over != nil || cs.cond != nil || cs.serial.Line+cs.opaque.Line > 0 {
		t.c.report("E0312", d.Clauses[0].Pos, "only `unique` and `required` fit an element")
		return
	}
	out := &Case{
		Name: itemName(k.Name.Text), Doc: t.c.f.Doc(d.Pos), Key: key,
		Unique: cs.unique.Line > 0 || cs.required.Line > 0, Required: cs.required.Line > 0,
	}
	t.c.origin[out] = k.Pos
	if t.caseLayout(out, d.Type) && t.distinct(out, k) {
		t.l.Cases = append(t.l.Cases, out)
	}
}

func (t *listRules) distinct(out *Case, k *syntax.CaseKey) bool {
	if t.l.End != nil && *t.l.End == out.Key {
		t.c.report("E0523", k.Pos, "key %d ends the list", out.Key).Label(t.c.f.At(t.end), "here")
		return false
	}
	for _, other := range t.l.Cases {
		at := t.c.f.At(t.c.origin[other])
		if other.Key == out.Key {
			t.c.report("E0522", k.Pos, "key %d is taken", out.Key).Label(at, "by this element")
			return false
		}
		if other.Name.Schema == out.Name.Schema {
			t.c.report("E0102", k.Name.Pos, "`%s` is an element already", out.Name.Schema).Label(at, "this one")
			return false
		}
	}
	return true
}

// caseLayout resolves what an element's value looks like.
func (t *listRules) caseLayout(out *Case, d *syntax.Type) bool {
	switch {
	case d.Nothing:
		return true
	case d.Body != nil && d.Body.Array == nil:
		s := &Struct{Name: typeName(t.l.Name.Schema + camel(out.Name.Schema)), Doc: out.Doc, List: t.l}
		t.c.origin[s] = d.Pos
		t.c.fill(s, nil, d.Body.Body)
		out.Struct = s
		t.c.p.Structs = append(t.c.p.Structs, s)
		return true
	case d.Named != nil && d.Named.Scope == nil && d.Named.Array == nil && d.Named.Args == nil:
		n := t.c.lookup(d.Named.Name, d.Named.Pos)
		if n == nil || n.missing {
			return false
		}
		if n.str != nil && len(n.str.Params) == 0 {
			out.Struct = n.str
			return true
		}
	}
	t.c.unsupported(d.Pos, "an element that is no header without parameters and no body in braces")
	return false
}
