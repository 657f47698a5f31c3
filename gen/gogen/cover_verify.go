// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// coverFunctions prints what computes, compares and writes a checksum with a coverage of its own.
func (g *generator) coverFunctions(f *jen.File, s *gen.Struct, it *gen.Item) {
	if s.Owner != nil || s.List != nil || g.nestedAnywhere(s) {
		g.fail(it, "the checksum `%s` lies in `%s`, but only packets that lie in no other may have one with such a coverage", it.Name.Schema, s.Name.Schema).
			Help("declare the checksum in the outermost packet")
		return
	}
	g.computeSum(f, s, it)
	name, args := sumLabel(s, it), commas("src", sumParamNames(s))
	load := loadSum("src[at:]", it.Scalar)
	var b body
	b.line("at, want, ok, err := %s(%s)\nif err != nil || !ok {\nreturn err\n}", sumName(s, it), args)
	b.line("got := %s", load.code)
	none := ""
	if it.Scalar.Sum.ZeroNone {
		none = "got != 0 && "
	}
	b.line("if %sgot != want {\nreturn fault(CodeChecksum, %q, at, 0).values(uint64(want), uint64(got))\n}\nreturn nil", none, it.Name.Schema)
	g.add(f, function{
		doc: []string{fmt.Sprintf("Verify%s compares the checksum %s of %s with its bytes, which need not be decoded before.", name, it.Name.Schema, article(s.Name.Go)),
			"A packet without a checksum passes, and so does one whose checksum covers a header that is not given."},
		name: "Verify" + name, params: commas("src []byte", sumParams(s)), results: "error", body: b.String(),
	})
	b.Reset()
	b.line("at, want, ok, err := %s(%s)\nif err != nil || !ok {\nreturn err\n}", sumName(s, it), args)
	b.line("field := src[at:]")
	b.WriteString(storeSum(it.Scalar))
	b.line("return nil")
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Resum%s computes the checksum %s of the %s in src and writes it there. Without a header that it covers nothing changes.", name, it.Name.Schema, s.Name.Go)},
		name: "Resum" + name, params: commas("src []byte", sumParams(s)), results: "error", body: b.String(),
	})
	b.Reset()
	plain := commas("src", sumParamNames(s))
	for _, p := range s.Params {
		if p.Cover {
			plain = strings.Replace(plain, ", "+lowerCamel(p.Name), ", Outer{}", 1)
		}
	}
	b.line("at, _, _, err := %s(%s)\nreturn at, err", sumName(s, it), plain)
	g.add(f, function{
		doc:  []string{fmt.Sprintf("%sSumAt is where the checksum %s of the %s in src lies; -1 without one.", name, it.Name.Schema, s.Name.Go)},
		name: name + "SumAt", params: commas("src []byte", params(s)), results: "(int, error)", body: b.String(),
	})
}

func sumName(s *gen.Struct, it *gen.Item) string { return "sum" + sumLabel(s, it) }

// sumLabel is the part of names that stands for a checksum: the packet's name, with the field's when it has several.
func sumLabel(s *gen.Struct, it *gen.Item) string {
	if len(sumItems(s)) == 1 {
		return s.Name.Go
	}
	return s.Name.Go + it.Name.Go
}

// nestedAnywhere tells whether some struct holds s.
func (g *generator) nestedAnywhere(s *gen.Struct) bool {
	for _, o := range g.all {
		for _, it := range o.Items {
			if it.Struct == s || it.Array != nil && it.Array.Struct == s {
				return true
			}
			if it.Switch == nil {
				continue
			}
			for _, a := range it.Switch.Arms {
				if a.Struct == s {
					return true
				}
			}
		}
	}
	return false
}

// computeSum prints the function that finds and computes a checksum.
func (g *generator) computeSum(f *jen.File, s *gen.Struct, it *gen.Item) {
	var b body
	sc := g.fieldScope(s)
	sc.self = "whole"
	b.line("var whole %s\nsize, err := whole.Decode(%s)\nif err != nil {\nreturn 0, 0, false, err\n}", s.Name.Go, commas("src", paramNames(s)))
	if it.When != nil {
		b.line("if %s {\nreturn -1, 0, false, nil\n}", sc.negate(it.When).code)
	}
	sl := slotsOf(it)
	sl.declare(&b, s)
	l := &locator{g: g, b: &b, sc: sc, sl: sl}
	var inner body
	l.b = &inner
	l.steps(s.Steps)
	b.WriteString("off := 0\n" + inner.String())
	b.line("src = src[:size]")
	for _, p := range coverParts(it.Scalar.Sum) {
		if p.Kind == gen.CoverParam {
			g.kindTest(&b, p.Param, it)
		}
	}
	c := &coverage{g: g, f: f, s: s, it: it, b: &b, data: "src"}
	c.sum()
	b.line("return %s, want, true, nil", fromName(it))
	g.pieces[it.Scalar.Sum.Sum] = true
	g.add(f, function{
		doc:  []string{fmt.Sprintf("%s finds the checksum of %s, -1 without one, and computes it if all that it covers is known.", sumName(s, it), article(s.Name.Go))},
		name: sumName(s, it), params: commas("src []byte", sumParams(s)),
		results: fmt.Sprintf("(at int, value %s, ok bool, err error)", uintType(it.Scalar.Bits)), body: b.String(),
	})
}

// kindTest prints the test that a parameter is one of its kinds.
func (g *generator) kindTest(b *body, p *gen.Param, it *gen.Item) {
	var kinds []string
	for _, k := range paramKinds(p) {
		kinds = append(kinds, "Outer"+k.Name.Go)
	}
	b.line("switch %s.Kind {\ncase %s:\ncase OuterNone:\nreturn %s, 0, false, nil", lowerCamel(p.Name), strings.Join(kinds, ", "), fromName(it))
	b.line("default:\nreturn 0, 0, false, fault(CodeChecksum, %q, %s, 0)\n}", it.Name.Schema, fromName(it))
}

func loadSum(buf string, s *gen.Scalar) val {
	if little(s) {
		return littleLoad(buf, 0, s.Bits/8)
	}
	return loadWord(buf, 0, s.Bits/8)
}

func storeSum(s *gen.Scalar) string {
	v := operand("want", uintType(s.Bits))
	if little(s) {
		return littleStore("field", 0, s.Bits/8, v)
	}
	return storeWord("field", 0, s.Bits/8, v)
}

// coverSum prints the checksum of a packet that the encoder has written, when it needs nothing from the caller.
func (e *encoder) coverSum() {
	for _, it := range byDependence(sumItems(e.s)) {
		if e.form == stored || plainCover(it) || coversParam(it.Scalar.Sum) {
			continue
		}
		if it.When != nil {
			e.b.line("if %s {", e.sc.truth(it.When).code)
		} else {
			e.b.line("{")
		}
		e.b.line("whole := out[len(dst):]")
		c := &coverage{g: e.g, s: e.s, it: it, b: e.b, data: "whole", entry: true}
		c.sum()
		e.b.line("field := whole[%s:]", fromName(it))
		e.b.WriteString(storeSum(it.Scalar))
		e.b.line("}")
	}
}

// slots are the items whose places the encoder must note for a checksum.
func (e *encoder) slots() slots {
	sl := slots{map[*gen.Item]bool{}, map[*gen.Item]bool{}}
	for _, it := range sumItems(e.s) {
		if e.form == stored || plainCover(it) || coversParam(it.Scalar.Sum) {
			continue
		}
		own := slotsOf(it)
		for it := range own.from {
			sl.from[it] = true
		}
		for it := range own.to {
			sl.to[it] = true
		}
	}
	return sl
}
