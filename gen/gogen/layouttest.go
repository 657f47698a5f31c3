// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// layoutTest prints a test that each getter reads the bits that the schema gives to the item, and that each checksum has its check value.
func (g *generator) layoutTest(f *jen.File) {
	for _, s := range g.all {
		if s.FixedSize && s.Max > 0 && len(scalarParts(s)) > 0 {
			g.viewTest(f, s)
		}
	}
	for _, s := range g.p.Sums {
		g.add(f, function{
			name: "Test" + s.Name.Go + "HasCheckValue", params: "t *testing.T",
			body: fmt.Sprintf("if got := %s([]byte(\"123456789\")); got != %#x {\nt.Errorf(\"got %%#x, want %#x\", got)\n}", sumFunc(s), s.Check, s.Check),
		})
	}
}

func scalarParts(s *gen.Struct) []gen.Part {
	var out []gen.Part
	for _, p := range fixedParts(s) {
		if p.Item.Scalar != nil && hasField(p.Item) && !p.Item.Scalar.Signed && !little(p.Item.Scalar) {
			out = append(out, p)
		}
	}
	return out
}

// viewTest sets one item at a time to all ones and compares the bytes, and the getter, with the layout.
func (g *generator) viewTest(f *jen.File, s *gen.Struct) {
	name := viewName(s)
	var b body
	for _, p := range scalarParts(s) {
		it := p.Item
		ones, want := operand(mask(it.Scalar.Bits), "const").code, "true"
		if it.Scalar.Flag {
			ones = "true"
		} else {
			want = ones
		}
		b.line("{\nvar view %s\nview.Set%s(%s)", name, it.Name.Go, ones)
		b.line("want := %s{%s}", name, onesLiteral(p.Bit, it.Scalar.Bits))
		b.line("if view != want {\nt.Errorf(\"%s: got %%x, want %%x\", view, want)\n}", it.Name.Schema)
		b.line("if got := view.%s(); got != %s {\nt.Errorf(\"%s: got %%v\", got)\n}\n}", it.Name.Go, want, it.Name.Schema)
	}
	g.add(f, function{name: "Test" + name + "FollowsLayout", params: "t *testing.T", body: b.String()})
}

// onesLiteral prints the bytes of an array in which a row of bits is set.
func onesLiteral(bit, bits int) string {
	out := ""
	for at := bit / 8; at*8 < bit+bits; at++ {
		octet := 0
		for i := range 8 {
			if b := at*8 + i; b >= bit && b < bit+bits {
				octet |= 0x80 >> i
			}
		}
		if out != "" {
			out += ", "
		}
		out += fmt.Sprintf("%d: %#02x", at, octet)
	}
	return out
}
