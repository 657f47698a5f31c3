// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// put writes n over the number that v describes.
func put(b []byte, v *gen.Value, n uint64) {
	for i := range v.Scalar.Bits {
		at, weight := bitOf(v, i)
		m := byte(0x80) >> uint(at%8)
		b[at/8] &^= m
		if n>>uint(weight)&1 != 0 {
			b[at/8] |= m
		}
	}
}

// get reads the number that v describes.
func get(b []byte, v *gen.Value) uint64 {
	n := uint64(0)
	for i := range v.Scalar.Bits {
		at, weight := bitOf(v, i)
		n |= uint64(b[at/8]>>uint(7-at%8)&1) << uint(weight)
	}
	return n
}

// bitOf is where the i-th bit of a number lies, and its weight.
func bitOf(v *gen.Value, i int) (at, weight int) {
	little := v.Scalar.Bits > 8 && (v.Scalar.Little || v.Scalar.Sum != nil && v.Scalar.Sum.Sum.Little)
	if weight = v.Scalar.Bits - 1 - i; little {
		weight = i/8*8 + 7 - i%8
	}
	return v.Off*8 + v.Bit + i, weight
}

// resum computes the sums of s anew in b. A sum keeps its distance from the end.
// Other coverages than all before the sum need a packet that decodes.
func (g *generator) resum(s *seed, b []byte) {
	sums := sumsOf(s)
	if slices.ContainsFunc(sums, func(f gen.Field) bool { return !f.Node.Scalar.Sum.Before }) {
		_ = gen.Resum(g.p, s.of.st.Name.Schema, b, s.of.params...)
		return
	}
	for _, f := range sums {
		at := len(b) - (len(s.bytes) - f.Node.Off)
		if at < 0 {
			continue
		}
		v := *f.Node
		v.Off = at
		put(b, &v, v.Scalar.Sum.Sum.Of(b[:at]))
	}
}

func sumsOf(s *seed) []gen.Field {
	var out []gen.Field
	for _, f := range gen.Fields(s.decoded) {
		if f.Node.Scalar != nil && f.Node.Scalar.Sum != nil {
			out = append(out, f)
		}
	}
	return out
}

// patch records s with another number in one field.
func (g *generator) patch(s *seed, f gen.Field, n uint64) {
	b := slices.Clone(s.bytes)
	put(b, f.Node, n)
	name := fmt.Sprintf("%s=%d", f.Path, n)
	if f.Node.Item != nil && f.Node.Item.Kind == gen.KindReserved {
		name = fmt.Sprintf("%s@%d.%d=%#x", f.Path, f.Node.Off, f.Node.Bit, n)
	}
	g.add(s, name, b)
}

// depth tells how many values to try.
type depth int

const (
	few  depth = iota // the item has been tried elsewhere
	many              // all that are interesting
)

func (g *generator) depth(item *gen.Item) depth {
	if item == nil || g.items[item] {
		return few
	}
	return many
}

// broken is a field and a number that must not be in it.
type broken struct {
	f gen.Field
	n uint64
}

// mutate gives every number, vector and fixed span of s other values. It returns the first number of each field that
// was rejected.
func (g *generator) mutate(s *seed) []broken {
	var bad []broken
	for _, f := range gen.Fields(s.decoded) {
		v := f.Node
		d := g.depth(v.Item)
		switch {
		case v.Scalar != nil && v.Scalar.Sum == nil:
			for _, n := range values(v, d) {
				before := len(g.k.all)
				g.patch(s, f, n)
				if len(g.k.all) > before && !g.k.all[before].OK && (len(bad) == 0 || bad[len(bad)-1].f.Node != v) {
					bad = append(bad, broken{f, n})
				}
			}
		case v.Item == nil:
		case v.Item.Kind == gen.KindBits:
			g.bits(s, f, d)
		case v.Item.Kind == gen.KindSpan && v.Item.Span.Kind == gen.SpanPad:
			g.pad(s, f)
		case v.Item.Kind == gen.KindSpan && v.Item.Span.Kind != gen.SpanString:
			g.fill(s, f)
		}
		if v.Item != nil && v.Leaf() && v.Item.Kind != gen.KindSpan {
			g.items[v.Item] = true
		}
	}
	return bad
}

// pairs breaks two fields at once, and cuts the packet behind a broken one: one error must win.
func (g *generator) pairs(s *seed, bad []broken) {
	for i, x := range bad {
		b := slices.Clone(s.bytes)
		put(b, x.f.Node, x.n)
		end := x.f.Node.Off + (x.f.Node.Bit+x.f.Node.Width+7)/8
		g.addRaw(s, fmt.Sprintf("%s@%d=%d,short", x.f.Path, x.f.Node.Off, x.n), slices.Clone(b[:end]))
		for _, j := range []int{i + 1, i + 2, len(bad) - 1} {
			if j >= len(bad) || j == i {
				continue
			}
			y, c := bad[j], slices.Clone(b)
			put(c, y.f.Node, y.n)
			g.add(s, fmt.Sprintf("%s@%d=%d,%s@%d=%d", x.f.Path, x.f.Node.Off, x.n, y.f.Path, y.f.Node.Off, y.n), c)
		}
	}
}

// values lists the numbers to try in place of v: all that are interesting, or a few.
func values(v *gen.Value, d depth) []uint64 {
	s := v.Scalar
	top := maxOf(s.Bits)
	if s.Reserved != gen.NotReserved {
		return reservedValues(s, d)
	}
	out := []uint64{1, top, 0xa5a5a5a5a5a5a5a5 & top}
	if d == few {
		return out
	}
	out = append(out, 0, 2, top-1, top>>1, top>>1+1, 0x5a5a5a5a5a5a5a5a&top, 0x0123456789abcdef&top)
	mask := ^uint64(0)
	if s.Signed {
		mask = top
	}
	for _, r := range s.In {
		out = append(out, (r.First-1)&mask, r.First&mask, r.Last&mask, (r.Last+1)&mask)
	}
	if s.Enum != nil {
		for _, m := range s.Enum.Members {
			out = append(out, m.First, m.Last, m.Last+1)
		}
	}
	if s.Bits <= 8 {
		for i := range s.Bits {
			out = append(out, 1<<uint(i))
		}
	}
	var fit []uint64
	for _, n := range out {
		if n <= top && n != v.Num && !slices.Contains(fit, n) {
			fit = append(fit, n)
		}
	}
	return fit
}

func reservedValues(s *gen.Scalar, d depth) []uint64 {
	flip := uint64(0)
	if s.Reserved == gen.ReservedOnes {
		flip = maxOf(s.Bits)
	}
	out := []uint64{1 ^ flip}
	if d == few {
		return out
	}
	for i := 1; i < s.Bits; i++ {
		out = append(out, 1<<uint(i)^flip)
	}
	return append(out, maxOf(s.Bits)^flip)
}

// bits sets single bits of a vector, all of them, none, and every other one.
func (g *generator) bits(s *seed, f gen.Field, d depth) {
	n := f.Node.Width
	show := func(name string, set func(i int) bool) {
		b := slices.Clone(s.bytes)
		for i := range n {
			m := byte(0x80) >> uint(i%8)
			b[f.Node.Off+i/8] &^= m
			if set(i) {
				b[f.Node.Off+i/8] |= m
			}
		}
		g.add(s, f.Path+":"+name, b)
	}
	show("none", func(int) bool { return false })
	show("all", func(int) bool { return true })
	show("all-but-0", func(i int) bool { return i > 0 })
	if d == few {
		return
	}
	show("odd", func(i int) bool { return i%2 == 1 })
	show("even", func(i int) bool { return i%2 == 0 })
	for i := range n {
		if i < 10 || i%64 < 2 || i%64 > 61 || i == n-1 {
			show(fmt.Sprintf("bit%d", i), func(j int) bool { return i == j })
		}
	}
}

// pad breaks the first and the last byte of padding.
func (g *generator) pad(s *seed, f gen.Field) {
	for _, i := range []int{0, int(f.Node.Num) - 1} {
		if i < 0 || i >= int(f.Node.Num) {
			continue
		}
		b := slices.Clone(s.bytes)
		b[f.Node.Off+i] = 0x80 >> uint(i%8)
		g.add(s, fmt.Sprintf("%s:dirty%d", f.Path, i), b)
	}
}

// fill overwrites a span with zeros and with ones.
func (g *generator) fill(s *seed, f gen.Field) {
	for _, c := range []byte{0, 0xff} {
		b := slices.Clone(s.bytes)
		for i := range f.Node.Bytes {
			b[f.Node.Off+i] = c
		}
		g.add(s, fmt.Sprintf("%s:%02x", f.Path, c), b)
	}
}

// truncate records beginnings of s: each of the first 128 lengths, and the last few.
func (g *generator) truncate(s *seed) {
	n := len(s.bytes)
	for i := range n {
		if i < 128 || i >= n-6 {
			g.addRaw(s, fmt.Sprintf("short@%d", i), slices.Clone(s.bytes[:i]))
		}
	}
}

// stray puts bytes between the packet and its trailer.
func (g *generator) stray(s *seed) {
	at := len(s.bytes)
	for _, f := range sumsOf(s) {
		if f.Node.Scalar.Sum.Before {
			at = min(at, f.Node.Off)
		}
	}
	for _, extra := range [][]byte{{0}, {0xff}, {0, 0, 0, 0}, {1, 2, 3, 4, 5, 6, 7, 8}} {
		g.add(s, fmt.Sprintf("stray-%x", extra), slices.Concat(s.bytes[:at], extra, s.bytes[at:]))
	}
}

// sums breaks each sum, and single bits of what it covers.
func (g *generator) sums(s *seed) {
	for _, f := range sumsOf(s) {
		for i := range f.Node.Scalar.Bits / 8 {
			g.flip(s, f.Node.Off+i)
		}
		for _, off := range []int{4, f.Node.Off / 2, f.Node.Off - 1} {
			if 0 <= off && off < f.Node.Off {
				g.flip(s, off)
			}
		}
		if end := f.Node.Off + f.Node.Scalar.Bits/8; end < len(s.bytes) && !f.Node.Scalar.Sum.Before {
			g.flip(s, end)
			g.flip(s, len(s.bytes)-1)
		}
	}
}

func (g *generator) flip(s *seed, off int) {
	b := slices.Clone(s.bytes)
	b[off] ^= 1
	g.addRaw(s, fmt.Sprintf("flip@%d", off), b)
}
