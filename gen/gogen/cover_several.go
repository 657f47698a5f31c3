// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// byDependence orders the checksums of a struct so that each stands behind those that it covers.
func byDependence(items []*gen.Item) []*gen.Item {
	left := slices.Clone(items)
	var out []*gen.Item
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(it *gen.Item) bool {
			return !slices.ContainsFunc(left, func(o *gen.Item) bool { return o != it && covers(it, o) })
		})
		next = max(next, 0) // the compiler has refused circles
		out = append(out, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return out
}

// covers tells whether a checksum covers another one of the same struct.
func covers(it, other *gen.Item) bool {
	items := it.Owner.Items
	at, own := slices.Index(items, other), slices.Index(items, it)
	for _, p := range coverParts(it.Scalar.Sum) {
		if slices.ContainsFunc(p.Except, func(r gen.Ref) bool { return r.Param == nil && r.Last() == other }) {
			continue
		}
		switch p.Kind {
		case gen.CoverSelf:
			return true
		case gen.CoverBefore:
			if at < own {
				return true
			}
		case gen.CoverItems:
			if slices.Index(items, p.First) <= at && at <= slices.Index(items, p.Last) {
				return true
			}
		}
	}
	return false
}

// severalSums prints what compares and writes all checksums of a packet.
func (g *generator) severalSums(f *jen.File, s *gen.Struct, items []*gen.Item) {
	name, args := s.Name.Go, commas("src", sumParamNames(s))
	each := func(what string, items []*gen.Item) string {
		var b body
		for _, it := range items[:len(items)-1] {
			b.line("if err := %s%s(%s); err != nil {\nreturn err\n}", what, sumLabel(s, it), args)
		}
		b.line("return %s%s(%s)", what, sumLabel(s, items[len(items)-1]), args)
		return b.String()
	}
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Verify%s compares all checksums of %s with its bytes, which need not be decoded before.", name, article(name))},
		name: "Verify" + name, params: commas("src []byte", sumParams(s)), results: "error", body: each("Verify", items),
	})
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Resum%s computes all checksums of the %s in src and writes them there, each behind those that it covers.", name, name)},
		name: "Resum" + name, params: commas("src []byte", sumParams(s)), results: "error", body: each("Resum", byDependence(items)),
	})
}

// coverView prints the checksums of a struct of fixed size, which has been written over a view.
func (e *encoder) coverView() {
	for _, it := range byDependence(sumItems(e.s)) {
		if e.form == stored || plainCover(it) || coversParam(it.Scalar.Sum) {
			continue
		}
		e.b.line("{")
		run, sl := fixedRun(e.s), slotsOf(it)
		for _, p := range run.Parts {
			if sl.from[p.Item] {
				e.b.line("const %s = %d", fromName(p.Item), p.Bit/8)
			}
			if sl.to[p.Item] {
				e.b.line("const %s = %d", toName(p.Item), (p.Bit+partBits(p.Item))/8)
			}
		}
		e.b.line("whole := view[:]")
		c := &coverage{g: e.g, s: e.s, it: it, b: e.b, data: "whole", entry: true}
		c.sum()
		e.b.line("field := whole[%s:]", fromName(it))
		e.b.WriteString(storeSum(it.Scalar))
		e.b.line("}")
	}
}
