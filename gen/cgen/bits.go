// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// window is the bytes that hold a scalar: n bytes from byte on; the scalar ends shift bits before their end.
type window struct{ byte, n, shift, bits int }

func windowOf(bit, bits int) window {
	first, last := bit/8, (bit+bits-1)/8
	return window{byte: first, n: last - first + 1, shift: (last+1)*8 - bit - bits, bits: bits}
}

func maskText(bits int) string {
	switch {
	case bits >= 64:
		return "UINT64_MAX"
	case bits > 32:
		return fmt.Sprintf("UINT64_C(0x%x)", uint64(1)<<uint(bits)-1)
	}
	return fmt.Sprintf("0x%xu", uint64(1)<<uint(bits)-1)
}

// load is the C expression for n bytes at p+off, first byte most significant (or least, for little).
func (g *generator) load(p string, off, n int, order string) string {
	if n == 1 {
		return fmt.Sprintf("%s[%d]", p, off)
	}
	return fmt.Sprintf("%sload%d%s(%s)", g.pfx, n*8, order, plus(p, off))
}

func (g *generator) store(p string, off, n int, order string) string {
	return fmt.Sprintf("%sstore%d%s(%s, ", g.pfx, n*8, order, plus(p, off))
}

func plus(p string, off int) string {
	if off == 0 {
		return p
	}
	return fmt.Sprintf("%s + %d", p, off)
}

func order(s *gen.Scalar) string {
	if little(s) {
		return "le"
	}
	return ""
}

// whole tells whether the window holds nothing but the scalar.
func (w window) whole() bool { return w.shift == 0 && w.bits == w.n*8 }

// extract is the C expression of the scalar's value; word is the value of its window, which is wordBits wide.
func (w window) extract(word string, wordBits int) string {
	if w.shift > 0 {
		word = fmt.Sprintf("%s >> %d", word, w.shift)
	}
	if w.shift+w.bits < wordBits {
		if w.shift > 0 {
			word = "(" + word + ")"
		}
		word += " & " + maskText(w.bits)
	}
	return word
}

// raw is the C expression of the bits of scalar s at bit of p, of some unsigned type.
func (g *generator) raw(s *gen.Scalar, p string, bit int) string {
	w := windowOf(bit, s.Bits)
	if w.n > 8 { // 57 to 64 bits that begin inside a byte
		high := fmt.Sprintf("%s << %d", g.load(p, w.byte, 8, ""), 8-w.shift)
		low := fmt.Sprintf("(uint64_t)%s >> %d", g.load(p, w.byte+8, 1, ""), w.shift)
		return fmt.Sprintf("((%s) | (%s)) & %s", high, low, maskText(s.Bits))
	}
	return w.extract(g.load(p, w.byte, w.n, order(s)), w.n*8)
}

// get is the C expression of scalar s at bit of p, of the C type of s.
func (g *generator) get(s *gen.Scalar, p string, bit int) string {
	w := windowOf(bit, s.Bits)
	if w.n > 8 {
		return g.cast(s, g.raw(s, p, bit))
	}
	word := g.load(p, w.byte, w.n, order(s))
	if w.whole() {
		return g.cast(s, word)
	}
	if s.Bits == 1 && s.Flag {
		return fmt.Sprintf("(%s & %s) != 0u", word, hexText(uint64(1)<<uint(w.shift)))
	}
	return g.cast(s, w.extract(word, w.n*8))
}

func hexText(n uint64) string {
	if n > 0xffffffff {
		return fmt.Sprintf("UINT64_C(0x%x)", n)
	}
	return fmt.Sprintf("0x%02xu", n)
}

// cast turns an unsigned expression of s.Bits significant bits into the C type of s.
func (g *generator) cast(s *gen.Scalar, expr string) string {
	t := g.scalarType(s)
	switch {
	case s.Flag:
		return fmt.Sprintf("(%s) != 0u", expr)
	case s.Signed:
		return fmt.Sprintf("(%s)%ssign(%s, %d)", t, g.pfx, expr, s.Bits)
	case s.Bits == width(s.Bits) && isCall(expr):
		return expr
	}
	return fmt.Sprintf("(%s)(%s)", t, expr)
}

// isCall tells whether expr is one name or path, possibly called or indexed once: it needs no brackets anywhere.
func isCall(expr string) bool {
	name := strings.TrimLeft(expr, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.->")
	if name == "" {
		return true
	}
	if name[0] != '(' && name[0] != '[' || name == expr {
		return false
	}
	depth := 0
	for i, c := range name {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
			if depth == 0 {
				return i == len(name)-1
			}
		}
	}
	return false
}

// group is a byte-aligned stretch of scalars that are loaded and stored as one word of n bytes.
type group struct {
	parts []gen.Part
	byte  int
	n     int
}

// groups cuts consecutive scalars into words at byte boundaries. A stretch of more than 64 bits without one stays a group
// of more than 8 bytes.
func groups(parts []gen.Part) []group {
	var out []group
	open := false
	for _, p := range parts {
		if p.Item.Scalar == nil || p.Item.Kind == gen.KindArray {
			open = false
			continue
		}
		if !open {
			out = append(out, group{byte: p.Bit / 8})
		}
		last := &out[len(out)-1]
		last.parts = append(last.parts, p)
		end := p.Bit + p.Item.Scalar.Bits
		last.n = (end+7)/8 - last.byte
		open = end%8 != 0
	}
	return out
}
