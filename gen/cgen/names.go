// SPDX-License-Identifier: Apache-2.0

package cgen

import "strconv"

// nameSources prints the functions that turn numbers into names.
func (g *generator) nameSources(p *printer) {
	p.line("#ifndef %sNO_STRINGS", g.upper)
	p.line("")
	g.codeNames(p)
	g.fieldNames(p)
	for _, e := range g.p.Enums {
		t := g.tag(e.Name)
		p.line("const char *%s_name(%s_t v)", t, t)
		p.line("{")
		p.line("switch (v) {")
		ranges := false
		for _, m := range e.Members {
			if m.First != m.Last {
				ranges = true
				continue
			}
			p.line("case %s:", g.macro(e.Name.C, m.Name.C))
			p.line("return %s;", strconv.Quote(m.Name.Schema))
		}
		p.line("default:")
		for _, m := range e.Members {
			if ranges && m.First != m.Last {
				p.line("if (%s_is_%s(v)) {", t, m.Name.C)
				p.line("return %s;", strconv.Quote(m.Name.Schema))
				p.line("}")
			}
		}
		p.line("return \"unknown\";")
		p.line("}")
		p.line("}")
		p.line("")
	}
	p.line("#endif")
}

func (g *generator) codeNames(p *printer) {
	for _, f := range []struct {
		name string
		text func(name, text string) string
	}{
		{"error_name", func(name, _ string) string { return name }},
		{"error_text", func(_, text string) string { return text }},
	} {
		p.line("const char *%s%s(int32_t code)", g.pfx, f.name)
		p.line("{")
		p.line("switch (code < 0 && code >= -INT32_MAX ? -code : code) {")
		for _, c := range g.p.Codes {
			p.line("case %s%s:", g.upper, c.Name)
			p.line("return %s;", strconv.Quote(f.text(c.Name, c.Text)))
		}
		p.line("default:")
		p.line("return \"unknown\";")
		p.line("}")
		p.line("}")
		p.line("")
	}
}

func (g *generator) fieldNames(p *printer) {
	p.line("const char *%sfield_name(uint16_t field)", g.pfx)
	p.line("{")
	p.line("static const char *const names[%sFIELD_COUNT] = {", g.upper)
	p.line("\"\",")
	for _, f := range g.fields {
		p.line("%s,", strconv.Quote(f.name))
	}
	p.line("};")
	p.line("")
	p.line("return field < %sFIELD_COUNT ? names[field] : \"unknown\";", g.upper)
	p.line("}")
	p.line("")
}
