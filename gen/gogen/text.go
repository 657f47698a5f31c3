// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// texts prints Fields, which spells a packet's values as the test vectors do.
func (g *generator) texts(f *jen.File) {
	for _, s := range g.all {
		if g.headOf(s) != nil {
			continue
		}
		if s.Packet {
			g.add(f, function{
				doc: []string{"Fields calls yield with the path and the value of every item that the packet has, in wire order.",
					"Numbers are decimal, flags 0 or 1, bytes and bit vectors hex:..., strings text:..., padding its length."},
				recv: method(s), name: "Fields", params: commas(params(s), "yield func(path, value string)"),
				body: fmt.Sprintf("%s.fields(%s)", receiver(s.Name.Go), commas("\"\"", paramNames(s), "yield")),
			})
		}
		var b body
		for _, it := range s.Items {
			g.itemText(&b, s, it)
		}
		g.add(f, function{
			recv: method(s), name: "fields", params: commas("prefix string", params(s), "yield func(path, value string)"), body: b.String(),
		})
	}
	for _, l := range g.p.Lists {
		g.listText(f, l)
	}
	for _, n := range g.vectorSizes() {
		g.add(f, function{
			recv: fmt.Sprintf("b Bits%d", n), name: "text", results: "string",
			body: fmt.Sprintf("var octets [%d]byte\nb.store(&octets)\nreturn \"hex:\" + hex.EncodeToString(octets[:])", n/8),
		})
	}
}

// itemText prints the calls of yield for one item.
func (g *generator) itemText(b *body, s *gen.Struct, it *gen.Item) {
	self := receiver(s.Name.Go)
	if !hasField(it) && it.Name.Schema == "_" {
		return
	}
	if it.When != nil {
		b.line("if %s {", g.fieldScope(s).truth(it.When).code)
		defer b.line("}")
	}
	field, path := self+"."+it.Name.Go, fmt.Sprintf("prefix+%q", it.Name.Schema)
	switch it.Kind {
	case gen.KindStruct:
		g.nestedText(b, field, it.Name.Schema, g.fieldScope(s).args(it.Struct, it.Args))
	case gen.KindList:
		g.nestedText(b, field, it.Name.Schema, g.fieldScope(s).handed(it))
	case gen.KindArray:
		g.arrayText(b, s, it)
	case gen.KindSwitch:
		g.switchText(b, s, it)
	case gen.KindBits:
		b.line("yield(%s, %s.text())", path, field)
	case gen.KindSpan:
		b.line("yield(%s, %s)", path, spanText(field, it.Span))
	default:
		b.line("yield(%s, %s)", path, scalarText(operand(field, scalarType(it.Scalar)), it.Scalar))
	}
}

func (g *generator) nestedText(b *body, field, name, args string) {
	b.line("%s.fields(%s)", field, commas(fmt.Sprintf("prefix+%q", name+"."), args, "yield"))
}

func scalarText(v val, s *gen.Scalar) string {
	switch {
	case s.Flag:
		return "flagText(" + v.code + ")"
	case s.Signed:
		return "strconv.FormatInt(int64(" + v.code + "), 10)"
	}
	return "strconv.FormatUint(" + convert(v, "uint64").code + ", 10)"
}

func spanText(field string, s *gen.Span) string {
	switch {
	case s.Kind == gen.SpanPad && s.Fixed >= 0:
		return fmt.Sprintf("%q", fmt.Sprint(s.Fixed))
	case s.Kind == gen.SpanPad:
		return "strconv.Itoa(" + field + ")"
	case s.Kind == gen.SpanString:
		return "\"text:\" + " + field
	case s.Fixed >= 0:
		return "\"hex:\" + hex.EncodeToString(" + field + "[:])"
	}
	return "\"hex:\" + hex.EncodeToString(" + field + ")"
}

func (g *generator) arrayText(b *body, s *gen.Struct, it *gen.Item) {
	field := receiver(s.Name.Go) + "." + it.Name.Go
	b.line("for index := range %s {", field)
	if st := it.Array.Struct; st != nil {
		args := g.fieldScope(s).args(st, it.Array.Args)
		b.line("%s[index].fields(%s)", field, commas(fmt.Sprintf("prefix+indexed(%q, index)+\".\"", it.Name.Schema), args, "yield"))
	} else {
		b.line("yield(prefix+indexed(%q, index), %s)", it.Name.Schema, scalarText(operand(field+"[index]", scalarType(it.Array.Scalar)), it.Array.Scalar))
	}
	b.line("}")
}

func (g *generator) switchText(b *body, s *gen.Struct, it *gen.Item) {
	self := receiver(s.Name.Go)
	sel := g.fieldScope(s).resolve(it.Switch.Selector)
	printSwitch(b, selection{sw: it.Switch, sel: sel}, func(a *gen.Arm) {
		if a.Struct != nil {
			g.nestedText(b, self+"."+a.Name.Go, snake(a.Name.Schema), g.fieldScope(s).args(a.Struct, a.Args))
		}
	}, "")
}

func (g *generator) listText(f *jen.File, l *gen.List) {
	self := receiver(l.Name.Go)
	var b body
	for _, c := range listOrder(l) {
		field := self + "." + c.Name.Go
		switch {
		case single(c) && c.Struct != nil:
			b.line("if %sPresent {", field)
			headText(&b, c, caseUse{value: field, path: fmt.Sprintf("prefix+%q", c.Name.Schema+".")})
			g.nestedText(&b, field, c.Name.Schema, g.caseArgs(c))
			b.line("}")
		case single(c):
			b.line("if %sPresent {\nyield(prefix+%q, \"1\")", field, c.Name.Schema)
			headText(&b, c, caseUse{value: field, path: fmt.Sprintf("prefix+%q", c.Name.Schema+".")})
			b.line("}")
		case hasElement(c):
			b.line("for index := range %s {", field)
			use := caseUse{value: field + "[index]", path: fmt.Sprintf("prefix+indexed(%q, index)+\".\"", c.Name.Schema)}
			headText(&b, c, use)
			if c.Struct != nil {
				b.line("%s.fields(%s)", use.value, commas(use.path, g.caseArgs(c), "yield"))
			} else {
				b.line("yield(prefix+indexed(%q, index), \"1\")", c.Name.Schema)
			}
			b.line("}")
		default:
			b.line("for index := range %s {\nyield(prefix+indexed(%q, index), \"1\")\n}", field, c.Name.Schema)
		}
	}
	g.add(f, function{recv: self + " *" + l.Name.Go, name: "fields", params: commas("prefix string", listParams(l), "yield func(path, value string)"), body: b.String()})
}

// headText prints the calls of yield for what an element keeps of its head; use.path is what stands before an item's name.
func headText(b *body, c *gen.Case, use caseUse) {
	for _, it := range c.Head {
		b.line("yield(%s+%q, %s)", use.path, it.Name.Schema, scalarText(operand(use.value+"."+it.Name.Go, scalarType(it.Scalar)), it.Scalar))
	}
}
