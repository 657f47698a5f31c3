// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// views prints the array type of each header of fixed size, with a getter and a setter for each item.
func (g *generator) views(f *jen.File) {
	for _, s := range g.all {
		if s.FixedSize && s.Max > 0 {
			g.view(f, s)
		}
	}
}

func viewName(s *gen.Struct) string { return s.Name.Go + "View" }

func (g *generator) view(f *jen.File, s *gen.Struct) {
	name := viewName(s)
	doc(f, fmt.Sprintf("%s is %s where it lies. Getters do not check; setters keep the low bits of what they are given.", name, article(s.Name.Go)))
	f.Type().Id(name).Index(jen.Id(g.sizeConst(s))).Byte()
	f.Line()
	g.add(f, function{
		doc:  []string{fmt.Sprintf("As%s views the beginning of src; false if it is too short.", name)},
		name: "As" + name, params: "src []byte", results: fmt.Sprintf("(*%s, bool)", name),
		body: fmt.Sprintf("if len(src) < %s {\nreturn nil, false\n}\nreturn (*%s)(src), true", g.sizeConst(s), name),
	})
	for _, p := range fixedParts(s) {
		if hasField(p.Item) {
			g.viewItem(f, s, p)
		}
	}
	g.viewCheck(f, s)
}

// fixedParts are the parts of a struct of fixed size.
func fixedParts(s *gen.Struct) []gen.Part {
	if r := fixedRun(s); r != nil {
		return r.Parts
	}
	return nil
}

func fixedRun(s *gen.Struct) *gen.Run {
	for _, st := range s.Steps {
		if r, ok := st.(*gen.Run); ok {
			return r
		}
	}
	return nil
}

func (g *generator) viewItem(f *jen.File, s *gen.Struct, p gen.Part) {
	it := p.Item
	recv := "v *" + viewName(s)
	at := p.Bit / 8
	getter := function{doc: viewDoc(it), recv: recv, name: it.Name.Go}
	setter := function{doc: []string{fmt.Sprintf("Set%s stores %s.", it.Name.Go, it.Name.Schema)}, recv: recv, name: "Set" + it.Name.Go}
	switch it.Kind {
	case gen.KindStruct:
		typ := viewName(it.Struct)
		getter.results, getter.body = "*"+typ, fmt.Sprintf("return (*%s)(v[%d:%d])", typ, at, at+it.Struct.Max)
		g.add(f, getter)
		return
	case gen.KindBits:
		typ := vectorType(it.Vector)
		getter.results, getter.body = typ, fmt.Sprintf("return load%s((*[%d]byte)(v[%d:%d]))", typ, it.Vector.Bits/8, at, at+it.Vector.Bits/8)
		setter.params, setter.body = "vector "+typ, fmt.Sprintf("vector.store((*[%d]byte)(v[%d:%d]))", it.Vector.Bits/8, at, at+it.Vector.Bits/8)
	case gen.KindSpan:
		n := it.Span.Fixed
		getter.results, getter.body = fmt.Sprintf("*[%d]byte", n), fmt.Sprintf("return (*[%d]byte)(v[%d:%d])", n, at, at+n)
		setter.params, setter.body = fmt.Sprintf("value [%d]byte", n), fmt.Sprintf("copy(v[%d:%d], value[:])", at, at+n)
	default:
		typ := scalarType(it.Scalar)
		getter.results, getter.body = typ, "return "+g.loadScalar(buffer{"v", s.Max}, p.Bit, it.Scalar).code
		setter.params, setter.body = "value "+typ, g.patch(p)
	}
	g.add(f, getter)
	g.add(f, setter)
}

func viewDoc(it *gen.Item) []string {
	lines := titled(it.Name.Go, it.Doc)
	if len(it.Doc) == 0 {
		lines = []string{fmt.Sprintf("%s loads %s.", it.Name.Go, it.Name.Schema)}
	}
	if it.Unit != "" {
		lines = append(lines, "Unit: "+it.Unit+".")
	}
	return lines
}

// patch prints the body of a scalar's setter: a store, or a load and a store where other bits share the bytes.
func (g *generator) patch(p gen.Part) string {
	sc := p.Item.Scalar
	at, size, shift := window(p.Bit, sc.Bits)
	typ := uintType(size * 8)
	v := wireValue(operand("value", scalarType(sc)), typ, sc)
	if sc.Bits == size*8 {
		if little(sc) {
			return littleStore("v", at, size, v)
		}
		return storeWord("v", at, size, v)
	}
	if shift > 0 {
		v = val{fmt.Sprintf("%s << %d", v.at(5), shift), typ, 5}
	}
	hole := mask(sc.Bits)
	if shift > 0 {
		hole = fmt.Sprintf("%#x", (uint64(1)<<sc.Bits-1)<<shift)
	}
	word := val{fmt.Sprintf("%s &^ %s | %s", loadWord("v", at, size).at(5), hole, v.at(5)), typ, 4}
	return storeWord("v", at, size, word)
}

// viewCheck prints Valid, which is small enough to inline, and Check, which says what is wrong.
func (g *generator) viewCheck(f *jen.File, s *gen.Struct) {
	recv := "v *" + viewName(s)
	r := fixedRun(s)
	var b body
	d := &decoder{g: g, s: s, b: &b, sc: &scope{g: g, self: "v", getters: true}}
	pl := place{run: r, buf: "v", start: "0"}
	d.spanChecks(pl)
	for _, c := range r.Checks {
		d.check(c, pl)
	}
	g.add(f, function{
		doc:  []string{"Valid tells whether the bytes obey the header's own rules."},
		recv: recv, name: "Valid", results: "bool", body: "return " + d.allHold(pl),
	})
	check := function{doc: []string{"Check is Valid with an error that names the rule."}, recv: recv, name: "Check", results: "error"}
	if b.Len() == 0 {
		check.body = "return nil"
		g.add(f, check)
		return
	}
	check.body = "if v.Valid() {\nreturn nil\n}\nreturn v.broken()"
	g.add(f, check)
	g.add(f, function{
		doc:  []string{"broken is the error of the first rule that the bytes break.", "", "//go:noinline"},
		recv: recv, name: "broken", results: "error", body: b.String() + "return nil",
	})
}

// allHold prints the conjunction of a run's rules.
func (d *decoder) allHold(pl place) string {
	terms := d.spanTerms(pl, pl.run.Parts, 0)
	d.sc.raw = func(r gen.Ref) (val, bool) { return d.unnamed(r, pl) }
	for _, c := range pl.run.Checks {
		v := d.sc.truth(c.Hold)
		if v.code != "true" {
			terms = append(terms, v.at(2))
		}
	}
	d.sc.raw = nil
	if len(terms) == 0 {
		return "true"
	}
	return strings.Join(terms, " && ")
}

// spanTerms are the rules of fixed strings and pads; base is the byte at which parts begin.
func (d *decoder) spanTerms(pl place, parts []gen.Part, base int) []string {
	var terms []string
	for _, p := range parts {
		it, at := p.Item, base+p.Bit/8
		switch {
		case it.Kind == gen.KindStruct:
			terms = append(terms, d.spanTerms(pl, fixedParts(it.Struct), at)...)
		case it.Kind != gen.KindSpan:
		case it.Span.Kind == gen.SpanString:
			for _, f := range textFaults(it.Span, fmt.Sprintf("%s[%d:%d]", pl.buf, at, at+it.Span.Fixed)) {
				terms = append(terms, strings.TrimPrefix(f[0], "!"))
			}
		case it.Span.Kind == gen.SpanPad && !it.Span.Ignore:
			terms = append(terms, fmt.Sprintf("allZero(%s[%d:%d])", pl.buf, at, at+it.Span.Fixed))
		}
	}
	return terms
}
