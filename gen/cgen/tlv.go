// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// tlv prints the functions of one TLV list: its walk, its decode and its pack.
func (g *generator) tlv(p *printer, l *gen.List) {
	g.tlvElement(p, l)
	p.static("read_"+l.Name.C, func() { g.tlvRead(p, l) })
	g.tlvWalk(p, l)
	p.static("write_"+l.Name.C+"_element", func() { g.tlvWriteElement(p, l) })
	p.static("write_"+l.Name.C, func() { g.tlvWrite(p, l) })
}

// tlvElement prints next_LIST: it reads the element at in->off. Errors that stand at the list name no field.
func (g *generator) tlvElement(p *printer, l *gen.List) {
	none := g.upper + "FIELD_NONE"
	p.line("static int32_t next_%s(struct %s_element *out, struct %s_iter *it, struct in *in%s)",
		l.Name.C, g.tag(l.Name), g.tag(l.Name), g.declareParams(l.Params))
	p.line("{")
	if len(l.Bares) > 0 {
		p.line("size_t at = in->off;")
		p.line("const size_t end = in->end;")
		p.line("const uint8_t *p = in->buf + at;")
	} else {
		p.line("const size_t at = in->off;")
		p.line("const size_t end = in->end;")
		p.line("const uint8_t *const p = in->buf + at;")
	}
	p.line("uint16_t field = %s;", none)
	p.line("uint64_t n;")
	p.line("size_t pad;")
	p.line("int32_t rc = 0;")
	p.line("")
	g.unusedParams(p, l)
	g.tlvBares(p, l)
	p.line("if (at == end) {")
	p.line("return 0;")
	p.line("}")
	if l.End != nil {
		p.line("if (p[0] == %s) {", hexText(*l.End))
		if l.Fill == nil || !l.Fill.Ignore {
			p.line("if (!%s) {", allFill(l, "p + 1", "end - at - 1u"))
			p.line("return fail(in, %sE_PADDING, at, %s);", g.upper, none)
			p.line("}")
		}
		p.line("it->list.padding = end - at;")
		p.line("in->off = end;")
		p.line("return 0;")
		p.line("}")
	}
	g.tlvHead(p, l)
	g.tlvKey(p, l)
	g.tlvFit(p, l)
	g.tlvValue(p, l)
	g.tlvPadding(p, l)
	p.line("return 1;")
	p.line("}")
	p.line("")
}

// tlvHead prints the reading of an element's head and the rules that need no more than it.
func (g *generator) tlvHead(p *printer, l *gen.List) {
	none := g.upper + "FIELD_NONE"
	size := l.Head.Min
	p.line("if (end - at < %du) {", size)
	p.line("return fail(in, %sE_SHORT, at, %s);", g.upper, none)
	p.line("}")
	p.line("load_%s(&out->head, p);", l.Head.Name.C)
	run := l.Head.Steps[0].(*gen.Run)
	sc := scope{g: g, self: "out->head.", reserved: func(it *gen.Item, ref gen.Ref) string {
		return g.raw(it.Scalar, "p", bitOf(run.Parts, ref.Path))
	}}
	for _, c := range run.Checks {
		if hold := sc.not(c.Hold); hold != "false" {
			p.line("if (%s) {", hold)
			p.line("return fail(in, %s, at, %s);", g.checkCode(c), none)
			p.line("}")
		}
	}
	g.tlvOrder(p, l)
	p.line("n = %s;", sc.num(l.Length))
	p.line("out->value = p + %d;", size)
}

// tlvKey prints the choice of the case by the key, and what happens to unknown ones.
func (g *generator) tlvKey(p *printer, l *gen.List) {
	if manyKeys(l) {
		g.tlvKeys(p, l)
		return
	}
	sc := scope{g: g, self: "out->head."}
	p.line("switch (out->head.%s) {", l.Key.Name.C)
	for i, c := range l.Cases {
		p.line("case %s:", hexText(c.Key))
		p.line("out->kind = %s;", g.macro(l.Name.C, c.Name.C))
		p.line("field = %s;", g.ids[c])
		if c.Unique || c.Required {
			p.line("if ((it->seen[%d] & %s) != 0u) {", i/32, hexText(1<<uint(i%32)))
			p.line("return fail(in, %sE_TLV_DUPLICATE, at, field);", g.upper)
			p.line("}")
			p.line("it->seen[%d] |= %s;", i/32, hexText(1<<uint(i%32)))
		}
		p.line("break;")
	}
	p.line("default:")
	if l.SkipIf != nil {
		p.line("if (%s) {", sc.not(l.SkipIf))
		p.line("return fail(in, %s, at, %sFIELD_NONE);", g.unknownCode(l), g.upper)
		p.line("}")
	}
	p.line("out->kind = %s;", g.macro(l.Name.C, "unknown"))
	p.line("break;")
	p.line("}")
}

// tlvFit prints the test that value and padding fit the list.
func (g *generator) tlvFit(p *printer, l *gen.List) {
	size, align := l.Head.Min, max(1, l.ElementAlign)
	p.line("if (n > end - at - %du) {", size)
	p.line("return fail(in, %sE_SHORT, at, field);", g.upper)
	p.line("}")
	p.line("out->len = (size_t)n;")
	if align == 1 {
		p.line("pad = 0;")
		return
	}
	p.line("pad = (%du - (%du + out->len) %% %du) %% %du;", align, size, align, align)
	p.line("if (pad > end - at - %du - out->len) {", size)
	p.line("return fail(in, %sE_SHORT, at, field);", g.upper)
	p.line("}")
}

// tlvValue prints the decoding of known values, each in a window of its own.
func (g *generator) tlvValue(p *printer, l *gen.List) {
	p.line("in->off = at + %du;", l.Head.Min)
	p.line("in->end = in->off + out->len;")
	p.line("switch (out->kind) {")
	for _, c := range l.Cases {
		if c.Struct == nil {
			continue
		}
		p.line("case %s:", g.macro(l.Name.C, c.Name.C))
		p.line("rc = read_%s(&out->u.%s, in%s);", c.Struct.Name.C, c.Name.C, scope{g: g}.args(c.Args))
		p.line("break;")
	}
	p.line("case %s:", g.macro(l.Name.C, "unknown"))
	p.line("in->off = in->end;")
	p.line("break;")
	p.line("default:")
	p.line("break;")
	p.line("}")
	p.line("if (rc == -%sE_SHORT || rc == -%sE_TRAILING || (rc == 0 && in->off != in->end)) {", g.upper, g.upper)
	p.line("return fail(in, %sE_TLV_LENGTH, at, field);", g.upper)
	p.line("}")
	p.line("if (rc < 0) {")
	p.line("return blame(in, rc, field);")
	p.line("}")
}

// tlvPadding prints the end of the element.
func (g *generator) tlvPadding(p *printer, l *gen.List) {
	p.line("if (!is_zero(in->buf + in->off, pad)) {")
	p.line("return fail(in, %sE_PADDING, at, field);", g.upper)
	p.line("}")
	p.line("in->off += pad;")
	p.line("in->end = end;")
}

// tlvRead prints read_LIST: it walks all elements, to check them, and keeps their window.
func (g *generator) tlvRead(p *printer, l *gen.List) {
	t := g.tag(l.Name)
	p.line("static int32_t read_%s(struct %s *out, struct in *in%s)", l.Name.C, t, g.declareParams(l.Params))
	p.line("{")
	p.line("struct %s_element element;", t)
	p.line("struct %s_iter it;", t)
	p.line("int32_t rc;")
	p.line("")
	p.line("if (in->end - in->off > %du) {", l.Max)
	p.line("return fail(in, %sE_SIZE, in->off, %sFIELD_NONE);", g.upper, g.upper)
	p.line("}")
	p.line("%sMEMZERO(out, sizeof *out);", g.upper)
	p.line("out->p = in->buf + in->off;")
	p.line("out->len = in->end - in->off;")
	p.line("it = %s_iter_init(out);", t)
	p.line("do {")
	p.line("rc = next_%s(&element, &it, in%s);", l.Name.C, pass(l.Params))
	p.line("} while (rc > 0);")
	p.line("if (rc < 0) {")
	p.line("return rc;")
	p.line("}")
	for i, c := range l.Cases {
		if c.Required {
			p.line("if ((it.seen[%d] & %s) == 0u) {", i/32, hexText(1<<uint(i%32)))
			p.line("return fail(in, %sE_TLV_MISSING, in->end, %s);", g.upper, g.ids[c])
			p.line("}")
		}
	}
	p.line("out->padding = it.list.padding;")
	p.line("return 0;")
	p.line("}")
	p.line("")
}

// tlvWalk prints the public iterator and the search for one kind.
func (g *generator) tlvWalk(p *printer, l *gen.List) {
	t := g.tag(l.Name)
	p.text(fmt.Sprintf(`
int32_t %[1]s_next(struct %[1]s_iter *it, struct %[1]s_element *out%[5]s)
{
    struct %[4]serr err;
    struct in in;
    int32_t rc;

    if (it->list.v != NULL) {
        if (it->off >= it->list.n) {
            return 0;
        }
        *out = it->list.v[it->off++];
        return 1;
    }
    in = input(it->list.p, it->list.len, &err);
    in.off = it->off;
    rc = next_%[2]s(out, it, &in%[6]s);
    it->off = in.off;
    return rc;
}

int32_t %[1]s_find(const struct %[1]s *list, enum %[1]s_kind kind,
    struct %[1]s_element *out%[5]s)
{
    struct %[1]s_iter it = %[1]s_iter_init(list);
    int32_t rc;

    do {
        rc = %[1]s_next(&it, out%[6]s);
    } while (rc > 0 && out->kind != kind);
    return rc;
}
`, t, l.Name.C, g.upper, g.pfx, g.declareParams(l.Params), pass(l.Params)))
	p.line("")
}

// tlvPrototypes declares what tlvWalk prints.
func (g *generator) tlvPrototypes(p *printer, l *gen.List) {
	t := g.tag(l.Name)
	p.doc("Begins a walk over list, which unpack filled or the caller built.")
	p.line("static inline struct %s_iter %s_iter_init(const struct %s *list)", t, t, t)
	p.line("{")
	p.line("struct %s_iter it;", t)
	p.line("")
	p.line("%sMEMZERO(&it, sizeof it);", g.upper)
	p.line("it.list = *list;")
	p.line("return it;")
	p.line("}")
	p.line("")
	p.doc("Reads the next element: 1, 0 at the end, or a negative code if the view's bytes are wrong.")
	p.line("int32_t %s_next(struct %s_iter *it, struct %s_element *out%s);", t, t, t, g.declareParams(l.Params))
	p.doc("Reads the first element of a kind: 1, 0 if there is none, or a negative code.")
	p.line("int32_t %s_find(const struct %s *list, enum %s_kind kind, struct %s_element *out%s);", t, t, t, t, g.declareParams(l.Params))
	p.line("")
}
