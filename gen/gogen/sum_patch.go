// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// patchFrom is from how many covered bytes on a change costs less than reading them all twice. Measured on amd64.
const patchFrom = 3072

// patches tells whether a packet may be so long that bringing its checksum up to date is worth a function.
func (g *generator) patches(s *gen.Struct, it *gen.Item) bool {
	_, ok := gen.TailSize(s.Steps, it)
	run, first := s.Steps[0].(*gen.Run)
	return ok && first && run.Size > 0 && s.Packet && s.Greedy && len(s.Params) == 0 && fastSum(it.Scalar.Sum.Sum) && (s.Max < 0 || s.Max > 2*patchFrom)
}

// patchSum prints PatchX, which changes bytes of a long packet without reading all of them.
func (g *generator) patchSum(f *jen.File, s *gen.Struct, it *gen.Item) {
	if !g.patches(s, it) {
		return
	}
	sum := it.Scalar.Sum.Sum
	tail, _ := gen.TailSize(s.Steps, it)
	run := s.Steps[0].(*gen.Run)
	var b body
	d := &decoder{g: g, s: s, b: &b, sc: &scope{g: g, self: "src", known: map[string]val{}}}
	b.line("if len(src) < %d {\nreturn short(%q, 0, %d)\n}", run.Size+tail, firstLeaf(run), run.Size+tail)
	g.readable(d, run)
	b.line("end := len(src)")
	open, shut := "", ""
	if it.When != nil {
		b.line("summed := %s", d.sc.truth(it.When).code)
		b.line("if summed {\nend -= %d\n}", tail)
		open, shut = "if !summed {\ncopy(src[at:], value)\nreturn nil\n}\n", ""
	} else {
		b.line("end -= %d", tail)
	}
	b.line("if at < 0 || at > end || len(value) > end-at {\nreturn fault(CodeSize, \"\", 0, 0).values(uint64(end), uint64(at)+uint64(len(value)))\n}")
	b.WriteString(open)
	fn := sumFunc(sum)
	b.line("part, field := src[at:at+len(value)], src[end:]")
	b.line("sum := %s", loadSum("field", it.Scalar).code)
	b.line("if end < %d {\nsum ^= %s(src[:end])\ncopy(part, value)\nsum ^= %s(src[:end])\n} else {", patchFrom, fn, fn)
	b.line("sum ^= %sBehind(%s(part)^%s(value), end-at-len(value))\ncopy(part, value)\n}", lowerCamel(sum.Name), fn, fn)
	store := storeWord("field", 0, 4, operand("sum", "uint32"))
	if little(it.Scalar) {
		store = littleStore("field", 0, 4, operand("sum", "uint32"))
	}
	b.WriteString(store + shut)
	b.line("return nil")
	g.add(f, function{
		doc: []string{fmt.Sprintf("Patch%s replaces the bytes at a place of the %s in src by value and brings its checksum up to date: right stays", s.Name.Go, s.Name.Go),
			"right, and wrong stays wrong. Of a long packet only those bytes are read. The value must not change which items the packet has. An error",
			"says that the place is not one that the checksum covers; nothing is changed then."},
		name: "Patch" + s.Name.Go, params: "src []byte, at int, value []byte", results: "error", body: b.String(),
	})
	if !g.moved[sum] {
		g.moved[sum] = true
		g.moveSum(f, sum, s.Max)
	}
}

// moveSum prints the function that says what a difference of checksums becomes when more bytes follow.
func (g *generator) moveSum(f *jen.File, s *gen.Sum, most int) {
	if most < 0 {
		most = 1 << 31
	}
	fn := lowerCamel(s.Name)
	poly := bits.Reverse32(uint32(s.Poly))
	var powers []string
	for p, n := uint32(1)<<23, 1; n <= most; n *= 2 {
		powers = append(powers, fmt.Sprintf("%#08x", p))
		p = timesModulo(p, p, poly)
	}
	var nibbles []string
	for n := range uint32(16) {
		for range 4 {
			n = n>>1 ^ -(n&1)&poly
		}
		nibbles = append(nibbles, fmt.Sprintf("%#08x", n))
	}
	doc(f, fmt.Sprintf("%sPowers are the polynomials x to the power of 8 times 2 to the power of the index, modulo that of the checksum.", fn))
	f.Var().Id(fn + "Powers").Op("=").Add(text("[...]uint32{" + strings.Join(powers, ", ") + "}"))
	f.Line()
	doc(f, fmt.Sprintf("%sNibbles are what four bits become that leave the checksum.", fn))
	f.Var().Id(fn + "Nibbles").Op("=").Add(text("[16]uint32{" + strings.Join(nibbles, ", ") + "}"))
	f.Line()
	g.add(f, function{
		doc:  []string{fmt.Sprintf("%sBehind is what the difference of two checksums becomes when the same bytes follow, size of them.", fn)},
		name: fn + "Behind", params: "sum uint32, size int", results: "uint32",
		body: fmt.Sprintf(`for ; size > 0; size &= size - 1 {
	sum = %sTimes(%sPowers[bits.TrailingZeros(uint(size))], sum)
}
return sum`, fn, fn),
	})
	g.add(f, function{
		doc:  []string{fmt.Sprintf("%sTimes is the product of two polynomials modulo that of the checksum.", fn)},
		name: fn + "Times", params: "left, right uint32", results: "uint32",
		body: fmt.Sprintf(`var multiples [16]uint32
for at := 8; at > 0; at /= 2 {
	multiples[at] = right
	right = right>>1 ^ -(right&1)&%#08x
}
for at := range multiples {
	multiples[at] = multiples[at&(at-1)] ^ multiples[at&-at]
}
var product uint32
for range 8 {
	product = product>>4 ^ %sNibbles[product&15] ^ multiples[left&15]
	left >>= 4
}
return product`, poly, fn),
	})
}

// timesModulo is the product of two reflected polynomials modulo poly.
func timesModulo(a, b, poly uint32) uint32 {
	var out uint32
	for i := 31; i >= 0; i-- {
		out ^= -(a >> i & 1) & b
		b = b>>1 ^ -(b&1)&poly
	}
	return out
}
