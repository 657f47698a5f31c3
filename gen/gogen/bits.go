// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"sort"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// vectorSizes lists the widths of the schema's bit vectors.
func (g *generator) vectorSizes() []int {
	seen := map[int]bool{}
	var out []int
	for _, s := range g.all {
		for _, it := range s.Items {
			if it.Kind == gen.KindBits && !seen[it.Vector.Bits] {
				seen[it.Vector.Bits] = true
				out = append(out, it.Vector.Bits)
			}
		}
	}
	sort.Ints(out)
	return out
}

// vectorOf is the first item that holds a bit vector of n bits.
func (g *generator) vectorOf(n int) gen.Declared {
	return g.itemWhere(func(it *gen.Item) bool { return it.Kind == gen.KindBits && it.Vector.Bits == n })
}

// vectors prints a type for each width of bit vector.
func (g *generator) vectors(f *jen.File) {
	for _, n := range g.vectorSizes() {
		g.vector(f, n)
	}
}

func (g *generator) vector(f *jen.File, n int) {
	if n%8 != 0 {
		g.fail(g.vectorOf(n), "bits<%d> is no whole number of bytes", n).Help("write a multiple of 8")
		return
	}
	typ := fmt.Sprintf("Bits%d", n)
	words := (n + 63) / 64
	doc(f, fmt.Sprintf("%s is a vector of %d bits. Bit i is bit 63-i%%64 of word i/64, so that words are loaded as they lie on the wire", typ, n),
		"and the first bit is found by counting leading zeros. Indexes outside the vector panic.")
	f.Type().Id(typ).Index(jen.Lit(words)).Uint64()
	f.Line()
	recv := "b " + typ
	for _, fn := range []function{
		{doc: []string{"Test tells whether bit i is set."}, recv: recv, name: "Test", params: "i int", results: "bool",
			body: "return b[uint(i)/64]<<(uint(i)%64)>>63 != 0"},
		{doc: []string{"Set sets bit i."}, recv: "b *" + typ, name: "Set", params: "i int", body: "b[uint(i)/64] |= 1 << 63 >> (uint(i) % 64)"},
		{doc: []string{"Clear clears bit i."}, recv: "b *" + typ, name: "Clear", params: "i int", body: "b[uint(i)/64] &^= 1 << 63 >> (uint(i) % 64)"},
		{doc: []string{"Any tells whether some bit is set."}, recv: recv, name: "Any", results: "bool",
			body: "return " + eachWord(words, "b[%d]", "|") + " != 0"},
		{doc: []string{"Count is the number of set bits."}, recv: recv, name: "Count", results: "int",
			body: "return " + eachWord(words, "bits.OnesCount64(b[%d])", " + ")},
		{doc: []string{"First is the lowest set bit, or -1."}, recv: recv, name: "First", results: "int", body: "return b.Next(-1)"},
		{doc: []string{"Next is the lowest set bit above i, or -1: for i := b.First(); i >= 0; i = b.Next(i) visits all."},
			recv: recv, name: "Next", params: "i int", results: "int", body: nextBody(n)},
		{doc: []string{"All yields the set bits in rising order."}, recv: recv, name: "All", results: "iter.Seq[int]",
			body: "return func(yield func(int) bool) {\nfor i := b.First(); i >= 0; i = b.Next(i) {\nif !yield(i) {\nreturn\n}\n}\n}"},
		{doc: []string{"load" + typ + " takes a vector from the wire."}, name: "load" + typ, params: fmt.Sprintf("src *[%d]byte", n/8), results: typ,
			body: loadVector(n)},
		{doc: []string{"store writes a vector to the wire."}, recv: recv, name: "store", params: fmt.Sprintf("dst *[%d]byte", n/8), body: storeVector(n)},
	} {
		g.add(f, fn)
	}
}

func eachWord(words int, format, between string) string {
	out := ""
	for i := range words {
		if i > 0 {
			out += between
		}
		out += fmt.Sprintf(format, i)
	}
	return out
}

func nextBody(n int) string {
	return fmt.Sprintf(`i++
if i >= %d {
	return -1
}
at := uint(i) / 64
word := b[at] << (uint(i) %% 64) >> (uint(i) %% 64)
for word == 0 {
	if at++; at == uint(len(b)) {
		return -1
	}
	word = b[at]
}
return int(at)*64 + bits.LeadingZeros64(word)`, n)
}

// loadVector prints a composite literal of words; a last, shorter word is filled from its most significant end.
func loadVector(n int) string {
	out := "return " + fmt.Sprintf("Bits%d{\n", n)
	for at := 0; at < n/8; at += 8 {
		size := min(8, n/8-at)
		v := convert(loadWord("src", at, size), "uint64")
		if size < 8 {
			v.code = fmt.Sprintf("%s<<%d", v.at(5), 64-8*size)
		}
		out += v.code + ",\n"
	}
	return out + "}"
}

func storeVector(n int) string {
	out := ""
	for at := 0; at < n/8; at += 8 {
		size := min(8, n/8-at)
		v := operand(fmt.Sprintf("b[%d]", at/8), "uint64")
		if size < 8 {
			typ := uintType(size * 8)
			v = val{fmt.Sprintf("%s(b[%d] >> %d)", typ, at/8, 64-8*size), typ, 6}
		}
		out += storeWord("dst", at, size, v)
	}
	return out
}
