// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// lintPrototype declares the search for rules that receivers tolerate; nothing for a struct without any.
func (g *generator) lintPrototype(p *printer, s *gen.Struct) {
	if len(s.Lints) == 0 {
		return
	}
	if len(s.Lints) > 64 {
		g.unsupported(s, "`%s` has more than 64 rules with `else lint`", s.Name.Schema).Help("move some of them into a header of their own")
		return
	}
	lines := []string{"Which rules of " + s.Name.Schema + " in breaks that unpack tolerates, its nested structs aside: a bit for each.", ""}
	for i, c := range s.Lints {
		lines = append(lines, fmt.Sprintf("%s: %s", hexText(1<<uint(i)), c.Text))
	}
	t := g.tag(s.Name)
	p.doc(lines...)
	p.line("uint64_t %s_lint(const struct %s *in%s);", t, t, g.params(s))
}

func (g *generator) lintSource(p *printer, s *gen.Struct) {
	if len(s.Lints) == 0 {
		return
	}
	body := &printer{depth: 1}
	sc := scope{g: g, self: "in->"}
	for i, c := range s.Lints {
		body.line("if (%s) {", sc.not(c.Hold))
		body.line("broken |= %s;", hexText(1<<uint(i)))
		body.line("}")
	}
	t, text := g.tag(s.Name), body.buf.String()
	p.line("uint64_t %s_lint(const struct %s *in%s)", t, t, g.params(s))
	p.line("{")
	p.line("uint64_t broken = 0;")
	p.line("")
	for _, name := range append(plainNames(s), "in") {
		if !uses(text, name) {
			p.line("(void)%s;", name)
		}
	}
	p.buf.WriteString(text)
	p.line("return broken;")
	p.line("}")
	p.line("")
}

// dumpLint prints the broken rules in the test program.
func (g *generator) dumpLint(s *gen.Struct) string {
	if len(s.Lints) == 0 {
		return ""
	}
	return fmt.Sprintf("    printf(\"lint %%llx\\n\", (unsigned long long)%s_lint(&v%s));\n", g.tag(s.Name), passed(s))
}
