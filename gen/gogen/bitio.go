// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// group is a maximal row of scalars inside a run that begins and ends on byte boundaries and is read as one number.
type group struct {
	bit   int // of the run
	bits  int
	parts []gen.Part
}

// groups cuts the scalars of a run into groups. Other parts are returned apart.
func groups(parts []gen.Part) (scalars []group, others []gen.Part) {
	var cur group
	for _, p := range parts {
		if p.Item.Scalar == nil {
			others = append(others, p)
			continue
		}
		if len(cur.parts) == 0 {
			cur = group{bit: p.Bit}
		}
		cur.parts = append(cur.parts, p)
		cur.bits += p.Item.Scalar.Bits
		if cur.bits%8 == 0 {
			scalars = append(scalars, cur)
			cur = group{}
		}
	}
	return scalars, others
}

// single tells whether the group is one whole number on byte boundaries.
func (g group) single() bool { return len(g.parts) == 1 }

// loadWord prints the big-endian number in size bytes of buf from byte at; typ is the smallest type that holds it.
func loadWord(buf string, at, size int) val {
	switch size {
	case 1:
		return operand(fmt.Sprintf("%s[%d]", buf, at), "uint8")
	case 2, 4, 8:
		if strings.HasSuffix(buf, ":]") {
			return operand(fmt.Sprintf("binary.BigEndian.Uint%d(%s)", size*8, buf), fmt.Sprintf("uint%d", size*8))
		}
		return operand(fmt.Sprintf("binary.BigEndian.Uint%d(%s[%d:])", size*8, buf, at), fmt.Sprintf("uint%d", size*8))
	}
	typ := uintType(size * 8)
	var terms []string
	for _, c := range chunks(size) {
		v := loadWord(buf, at+c.at, c.size)
		term := convert(v, typ).code
		if shift := 8 * (size - c.at - c.size); shift > 0 {
			term += fmt.Sprintf("<<%d", shift)
		}
		terms = append(terms, term)
	}
	return val{strings.Join(terms, " | "), typ, 4}
}

// storeWord prints statements that write the low bytes of v, a number of type uintType(size*8).
func storeWord(buf string, at, size int, v val) string {
	switch size {
	case 1:
		return fmt.Sprintf("%s[%d] = %s\n", buf, at, v.code)
	case 2, 4, 8:
		return fmt.Sprintf("binary.BigEndian.PutUint%d(%s[%d:], %s)\n", size*8, buf, at, v.code)
	}
	var b strings.Builder
	number, err := strconv.ParseUint(v.code, 0, 64)
	for _, c := range chunks(size) {
		part, shift := v, 8*(size-c.at-c.size)
		if shift > 0 {
			part = val{fmt.Sprintf("%s>>%d", v.at(5), shift), v.typ, 5}
		}
		if t := uintType(c.size * 8); v.typ == "const" && err == nil {
			part = operand(fmt.Sprintf("%#x", number>>shift&(1<<(c.size*8)-1)), "const")
		} else if v.typ == "const" || t != v.typ {
			part = operand(t+"("+part.code+")", t)
		}
		b.WriteString(storeWord(buf, at+c.at, c.size, part))
	}
	return b.String()
}

type chunk struct{ at, size int }

// chunks cuts a size into the sizes that machines load.
func chunks(size int) []chunk {
	var out []chunk
	for at := 0; at < size; {
		n := 8
		for n > size-at {
			n /= 2
		}
		out = append(out, chunk{at, n})
		at += n
	}
	return out
}

// littleLoad prints a number whose bytes lie in little-endian order.
func littleLoad(buf string, at, size int) val {
	switch size {
	case 1, 2, 4, 8:
		v := loadWord(buf, at, size)
		v.code = strings.ReplaceAll(v.code, "BigEndian", "LittleEndian")
		return v
	}
	typ := uintType(size * 8)
	var terms []string
	for i := range size {
		term := fmt.Sprintf("%s(%s[%d])", typ, buf, at+i)
		if i > 0 {
			term += fmt.Sprintf("<<%d", 8*i)
		}
		terms = append(terms, term)
	}
	return val{strings.Join(terms, " | "), typ, 4}
}

func littleStore(buf string, at, size int, v val) string {
	switch size {
	case 1, 2, 4, 8:
		return strings.ReplaceAll(storeWord(buf, at, size, v), "BigEndian", "LittleEndian")
	}
	var b strings.Builder
	number, err := strconv.ParseUint(v.code, 0, 64)
	for i := range size {
		part := fmt.Sprintf("uint8(%s>>%d)", v.at(5), 8*i)
		if v.typ == "const" && err == nil {
			part = fmt.Sprintf("%#x", number>>(8*i)&0xff)
		}
		fmt.Fprintf(&b, "%s[%d] = %s\n", buf, at+i, part)
	}
	return b.String()
}

// window is the smallest row of whole bytes around a field.
func window(bit, bits int) (at, size, shift int) {
	at = bit / 8
	end := (bit + bits + 7) / 8
	return at, end - at, end*8 - bit - bits
}

// extract prints the field of the given width that lies shift bits above the end of a word of size bytes.
func extract(word val, size, shift, bits int) val {
	v := word
	if shift > 0 {
		v = val{fmt.Sprintf("%s >> %d", v.at(5), shift), v.typ, 5}
	}
	if bits+shift < size*8 {
		v = val{fmt.Sprintf("%s & %s", v.at(5), mask(bits)), v.typ, 5}
	}
	return v
}

// mask prints the number with the low n bits set.
func mask(n int) string {
	if n >= 64 {
		return "0xffffffffffffffff"
	}
	return fmt.Sprintf("%#x", uint64(1)<<n-1)
}

// buffer is where printed loads read.
type buffer struct {
	code string // an array, a pointer to one or a slice
	size int    // bytes that it certainly has; 0 = no more than what is loaded
}

// widen turns a window of a size that no machine loads at once into the next larger one that fits into the buffer.
// It returns how many bytes lie behind the window in the larger one.
func (b buffer) widen(at, size int) (wideAt, wideSize, behind int) {
	wide := 1
	for wide < size {
		wide *= 2
	}
	switch {
	case at+wide <= b.size:
		return at, wide, wide - size
	case at+size >= wide && at+size <= b.size:
		return at + size - wide, wide, 0
	}
	return at, size, 0
}

// loadScalar prints the value of a scalar that lies at a bit of buf, in its field's type.
func (g *generator) loadScalar(buf buffer, bit int, s *gen.Scalar) val {
	at, size, shift := window(bit, s.Bits)
	if size > 8 {
		g.fail(g.holder(s), "a field of %d bits spans nine bytes", s.Bits).Help("let it begin at a byte")
		return operand("0", "const")
	}
	if little(s) {
		return fromWord(littleLoad(buf.code, at, size), size, shift, s)
	}
	at, size, behind := buf.widen(at, size)
	return fromWord(loadWord(buf.code, at, size), size, shift+8*behind, s)
}

// fromWord takes a scalar out of a word.
func fromWord(word val, size, shift int, s *gen.Scalar) val {
	if s.Flag {
		return val{fmt.Sprintf("%s & %#x != 0", word.at(5), uint64(1)<<shift), "bool", 3}
	}
	v := extract(word, size, shift, s.Bits)
	typ := scalarType(s)
	if s.Signed {
		return signed(v, typ, s.Bits)
	}
	return convert(v, typ)
}

// signed turns the low bits of v into a two's complement number.
func signed(v val, typ string, bits int) val {
	spare := typeBits(typ) - bits
	if spare == 0 {
		return convert(v, typ)
	}
	return val{fmt.Sprintf("%s << %d >> %d", convert(v, typ).at(5), spare, spare), typ, 5}
}

// wireValue prints a scalar's value as an unsigned number of type typ, cut to its width.
func wireValue(v val, typ string, s *gen.Scalar) val {
	switch {
	case v.typ == "bool" || v.typ == "const":
		return convert(v, typ)
	case s.Signed:
		v = operand("uint"+strings.TrimPrefix(v.typ, "int")+"("+v.code+")", "uint"+strings.TrimPrefix(v.typ, "int"))
	}
	if s.Bits < storageBits(s) {
		v = val{fmt.Sprintf("%s & %s", v.at(5), mask(s.Bits)), v.typ, 5}
	}
	return convert(v, typ)
}

// storageBits is the width of the field's Go type.
func storageBits(s *gen.Scalar) int {
	switch {
	case s.Flag:
		return 1
	case s.Enum != nil:
		return typeBits(uintType(s.Enum.Held))
	}
	return typeBits(uintType(s.Bits))
}

// word prints the number that a group puts on the wire; value gives each scalar's value in its field's type.
func (gr group) word(value func(gen.Part) val) val {
	typ := uintType(gr.bits)
	if n, ok := gr.constant(value); ok && n > 0 {
		return operand(fmt.Sprintf("%#x", n), "const")
	}
	var terms []string
	for _, p := range gr.parts {
		shift := gr.bit + gr.bits - p.Bit - p.Item.Scalar.Bits
		v := value(p)
		if v.code == "0" {
			continue
		}
		w := wireValue(v, typ, p.Item.Scalar)
		if top := shift+p.Item.Scalar.Bits == typeBits(typ); top && shift > 0 && v.typ == typ {
			w = v // the shift drops what does not fit
		}
		if shift > 0 {
			w = val{fmt.Sprintf("%s << %d", w.at(5), shift), typ, 5}
		}
		if len(gr.parts) == 1 {
			return w
		}
		terms = append(terms, w.at(5))
	}
	if len(terms) == 0 {
		return operand("0", "const")
	}
	return val{strings.Join(terms, " | "), typ, 4}
}

// constant is the number that a group always holds, if it has no other. Only sizes that are stored in parts need it: the
// compiler computes the others.
func (gr group) constant(value func(gen.Part) val) (number uint64, ok bool) {
	if typeBits(uintType(gr.bits)) == gr.bits {
		return 0, false
	}
	for _, p := range gr.parts {
		s := p.Item.Scalar
		n, err := strconv.ParseInt(value(p).code, 0, 64)
		if err != nil {
			return 0, false
		}
		number |= uint64(n) & (1<<s.Bits - 1) << (gr.bit + gr.bits - p.Bit - s.Bits)
	}
	return number, true
}

// store prints the statements that write a group into buf.
func (gr group) store(buf string, v val) string {
	if gr.single() && little(gr.parts[0].Item.Scalar) {
		return littleStore(buf, gr.bit/8, gr.bits/8, v)
	}
	if v.code != "0" || gr.bits == 8 || gr.bits == 16 || gr.bits == 32 || gr.bits == 64 {
		return storeWord(buf, gr.bit/8, gr.bits/8, v)
	}
	return fmt.Sprintf("clear(%s[%d:%d])\n", buf, gr.bit/8, (gr.bit+gr.bits)/8)
}

// little tells whether a scalar's bytes lie in little-endian order.
func little(s *gen.Scalar) bool {
	return s.Bits > 8 && s.Bits%8 == 0 && (s.Little || s.Sum != nil && s.Sum.Sum.Little)
}
