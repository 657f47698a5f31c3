// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"

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
	l.Params = c.parameters(d.Params)
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
		if l.Fill != nil && l.Fill.Align > 1 && len(t.bares) == 0 {
			c.report("E0525", t.aligned, "nothing can fill up the list").Help("add `bare 0 => end;`")
		}
	} else if len(c.f.Diags) == faults {
		c.report("E0524", n.pos, "a TLV list needs `head`, `key` and `length`")
	}
	n.missing = len(c.f.Diags) > faults
	c.partial[l] = n.missing
	c.p.Lists = append(c.p.Lists, l)
}

// listRules reads the lines of a TLV list.
type listRules struct {
	c    *compiler
	l    *List
	body *body // of the head
	seen map[string]bool

	bares   []bareKeys
	aligned syntax.Pos // of `align`
}

type bareKeys struct {
	keys Range
	at   syntax.Pos
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
	for _, p := range t.l.Params {
		t.body.params[p.Name.Schema] = p
	}
	t.l.Head = s
	t.c.p.Structs = append(t.c.p.Structs, s)
}

func (t *listRules) key(ids []*syntax.Ident) {
	var keys []*Item
	for _, id := range ids {
		it := t.headScalar(id)
		if it == nil || it.Scalar.Signed || slices.Contains(keys, it) {
			t.c.report("E0525", id.Pos, "`%s` is no number of the head, or stands twice", id.Text)
			return
		}
		keys = append(keys, it)
	}
	if t.l.Key = keys[0]; len(keys) > 1 {
		t.l.Keys = keys
	}
}

// keys are the items of the key.
func (l *List) keys() []*Item {
	if l.Keys != nil {
		return l.Keys
	}
	return []*Item{l.Key}
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
	lin, ok := linearOf(x)
	if !ok || lin.f == nil || lin.f.Ref.Param != nil || len(lin.f.Ref.Path) != 1 || lin.a.Sign() <= 0 || !lin.a.IsInt64() || !lin.b.IsInt64() {
		t.c.reportExpr("E0525", e, "the length must be a*item + b of one item of the head")
		return
	}
	t.l.Length, t.l.LengthOf = x, lin.f.Ref.Last()
	if x.Op != OpRef {
		t.l.Scale = &Scale{lin.a.Int64(), lin.b.Int64()}
	}
	if s := t.l.LengthOf.Scalar; s.Fixed != nil || s.Derived != nil || s.Signed || slices.Contains(t.l.keys(), t.l.LengthOf) {
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
		if t.once("align", r.Pos) {
			t.align(r)
		}
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
	t.c.fieldCase(b.Name)
	if t.l.Head.Items[0] != t.l.Key || t.l.Key.Scalar.Bits != 8 || t.l.Keys != nil {
		t.c.report("E0521", r.Pos, "the key must be the first byte of the head")
		return
	}
	keys, ok := t.c.constRange(b.Key, maxOfBits(8))
	if !ok {
		return
	}
	for _, other := range t.bares {
		if other.keys.First <= keys.Last && keys.First <= other.keys.Last {
			t.c.report("E0522", r.Pos, "key %d is taken", max(keys.First, other.keys.First)).Label(t.c.f.At(other.at), "by this element")
			return
		}
	}
	t.bares = append(t.bares, bareKeys{keys, r.Pos})
	if b.Name.Text != "end" {
		if slices.ContainsFunc(t.l.Bares, func(o *Bare) bool { return o.Name.Schema == b.Name.Text }) {
			t.c.report("E0102", b.Name.Pos, "`%s` is a bare element already", b.Name.Text)
		}
		t.l.Bares = append(t.l.Bares, &Bare{Name: itemName(b.Name.Text), Doc: t.c.f.Doc(r.Pos), Keys: keys})
		return
	}
	if keys.First != keys.Last {
		t.c.report("E0525", b.Key.Pos, "one key ends the list")
	} else if t.once("bare end", r.Pos) {
		t.l.End = &keys.First
	}
}

// align reads `align 4 fill 0;`.
func (t *listRules) align(r *syntax.Rule) {
	n, ok := smallNumber(r.Align.Number, maxAlign)
	if !ok {
		t.c.report("E0525", r.Pos, "a list aligns to 1 to %d bytes", maxAlign)
		return
	}
	t.l.Fill = &Fill{Align: n, Ignore: r.Align.Fill == "ignore"}
	t.aligned = r.Pos
	if r.Align.Fill == "" || t.l.Fill.Ignore {
		return
	}
	v, ok := syntax.ParseNumber(r.Align.Fill)
	if !ok || !v.IsUint64() || v.Uint64() > 255 {
		t.c.report("E0307", r.Pos, "`fill` takes a byte")
		return
	}
	t.l.Fill.Byte = byte(v.Uint64())
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
		t.l.Ascending, t.l.Strict = true, true
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
		if t.l.Unknown = t.c.errorNamed(code); t.l.Unknown == nil {
			return
		}
	}
	switch {
	case u.Reject:
		t.l.SkipIf = truthConst(zero)
	case u.If != nil:
		t.l.SkipIf = t.body.env().truth(u.If)
	}
}
