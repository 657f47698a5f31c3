// SPDX-License-Identifier: Apache-2.0

package layergen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// sum is a packet's checksum field, which lies at a constant distance from the packet's end.
type sum struct {
	item  *gen.Item
	size  int  // bytes
	tail  int  // bytes from the field's first one to the end of the packet
	cover bool // it covers more or less than what stands before it: the codec finds, computes and writes it
	outer bool // it covers what only the caller has
}

func (p *pkg) sumOf(s *gen.Struct) *sum {
	if n := sums(s); n > 1 {
		p.refused.Add(s, "`%s` has %d checksums", s.Name.Schema, n)
		return nil
	}
	for _, it := range s.Items {
		if it.Scalar == nil || it.Scalar.Sum == nil {
			continue
		}
		if cover := it.Scalar.Sum; !cover.Before || cover.ZeroNone {
			outer := slices.ContainsFunc(cover.Parts, func(p *gen.CoverPart) bool { return p.Kind == gen.CoverParam })
			return &sum{item: it, size: it.Scalar.Bits / 8, cover: true, outer: outer}
		}
		tail, ok := gen.TailSize(s.Steps, it)
		if !ok {
			p.refused.Add(it, "the checksum `%s` has no constant distance from the end", it.Name.Schema)
			return nil
		}
		if it.When != nil {
			if on := computed(it.When); on != nil {
				p.refused.Add(it, "whether `%s` is present depends on `%s`, which the encoder computes", it.Name.Schema, on.Name.Schema)
			}
		}
		return &sum{item: it, size: it.Scalar.Bits / 8, tail: tail}
	}
	return nil
}

// sums counts the checksums of a packet.
func sums(s *gen.Struct) int {
	n := 0
	for _, it := range s.Items {
		if it.Scalar != nil && it.Scalar.Sum != nil {
			n++
		}
	}
	return n
}

// Field is the name of the field.
func (s *sum) Field() string { return s.item.Name.Go }

// Optional tells whether some packets lack the field.
func (s *sum) Optional() bool { return s.item.When != nil }

// Binary tells whether encoding/binary stores numbers of this size.
func (s *sum) Binary() bool { return !s.outer && (s.size == 2 || s.size == 4 || s.size == 8) }

// Cover tells whether the codec finds, computes and writes the sum.
func (s *sum) Cover() bool { return s.cover }

// Outer tells whether the sum covers what only the caller has.
func (s *sum) Outer() bool { return s.outer }

// Store prints the statements that write a number at an offset.
func (s *sum) Store(buf, at, number string) string {
	order := "Big"
	if s.item.Scalar.Sum.Sum.Little {
		order = "Little"
	}
	typ := uintType(s.item.Scalar.Bits)
	if s.Binary() {
		return fmt.Sprintf("binary.%sEndian.Put%s(%s[%s:], %s)", order, "U"+typ[1:], buf, at, convert(typ, number))
	}
	var out []string
	for i := range s.size {
		shift := 8 * (s.size - 1 - i)
		if order == "Little" {
			shift = 8 * i
		}
		out = append(out, fmt.Sprintf("%s[%s+%d] = uint8(%s >> %d)", buf, at, i, number, shift))
	}
	return strings.Join(out, "\n")
}

func convert(typ, number string) string {
	if strings.HasSuffix(number, ".Want") && typ != "uint64" {
		return typ + "(" + number + ")"
	}
	return number
}

// FromEnd is the field's offset in a packet, as Go text.
func (s *sum) FromEnd(buf string) string { return fmt.Sprintf("len(%s)-%d", buf, s.tail) }
