// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// layoutTest prints a test that each getter reads the bits that the schema gives to the item, and that each checksum has its check value.
func (g *generator) layoutTest(f *jen.File) {
	views := 0
	for _, s := range g.all {
		if s.FixedSize && s.Max > 0 && len(scalarParts(s)) > 0 {
			g.viewTest(f, s)
			views++
		}
	}
	if views > 0 {
		g.layoutCheck(f)
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

// viewTest prints a table of the items' places, which checkLayout compares with what getters and setters touch.
func (g *generator) viewTest(f *jen.File, s *gen.Struct) {
	name := viewName(s)
	var b body
	b.line("var view %s", name)
	b.line("checkLayout(t, view[:], []layoutItem{")
	for _, p := range scalarParts(s) {
		it := p.Item
		ones, zeros, full := mask(it.Scalar.Bits), "0", fmt.Sprintf("view.%s() == %s", it.Name.Go, mask(it.Scalar.Bits))
		if it.Scalar.Flag {
			ones, zeros, full = "true", "false", fmt.Sprintf("view.%s()", it.Name.Go)
		}
		b.line("{%q, %d, %d, func() { view.Set%s(%s) }, func() { view.Set%s(%s) }, func() bool { return %s }},",
			it.Name.Schema, p.Bit, it.Scalar.Bits, it.Name.Go, ones, it.Name.Go, zeros, full)
	}
	b.line("})")
	g.add(f, function{name: "Test" + name + "FollowsLayout", params: "t *testing.T", body: b.String()})
}

// layoutCheck prints the table's type and the check of its rows.
func (g *generator) layoutCheck(f *jen.File) {
	doc(f, "layoutItem is an item's place in bits from the start of its header, and what sets all of it, clears it and tells whether it is full.")
	f.Type().Id("layoutItem").Struct(
		jen.Id("name").String(),
		jen.Id("bit").Op(",").Id("bits").Int(),
		jen.Id("fill").Op(",").Id("empty").Func().Params(),
		jen.Id("full").Func().Params().Bool(),
	)
	f.Line()
	g.add(f, function{
		doc:  []string{"checkLayout tells whether each item's setter changes the item's bits and no others, and its getter reads them."},
		name: "checkLayout", params: "t *testing.T, view []byte, items []layoutItem",
		body: `t.Helper()
for _, item := range items {
	clear(view)
	item.fill()
	for at := range len(view) * 8 {
		set := view[at/8]&(0x80>>(at%8)) != 0
		if in := at >= item.bit && at < item.bit+item.bits; set != in {
			t.Errorf("%s: filled in an empty header, bit %d is %v", item.name, at, set)
		}
	}
	for at := range view {
		view[at] = 0xff
	}
	if !item.full() {
		t.Errorf("%s: not full in a full header", item.name)
	}
	item.empty()
	for at := range len(view) * 8 {
		set := view[at/8]&(0x80>>(at%8)) != 0
		if in := at >= item.bit && at < item.bit+item.bits; set == in {
			t.Errorf("%s: emptied in a full header, bit %d is %v", item.name, at, set)
		}
	}
	if item.full() {
		t.Errorf("%s: still full when emptied", item.name)
	}
}`,
	})
}
