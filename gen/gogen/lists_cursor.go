// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// listCursor prints the type that visits the elements of a list where they lie.
func (g *generator) listCursor(f *jen.File, l *gen.List) {
	name, head := l.Name.Go, viewName(l.Head)
	cursor := name + "Cursor"
	g.listMeasure(f, l)
	doc(f, fmt.Sprintf("%s visits the elements of the %s in src where they lie, unknown ones included, and decodes none of their values.", cursor, name))
	f.Type().Id(cursor).Struct(jen.Id("src").Index().Byte(), jen.Id("off").Int(), jen.Id("err").Error())
	f.Line()
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Scan%s visits the %s that is all of src.", name, name)},
		name: "Scan" + name, params: "src []byte", results: cursor, body: "return " + cursor + "{src: src}",
	})
	var b body
	b.line("src := c.src[c.off:]")
	skips, ends := bareTest(l), l.End != nil
	if skips != "" {
		b.line("for len(src) > 0 && (%s) {\nc.off, src = c.off+1, src[1:]\n}", strings.ReplaceAll(skips, "src[off]", "src[0]"))
	}
	if ends {
		b.line("if len(src) == 0 || src[0] == %d {\nreturn nil, nil, false\n}", *l.End)
	} else {
		b.line("if len(src) == 0 {\nreturn nil, nil, false\n}")
	}
	b.line("if len(src) < %s {\nc.err = short(\"\", c.off, %s)\nreturn nil, nil, false\n}\nhead = (*%s)(src)", g.sizeConst(l.Head), g.sizeConst(l.Head), head)
	b.line("if err := head.Check(); err != nil {\nc.err = headFault(err, c.off)\nreturn nil, nil, false\n}")
	b.line("size, end := measure%s(head)", name)
	b.line("if size > len(src) {\nc.err = short(\"\", c.off, size)\nreturn nil, nil, false\n}")
	b.line("c.off += size\nreturn head, src[%s:end:end], true", g.sizeConst(l.Head))
	g.add(f, function{
		doc:  []string{"Next is the head and the value of the next element; false at the end of the list, and where an element does not fit into it."},
		recv: "c *" + cursor, name: "Next", results: fmt.Sprintf("(head *%s, value []byte, ok bool)", head), body: b.String(),
	})
	g.add(f, function{
		doc:  []string{"Err is the error of an element that did not fit; nil if there was none."},
		recv: "c *" + cursor, name: "Err", results: "error", body: "return c.err",
	})
	g.add(f, function{
		doc:  []string{"All yields what Next returns, up to the first element that does not fit."},
		recv: "c " + cursor, name: "All", results: fmt.Sprintf("iter.Seq2[*%s, []byte]", head),
		body: fmt.Sprintf("return func(yield func(*%s, []byte) bool) {\nfor head, value, ok := c.Next(); ok && yield(head, value); head, value, ok = c.Next() {\n}\n}", head),
	})
}

// listMeasure prints the function that measures an element by its head.
func (g *generator) listMeasure(f *jen.File, l *gen.List) {
	head := g.sizeConst(l.Head)
	var b body
	sc := &scope{g: g, self: "view", getters: true}
	if v, ok := smallConst(l.Length); ok {
		b.line("end = %s + %s", head, v)
	} else {
		b.line("end = %s + int(min(%s, 1<<30))", head, convert(sc.expr(l.Length), "uint64").code)
	}
	if l.ElementAlign > 1 {
		b.line("return end + shortOf(end, %d), end", l.ElementAlign)
	} else {
		b.line("return end, end")
	}
	g.add(f, function{
		doc:  []string{"measure" + l.Name.Go + " is the size of an element, and the end of its value."},
		name: "measure" + l.Name.Go, params: "view *" + viewName(l.Head), results: "(size, end int)", body: b.String(),
	})
}
