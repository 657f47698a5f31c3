// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"fmt"
	"strings"
)

// body draws the items between two braces. It begins and ends at whole bytes.
type body struct {
	d       *drawer
	lines   []string
	names   map[string]int
	fields  []field
	depth   int
	least   int  // bytes
	fixed   bool // only items of constant size
	room    bool // one greedy item may come
	must    bool // and must, because the size can be met in no other way
	greedy  bool // it has come
	choices int  // switches so far
}

func (b *body) text() string { return strings.Join(b.lines, "\n") + "\n" }

// line adds an item, now and then with documentation.
func (b *body) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if b.d.rarely(8) {
		text = "/// " + pick(b.d, docs) + "\n" + text
	}
	b.lines = append(b.lines, text)
}

// words are names of items; many are reserved in Go, C or Lua, or are words of this language.
var words = []string{
	"a", "b", "len", "type", "n", "data", "kind", "func", "local", "end", "int", "class", "value", "range", "next", "nil", "struct", "string", "default",
	"switch", "x", "register", "offset", "size", "count", "buf", "src", "err", "self_", "i", "decode", "fields", "append", "error", "tree", "out", "double", "goto",
}

// name draws a name that is new in this body.
func (b *body) name() string {
	w := pick(b.d, words)
	b.names[w]++
	if n := b.names[w]; n > 1 {
		w = fmt.Sprintf("%s_%d", w, n)
		if b.names[w] > 0 {
			return b.name()
		}
		b.names[w]++
	}
	return w
}

// inner begins a body in braces that sees what its outer one has decoded.
func (b *body) inner() *body {
	return &body{d: b.d, depth: b.depth + 1, names: map[string]int{}, fields: b.fields[:len(b.fields):len(b.fields)]}
}

// sized draws `sized …` for the struct whose body this is, and the field that it names.
func (b *body) sized(string) string {
	if b.fixed || !b.d.rarely(5) {
		return ""
	}
	n := b.name()
	b.room, b.must = true, true
	form := pick(b.d, []string{"%s", "%s * 4", "%s * 2 + 2", "%s + 1"})
	b.line("%s : u8%s;", n, pick(b.d, []string{"", " in 1..200"}))
	b.least++
	return " sized " + fmt.Sprintf(form, n)
}

// fill draws about so many items.
func (b *body) fill(items int) {
	b.run()
	for range items {
		kinds := []func(){b.run, b.run, b.nested, b.vector, b.rule, b.fixedSpan, b.let}
		if !b.fixed && !b.greedy {
			kinds = append(kinds, b.span, b.array, b.block, b.optional, b.derived, b.choose, b.window, b.span, b.array, b.versioned)
		}
		if b.room && !b.greedy {
			kinds = append(kinds, b.rest)
		}
		pick(b.d, kinds)()
	}
	if b.room && !b.greedy && (b.must || b.d.rarely(2)) {
		b.rest()
		if b.d.rarely(2) {
			b.run()
		}
	}
}

// run draws scalars that end at a whole byte.
func (b *body) run() {
	total := 8 * (1 + b.d.upTo(5))
	b.least += total / 8
	for left := total; left > 0; {
		w := left
		if !b.d.rarely(3) {
			w = 1 + b.d.upTo(left-1)
		}
		b.scalar(w, total-left)
		left -= w
	}
}

// scalar draws a number, or reserved bits, so many bits behind a whole byte.
func (b *body) scalar(bits, at int) {
	d := b.d
	top := int64(-1)
	if bits < 33 {
		top = int64(1)<<bits - 1
	}
	switch d.upTo(9) {
	case 9:
		name := "_"
		if d.rarely(3) {
			name = b.name()
		}
		b.line("%s : rsvd %d %s;", name, bits, pick(d, []string{"zero", "ones", "ignore"}))
		return
	case 8:
		for _, e := range d.enums {
			if e.bits <= bits && (e.bits == bits || d.rarely(3)) && (!e.varies || b.depth == 0) {
				n := b.name()
				b.line("%s : u%d%s as %s;", n, bits, b.order(bits, at), e.name)
				b.fields = append(b.fields, field{path: n, bits: bits, hi: -1, enum: &e})
				return
			}
		}
	case 7:
		if bits > 1 {
			b.signed(bits, at)
			return
		}
	case 6:
		if at%8 == 0 && bits%8 == 0 && bits > 8 {
			n := b.name()
			b.line("%s : u%d %s;", n, bits, pick(d, []string{"little", "big"}))
			b.fields = append(b.fields, field{path: n, bits: bits, hi: top})
			return
		}
	}
	n := b.name()
	if bits == 1 && !d.rarely(3) {
		b.line("%s : bit;", n)
		b.fields = append(b.fields, field{path: n, kind: truth, bits: 1})
		return
	}
	b.unsigned(n, bits, top, b.order(bits, at))
}

// order is what must stand behind a number in a little-endian schema that does not lie in whole bytes.
func (b *body) order(bits, at int) string {
	if b.d.little && bits > 8 && bits%8 == 0 && at%8 != 0 {
		return " big"
	}
	return ""
}

// unsigned draws a plain number with its clauses.
func (b *body) unsigned(n string, bits int, top int64, order string) {
	d, f := b.d, field{path: n, bits: bits, hi: top}
	limit := min(max(top, 0), 1<<20)
	if top < 0 {
		limit = 1 << 20
	}
	clause := ""
	switch d.upTo(8) {
	case 8:
		v := d.between(0, limit)
		b.line("%s : u%d%s = %s%s;", n, bits, order, literal(d, v), pick(d, []string{"", " @fmt(hex)"}))
		return
	case 7:
		f.lo = d.between(0, limit)
		f.hi = d.between(f.lo, limit)
		clause = fmt.Sprintf(" in %s..%d", literal(d, f.lo), f.hi)
	case 6:
		x := d.between(0, limit)
		y := d.between(x, limit)
		f.lo, f.hi = x, y
		if y > x+1 {
			clause = fmt.Sprintf(" in {%d, %d..%d}", x, x+2, y)
		} else {
			f.lo, f.hi = 0, top
		}
	case 5:
		clause = fmt.Sprintf(" default %d", d.between(0, limit))
	case 4:
		clause = pick(d, []string{" serial", " @fmt(hex)", ` @unit("B")`})
	}
	b.line("%s : u%d%s%s;", n, bits, order, clause)
	b.fields = append(b.fields, f)
}

func (b *body) signed(bits, at int) {
	n, clause, order := b.name(), "", b.order(bits, at)
	f := field{path: n, bits: bits, signed: true, hi: -1}
	if bits < 33 {
		f.lo, f.hi = -(int64(1) << (bits - 1)), int64(1)<<(bits-1)-1
	}
	limit := min(int64(1)<<(min(bits, 30)-1)-1, 1<<20)
	switch b.d.upTo(4) {
	case 4:
		f.lo, f.hi = b.d.between(-limit, 0), b.d.between(0, limit)
		clause = fmt.Sprintf(" in %d..%d", f.lo, f.hi)
	case 3:
		clause = fmt.Sprintf(" default %d", b.d.between(-limit, limit))
	case 2:
		b.line("%s : i%d%s = %d;", n, bits, order, b.d.between(-limit, limit))
		return
	}
	if at%8 == 0 && bits%8 == 0 && bits > 8 && b.d.rarely(3) {
		order = " little"
	}
	b.line("%s : i%d%s%s;", n, bits, order, clause)
	b.fields = append(b.fields, f)
}

func (b *body) vector() {
	n, bits := b.name(), 8*(1+b.d.upTo(11))
	if b.d.rarely(6) {
		bits = 256
	}
	means := pick(b.d, []string{"", " bit at means at + 1"})
	b.line("%s : bits<%d>%s;", n, bits, means)
	b.least += bits / 8
	b.fields = append(b.fields, field{path: n, kind: vector, bits: bits})
}

func (b *body) fixedSpan() {
	n, size := b.name(), 1+b.d.upTo(8)
	b.line("%s : %s;", n, pick(b.d, []string{
		fmt.Sprintf("bytes[%d]", size), fmt.Sprintf("string[%d]%s", size, pick(b.d, []string{"", " nul_padded", " @ascii", " nul_padded @ascii"})), fmt.Sprintf("pad[%d] zero", size), fmt.Sprintf("pad[%d] ignore", size)}))
	b.least += size
}

// nested draws a header as an item.
func (b *body) nested() {
	var fit []header
	for _, h := range b.d.headers {
		if b.fixed && !h.fixed || h.greedy && (!b.room || b.greedy) {
			continue
		}
		fit = append(fit, h)
	}
	if len(fit) == 0 {
		b.run()
		return
	}
	h := pick(b.d, fit)
	args, ok := b.args(h.params)
	if !ok {
		b.run()
		return
	}
	b.greedy = b.greedy || h.greedy
	n := b.name()
	b.line("%s : %s%s;", n, h.name, args)
	b.least += h.least
	for _, f := range h.fields {
		f.path = n + "." + f.path
		b.fields = append(b.fields, f)
	}
}

// args finds fields for parameters.
func (b *body) args(params []field) (string, bool) {
	var out []string
	for _, p := range params {
		for _, f := range b.fields {
			if f.kind == number && f.bits == p.bits && !f.signed && f.enum == nil {
				out = append(out, f.path)
				break
			}
		}
	}
	if len(out) < len(params) {
		return "", false
	}
	if out == nil {
		return "", true
	}
	return "(" + strings.Join(out, ", ") + ")", true
}

// rule draws a constraint.
func (b *body) rule() {
	if b.depth > 2 {
		return
	}
	c, ok := b.cond(2)
	if !ok {
		b.run()
		return
	}
	b.line("where %s%s;", c, pick(b.d, []string{"", "", " else " + b.d.codes[0], " else lint"}))
}
