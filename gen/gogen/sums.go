// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

func sumFunc(s *gen.Sum) string { return lowerCamel(s.Name) + "Sum" }

// castagnoli and ieee are the polynomials that hash/crc32 computes in hardware or with wide tables.
const (
	castagnoli = 0x1edc6f41
	ieee       = 0x04c11db7
)

// sums prints each checksum and the function that verifies each packet's.
func (g *generator) sums(f *jen.File) {
	g.outerTypes(f)
	for _, s := range g.p.Sums {
		g.sum(f, s)
	}
	for _, s := range g.all {
		items := sumItems(s)
		for _, it := range items {
			if plainCover(it) {
				g.verify(f, s, it)
				g.patchSum(f, s, it)
			} else {
				g.coverFunctions(f, s, it)
			}
		}
		if len(items) > 1 {
			g.severalSums(f, s, items)
		}
	}
	g.states(f, g.pieces)
}

func (g *generator) sum(f *jen.File, s *gen.Sum) {
	typ := uintType(s.Width)
	fn := function{doc: titled(sumFunc(s), s.Doc), name: sumFunc(s), params: "data []byte", results: typ}
	if s.Kind != gen.SumCRC {
		g.pieces[s] = true
		fn.body = fmt.Sprintf("return %s.add(data).done()", stateStart(s))
		g.add(f, fn)
		return
	}
	if fastSum(s) {
		table := lowerCamel(s.Name) + "Table"
		poly := reversed(s)
		switch s.Poly {
		case castagnoli:
			poly = "crc32.Castagnoli"
		case ieee:
			poly = "crc32.IEEE"
		}
		f.Var().Id(table).Op("=").Add(text("crc32.MakeTable(" + poly + ")"))
		f.Line()
		fn.body = fmt.Sprintf("return crc32.Checksum(data, %s)", table)
		g.add(f, fn)
		return
	}
	fn.body = bitwise(s)
	g.add(f, fn)
}

// bitwise prints any other CRC, bit by bit.
func bitwise(s *gen.Sum) string {
	var b body
	in := "octet"
	if s.ReflectIn {
		in = "bits.Reverse8(octet)"
	}
	b.line("sum := uint64(%#x)\nfor _, octet := range data {", s.Init)
	b.line("sum ^= uint64(%s) << %d >> %d", in, 56, 64-max(s.Width, 8))
	if s.Width < 8 {
		b.Reset()
		b.line("sum := uint64(%#x)\nfor _, octet := range data {", s.Init)
		b.line("for at := 7; at >= 0; at-- {\ntop := sum>>%d&1 ^ uint64(%s)>>at&1\nsum = sum << 1 & %s\nif top != 0 {\nsum ^= %#x\n}\n}\n}",
			s.Width-1, in, mask(s.Width), s.Poly)
	} else {
		b.line("for range 8 {\ntop := sum >> %d & 1\nsum = sum << 1 & %s\nif top != 0 {\nsum ^= %#x\n}\n}\n}", s.Width-1, mask(s.Width), s.Poly)
	}
	if s.ReflectOut {
		b.line("sum = bits.Reverse64(sum) >> %d", 64-s.Width)
	}
	b.line("return %s(sum ^ %#x)", uintType(s.Width), s.XorOut)
	return b.String()
}

// sumItems are the checksum fields of a packet.
func sumItems(s *gen.Struct) []*gen.Item {
	var out []*gen.Item
	for _, it := range s.Items {
		if it.Scalar != nil && it.Scalar.Sum != nil {
			out = append(out, it)
		}
	}
	return out
}

// verify prints VerifyX. It decodes only packets in which nothing else tells where the checksum lies.
func (g *generator) verify(f *jen.File, s *gen.Struct, it *gen.Item) {
	var b body
	tail, ok := gen.TailSize(s.Steps, it)
	switch {
	case s.FixedSize:
		b.line("if len(src) < %s {\nreturn short(%q, 0, %s)\n}", g.sizeConst(s), firstLeaf(fixedRun(s)), g.sizeConst(s))
		b.line("at := %d", s.Max-tail)
	case !ok:
		g.fail(it, "the checksum `%s` lies at no constant distance from the end of `%s`", it.Name.Schema, s.Name.Schema).
			Help("let only items of constant size follow it, or cover a range: `over first..last`")
		return
	case s.Greedy:
		g.verifyTail(&b, s, it)
		b.line("at := len(src) - %d", tail)
	default:
		b.line("var whole %s\nsize, err := whole.Decode(src)\nif err != nil {\nreturn err\n}", s.Name.Go)
		if it.When != nil {
			b.line("if !whole.%sPresent() {\nreturn nil\n}", it.Name.Go)
		}
		b.line("at := size - %d", tail)
	}
	if len(s.Params) > 0 || !s.Packet {
		g.fail(it, "the checksum `%s` lies in `%s`, but only packets without parameters may have one `over before`", it.Name.Schema, s.Name.Schema)
	}
	load := loadWord("src[at:]", 0, it.Scalar.Bits/8)
	if little(it.Scalar) {
		load = littleLoad("src[at:]", 0, it.Scalar.Bits/8)
	}
	if it.Scalar.Bits <= 8 || it.Scalar.Bits == 24 {
		b.line("field := src[at:]")
		load = loadWord("field", 0, it.Scalar.Bits/8)
	}
	b.line("want, got := %s(src[:at]), %s", sumFunc(it.Scalar.Sum.Sum), load.code)
	b.line("if want != got {\nreturn fault(CodeChecksum, %q, at, 0).values(uint64(want), uint64(got))\n}\nreturn nil", it.Name.Schema)
	g.add(f, function{
		doc: []string{fmt.Sprintf("Verify%s compares the checksum of %s with its bytes, which need not be decoded before.", s.Name.Go, article(s.Name.Go)),
			"A packet without a checksum passes."},
		name: "Verify" + s.Name.Go, params: "src []byte", results: "error", body: b.String(),
	})
}

// verifyTail prints the tests in front of a checksum at a constant distance from the end of the input.
func (g *generator) verifyTail(b *body, s *gen.Struct, it *gen.Item) {
	d := &decoder{g: g, s: s, b: b, sc: &scope{g: g, self: "src", known: map[string]val{}}, need: map[*gen.Item]bool{}}
	least := 0
	if r, ok := s.Steps[0].(*gen.Run); ok {
		least = r.Size
		b.line("if len(src) < %d {\nreturn short(%q, 0, %d)\n}", r.Size, firstLeaf(r), r.Size)
		g.readable(d, r)
	}
	if it.When != nil {
		b.line("if %s {\nreturn nil\n}", d.sc.negate(it.When).code)
	}
	tail, _ := gen.TailSize(s.Steps, it)
	b.line("if len(src) < %d {\nreturn short(%q, %d, %d)\n}", least+tail, it.Name.Schema, least, tail)
}

// readable lets expressions read the scalars of the first run from the packet's bytes.
func (g *generator) readable(d *decoder, r *gen.Run) {
	d.sc.raw = func(ref gen.Ref) (val, bool) {
		if ref.Param != nil || len(ref.Path) == 0 || ref.Last().Scalar == nil {
			return val{}, false
		}
		bit, ok := bitOf(r, ref.Path)
		if !ok {
			g.fail(ref.Last(), "the presence of a checksum depends on `%s`, which lies behind items of variable size", pathOf(ref))
			return val{}, false
		}
		return g.loadScalar(buffer{code: "src"}, bit, ref.Last().Scalar), true
	}
}
