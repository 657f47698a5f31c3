// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// coverage prints the summing of what one checksum covers.
type coverage struct {
	g     *generator
	f     *jen.File // for tables
	s     *gen.Struct
	it    *gen.Item
	b     *body
	data  string // the packet, printed
	entry bool   // the tables are printed already
}

func (c *coverage) bytes() int { return c.it.Scalar.Bits / 8 }

// tableName names what the checksum's nth part keeps at package level.
func (c *coverage) tableName(what string, n int) string {
	return fmt.Sprintf("%s%s%s%d", lowerCamel(c.s.Name), c.it.Name.Go, what, n)
}

// sum prints the computation into the variable want.
func (c *coverage) sum() {
	sum := c.it.Scalar.Sum
	c.b.line("sum := %s", stateStart(sum.Sum))
	for n, p := range coverParts(sum) {
		c.part(n, p)
	}
	if sum.ZeroNone {
		c.b.line("want := sum.done()\nif want == 0 {\nwant = %s\n}", mask(c.it.Scalar.Bits))
	} else {
		c.b.line("want := sum.done()")
	}
}

func (c *coverage) part(n int, p *gen.CoverPart) {
	own := slices.Index(c.s.Items, c.it)
	switch p.Kind {
	case gen.CoverFill:
		name := c.tableName("Fill", n)
		if !c.entry {
			doc(c.f, fmt.Sprintf("%s is what the checksum %s counts in place of bytes that nobody has.", name, c.it.Name.Schema))
			c.f.Var().Id(name).Op("=").Add(text(fmt.Sprintf("[]byte{%s}", strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%#x, ", p.Fill), p.Count), ", "))))
			c.f.Line()
		}
		c.b.line("sum = sum.add(%s)", name)
	case gen.CoverParam:
		c.param(n, p)
	case gen.CoverSelf:
		c.area(n, p, coverArea{"", "", true})
	case gen.CoverBefore:
		c.area(n, p, coverArea{"", fromName(c.it), false})
	default:
		first, last := slices.Index(c.s.Items, p.First), slices.Index(c.s.Items, p.Last)
		c.area(n, p, coverArea{fromName(p.First), toName(p.Last), first <= own && own <= last})
	}
}

// coverArea is a part of the packet: two printed places, empty for its ends, and whether the checksum lies in it.
type coverArea struct {
	from, to string
	holdsSum bool
}

func (c *coverage) area(n int, p *gen.CoverPart, a coverArea) {
	switch {
	case len(p.Except) > 0 && a.holdsSum:
		c.maskedAround(n, p, a)
	case len(p.Except) > 0:
		c.masked(c.tableName("Mask", n), fmt.Sprintf("%s[%s:%s]", c.data, a.from, a.to), c.itemMasks(p))
	case a.holdsSum:
		own := fromName(c.it)
		c.b.line("sum = sum.add(%s[%s:%s])", c.data, a.from, own)
		if c.it.Scalar.Sum.Sum.Kind != gen.SumOnes {
			c.b.line("for range %d {\nsum = sum.octet(0)\n}", c.bytes())
		}
		c.b.line("sum = sum.add(%s[%s+%d:%s])", c.data, own, c.bytes(), a.to)
	default:
		c.b.line("sum = sum.add(%s[%s:%s])", c.data, a.from, a.to)
	}
}

// maskedAround prints a part that holds the checksum and other bits that are not covered. Of a constant place the checksum is
// one of those; elsewhere it lies behind them.
func (c *coverage) maskedAround(n int, p *gen.CoverPart, a coverArea) {
	name, masks := c.tableName("Mask", n), maskTable(nil)
	run, base := c.maskRun(p)
	if run != nil {
		if bit, ok := bitOf(run, []*gen.Item{c.it}); ok {
			masks.add(c, bit-base, c.it, 0)
			masks.except(c, p, run, base)
			c.masked(name, fmt.Sprintf("%s[%s:%s]", c.data, a.from, a.to), masks)
			return
		}
	}
	own := fromName(c.it)
	c.masked(name, fmt.Sprintf("%s[%s:%s]", c.data, a.from, own), c.itemMasks(p))
	c.b.line("for range %d {\nsum = sum.octet(0)\n}", c.bytes())
	c.b.line("sum = sum.add(%s[%s+%d:%s])", c.data, own, c.bytes(), a.to)
}

// maskRun is the run in which a part begins, and the bit at which it does; nil when that place is not constant.
func (c *coverage) maskRun(p *gen.CoverPart) (*gen.Run, int) {
	if p.Kind != gen.CoverItems {
		run, _ := c.s.Steps[0].(*gen.Run)
		return run, 0
	}
	for _, st := range c.s.Steps {
		if r, ok := st.(*gen.Run); ok {
			if base, ok := bitOf(r, []*gen.Item{p.First}); ok {
				return r, base
			}
		}
	}
	return nil, 0
}

// param prints the part that the caller gives; its kind has been tested.
func (c *coverage) param(n int, p *gen.CoverPart) {
	data := lowerCamel(p.Param.Name) + ".Bytes"
	if len(p.Except) == 0 {
		c.b.line("sum = sum.add(%s)", data)
		return
	}
	c.b.line("switch %s.Kind {", lowerCamel(p.Param.Name))
	for _, k := range paramKinds(p.Param) {
		c.b.line("case Outer%s:", k.Name.Go)
		var masks maskTable
		for _, r := range p.Except {
			if slices.Contains(k.Items, r.Path[0]) {
				masks.add(c, bitIn(k, r.Path, 0), r.Last(), p.Mask)
			}
		}
		c.masked(c.tableName("Mask"+k.Name.Go, n), data, masks)
	}
	c.b.line("}")
}

// bitIn is the place of an item in the first run of a header, less base; -1 when it lies elsewhere.
func bitIn(s *gen.Struct, path []*gen.Item, base int) int {
	r, ok := s.Steps[0].(*gen.Run)
	if !ok {
		return -1
	}
	bit, ok := bitOf(r, path)
	if !ok {
		return -1
	}
	return bit - base
}

func (c *coverage) itemMasks(p *gen.CoverPart) maskTable {
	var masks maskTable
	run, base := c.maskRun(p)
	if run == nil {
		c.g.fail(c.it, "the checksum `%s` leaves bits out of a part whose place varies", c.it.Name.Schema)
		return nil
	}
	masks.except(c, p, run, base)
	return masks
}

// except adds what a part does not cover.
func (m *maskTable) except(c *coverage, p *gen.CoverPart, run *gen.Run, base int) {
	for _, ref := range p.Except {
		bit, found := bitOf(run, ref.Path)
		if !found {
			bit = base - 1
		}
		m.add(c, bit-base, ref.Last(), p.Mask)
	}
}

// maskTable says which bits count as others, by byte.
type maskTable map[int][2]byte // bits that are replaced, and with what

func (m *maskTable) add(c *coverage, bit int, it *gen.Item, fill byte) {
	if bit < 0 {
		c.g.fail(c.it, "the checksum `%s` leaves `%s` out, whose place varies", c.it.Name.Schema, it.Name.Schema)
		return
	}
	if *m == nil {
		*m = maskTable{}
	}
	for i := bit; i < bit+partBits(it); i++ {
		e := (*m)[i/8]
		e[0] |= 0x80 >> (i % 8)
		e[1] |= fill & (0x80 >> (i % 8))
		(*m)[i/8] = e
	}
}

// masked prints the summing of bytes some of whose bits count as others.
func (c *coverage) masked(name, data string, m maskTable) {
	if len(m) == 0 {
		c.b.line("sum = sum.add(%s)", data)
		return
	}
	c.b.line("sum = sum.masked(%s, %s)", data, name)
	c.g.masked[c.it.Scalar.Sum.Sum] = true
	if c.entry {
		return
	}
	var rows []int
	for at := range m {
		rows = append(rows, at)
	}
	slices.Sort(rows)
	var t body
	t.line("[]octetMask{")
	for _, at := range rows {
		t.line("{%d, %#02x, %#02x},", at, m[at][0], m[at][1])
	}
	doc(c.f, fmt.Sprintf("%s are the bits that the checksum %s does not cover.", name, c.it.Name.Schema))
	c.f.Var().Id(name).Op("=").Add(text(t.String() + "}"))
	c.f.Line()
}

func stateType(s *gen.Sum) string { return lowerCamel(s.Name) + "State" }

// stateStart prints a checksum over nothing.
func stateStart(s *gen.Sum) string {
	switch {
	case s.Kind == gen.SumOnes:
		return stateType(s) + "{}"
	case fastSum(s) || s.Kind != gen.SumCRC:
		return stateType(s) + "(0)"
	}
	return fmt.Sprintf("%s(%#x)", stateType(s), s.Init)
}

// fastSum tells whether hash/crc32 computes a checksum.
func fastSum(s *gen.Sum) bool {
	ones := ^uint64(0) >> (64 - s.Width)
	return s.Kind == gen.SumCRC && s.Width == 32 && s.ReflectIn && s.ReflectOut && s.Init == ones && s.XorOut == ones
}

// states prints the checksums that are computed piece by piece.
func (g *generator) states(f *jen.File, used map[*gen.Sum]bool) {
	for _, s := range g.p.Sums {
		if !used[s] {
			continue
		}
		typ := stateType(s)
		doc(f, fmt.Sprintf("%s is a checksum %s over some pieces, one behind the other.", typ, s.Name.Schema))
		switch {
		case s.Kind == gen.SumOnes:
			f.Type().Id(typ).Struct(jen.Id("sum").Uint64(), jen.Id("odd").Bool().Op("// the next byte is the lower one of a word"))
		case fastSum(s) || s.Kind != gen.SumCRC:
			f.Type().Id(typ).Uint32()
		default:
			f.Type().Id(typ).Uint64()
		}
		f.Line()
		add, octet, done := stateBodies(s)
		g.add(f, function{recv: "s " + typ, name: "add", params: "data []byte", results: typ, body: add})
		if octet != "" {
			g.add(f, function{recv: "s " + typ, name: "octet", params: "octet byte", results: typ, body: octet})
		}
		g.add(f, function{recv: "s " + typ, name: "done", results: uintType(s.Width), body: done})
		if g.masked[s] {
			g.add(f, function{recv: "s " + typ, name: "masked", params: "data []byte, masks []octetMask", results: typ, body: maskedBody})
		}
	}
	if len(g.masked) > 0 {
		doc(f, "octetMask replaces bits of one byte.")
		f.Type().Id("octetMask").Struct(jen.Id("at").Int(), jen.Id("bits").Op(",").Id("fill").Byte())
		f.Line()
	}
}

const maskedBody = `at := 0
for _, mask := range masks {
	if mask.at >= len(data) {
		break
	}
	s = s.add(data[at:mask.at]).octet(data[mask.at]&^mask.bits | mask.fill)
	at = mask.at + 1
}
return s.add(data[at:])`

func stateBodies(s *gen.Sum) (add, octet, done string) {
	switch {
	case s.Kind == gen.SumOnes:
		return onesAdd, "word := uint64(octet)\nif !s.odd {\nword <<= 8\n}\ns.sum += word\ns.odd = !s.odd\nreturn s", onesDone
	case s.Kind != gen.SumCRC:
		octet, done = byteSum(s)
		return eachOctet, octet, done
	case fastSum(s):
		table := lowerCamel(s.Name) + "Table"
		return fmt.Sprintf("return %s(crc32.Update(uint32(s), %s, data))", stateType(s), table),
			fmt.Sprintf("return ^(%s(%s[byte(^s)^octet]) ^ ^s>>8)", stateType(s), table), "return uint32(s)"
	}
	var one, end body
	in := "octet"
	if s.ReflectIn {
		in = "bits.Reverse8(octet)"
	}
	one.line("sum := uint64(s)\nfor at := 7; at >= 0; at-- {\ntop := sum>>%d&1 ^ uint64(%s)>>at&1\nsum = sum << 1 & %s\nif top != 0 {\nsum ^= %#x\n}\n}\nreturn %s(sum)",
		s.Width-1, in, mask(s.Width), s.Poly, stateType(s))
	out := "uint64(s)"
	if s.ReflectOut {
		out = fmt.Sprintf("bits.Reverse64(%s)>>%d", out, 64-s.Width)
	}
	end.line("return %s(%s ^ %#x)", uintType(s.Width), out, s.XorOut)
	return eachOctet, one.String(), end.String()
}

const eachOctet = "for _, octet := range data {\ns = s.octet(octet)\n}\nreturn s"

// byteSum prints the sums that look at one byte after the other. Fletcher keeps its second sum in the upper half.
func byteSum(s *gen.Sum) (octet, done string) {
	typ := stateType(s)
	switch s.Kind {
	case gen.SumAdd:
		return fmt.Sprintf("return s + %s(octet)", typ), "return uint8(s)"
	case gen.SumXor:
		return fmt.Sprintf("return s ^ %s(octet)", typ), "return uint8(s)"
	}
	return "low := (s&0xffff + " + typ + "(octet)) % 255\nreturn (s>>16+low)%255<<16 | low", "return uint16(s>>16<<8 | s&0xffff)"
}

const onesAdd = `sum := s.sum
if s.odd && len(data) > 0 {
	sum += uint64(data[0])
	data, s.odd = data[1:], false
}
for ; len(data) >= 8; data = data[8:] {
	word := binary.BigEndian.Uint64(data)
	sum += word>>32 + word&0xffffffff
}
for ; len(data) >= 2; data = data[2:] {
	sum += uint64(binary.BigEndian.Uint16(data))
}
if len(data) > 0 {
	sum += uint64(data[0]) << 8
	s.odd = true
}
s.sum = sum
return s`

const onesDone = `sum := s.sum
for sum > 0xffff {
	sum = sum>>16 + sum&0xffff
}
return ^uint16(sum)`

// reversed is a polynomial as hash/crc32 wants it.
func reversed(s *gen.Sum) string { return fmt.Sprintf("%#08x", bits.Reverse32(uint32(s.Poly))) }
