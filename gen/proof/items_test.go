// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"fmt"
	"strings"
)

// counter draws a field that the encoder solves, and the expression over it.
func (b *body) counter() (decl, text string) {
	n := b.name()
	bits := pick(b.d, []int{8, 8, 16})
	b.least += bits / 8
	clause := pick(b.d, []string{"", "", " in 0..9", " in 2..20"})
	form := pick(b.d, []string{"%s", "%s", "%s * 2", "%s * 3 + 1", "%s + 2"})
	if clause == " in 2..20" {
		form = pick(b.d, []string{"%s", "%s - 2", "%s * 2 - 4", "%s - 1"})
	}
	b.fields = append(b.fields, field{path: n, hi: int64(1)<<bits - 1})
	return fmt.Sprintf("%s : u%d%s;", n, bits, clause), fmt.Sprintf(form, n)
}

// span draws bytes, text or padding of a size that is not constant.
func (b *body) span() {
	n := b.name()
	what := pick(b.d, []string{"bytes", "string", "bytes", "pad"})
	clause := ""
	if what == "pad" {
		clause = pick(b.d, []string{" zero", " ignore"})
		if b.d.rarely(6) {
			b.line("%s : pad align %d%s;", n, pick(b.d, []int{2, 4, 8}), clause)
			return
		}
	} else if b.d.rarely(4) {
		clause = fmt.Sprintf(" in %d..%d", b.d.upTo(2), 3+b.d.upTo(30))
	}
	if b.d.rarely(4) && what != "pad" {
		c := b.name()
		b.line("%s : u8 = size(%s);", c, n)
		b.least++
		b.line("%s : %s[%s]%s;", n, what, c, clause)
	} else {
		decl, size := b.counter()
		b.line("%s", decl)
		b.gap()
		b.line("%s : %s[%s]%s;", n, what, size, clause)
	}
	b.fields = append(b.fields, field{path: n, kind: span})
}

// gap sometimes puts something between a counter and what it counts.
func (b *body) gap() {
	if b.d.rarely(4) {
		b.run()
	}
}

// element draws the type of an array's elements.
func (b *body) element() string {
	if b.d.rarely(2) && b.depth < 3 {
		if b.d.rarely(2) {
			in := b.inner()
			in.run()
			if b.d.rarely(2) {
				in.span()
			}
			return "{\n" + in.text() + "}"
		}
		var fit []header
		for _, h := range b.d.headers {
			if !h.greedy && len(h.params) == 0 {
				fit = append(fit, h)
			}
		}
		if len(fit) > 0 {
			return pick(b.d, fit).name
		}
	}
	for _, e := range b.d.enums {
		if e.bits%8 == 0 && !(e.closed && e.varies) && b.d.rarely(3) {
			return e.name
		}
	}
	return fmt.Sprintf("%s%d", pick(b.d, []string{"u", "u", "u", "i"}), pick(b.d, []int{8, 16, 24, 32, 48, 64}))
}

func (b *body) array() {
	n, of := b.name(), b.element()
	switch b.d.upTo(3) {
	case 3:
		c := b.name()
		b.line("%s : u8 = count(%s);", c, n)
		b.least++
		b.line("%s : %s[%s];", n, of, c)
	case 2:
		b.line("%s : %s[%d];", n, of, 1+b.d.upTo(3))
	default:
		decl, count := b.counter()
		b.line("%s", decl)
		b.gap()
		b.line("%s : %s[%s];", n, of, count)
	}
	b.fields = append(b.fields, field{path: n, kind: array})
}

// block draws an if with items.
func (b *body) block() {
	c, ok := b.cond(1)
	if !ok || b.depth > 2 {
		b.run()
		return
	}
	part := func() string {
		in := b.inner()
		in.names, in.depth = b.names, 3
		in.run()
		if b.d.rarely(2) {
			in.span()
		}
		if b.d.rarely(3) {
			in.rule()
		}
		return in.text()
	}
	text := fmt.Sprintf("if %s {\n%s}", c, part())
	if b.d.rarely(3) {
		if other, ok := b.cond(1); ok && b.d.rarely(2) {
			text += fmt.Sprintf(" else if %s {\n%s}", other, part())
		}
		text += fmt.Sprintf(" else {\n%s}", part())
	}
	b.line("%s", text)
}

// optional draws one item with a condition, and a rule that may read it.
func (b *body) optional() {
	c, ok := b.cond(1)
	if !ok {
		b.run()
		return
	}
	n := b.name()
	bits := 8 * (1 + b.d.upTo(3))
	b.line("%s : u%d if %s;", n, bits, c)
	switch b.d.upTo(4) {
	case 4:
		b.line("where !(%s) || %s != %d;", c, n, b.d.upTo(3))
	case 3:
		b.line("where !present(%s) || %s > %d;", n, n, b.d.upTo(3))
	case 2:
		b.line("where (%s ? %s : 7) < 250;", c, n)
	}
}

// derived draws a number that follows from others, before or behind it.
func (b *body) derived() {
	n := b.name()
	if f, ok := b.pickOf(vector, span, array); ok && b.d.rarely(2) {
		switch f.kind {
		case vector:
			b.line("%s : u8 = any(%s) ? 1 : %d;", n, f.path, 2*b.d.upTo(1))
		case span:
			b.line("%s : u16 = size(%s) * 2 + 1;", n, f.path)
		case array:
			b.line("%s : u24 = count(%s);", n, f.path)
		}
		b.least += 2
		return
	}
	x := b.number(2)
	if x.fixed || x.lo < 0 {
		b.run()
		return
	}
	b.line("%s : u16 = %s %% %d;", n, x.text, 2+b.d.upTo(500))
	b.least += 2
}

// choose draws a switch over a number or an enum.
func (b *body) choose() {
	if b.choices > 1 || b.depth > 1 {
		b.run()
		return
	}
	b.choices++
	var sel field
	var labels []string
	for _, f := range b.fields {
		if f.enum != nil {
			sel, labels = f, f.enum.labels
		}
	}
	if sel.enum == nil || b.d.rarely(2) {
		n := b.name()
		b.line("%s : u8;", n)
		b.least++
		sel, labels = field{path: n}, []string{"0", "1, 7", "2..5", "0xf0..0xff", "9"}[:2+b.d.upTo(3)]
	}
	text, other := fmt.Sprintf("%s : switch %s {\n", b.name(), sel.path), !b.d.rarely(3) // a layout for all other numbers
	greedy := false
	for _, l := range labels {
		arm, rest := b.arm()
		greedy = greedy || rest
		if !other && b.d.versions && b.depth == 0 && b.d.rarely(5) {
			arm += fmt.Sprintf(" %s %d", pick(b.d, []string{"since", "until"}), 2+b.d.upTo(1))
		}
		text += fmt.Sprintf("%s => %s;\n", l, arm)
	}
	b.greedy = b.greedy || greedy
	rejects := []string{"reject E_SWITCH", "reject " + b.d.codes[0], "nothing", "u16", "u8 in 1..9"}
	if !other {
		rejects = rejects[:2]
	}
	b.line("%s_ => %s;\n}", text, pick(b.d, rejects))
}

func (b *body) arm() (text string, greedy bool) {
	in := b.inner()
	in.room = b.room && !b.greedy
	switch b.d.upTo(6) {
	case 6:
		for _, h := range b.d.headers {
			if args, ok := b.args(h.params); ok && (!h.greedy || in.room) {
				return h.name + args, h.greedy
			}
		}
	case 5:
		return "reject " + b.d.codes[0], false
	case 4:
		if in.room {
			return pick(b.d, []string{"bytes[..]", "string[..] in 0..20", "u16[..]", "payload"}), true
		}
		return "bits<16>", false
	case 3:
		return pick(b.d, []string{"u32", "u8[3]", "bytes[4]", "i16"}), false
	case 2:
		return "nothing", false
	}
	in.depth = 2
	in.fill(b.d.upTo(3))
	return "{\n" + in.text() + "}", in.greedy
}

// window draws an item in a container of its own size.
func (b *body) window() {
	if b.depth > 1 {
		b.run()
		return
	}
	n := b.name()
	c := b.name()
	b.line("%s : u8%s;", c, pick(b.d, []string{"", " in 1..100"}))
	b.least++
	size := fmt.Sprintf(pick(b.d, []string{"%s", "%s * 4", "%s * 2 + 1"}), c)
	what := ""
	switch b.d.upTo(3) {
	case 3:
		if len(b.d.lists) > 0 {
			l := pick(b.d, b.d.lists)
			if args, ok := b.args(l.params); ok {
				what = l.name + args
			}
		}
	case 2:
		what = pick(b.d, []string{"u16[..]", "bytes[..]", "string[..]", "u24[..]"})
	}
	if what == "" {
		in := b.inner()
		in.room, in.must = true, true
		in.depth = 2
		in.fill(b.d.upTo(2))
		what = "{\n" + in.text() + "}"
	}
	b.line("%s : %s sized %s;", n, what, size)
}

// rest draws an item that takes what is left.
func (b *body) rest() {
	b.greedy = true
	n := b.name()
	switch b.d.upTo(6) {
	case 6, 5:
		if len(b.d.lists) > 0 {
			l := pick(b.d, b.d.lists)
			if args, ok := b.args(l.params); ok {
				b.line("%s : %s%s;", n, l.name, args)
				return
			}
		}
	case 4:
		b.line("%s : %s[..];", n, b.element())
		b.fields = append(b.fields, field{path: n, kind: array})
		return
	case 3:
		b.line("%s : pad[..] %s;", n, pick(b.d, []string{"zero", "ignore"}))
		return
	case 2:
		b.line("%s : %s[..]%s;", n, pick(b.d, []string{"bytes", "string"}), pick(b.d, []string{"", " in 2..90"}))
		b.fields = append(b.fields, field{path: n, kind: span})
		return
	}
	b.line("%s : payload;", n)
	b.fields = append(b.fields, field{path: n, kind: span})
}

// versioned draws an item of some versions.
func (b *body) versioned() {
	if !b.d.versions || b.depth > 0 {
		b.run()
		return
	}
	b.line("%s : u%d %s %d;", b.name(), 8*(1+b.d.upTo(3)), pick(b.d, []string{"since", "until"}), 2+b.d.upTo(1))
}

// checksum ends a packet, now and then. It tells whether it covers what follows.
func (b *body) checksum(pseudo string) (ahead bool) {
	d := b.d
	if !d.rarely(2) && pseudo == "" {
		return false
	}
	n, of := b.name(), pick(d, d.sums)
	b.least += 4
	cover := pick(d, append(b.exceptions(), "before", "before", "before", "self"))
	if pseudo != "" {
		cover = pick(d, []string{pseudo + ", self", "zeros[4], " + pseudo + ", self zero_means none", "ones[2], " + pseudo + " except (b) as ones, before"})
	}
	b.line("%s : %s over %s;", n, of, cover)
	return strings.Contains(cover, "self")
}

// exceptions are coverages that leave bits out.
func (b *body) exceptions() (all []string) {
	for _, f := range b.fields {
		if f.kind == number && f.bits > 0 && f.path != "p" && !strings.Contains(f.path, ".") && len(all) < 3 {
			all = append(all, fmt.Sprintf("self except (%s) as %s", f.path, pick(b.d, []string{"ones", "zeros"})))
		}
	}
	return all
}

// partSum ends a header with a checksum over itself or over a part, now and then.
func (b *body) partSum() {
	if !b.d.rarely(6) || b.greedy {
		return
	}
	n, of := b.name(), pick(b.d, []string{"Crc16", "Inet", "Fletcher"})
	b.line("%s : %s over %s;", n, of, pick(b.d, append(b.exceptions(), "self")))
	b.least += 2
}

// let names an expression; what stands behind it may use the name.
func (b *body) let() {
	n := b.name()
	if c, ok := b.cond(1); ok && b.d.rarely(2) {
		b.line("let %s = %s;", n, c)
		b.fields = append(b.fields, field{path: n, kind: truth})
		return
	}
	if x := b.number(2); !x.fixed && x.hi < 1<<33 {
		b.line("let %s = %s;", n, x.text)
		b.fields = append(b.fields, field{path: n, lo: x.lo, hi: x.hi, signed: x.lo < 0})
		return
	}
	b.run()
}
