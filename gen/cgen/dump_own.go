// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// ownStruct prints own_STRUCT: it turns views of the input into elements of the program's own and spoils every member
// that pack computes, so that packing the result shows that pack needs neither.
func (g *generator) ownStruct(p *printer, s *gen.Struct) {
	body := &printer{depth: 1}
	sc := scope{g: g, self: "v->"}
	for _, it := range s.Items {
		if !stored(it) {
			continue
		}
		if it.When != nil && it.Scalar == nil {
			body.line("if (%s_%s_present(v%s)) {", g.tag(s.Name), it.Name.C, passed(s))
		}
		g.ownItem(body, it, sc)
		if it.When != nil && it.Scalar == nil {
			body.line("}")
		}
	}
	for _, it := range s.Items {
		if s := it.Scalar; s != nil && stored(it) && (s.Derived != nil || solvable(s) || always(s.Sum)) {
			g.spoil(body, it)
		}
	}
	g.frame(p, fmt.Sprintf("static void own_%s(struct %s *v%s)", s.Name.C, g.tag(s.Name), g.params(s)), body.buf.String(),
		append(plainNames(s), "v"))
}

// solvable tells whether pack always computes s from what it counts, and never reads it.
func solvable(s *gen.Scalar) bool {
	optional := func(so *gen.Solve) bool { return so.Whole == nil && so.Of.Last().When != nil }
	return s.Solve != nil && s.SolveFor(optional) == nil
}

// always tells whether pack can compute a sum without parameters that a caller may leave out.
func always(c *gen.Cover) bool {
	return c != nil && !slices.ContainsFunc(c.Parts, func(p *gen.CoverPart) bool { return p.Kind == gen.CoverParam })
}

// spoil prints the setting of a computed member to nonsense.
func (g *generator) spoil(p *printer, it *gen.Item) {
	if it.Scalar.Flag {
		p.line("v->%s = !v->%s;", it.Name.C, it.Name.C)
	} else {
		p.line("v->%s = (%s)~v->%s;", it.Name.C, g.scalarType(it.Scalar), it.Name.C)
	}
}

func (g *generator) ownItem(p *printer, it *gen.Item, sc scope) {
	from := "v->" + it.Name.C
	switch {
	case it.Kind == gen.KindStruct:
		p.line("own_%s(&%s%s);", it.Struct.Name.C, from, sc.args(plainArgs(it.Struct.Params, it.Args)))
	case it.Kind == gen.KindList:
		p.line("own_%s(&%s%s);", it.List.Name.C, from, sc.args(it.Args))
	case it.Kind == gen.KindArray:
		g.ownArray(p, it, sc)
	case it.Kind == gen.KindSwitch:
		for _, a := range it.Switch.Arms {
			if a.Struct != nil {
				p.line("if (%s == %s) {", from, g.kindConst(it, a.Name.C))
				p.line("own_%s(&v->%s.%s%s);", a.Struct.Name.C, unionName(it), a.Name.C, sc.args(plainArgs(a.Struct.Params, a.Args)))
				p.line("}")
			}
		}
	}
}

func (g *generator) ownArray(p *printer, it *gen.Item, sc scope) {
	from, a := "v->"+it.Name.C, it.Array
	p.line("{")
	typ := ""
	if a.Struct != nil {
		typ = "struct " + g.tag(a.Struct.Name)
	} else {
		typ = g.scalarType(a.Scalar)
	}
	p.line("%s *all = (%s *)keep(%s.n * sizeof *all);", typ, typ, from)
	p.line("size_t i;")
	if a.Struct != nil {
		t := g.tag(a.Struct.Name)
		p.line("struct %s_iter it = %s_iter_init(&%s);", t, t, from)
		args := sc.args(plainArgs(a.Struct.Params, a.Args))
		p.line("for (i = 0; i < %s.n && %s_next(&it, &all[i]%s) > 0; i++) {", from, t, args)
		p.line("own_%s(&all[i]%s);", a.Struct.Name.C, args)
		p.line("}")
		p.line("%s.len = 0;", from)
	} else {
		p.line("for (i = 0; i < %s.n; i++) {", from)
		p.line("all[i] = %s_%s_at(&%s, i);", g.tag(it.Owner.Name), it.Name.C, from)
		p.line("}")
	}
	p.line("%s.v = all;", from)
	p.line("%s.p = NULL;", from)
	p.line("}")
}

func (g *generator) ownList(p *printer, l *gen.List) {
	body := &printer{}
	body.text(strings.NewReplacer("TAG", g.tag(l.Name), "NAME", l.Name.C, "PARAMS", g.declareParams(l.Params), "ARGS", pass(l.Params)).Replace(ownListText))
	text := body.buf.String()
	cut := strings.Index(text, "OWN")
	p.buf.WriteString(text[:cut])
	q := &printer{depth: 2}
	q.line("switch (all[i].kind) {")
	for _, c := range l.Cases {
		if c.Struct != nil {
			q.line("case %s:", g.macro(l.Name.C, c.Name.C))
			q.line("own_%s(&all[i].u.%s%s);", c.Struct.Name.C, c.Name.C, scope{g: g}.args(plainArgs(c.Struct.Params, c.Args)))
			q.line("break;")
		}
	}
	q.line("default:")
	q.line("break;")
	q.line("}")
	g.ownHead(q, l)
	p.buf.WriteString(strings.TrimLeft(q.buf.String(), " "))
	p.buf.WriteString(strings.TrimPrefix(text[cut:], "OWN\n"))
	p.line("")
}

// ownHead prints the spoiling of what pack sets in a head.
func (g *generator) ownHead(p *printer, l *gen.List) {
	var keep []*gen.Item
	for _, c := range l.Cases {
		for _, it := range c.Head {
			if stored(it) && !slices.Contains(keep, it) {
				keep = append(keep, it)
			}
		}
	}
	if len(keep) > 0 {
		p.line("e.head = all[i].head;")
	}
	p.line("%s(&all[i].head, sizeof all[i].head);", g.upper+"MEMZERO")
	for _, it := range keep {
		p.line("all[i].head.%s = e.head.%s;", it.Name.C, it.Name.C)
	}
}

// ownListText keeps unknown elements out: a driver compares canonical packets only.
const ownListText = `
static void own_NAME(struct TAG *vPARAMS)
{
    struct TAG_element e;
    struct TAG_element *all;
    struct TAG_iter it = TAG_iter_init(v);
    size_t n = 0, i;

    while (TAG_next(&it, &eARGS) > 0) {
        n++;
    }
    all = (struct TAG_element *)keep(n * sizeof *all);
    it = TAG_iter_init(v);
    for (i = 0; i < n && TAG_next(&it, &all[i]ARGS) > 0; i++) {
        OWN
    }
    v->v = all;
    v->n = n;
    v->p = NULL;
    v->len = 0;
}
`

// selfTest prints the trial of everything that vectors do not reach.
func (g *generator) selfTest(p *printer) {
	for _, bits := range g.vectors {
		p.text(strings.NewReplacer("BITS", fmt.Sprint(bits), "BYTES", fmt.Sprint(bits/8)).Replace(g.fill(vectorTest)))
		p.line("")
	}
	var fixed []*gen.Struct
	for _, s := range g.structs {
		if s.FixedSize && len(s.Steps) > 0 && len(s.Params) == 0 && !g.synthetic(s) {
			fixed = append(fixed, s)
			g.accessTest(p, s)
		}
	}
	p.line("static int selftest(void)")
	p.line("{")
	p.line("int round;")
	p.line("")
	p.line("for (round = 0; round < 200; round++) {")
	for _, bits := range g.vectors {
		p.line("try_bits%d();", bits)
	}
	for _, s := range fixed {
		p.line("try_%s();", s.Name.C)
	}
	p.line("}")
	for _, s := range g.p.Sums {
		p.line("claim(%s((const uint8_t *)\"123456789\", 9) == %s, \"%s\");", g.tag(s.Name), hexText(s.Check), s.Name.Schema)
	}
	p.text(g.fill(serialTest))
	p.line("return 0;")
	p.line("}")
	p.line("")
}

const serialTest = `
    claim(mr_serial_diff(3, UINT32_MAX, 32) == 4 && mr_serial_diff(UINT32_MAX, 3, 32) == -4, "serial distance");
    claim(mr_serial_diff(0x8000, 0, 16) == -32768 && mr_serial_less(0xffff, 0, 16), "serial order");
    claim(mr_serial_add(UINT32_MAX, 2, 32) == 1 && mr_serial_add(0, -1, 16) == 0xffff, "serial sum");
    claim(strcmp(mr_error_name(-MR_E_SHORT), "E_SHORT") == 0, "error name");
    claim(strcmp(mr_error_text(12345), "unknown") == 0, "error text");
    claim(mr_field_name(MR_FIELD_NONE)[0] == 0, "field name");
    printf("%lu checks\n", checks);
`

const vectorTest = `
static void try_bitsBITS(void)
{
    uint8_t wire[BYTES], back[BYTES];
    struct mr_bitsBITS b;
    int i, count = 0, first = -1;

    for (i = 0; i < BYTES; i++) {
        wire[i] = (random_byte() & 3u) == 0u ? random_byte() : 0;
    }
    b = mr_bitsBITS_load(wire);
    mr_bitsBITS_store(back, &b);
    claim(memcmp(wire, back, sizeof wire) == 0, "bit vector survives load and store");
    for (i = BITS - 1; i >= 0; i--) {
        const bool set = (wire[i / 8] & (0x80 >> (i % 8))) != 0;

        claim(mr_bitsBITS_test(&b, (size_t)i) == set, "bit i is mask 0x80 >> i%8 of byte i/8");
        count += set;
        first = set ? i : first;
        claim(mr_bitsBITS_next(&b, (size_t)i) == first, "next set bit");
    }
    claim(mr_bitsBITS_count(&b) == count && mr_bitsBITS_first(&b) == first, "bits counted");
    claim(mr_bitsBITS_any(&b) == (count > 0), "any bit");
    i = random_byte() % BITS;
    mr_bitsBITS_set(&b, (size_t)i);
    claim(mr_bitsBITS_test(&b, (size_t)i), "bit set");
    mr_bitsBITS_clear(&b, (size_t)i);
    claim(!mr_bitsBITS_test(&b, (size_t)i) && !mr_bitsBITS_test(&b, BITS), "bit cleared");
}
`

// accessTest prints try_STRUCT: getters, setters, unpack and pack of one struct must agree on random members.
func (g *generator) accessTest(p *printer, s *gen.Struct) {
	t, size := g.tag(s.Name), g.macro("sizeof", s.Name.C)
	p.line("static void try_%s(void)", s.Name.C)
	p.line("{")
	p.line("uint8_t noise[%s], wire[%s], back[%s];", size, size, size)
	p.line("struct %s v;", t)
	p.line("size_t i;")
	p.line("")
	p.line("for (i = 0; i < sizeof noise; i++) {")
	p.line("noise[i] = random_byte();")
	p.line("wire[i] = 0;")
	p.line("}")
	parts := s.Steps[0].(*gen.Run).Parts
	for _, part := range parts {
		it := part.Item
		if !stored(it) || it.Scalar == nil || windowOf(part.Bit, it.Scalar.Bits).n > 8 {
			continue
		}
		get, set := t+"_get_"+it.Name.C, t+"_set_"+it.Name.C
		p.line("memcpy(back, noise, sizeof back);")
		p.line("%s(back, %s(noise));", set, get)
		p.line("claim(memcmp(back, noise, sizeof back) == 0, \"%s.%s: set what was got\");", s.Name.Schema, it.Name.Schema)
		p.line("memset(back, noise[0], sizeof back);")
		p.line("%s(back, %s(noise));", set, get)
		p.line("claim(%s(back) == %s(noise), \"%s.%s: get what was set\");", get, get, s.Name.Schema, it.Name.Schema)
		value := get + "(noise)"
		if it.Scalar.Fixed != nil {
			value = fmt.Sprintf("(%s)%s", g.scalarType(it.Scalar), constFor(*it.Scalar.Fixed))
		}
		if it.Scalar.Reserved == gen.ReservedIgnore { // pack writes zeros
			continue
		}
		p.line("%s(wire, %s);", set, value)
	}
	p.line("if (%s_unpack(&v, wire, sizeof wire) == %s) {", t, size)
	for _, part := range parts {
		it := part.Item
		if stored(it) && it.Scalar != nil {
			p.line("claim(v.%s == %s_get_%s(wire), \"%s.%s: member and getter\");", it.Name.C, t, it.Name.C, s.Name.Schema, it.Name.Schema)
		}
	}
	p.line("claim(%s_pack(&v, back, sizeof back) == %s, \"%s packs\");", t, size, s.Name.Schema)
	if !g.hasSum(s, map[any]bool{}) {
		p.line("claim(memcmp(back, wire, sizeof back) == 0, \"%s: pack what was unpacked\");", s.Name.Schema)
	}
	p.line("}")
	p.line("}")
	p.line("")
}
