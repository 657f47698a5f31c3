// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// sumField is a checksum field of the packet. Its number in the generated file is its index plus one.
type sumField struct {
	item  *gen.Item
	path  string
	owner *gen.Struct
}

// sumOf registers the checksum field that lies at p in a run of s, and returns its number.
func (g *generator) sumOf(s *gen.Struct, p place) (int, error) {
	it := p.last()
	if !it.Scalar.Sum.Before {
		return 0, fmt.Errorf("luagen: %s.%s covers something other than all before it", s.Name.Schema, it.Name.Schema)
	}
	for i, o := range g.sums {
		if o.item == it {
			return i + 1, nil
		}
	}
	g.sums = append(g.sums, sumField{it, pathText(p.path), it.Owner})
	return len(g.sums), nil
}

// checksums prints the table SUMS that verifies the registered fields.
func (g *generator) checksums() error {
	if len(g.sums) > 0 {
		g.embed(runtimeCRC)
	}
	g.open("local SUMS = {")
	for _, f := range g.sums {
		owner := f.owner
		if owner == nil {
			owner = g.root
		}
		abbr := g.filter(owner, f.item) + ".status"
		if err := g.claim(abbr); err != nil {
			return err
		}
		s := f.item.Scalar
		g.line("{ path = %s, size = %d, little = %t, status = field(ProtoField.uint8(%s, \"Checksum status\", base.DEC, SUM_STATUS)),",
			quote(f.path), s.Bits/8, little(s), quote(abbr))
		g.line("  of = %s },", crcText(s.Sum.Sum))
	}
	g.shut("}")
	g.line("")
	return nil
}

// crcText makes the function that computes a CRC, or nil when it is too wide for the bit library.
func crcText(s *gen.Sum) string {
	if s.Width > 32 {
		return "nil"
	}
	return fmt.Sprintf("crc({ width = %d, poly = 0x%x, init = 0x%x, xorout = 0x%x, reflect_in = %t, reflect_out = %t })",
		s.Width, s.Poly, s.Init, s.XorOut, s.ReflectIn, s.ReflectOut)
}
