// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/bits"
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// checksum reads a crc block and verifies its check value.
func (c *compiler) checksum(n *named, d *syntax.Sum) {
	n.sum = &Sum{Name: typeName(n.name), Doc: c.f.Doc(n.decl.Pos), Width: c.width(d.Width)}
	c.origin[n.sum] = n.pos
	c.p.Sums = append(c.p.Sums, n.sum)
	if n.sum.Width == 0 {
		return
	}
	if d.Kind == "sum" {
		n.sum.Kind = algorithmOf(d.Keys)
	}
	if n.sum.Width%8 != 0 {
		c.report("E0602", d.Width.Pos, "a sum of %d bits does not fill its bytes", n.sum.Width)
		return
	}
	seen := map[string]bool{}
	for _, k := range d.Keys {
		if seen[k.Key.Text] {
			c.report("E0102", k.Key.Pos, "`%s` stands twice", k.Key.Text)
		}
		seen[k.Key.Text] = true
		c.sumKey(n.sum, k)
	}
	needed := []string{"width", "poly", "init", "xorout", "check"}
	if n.sum.Kind != SumCRC {
		needed = []string{"algorithm", "width", "check"}
		if bits := sumBits[n.sum.Kind]; n.sum.Width != bits {
			c.report("E0602", d.Width.Pos, "this sum has %d bits", bits)
			return
		}
	}
	for _, key := range needed {
		if !seen[key] {
			c.report("E0602", n.pos, "`%s` is missing", key)
			return
		}
	}
	if got := n.sum.Of([]byte("123456789")); got != n.sum.Check && len(c.f.Diags) == 0 {
		c.report("E0601", n.pos, "the sum of \"123456789\" is 0x%x and not 0x%x", got, n.sum.Check)
	}
}

func (c *compiler) sumKey(s *Sum, k *syntax.SumPart) {
	crcKey := slices.Contains([]string{"reflect", "order", "poly", "init", "xorout"}, k.Key.Text)
	if crc := s.Kind == SumCRC; !crc && crcKey || crc && k.Key.Text == "algorithm" {
		c.report("E0602", k.Key.Pos, "this sum has no key `%s`", k.Key.Text)
		return
	}
	switch k.Key.Text {
	case "algorithm":
		if len(k.Values) != 1 || algorithms[k.Values[0].Word] == SumCRC {
			c.report("E0602", k.Values[0].Pos, "the algorithm is ones_complement, fletcher, sum8 or xor8")
		}
	case "reflect":
		c.reflect(s, k)
	case "order":
		s.Little = c.sumWord(k, "little", "big") == "little"
	case "width":
		if v, ok := c.sumNumber(k, 64); ok && int(v) != s.Width {
			c.report("E0602", k.Values[0].Pos, "the width is %d here and %d above", v, s.Width)
		}
	case "poly", "init", "xorout", "check":
		into := map[string]*uint64{"poly": &s.Poly, "init": &s.Init, "xorout": &s.XorOut, "check": &s.Check}
		if v, ok := c.sumNumber(k, maxOfBits(s.Width)); ok {
			*into[k.Key.Text] = v
		}
	default:
		c.report("E0602", k.Key.Pos, "a crc has no key `%s`", k.Key.Text)
	}
}

// algorithms are the kinds of a `sum`, sumBits their widths.
var (
	algorithms = map[string]SumKind{"ones_complement": SumOnes, "fletcher": SumFletcher, "sum8": SumAdd, "xor8": SumXor}
	sumBits    = map[SumKind]int{SumOnes: 16, SumFletcher: 16, SumAdd: 8, SumXor: 8}
)

// algorithmOf finds the kind of a `sum`; that of the Internet where the schema names none that exists.
func algorithmOf(keys []*syntax.SumPart) SumKind {
	for _, k := range keys {
		if kind := algorithms[k.Values[0].Word]; k.Key.Text == "algorithm" && kind != SumCRC {
			return kind
		}
	}
	return SumOnes
}

func (c *compiler) reflect(s *Sum, k *syntax.SumPart) {
	for _, v := range k.Values {
		switch v.Word {
		case "in":
			s.ReflectIn = true
		case "out":
			s.ReflectOut = true
		default:
			c.report("E0602", v.Pos, "`reflect` takes in, out or both")
		}
	}
}

func (c *compiler) sumNumber(k *syntax.SumPart, most uint64) (uint64, bool) {
	v, ok := syntax.ParseNumber(k.Values[0].Number)
	if len(k.Values) != 1 || !ok {
		c.report("E0602", k.Values[0].Pos, "`%s` takes one number", k.Key.Text)
		return 0, false
	}
	if !v.IsUint64() || v.Uint64() > most {
		c.report("E0307", k.Values[0].Pos, "%s needs more than %d bits", v, bits.Len64(most))
		return 0, false
	}
	return v.Uint64(), true
}

func (c *compiler) sumWord(k *syntax.SumPart, words ...string) string {
	for _, w := range words {
		if len(k.Values) == 1 && k.Values[0].Word == w {
			return w
		}
	}
	c.report("E0602", k.Values[0].Pos, "`%s` takes %s or %s", k.Key.Text, words[0], words[1])
	return ""
}
