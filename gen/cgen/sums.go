// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

func (g *generator) sumPrototypes(p *printer) {
	for _, s := range g.p.Sums {
		if s.Width%8 != 0 {
			g.unsupported(s, "the checksum `%s` has %d bits", s.Name.Schema, s.Width)
			continue
		}
		t := g.tag(s.Name)
		if g.late || s.Kind != gen.SumCRC {
			g.sumSteps(p, s)
		}
		if s.Kind != gen.SumCRC {
			p.doc(append(append([]string{}, s.Doc...),
				"Define "+strings.ToUpper(t)+"_EXTERNAL to bring your own, and "+t+"_add with it.")...)
			p.line("uint%d_t %s(const uint8_t *p, size_t n);", width(s.Width), t)
			p.line("")
			continue
		}
		p.doc(append(append([]string{}, s.Doc...),
			"A table of 256 words is used unless "+g.upper+"CRC_BITWISE is defined. Define "+strings.ToUpper(t)+"_EXTERNAL to bring your own,",
			"for example one that uses the processor's instructions.")...)
		p.line("uint%d_t %s(const uint8_t *p, size_t n);", width(s.Width), t)
		p.line("")
	}
}

func (g *generator) sumSources(p *printer) {
	for _, s := range g.p.Sums {
		if s.Kind != gen.SumCRC {
			g.plainSource(p, s)
		} else {
			g.sumSource(p, s)
		}
	}
}

// sumSource prints a CRC with its table, and its bitwise form.
func (g *generator) sumSource(p *printer, s *gen.Sum) {
	t, name := g.tag(s.Name), s.Name.C
	typ := fmt.Sprintf("uint%d_t", width(s.Width))
	p.line("/* ---- %s ---- */", s.Name.Schema)
	p.line("")
	p.line("#ifndef %s_EXTERNAL", strings.ToUpper(t))
	p.line("#ifdef %sCRC_BITWISE", g.upper)
	p.line("static %s %s_byte(uint8_t c)", typ, name)
	p.line("{")
	if s.ReflectIn {
		p.line("uint64_t v = c;")
	} else {
		p.line("uint64_t v = (uint64_t)c << %d;", s.Width-8)
	}
	p.line("int i;")
	p.line("")
	p.line("for (i = 0; i < 8; i++) {")
	if s.ReflectIn {
		p.line("v = (v & 1u) != 0u ? (v >> 1) ^ %s : v >> 1;", hexText(reflect(s.Poly, s.Width)))
	} else {
		p.line("v = (v & %s) != 0u ? (v << 1) ^ %s : v << 1;", hexText(1<<uint(s.Width-1)), hexText(s.Poly))
	}
	p.line("}")
	p.line("return (%s)(v & %s);", typ, maskText(s.Width))
	p.line("}")
	p.line("#else")
	p.line("static const %s %s_table[256] = {", typ, name)
	cell := "0x%0*xu"
	if s.Width > 32 {
		cell = "UINT64_C(0x%0*x)"
	}
	for i := 0; i < 256; i += 4 {
		var row []string
		for j := i; j < i+4; j++ {
			row = append(row, fmt.Sprintf(cell, s.Width/4, crcByte(s, uint8(j))))
		}
		p.line("%s,", strings.Join(row, ", "))
	}
	p.line("};")
	p.line("#define %s_byte(c) %s_table[c]", name, name)
	p.line("#endif")
	p.line("")
	g.sumLoop(p, s, typ)
	p.line("#endif")
	p.line("")
}

// sumLoop prints the public function over byte values, which come from the table or from eight steps each.
func (g *generator) sumLoop(p *printer, s *gen.Sum, typ string) {
	if g.late {
		p.line("%s %s_add(%s crc, const uint8_t *p, size_t n)", typ, g.tag(s.Name), typ)
		p.line("{")
	} else {
		p.line("%s %s(const uint8_t *p, size_t n)", typ, g.tag(s.Name))
		p.line("{")
		p.line("%s crc = %s;", typ, hexText(crcInit(s)))
	}
	p.line("size_t i;")
	p.line("")
	p.line("for (i = 0; i < n; i++) {")
	at := fmt.Sprintf("%s_byte((uint8_t)(crc ^ p[i]))", s.Name.C)
	rest := "crc >> 8"
	if !s.ReflectIn {
		at = fmt.Sprintf("%s_byte((uint8_t)((crc >> %d) ^ p[i]))", s.Name.C, s.Width-8)
		rest = "(uint64_t)crc << 8"
	}
	switch {
	case s.Width == 8:
		p.line("crc = %s;", at)
	case s.ReflectIn && s.Width >= 32:
		p.line("crc = (%s) ^ %s;", rest, at)
	default:
		p.line("crc = (%s)(((%s) ^ %s) & %s);", typ, rest, at, maskText(s.Width))
	}
	p.line("}")
	if s.ReflectIn != s.ReflectOut {
		g.unsupported(s, "the checksum `%s` reflects one side only", s.Name.Schema)
	}
	if g.late {
		p.line("return crc;")
		p.line("}")
		p.line("")
		g.wholeSum(p, s)
		return
	}
	if s.XorOut != 0 {
		p.line("return (%s)(crc ^ %s);", typ, hexText(s.XorOut))
	} else {
		p.line("return crc;")
	}
	p.line("}")
}

// crcInit is the register at the start.
func crcInit(s *gen.Sum) uint64 {
	if s.ReflectIn {
		return reflect(s.Init, s.Width)
	}
	return s.Init
}

// crcByte is what one byte contributes to a register of zeros.
func crcByte(s *gen.Sum, c uint8) uint64 {
	v, poly := uint64(c), reflect(s.Poly, s.Width)
	if !s.ReflectIn {
		v <<= uint(s.Width - 8)
	}
	for range 8 {
		switch {
		case s.ReflectIn && v&1 != 0:
			v = v>>1 ^ poly
		case s.ReflectIn:
			v >>= 1
		case v>>uint(s.Width-1)&1 != 0:
			v = v<<1 ^ s.Poly
		default:
			v <<= 1
		}
	}
	return v & ones(s.Width)
}

func reflect(v uint64, width int) uint64 { return bits.Reverse64(v) >> uint(64-width) }
