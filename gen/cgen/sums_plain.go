// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// sumSteps prints how to compute a checksum over several parts.
func (g *generator) sumSteps(p *printer, s *gen.Sum) {
	t, reg, typ := g.tag(s.Name), fmt.Sprintf("uint%d_t", regBits(s)), fmt.Sprintf("uint%d_t", width(s.Width))
	begin, end := "0u", "reg"
	switch s.Kind {
	case gen.SumCRC:
		begin = hexText(crcInit(s))
		if s.XorOut != 0 {
			end = fmt.Sprintf("(%s)(reg ^ %s)", typ, hexText(s.XorOut))
		}
	case gen.SumOnes:
		end = "(uint16_t)(~reg & 0xffffu)"
	case gen.SumFletcher:
		end = "(uint16_t)(((reg >> 16) << 8) | (reg & 0xffu))"
	}
	p.doc("Begins " + s.Name.Schema + " over several parts: what " + t + "_add continues and " + t + "_end turns into the checksum.")
	p.line("static inline %s %s_begin(void)", reg, t)
	p.line("{")
	p.line("return %s;", begin)
	p.line("}")
	p.line("")
	p.doc("Continues with n bytes.")
	p.line("%s %s_add(%s reg, const uint8_t *p, size_t n);", reg, t, reg)
	p.line("")
	p.line("static inline %s %s_end(%s reg)", typ, t, reg)
	p.line("{")
	p.line("return %s;", end)
	p.line("}")
	p.line("")
}

// wholeSum prints the checksum over one part.
func (g *generator) wholeSum(p *printer, s *gen.Sum) {
	t := g.tag(s.Name)
	p.line("uint%d_t %s(const uint8_t *p, size_t n)", width(s.Width), t)
	p.line("{")
	p.line("return %s_end(%s_add(%s_begin(), p, n));", t, t, t)
	p.line("}")
}

// plainSource prints a checksum that is no CRC.
func (g *generator) plainSource(p *printer, s *gen.Sum) {
	t := g.tag(s.Name)
	p.line("/* ---- %s ---- */", s.Name.Schema)
	p.line("")
	p.line("#ifndef %s_EXTERNAL", strings.ToUpper(t))
	p.text(strings.ReplaceAll(sumTexts[s.Kind], "TAG", t))
	p.line("")
	g.wholeSum(p, s)
	p.line("#endif")
	p.line("")
}

// sumTexts add bytes to a register. That of the checksum of RFC 1071 is a sum of 16 bits and, above it, whether an odd number of
// bytes has been added; Fletcher's has its second sum in the upper half.
var sumTexts = map[gen.SumKind]string{
	gen.SumAdd: `
uint8_t TAG_add(uint8_t reg, const uint8_t *p, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        reg = (uint8_t)(reg + p[i]);
    }
    return reg;
}
`,
	gen.SumXor: `
uint8_t TAG_add(uint8_t reg, const uint8_t *p, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        reg = (uint8_t)(reg ^ p[i]);
    }
    return reg;
}
`,
	gen.SumFletcher: `
uint32_t TAG_add(uint32_t reg, const uint8_t *p, size_t n)
{
    uint32_t low = reg & 0xffffu;
    uint32_t high = reg >> 16;
    size_t i;

    for (i = 0; i < n; i++) {
        low = (low + p[i]) % 255u;
        high = (high + low) % 255u;
    }
    return (high << 16) | low;
}
`,
	gen.SumOnes: `
uint32_t TAG_add(uint32_t reg, const uint8_t *p, size_t n)
{
    uint64_t sum = reg & 0xffffu;
    uint32_t odd = reg >> 16;
    size_t i = 0;

    if (odd != 0u && n > 0) {
        sum += p[0];
        odd = 0;
        i = 1;
    }
    for (; n - i >= 2u; i += 2u) {
        sum += (uint32_t)(((uint32_t)p[i] << 8) | p[i + 1u]);
    }
    if (i < n) {
        sum += (uint32_t)p[i] << 8;
        odd = 1;
    }
    while (sum > 0xffffu) {
        sum = (sum & 0xffffu) + (sum >> 16);
    }
    return (odd << 16) | (uint32_t)sum;
}
`,
}
