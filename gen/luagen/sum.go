// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// sumField is a checksum field of the packet. Its number in the generated file is its index plus one.
type sumField struct {
	item  *gen.Item
	path  string
	owner *gen.Struct
}

// sumOf registers the checksum field that lies at p in a run, and returns its number.
func (g *generator) sumOf(p place) int {
	it := p.last()
	for i, o := range g.sums {
		if o.item == it {
			return i + 1
		}
	}
	g.sums = append(g.sums, sumField{it, pathText(p.path), it.Owner})
	return len(g.sums)
}

// checksums prints the table SUMS that verifies the registered fields.
func (g *generator) checksums() error {
	if len(g.sums) > 0 {
		g.embed(runtimeCRC)
	}
	if slices.ContainsFunc(g.sums, func(f sumField) bool { return f.item.Scalar.Sum.Sum.Kind > gen.SumOnes }) {
		g.embed(runtimeSums)
	}
	g.open("local SUMS = {")
	for _, f := range g.sums {
		owner := f.owner
		if owner == nil {
			owner = g.roots[0]
		}
		abbr := g.filter(owner, f.item) + ".status"
		if err := g.claim(f.item, abbr); err != nil {
			return err
		}
		s := f.item.Scalar
		g.line("{ path = %s, size = %d, little = %t, status = field(ProtoField.uint8(%s, \"Checksum status\", base.DEC, SUM_STATUS)),",
			quote(f.path), s.Bits/8, little(s), quote(abbr))
		if g.covers() {
			g.line("  before = %t, zero_none = %t,", s.Sum.Before, s.Sum.ZeroNone)
		}
		g.line("  of = %s },", g.sumText(s.Sum.Sum))
	}
	g.shut("}")
	g.line("")
	return nil
}

// sumText makes the function that computes a checksum, or nil when it is too wide for the bit library.
func (g *generator) sumText(s *gen.Sum) string {
	switch {
	case s.Kind == gen.SumOnes:
		return "ones"
	case s.Kind == gen.SumAdd:
		return "sum8"
	case s.Kind == gen.SumXor:
		return "xor8"
	case s.Kind == gen.SumFletcher:
		return "fletcher"
	case s.Width > 32:
		return "nil"
	case g.covers():
		return "over(" + crcText(s) + ")"
	}
	return crcText(s)
}

func crcText(s *gen.Sum) string {
	return fmt.Sprintf("crc({ width = %d, poly = 0x%x, init = 0x%x, xorout = 0x%x, reflect_in = %t, reflect_out = %t })",
		s.Width, s.Poly, s.Init, s.XorOut, s.ReflectIn, s.ReflectOut)
}
