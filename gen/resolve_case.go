// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// caseOf resolves one known element.
func (t *listRules) caseOf(d *syntax.Case, k *syntax.CaseKey) {
	t.c.fieldCase(k.Name)
	out := &Case{Name: itemName(k.Name.Text), Doc: t.c.f.Doc(d.Pos)}
	t.c.origin[out] = k.Pos
	if !t.caseKeys(out, k) {
		return
	}
	var inner []*syntax.Clause // what belongs to the value
	for _, clause := range d.Clauses {
		switch {
		case clause.Word == "unique":
			out.Unique = true
		case clause.Word == "required":
			out.Unique, out.Required = true, true
		case clause.Attr != nil && clause.Attr.Name.Text == "name":
			t.c.rename(&out.Name, clause.Attr)
		default:
			inner = append(inner, clause)
			continue
		}
		if _, ok := t.c.sortClauses(d.Clauses); !ok {
			return
		}
	}
	if len(inner) > 0 && simple(d.Type) {
		t.c.report("E0312", inner[0].Pos, "only `unique` and `required` fit this element").
			Fix("remove it", t.c.f.Remove(inner[0].Pos, inner[0].EndPos))
		return
	}
	if t.distinct(out, k) && t.caseLayout(out, d.Type, inner) && t.keepHead(out, k) {
		t.l.Cases = append(t.l.Cases, out)
	}
}

// caseKeys resolves the keys of an element.
func (t *listRules) caseKeys(out *Case, k *syntax.CaseKey) bool {
	items := t.l.keys()
	for _, tuple := range k.Keys {
		if len(tuple.Parts) != len(items) {
			t.c.report("E0525", tuple.Pos, "a key has %s and not %d", plural(len(items), "part"), len(tuple.Parts))
			return false
		}
		var ranges []Range
		for i, r := range tuple.Parts {
			v, ok := t.c.memberRange(r)
			if !ok {
				if v, ok = t.c.constRange(r, maxOfBits(items[i].Scalar.Bits)); !ok {
					return false
				}
			}
			ranges = append(ranges, v)
		}
		if other := sharing(out.Keys, ranges); other != nil {
			t.c.report("E0522", tuple.Pos, "this key stands twice")
			return false
		}
		out.Keys = append(out.Keys, ranges)
	}
	out.Key = out.Keys[0][0].First
	if first := out.Keys[0]; len(out.Keys) == 1 && len(first) == 1 && first[0].First == first[0].Last {
		out.Keys = nil
	}
	return true
}

// tuples are the keys of an element in one form.
func (k *Case) tuples() [][]Range {
	if k.Keys != nil {
		return k.Keys
	}
	return [][]Range{{{k.Key, k.Key}}}
}

// sharing finds a tuple that shares a key with another one.
func sharing(all [][]Range, one []Range) []Range {
	for _, t := range all {
		shared := true
		for i, r := range t {
			shared = shared && r.First <= one[i].Last && one[i].First <= r.Last
		}
		if shared {
			return t
		}
	}
	return nil
}

func keyText(t []Range) string {
	if len(t) == 1 {
		return t[0].String()
	}
	text := ""
	for _, r := range t {
		text += ", " + r.String()
	}
	return fmt.Sprintf("(%s)", text[2:])
}

func (t *listRules) distinct(out *Case, k *syntax.CaseKey) bool {
	for _, tuple := range out.tuples() {
		for _, b := range t.bares {
			if b.keys.First <= tuple[0].Last && tuple[0].First <= b.keys.Last {
				t.c.report("E0523", k.Pos, "key %s is a bare element", keyText(tuple)).Label(t.c.f.At(b.at), "here")
				return false
			}
		}
		for _, other := range t.l.Cases {
			if sharing(other.tuples(), tuple) != nil {
				t.c.report("E0522", k.Pos, "key %s is taken", keyText(tuple)).Label(t.c.f.At(t.c.origin[other]), "by this element")
				return false
			}
		}
	}
	for _, other := range t.l.Cases {
		if other.Name.Schema == out.Name.Schema {
			t.c.report("E0102", k.Name.Pos, "`%s` is an element already", out.Name.Schema).Label(t.c.f.At(t.c.origin[other]), "this one")
			return false
		}
	}
	return true
}

// caseLayout resolves what an element's value looks like.
func (t *listRules) caseLayout(out *Case, d *syntax.Type, clauses []*syntax.Clause) bool {
	switch {
	case d.Nothing:
		return true
	case !simple(d):
		t.caseBody(out, d, wrapped(d, clauses))
		return true
	case d.Body != nil:
		t.caseBody(out, d, d.Body.Body)
		return true
	}
	n := t.c.scoped(d.Named.Scope, d.Named.Name, d.Named.Pos)
	switch {
	case n == nil || n.missing:
		return false
	case n.str == nil:
		t.caseBody(out, d, wrapped(d, clauses))
		return true
	}
	var ok bool
	out.Struct = n.str
	out.Args, ok = t.around().args(n.str.Params, d.Named)
	return ok
}

// around is the body around those of elements: it has the parameters of the list.
func (t *listRules) around() *body {
	return t.c.newBody(&Struct{Name: t.l.Name, Params: t.l.Params}, nil)
}

func (t *listRules) caseBody(out *Case, d *syntax.Type, body *syntax.Body) {
	s := &Struct{Name: typeName(t.l.Name.Schema + camel(out.Name.Schema)), Doc: out.Doc, List: t.l}
	t.c.origin[s] = d.Pos
	for _, k := range t.c.fill(s, t.around(), body) {
		out.Args = append(out.Args, k.arg)
	}
	out.Struct = s
	t.c.p.Structs = append(t.c.p.Structs, s)
}

// keepHead finds the items of the head that an element keeps.
func (t *listRules) keepHead(out *Case, k *syntax.CaseKey) bool {
	keys := t.l.keys()
	for _, it := range t.l.Head.Items {
		if it == t.l.LengthOf || it.Name.Schema == "_" || it.Kind == KindReserved || it.determined() {
			continue
		}
		if i := slices.Index(keys, it); i >= 0 {
			tuples := out.tuples()
			if len(tuples) == 1 && tuples[0][i].First == tuples[0][i].Last {
				continue
			}
		}
		if out.Struct != nil && out.Struct.item(it.Name.Schema) != nil {
			t.c.report("E0102", k.Name.Pos, "`%s` has an item `%s`, and so has the head", out.Name.Schema, it.Name.Schema).
				Help("rename one of the two")
			return false
		}
		out.Head = append(out.Head, it)
	}
	return true
}
