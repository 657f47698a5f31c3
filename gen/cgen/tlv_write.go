// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// kept tells whether an element keeps an item of its head.
func kept(c *gen.Case, it *gen.Item) bool { return slices.Contains(c.Head, it) }

// tlvWriteKey prints the setting of the key, where the case alone decides it; else the caller's must belong to the case.
func (g *generator) tlvWriteKey(p *printer, l *gen.List, c *gen.Case) {
	free := false
	for i, it := range l.KeyItems() {
		if kept(c, it) {
			free = true
			continue
		}
		value := hexText(c.KeyRanges()[0][i].First)
		if it.Scalar.Flag {
			value = fmt.Sprint(c.KeyRanges()[0][i].First != 0)
		}
		p.line("head.%s = %s;", it.Name.C, value)
	}
	if test := g.keyTest(l, c, "head."); free && test != "true" {
		p.line("if (!(%s)) {", test)
		p.line("return -%sE_NOFIT;", g.upper)
		p.line("}")
	}
}

// tlvWriteLength prints the length of the value, which is known when it has been written.
func (g *generator) tlvWriteLength(e *encoder, l *gen.List) {
	size := l.Head.Min
	bytes := fmt.Sprintf("o->off - start - %du", size)
	p := e.p
	switch {
	case l.LengthOf == nil:
		p.line("n = %s;", bytes)
		p.line("if (n != %s) {", scope{g: g, self: "head.", packing: true}.num(l.Length))
		p.line("return -%sE_NOFIT;", g.upper)
		p.line("}")
		return
	case l.Scale == nil:
	case l.Scale.A <= 0:
		g.unsupported(l, "the length of `%s` falls as values grow", l.Name.Schema)
	default:
		bytes = e.linear(bytes, l.Scale.A, l.Scale.B)
	}
	e.assign("head."+l.LengthOf.Name.C, l.LengthOf, bytes)
}

// linear prints the tests that (value - b) / a is a whole number, and returns its C text.
func (e *encoder) linear(value string, a, b int64) string {
	switch {
	case b > 0:
		e.p.line("if (%s < %du) {", value, b)
		e.p.line("return -%sE_NOFIT;", e.g.upper)
		e.p.line("}")
		value = fmt.Sprintf("%s - %du", value, b)
	case b < 0:
		value = fmt.Sprintf("%s + %du", value, -b)
	}
	if a > 1 {
		e.p.line("if ((%s) %% %du != 0u) {", value, a)
		e.p.line("return -%sE_NOFIT;", e.g.upper)
		e.p.line("}")
		value = fmt.Sprintf("(%s) / %du", value, a)
	}
	return value
}

// tlvFill prints what stands behind the last element of a list with an alignment of its own.
func (g *generator) tlvFill(p *printer, l *gen.List) {
	f := gen.Fill{Align: 1}
	if l.Fill != nil {
		f = *l.Fill
	}
	align := uint64(max(f.Align, 1))
	p.line("n = in->padding;")
	p.line("pad = (%du - (o->off - start + n) %% %du) %% %du;", align, align, align)
	switch {
	case l.End == nil:
		p.line("if (n > 0) {")
		p.line("return -%sE_PADDING;", g.upper)
		p.line("}")
	case len(l.Bares) == 0: // the marker is the first byte of what is missing
		p.line("n += pad;")
		p.line("pad = 0;")
	default:
		p.line("if (n > 0) {")
		p.line("n += pad;")
		p.line("pad = 0;")
		p.line("}")
	}
	p.line("if (o->cap - o->off < n + pad || n + pad < n) {")
	p.line("return -%sE_CAPACITY;", g.upper)
	p.line("}")
	if l.End != nil {
		p.line("for (i = 0; i < n; i++) {")
		p.line("o->buf[o->off++] = i == 0 ? %s : %s;", hexText(*l.End), hexText(uint64(f.Byte)))
		p.line("}")
	}
	if len(l.Bares) == 0 {
		if l.End == nil {
			p.line("(void)pad;")
		}
		return
	}
	p.line("for (i = 0; i < pad; i++) {")
	p.line("o->buf[o->off++] = %s;", hexText(l.Bares[0].Keys.First))
	p.line("}")
}
