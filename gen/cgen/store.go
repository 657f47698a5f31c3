// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// parts prints the stores of a run's items at p.
func (e *encoder) parts(parts []gen.Part) {
	for _, gr := range groups(parts) {
		if sum := gr.parts[0].Item.Scalar.Sum; sum == nil || e.g.late {
			e.group(gr)
		}
	}
	for _, part := range parts {
		it, at := part.Item, plus("p", part.Bit/8)
		from := e.self + it.Name.C
		switch it.Kind {
		case gen.KindBits:
			e.p.line("%sbits%d_store(%s, &%s);", e.g.pfx, it.Vector.Bits, at, from)
		case gen.KindStruct:
			e.p.line("store_%s(&%s, %s);", it.Struct.Name.C, from, at)
		case gen.KindSpan:
			switch {
			case it.Span.Fixed <= 0:
			case stored(it):
				e.p.line("%sMEMCPY(%s, %s, %d);", e.g.upper, at, from, it.Span.Fixed)
			default:
				e.p.line("%sMEMZERO(%s, %d);", e.g.upper, at, it.Span.Fixed)
			}
		}
	}
}

// value is the C text of what a scalar is written as: a constant, or an expression of an unsigned type.
func (e *encoder) value(it *gen.Item) (text string, constant bool) {
	s := it.Scalar
	switch {
	case s.Fixed != nil:
		return constFor(*s.Fixed), true
	case unnamed(it) && s.Reserved == gen.ReservedOnes:
		return constFor(ones(s.Bits)), true
	case unnamed(it) || s.Reserved == gen.ReservedIgnore:
		return "0u", true
	case s.Derived != nil && e.inPlace:
		if s.Flag {
			return e.scope().atom(s.Derived), false
		}
		return e.scope().num(s.Derived), false
	}
	return e.self + it.Name.C, false
}

func ones(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<uint(bits) - 1
}

func constFor(n uint64) string {
	if n > 0xffffffff {
		return fmt.Sprintf("UINT64_C(0x%x)", n)
	}
	return fmt.Sprintf("%du", n)
}

func (e *encoder) group(gr group) {
	if len(gr.parts) == 1 && gr.parts[0].Bit%8 == 0 && gr.parts[0].Item.Scalar.Bits == gr.n*8 {
		e.single(gr)
		return
	}
	if gr.n > 8 {
		e.g.unsupported(gr.parts[0].Item, "%d bytes of fields without a boundary between bytes", gr.n).Help("let one of them begin at a byte")
		return
	}
	word := "uint32_t"
	if gr.n > 4 {
		word = "uint64_t"
	}
	text := ""
	for _, part := range gr.parts {
		value, constant := e.value(part.Item)
		if value == "0u" && constant {
			continue
		}
		if text != "" {
			text += " | "
		}
		shift := (gr.byte+gr.n)*8 - part.Bit - part.Item.Scalar.Bits
		text += e.shifted(part.Item, word, value, shift)
	}
	if text == "" {
		text = "0u"
	}
	e.storeWord(gr, "", text, word)
}

// shifted is a member moved to its place in a word. Signed members lose their sign bits first.
func (e *encoder) shifted(it *gen.Item, word, value string, shift int) string {
	text := fmt.Sprintf("(%s)%s", word, group1(value))
	if it.Scalar.Signed {
		text = fmt.Sprintf("((%s)%s & %s)", word, group1(value), maskText(it.Scalar.Bits))
	}
	if shift == 0 {
		return text
	}
	return fmt.Sprintf("(%s << %d)", text, shift)
}

// storeWord prints the store of a word of a group.
func (e *encoder) storeWord(gr group, order, text, word string) {
	size := width(gr.n * 8)
	typ := fmt.Sprintf("uint%d_t", size)
	if typ != word || gr.n == 1 {
		text = fmt.Sprintf("(%s)(%s)", typ, text)
	}
	if gr.n == 1 {
		e.p.line("p[%d] = %s;", gr.byte, text)
		return
	}
	e.p.line("%s%s);", e.g.store("p", gr.byte, gr.n, order), text)
}

// single prints the store of a scalar that fills whole bytes.
func (e *encoder) single(gr group) {
	it := gr.parts[0].Item
	s := it.Scalar
	value, _ := e.value(it)
	typ := fmt.Sprintf("uint%d_t", width(s.Bits))
	if s.Signed {
		value = fmt.Sprintf("(%s)((uint64_t)%s & %s)", typ, group1(value), maskText(s.Bits))
	} else if s.Derived != nil && e.inPlace {
		value = fmt.Sprintf("(%s)%s", typ, group1(value))
	}
	if gr.n == 1 {
		e.p.line("p[%d] = %s;", gr.byte, value)
		return
	}
	e.p.line("%s%s);", e.g.store("p", gr.byte, gr.n, order(s)), value)
}

// sums prints the computation of checksum fields, which cover all that has been written before them.
func (e *encoder) sums(parts []gen.Part, bit int) {
	for _, part := range parts {
		it, at := part.Item, (bit+part.Bit)/8
		if it.Kind == gen.KindStruct {
			e.sums(it.Struct.Steps[0].(*gen.Run).Parts, bit+part.Bit)
			continue
		}
		s := it.Scalar
		if s == nil || s.Sum == nil {
			continue
		}
		value := fmt.Sprintf("%s%s(o->buf, %s)", e.g.pfx, s.Sum.Sum.Name.C, plus("o->off", at))
		if s.Bits == 8 {
			e.p.line("p[%d] = %s;", at, value)
			continue
		}
		e.p.line("%s%s);", e.g.store("p", at, s.Bits/8, order(s)), value)
	}
}

func (e *encoder) choose(c *gen.Choose) {
	e.g.chooser(e.p, e.scope(), c.Item.Switch, func(a *gen.Arm) { e.arm(c.Item, a) })
}

// arm prints the writing of one arm. The selector decides; an enum that says otherwise is the caller's mistake.
func (e *encoder) arm(it *gen.Item, a *gen.Arm) {
	if a == nil {
		e.p.line("return -%sE_SWITCH;", e.g.upper)
		return
	}
	if a.Reject != nil {
		e.p.line("return -%s;", e.g.upper+a.Reject.Name)
		return
	}
	e.p.line("if (%s%s != %s) {", e.self, it.Name.C, e.g.kindConst(it, a.Name.C))
	e.p.line("return -%sE_SWITCH;", e.g.upper)
	e.p.line("}")
	if a.Struct != nil {
		e.nested(fmt.Sprintf("write_%s(&%s%s.%s, o%s)", a.Struct.Name.C, e.self, unionName(it), a.Name.C, e.scope().args(a.Args)))
	}
	e.p.line("break;")
}

func (e *encoder) take(t *gen.Take) {
	it, sp := t.Item, t.Item.Span
	from := e.self + it.Name.C
	size := from + ".len"
	switch {
	case sp.Align > 0:
		e.p.line("n = (%du - (o->off - start) %% %du) %% %du;", sp.Align, sp.Align, sp.Align)
		size = "n"
	case !stored(it) && sp.Size != nil:
		e.p.line("n = %s;", e.scope().num(sp.Size))
		size = "n"
	case !stored(it):
		return
	case sp.Kind == gen.SpanPad:
		size = from
	}
	if sp.Size != nil && size != "n" {
		e.p.line("if (%s != %s) {", size, e.scope().num(sp.Size))
		e.p.line("return -%sE_SIZE;", e.g.upper)
		e.p.line("}")
	}
	e.p.line("if (o->cap - o->off < %s) {", size)
	e.p.line("return -%sE_CAPACITY;", e.g.upper)
	e.p.line("}")
	if sp.Kind == gen.SpanPad || size == "n" {
		e.p.line("%sMEMZERO(o->buf + o->off, (size_t)%s);", e.g.upper, size)
	} else {
		e.p.line("put(o->buf + o->off, %s.p, %s);", from, size)
	}
	e.p.line("o->off += (size_t)%s;", size)
}

// repeat writes the caller's elements, or copies those of a view.
func (e *encoder) repeat(r *gen.Repeat) {
	it, a := r.Item, r.Item.Array
	from := e.self + it.Name.C
	if a.Count != nil {
		e.p.line("if (%s.n != %s) {", from, e.scope().num(a.Count))
		e.p.line("return -%sE_SIZE;", e.g.upper)
		e.p.line("}")
	}
	e.p.line("if (%s.v != NULL) {", from)
	e.p.line("for (i = 0; i < %s.n; i++) {", from)
	if a.Struct != nil {
		e.nested(fmt.Sprintf("write_%s(&%s.v[i], o%s)", a.Struct.Name.C, from, e.scope().args(a.Args)))
	} else {
		e.scalarElement(it, from)
	}
	e.p.line("}")
	e.p.line("} else {")
	size := from + ".len"
	if a.Scalar != nil {
		size, _ = e.scope().arraySize(it, from)
	}
	e.p.line("if (o->cap - o->off < %s) {", size)
	e.p.line("return -%sE_CAPACITY;", e.g.upper)
	e.p.line("}")
	e.p.line("put(o->buf + o->off, %s.p, %s);", from, size)
	e.p.line("o->off += %s;", size)
	e.p.line("}")
}

func (e *encoder) scalarElement(it *gen.Item, from string) {
	s := it.Array.Scalar
	bytes := s.Bits / 8
	if s.Bits != width(s.Bits) && !s.Signed {
		e.p.line("if (%s.v[i] > %s) {", from, maskText(s.Bits))
		e.p.line("return -%sE_NOFIT;", e.g.upper)
		e.p.line("}")
	}
	e.room(fmt.Sprintf("%du", bytes))
	value := from + ".v[i]"
	if s.Signed {
		value = fmt.Sprintf("(uint%d_t)((uint64_t)%s & %s)", width(s.Bits), value, maskText(s.Bits))
	}
	if bytes == 1 {
		e.p.line("p[0] = %s;", value)
	} else {
		e.p.line("%s%s);", e.g.store("p", 0, bytes, order(s)), value)
	}
	e.p.line("o->off += %du;", bytes)
}

// tlvWrite prints write_LIST. Keys and lengths are the writer's; order, repeats and ranges are checked when pack reads
// its output back.
func (g *generator) tlvWrite(p *printer, l *gen.List) {
	t := g.tag(l.Name)
	p.line("static int32_t write_%s(const struct %s *in, struct out *o%s)", l.Name.C, t, g.declareParams(givenParams(l)))
	p.line("{")
	p.line("const size_t start = o->off;")
	p.line("size_t i;")
	if l.Fill != nil || len(l.Bares) > 0 {
		p.line("size_t n, pad;")
	}
	p.line("int32_t rc;")
	p.line("")
	p.line("if (in->v == NULL) {")
	p.line("if (o->cap - o->off < in->len) {")
	p.line("return -%sE_CAPACITY;", g.upper)
	p.line("}")
	p.line("put(o->buf + o->off, in->p, in->len);")
	p.line("o->off += in->len;")
	p.line("return 0;")
	p.line("}")
	p.line("for (i = 0; i < in->n; i++) {")
	p.line("rc = write_%s_element(&in->v[i], o%s);", l.Name.C, pass(givenParams(l)))
	p.line("if (rc < 0) {")
	p.line("return rc;")
	p.line("}")
	p.line("}")
	if l.Fill != nil || len(l.Bares) > 0 {
		g.tlvFill(p, l)
		p.line("return o->off - start > %du ? -%sE_SIZE : 0;", l.Max, g.upper)
		p.line("}")
		p.line("")
		return
	}
	p.line("if (in->padding > 0) {")
	if l.End == nil {
		p.line("return -%sE_PADDING;", g.upper)
	} else {
		p.line("if (o->cap - o->off < in->padding) {")
		p.line("return -%sE_CAPACITY;", g.upper)
		p.line("}")
		p.line("%sMEMZERO(o->buf + o->off, in->padding);", g.upper)
		p.line("o->buf[o->off] = %s;", hexText(*l.End))
		p.line("o->off += in->padding;")
	}
	p.line("}")
	p.line("return o->off - start > %du ? -%sE_SIZE : 0;", l.Max, g.upper)
	p.line("}")
	p.line("")
}

// tlvWriteElement prints write_LIST_element.
func (g *generator) tlvWriteElement(p *printer, l *gen.List) {
	size := l.Head.Min
	e := &encoder{g: g, p: p, s: l.Head, self: "in->"}
	p.line("static int32_t write_%s_element(const struct %s_element *in, struct out *o%s)", l.Name.C, g.tag(l.Name), g.declareParams(givenParams(l)))
	p.line("{")
	p.line("struct %s head = in->head;", g.tag(l.Head.Name))
	p.line("const size_t start = o->off;")
	p.line("uint64_t n;")
	p.line("int32_t rc = 0;")
	if l.ElementAlign > 1 {
		p.line("size_t pad;")
	}
	p.line("")
	p.line("if (o->cap - o->off < %du) {", size)
	p.line("return -%sE_CAPACITY;", g.upper)
	p.line("}")
	p.line("o->off += %du;", size)
	g.tlvWriteValue(p, l)
	p.line("if (rc < 0) {")
	p.line("return rc;")
	p.line("}")
	g.tlvWriteLength(e, l)
	p.line("store_%s(&head, o->buf + start);", l.Head.Name.C)
	if l.ElementAlign > 1 {
		p.line("pad = (%du - (o->off - start) %% %du) %% %du;", l.ElementAlign, l.ElementAlign, l.ElementAlign)
		p.line("if (o->cap - o->off < pad) {")
		p.line("return -%sE_CAPACITY;", g.upper)
		p.line("}")
		p.line("%sMEMZERO(o->buf + o->off, pad);", g.upper)
		p.line("o->off += pad;")
	}
	p.line("return 0;")
	p.line("}")
	p.line("")
}

func (g *generator) tlvWriteValue(p *printer, l *gen.List) {
	p.line("switch (in->kind) {")
	for _, c := range l.Cases {
		p.line("case %s:", g.macro(l.Name.C, c.Name.C))
		g.tlvWriteKey(p, l, c)
		if c.Struct != nil {
			p.line("rc = write_%s(&in->u.%s, o%s);", c.Struct.Name.C, c.Name.C, scope{g: g}.args(c.Args))
		}
		p.line("break;")
	}
	p.line("case %s:", g.macro(l.Name.C, "unknown"))
	p.line("default:")
	p.line("if (o->cap - o->off < in->len) {")
	p.line("return -%sE_CAPACITY;", g.upper)
	p.line("}")
	p.line("put(o->buf + o->off, in->value, in->len);")
	p.line("o->off += in->len;")
	p.line("break;")
	p.line("}")
}
