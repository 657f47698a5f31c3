// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

func (s signer) structFacts(st *gen.Struct) []*fact {
	f := &fact{key: keyOf(st), place: s.structure(st), came: Wire, gone: Wire}
	if !st.Packet {
		f.came, f.gone = Source, Source // what uses it shows what that means for the bytes
	}
	f.add(Wire, "bytes", bound(gen.Bound{Min: st.Min, Max: st.Max}, 1))
	f.add(Source, "parameters", fmt.Sprint(len(st.Params)))
	f.addName(st.Name)
	f.addDoc(st.Doc)
	out := []*fact{f}
	for _, x := range gen.Places(st) {
		out = append(out, s.itemFact(st, x))
		if x.Item.Switch != nil {
			out = append(out, s.armFacts(st, x.Item)...)
		}
	}
	return append(out, s.ruleFacts(st)...)
}

// keyOf is the key of a struct's fact.
func keyOf(st *gen.Struct) string {
	if st.Packet {
		return "packet " + st.Name.Schema
	}
	return "header " + st.Name.Schema
}

// bound writes an interval in units of so many bits.
func bound(b gen.Bound, unit int) string {
	switch {
	case b.Max < 0:
		return fmt.Sprintf("%d or more", b.Min/unit)
	case b.Exact():
		return fmt.Sprint(b.Min / unit)
	}
	return fmt.Sprintf("%d to %d", b.Min/unit, b.Max/unit)
}

// at writes an offset as byte and bit.
func at(b gen.Bound) string {
	if b.Exact() && b.Min%8 != 0 {
		return fmt.Sprintf("%d.%d", b.Min/8, b.Min%8)
	}
	return bound(b, 8)
}

func (s signer) itemFact(st *gen.Struct, x gen.Place) *fact {
	it := x.Item
	key := it.Name.Schema
	f := &fact{parent: keyOf(st), key: key, place: fmt.Sprint("bit ", x.Off.Min), came: Wire, gone: Wire}
	if key == "_" {
		f.key, f.place = "_ at byte "+at(x.Off), ""
	}
	f.name = st.Name.Schema + "." + f.key
	f.add(Wire, "byte", at(x.Off))
	width := bound(x.Width, 1) + " bits"
	if x.Width.Min%8 == 0 && x.Width.Max%8 == 0 {
		width = bound(x.Width, 8) + " B"
	}
	f.add(Wire, "width", width)
	f.addSigned("type", it.TypeText(), s.typ(it))
	f.addSigned("present if", it.When.Text(), s.expr(it.When))
	if sc := it.Scalar; sc != nil {
		s.scalarAttrs(f, sc)
	}
	if a := it.Array; a != nil {
		f.addSigned("count", a.Count.Text(), s.expr(a.Count))
	}
	if sp := it.Span; sp != nil {
		f.addSigned("size", sp.Size.Text(), s.expr(sp.Size))
		f.add(Wire, "least and most bytes", fmt.Sprint(sp.Min, sp.Max))
		f.add(Wire, "content of padding", map[bool]string{false: "checked", true: "any"}[sp.Ignore])
	}
	if it.Sized != nil {
		f.addSigned("sized", it.Sized.Text(), s.expr(it.Sized))
	}
	f.addName(it.Name)
	f.addDoc(it.Doc)
	f.add(Doc, "unit", it.Unit)
	f.add(Doc, "format", it.Format)
	if v := it.Vector; v != nil {
		f.add(Doc, "meaning of bits", v.Index+": "+v.Means)
	}
	return f
}

func (s signer) scalarAttrs(f *fact, sc *gen.Scalar) {
	if sc.Enum != nil {
		f.add(Source, "enum", sc.Enum.Name.Schema)
		accepted := "all"
		if sc.Enum.Closed {
			accepted = memberNumbers(sc.Enum)
		}
		f.add(Wire, "numbers accepted", accepted)
	}
	f.add(Wire, "reserved bits", []string{"none", "zeros", "ones", "ignored"}[sc.Reserved])
	f.add(Wire, "range", ranges(sc.In))
	fixed := "none"
	if sc.Fixed != nil {
		fixed = sc.ValueText(*sc.Fixed)
	}
	f.add(Wire, "fixed value", fixed)
	f.addSigned("derived as", sc.Derived.Text(), s.expr(sc.Derived))
	if sc.Sum != nil {
		f.addSigned("checksum over", sc.Sum.Text(), s.cover(sc.Sum))
	}
	f.add(Source, "flag", fmt.Sprint(sc.Flag))
	f.add(Source, "serial", fmt.Sprint(sc.Serial))
	if sc.Fixed == nil {
		f.add(Source, "default", fmt.Sprint(sc.Default))
	}
}

// armFacts lists the arms of a switch, one for each label.
func (s signer) armFacts(st *gen.Struct, it *gen.Item) []*fact {
	var out []*fact
	for _, a := range it.Switch.Arms {
		labels := a.Labels
		if len(labels) == 0 {
			labels = []gen.Range{{}}
		}
		for _, r := range labels {
			label := r.Text()
			if len(a.Labels) == 0 {
				label = "_"
			}
			f := &fact{parent: keyOf(st), key: "arm " + label, name: fmt.Sprintf("%s.%s %s", st.Name.Schema, it.Name.Schema, label), came: Wire, gone: Wire}
			layout, sign := structName(a.Struct), s.structure(a.Struct)
			if a.Reject != nil {
				layout, sign = "refused", ""
				f.add(Source, "error", a.Reject.Name)
			}
			f.addSigned("layout", layout, sign)
			f.add(Source, "arm", a.Name.Go)
			f.addDoc(a.Doc)
			out = append(out, f)
		}
	}
	return out
}

// ruleFacts lists the constraints that a struct states itself.
func (s signer) ruleFacts(st *gen.Struct) []*fact {
	inner := map[string]bool{}
	for _, it := range st.Items {
		if it.Struct != nil {
			for _, k := range rules(it.Struct) {
				inner[k.Text+k.Code.Name] = true
			}
		}
	}
	var out []*fact
	for _, k := range rules(st) {
		if inner[k.Text+k.Code.Name] {
			continue
		}
		f := s.ruleFact(st, k)
		f.add(Source, "error", k.Code.Name)
		out = append(out, f)
	}
	for _, k := range st.Lints {
		f := s.ruleFact(st, k)
		f.key, f.place, f.name = f.key+" else lint", f.place+" else lint", f.name+" else lint"
		f.came, f.gone = Source, Source
		out = append(out, f)
	}
	return out
}

func (s signer) ruleFact(st *gen.Struct, k *gen.Check) *fact {
	text := "where " + k.Hold.Text()
	return &fact{parent: keyOf(st), key: text, name: st.Name.Schema + " " + text, place: "where " + s.expr(k.Hold), came: Wire, gone: Wire, quiet: true}
}

// rules lists the constraints among the checks of a struct.
func rules(st *gen.Struct) []*gen.Check {
	var out []*gen.Check
	var visit func([]gen.Step)
	visit = func(steps []gen.Step) {
		for _, x := range steps {
			switch x := x.(type) {
			case *gen.Run:
				out = append(out, x.Checks...)
			case *gen.Verify:
				out = append(out, x.Checks...)
			case *gen.Branch:
				visit(x.Then)
				visit(x.Else)
			case *gen.Window:
				visit(x.Body)
			}
		}
	}
	visit(st.Steps)
	return slices.DeleteFunc(out, func(k *gen.Check) bool { return k.Kind != gen.CheckWhere })
}
