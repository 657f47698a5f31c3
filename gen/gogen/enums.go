// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// enums prints the schema's constants and enumerations.
func (g *generator) enums(f *jen.File) {
	doc(f, "WireHash names the wire format: it changes exactly when some packet is read or written differently.")
	f.Const().Id("WireHash").Op("=").Lit(g.p.WireHash)
	f.Line()
	for _, c := range g.p.Consts {
		doc(f, titled(c.Name.Go, c.Doc)...)
		f.Const().Id(c.Name.Go).Op("=").Op(fmt.Sprint(c.Value))
		f.Line()
	}
	for _, e := range g.p.Enums {
		g.enum(f, e)
	}
}

func (g *generator) enum(f *jen.File, e *gen.Enum) {
	name := e.Name.Go
	lines := titled(name, e.Doc)
	if e.Closed {
		lines = append(lines, "Other numbers than the members' are refused.")
	}
	doc(f, lines...)
	f.Type().Id(name).Id(uintType(e.Held))
	f.Line()
	doc(f, "Members of "+name+".")
	f.Const().DefsFunc(func(defs *jen.Group) {
		for _, m := range e.Members {
			for _, l := range m.Doc {
				defs.Comment(commentLine(l))
			}
			for _, c := range memberConsts(e, m) {
				defs.Id(c.name).Id(name).Op("=").Op(fmt.Sprintf("0x%0*x", (e.Bits+3)/4, c.value))
			}
		}
	})
	f.Line()
	g.enumString(f, e)
	for _, m := range e.Members {
		if m.First != m.Last {
			g.enumRange(f, e, m)
		}
	}
}

type memberConst struct {
	name  string
	value uint64
}

func memberConsts(e *gen.Enum, m *gen.Member) []memberConst {
	name := e.Name.Go + m.Name.Go
	if m.First == m.Last {
		return []memberConst{{name, m.First}}
	}
	return []memberConst{{name + "Min", m.First}, {name + "Max", m.Last}}
}

func (g *generator) enumString(f *jen.File, e *gen.Enum) {
	name, recv := e.Name.Go, receiver(e.Name.Go)
	var b body
	b.line("switch %s {", recv)
	for _, m := range e.Members {
		if m.First == m.Last {
			b.line("case %s%s:\nreturn %q", name, m.Name.Go, m.Name.Schema)
		}
	}
	b.line("}")
	number := fmt.Sprintf("strconv.FormatUint(uint64(%s), 10)", recv)
	for _, m := range e.Members {
		if m.First != m.Last {
			b.line("if %s.Is%s() {\nreturn \"%s(\" + %s + \")\"\n}", recv, m.Name.Go, m.Name.Schema, number)
		}
	}
	b.line("return \"%s(\" + %s + \")\"", name, number)
	g.add(f, function{
		doc:  []string{"String is the member's name, or the number of one that has none."},
		recv: recv + " " + name, name: "String", results: "string", body: b.String(),
	})
}

func (g *generator) enumRange(f *jen.File, e *gen.Enum, m *gen.Member) {
	recv, name := receiver(e.Name.Go), e.Name.Go+m.Name.Go
	var cond string
	switch {
	case m.First == 0:
		cond = fmt.Sprintf("%s <= %sMax", recv, name)
	case m.Last == 1<<e.Held-1 && e.Held == typeBits(uintType(e.Held)):
		cond = fmt.Sprintf("%s >= %sMin", recv, name)
	default:
		cond = fmt.Sprintf("%s >= %sMin && %s <= %sMax", recv, name, recv, name)
	}
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Is%s tells whether the number lies in the range that the schema calls %s.", m.Name.Go, m.Name.Schema)},
		recv: recv + " " + e.Name.Go, name: "Is" + m.Name.Go, results: "bool", body: "return " + cond,
	})
}
