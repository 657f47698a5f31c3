// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// patch changes one byte: the bits of keep stay, those of set are set.
type patch struct{ keep, set byte }

// patchGroup is the changed bytes of one run, by their distance from its start.
type patchGroup struct {
	run   *gen.Run
	bytes map[int]patch
}

// put notes that bits from bit on count as fill.
func (gr patchGroup) put(bit, bits int, fill byte) {
	for i := bit; i < bit+bits; i++ {
		b, ok := gr.bytes[i/8]
		if !ok {
			b.keep = 0xff
		}
		m := byte(0x80) >> uint(i%8)
		b.keep &^= m
		b.set |= fill & m
		gr.bytes[i/8] = b
	}
}

// runs lists the runs of a program in wire order.
func runs(steps []gen.Step) []*gen.Run {
	var out []*gen.Run
	for _, s := range steps {
		switch s := s.(type) {
		case *gen.Run:
			out = append(out, s)
		case *gen.Branch:
			out = append(append(out, runs(s.Then)...), runs(s.Else)...)
		case *gen.Window:
			out = append(out, runs(s.Body)...)
		}
	}
	return out
}

// patches are the bytes of the packet that count as others in any part of what t covers.
func (t site) patches(g *generator) []patchGroup {
	var out []patchGroup
	for _, c := range partsOf(t.cover()) {
		out = append(out, t.patchesOf(g, c)...)
	}
	return out
}

// patchesOf are the bytes that count as others in one part: the checksum itself and what is excepted.
func (t site) patchesOf(g *generator, c *gen.CoverPart) []patchGroup {
	if c.Kind == gen.CoverFill || c.Kind == gen.CoverParam || c.Kind == gen.CoverBefore && len(c.Except) == 0 {
		return nil
	}
	groups := map[*gen.Run]patchGroup{}
	put := func(path []*gen.Item, fill byte) {
		for _, r := range runs(t.s.Steps) {
			if bit := bitOf(r.Parts, path); bit >= 0 {
				if groups[r].bytes == nil {
					groups[r] = patchGroup{r, map[int]patch{}}
				}
				groups[r].put(bit, partBits(path[len(path)-1]), fill)
				return
			}
		}
		g.unsupported(t.item(), "the checksum `%s` leaves `%s` out, which has no fixed place", t.item().Name.Schema, path[len(path)-1].Name.Schema)
	}
	for _, r := range c.Except {
		if r.Path[0].When != nil {
			g.unsupported(t.item(), "the checksum `%s` leaves an optional item out", t.item().Name.Schema)
		}
		put(append(slices.Clone(t.path[:len(t.path)-1]), r.Path...), c.Mask)
	}
	if c.Kind != gen.CoverBefore && t.covers(c, t) {
		put(t.path, 0)
	}
	var out []patchGroup
	for _, r := range runs(t.s.Steps) {
		if gr, ok := groups[r]; ok {
			out = append(out, gr)
		}
	}
	return out
}

// params are the parameters that t reads.
func (t site) params() []*gen.Param {
	var out []*gen.Param
	for _, c := range partsOf(t.cover()) {
		if c.Kind == gen.CoverParam && !slices.Contains(out, c.Param) {
			out = append(out, c.Param)
		}
	}
	return out
}

func (t site) function() string {
	name := t.s.Name.C
	for _, it := range t.path {
		name += "_" + it.Name.C
	}
	return "sum_" + name
}

// places are the arguments of t's function: names and, by the cursor's name, values.
func (t site) places(g *generator, cursor string) (names, values []string) {
	add := func(name, value string) { names, values = append(names, name), append(values, value) }
	for i, c := range partsOf(t.cover()) {
		if c.Kind == gen.CoverFill || c.Kind == gen.CoverParam {
			continue
		}
		if c.Kind != gen.CoverBefore {
			add(fmt.Sprintf("from%d", i), t.from(c).text())
		}
		add(fmt.Sprintf("to%d", i), t.to(c, cursor).text())
		for j, gr := range t.patchesOf(g, c) {
			add(fmt.Sprintf("run%d_%d", i, j), atLocal(t.s, gr.run.Parts[0].Item))
		}
	}
	return names, values
}

// call is the C text of the checksum's right value.
func (t site) call(g *generator, cursor string) string {
	_, values := t.places(g, cursor)
	return fmt.Sprintf("%s(%s)", t.function(), strings.Join(append([]string{cursor + "->buf"}, append(values, namesOf(t.params())...)...), ", "))
}

// sumFunction prints sum_STRUCT_ITEM.
func (g *generator) sumFunction(p *printer, t site) {
	body := &printer{depth: 1}
	w := &summer{g: g, p: body, t: t, sum: g.tag(t.cover().Sum.Name)}
	for i, c := range partsOf(t.cover()) {
		w.part(i, c)
	}
	text := body.buf.String()
	names, _ := t.places(g, "in")
	var args strings.Builder
	for _, n := range names {
		args.WriteString(", size_t " + n)
	}
	p.line("static uint%d_t %s(const uint8_t *buf%s%s)", width(t.item().Scalar.Bits), t.function(), args.String(), g.declareParams(t.params()))
	p.line("{")
	p.line("uint%d_t reg = %s_begin();", regBits(t.cover().Sum), w.sum)
	if uses(text, "off") {
		p.line("size_t off;")
	}
	p.line("")
	if !uses(text, "buf") {
		p.line("(void)buf;")
	}
	p.buf.WriteString(text)
	if t.cover().ZeroNone {
		typ := fmt.Sprintf("uint%d_t", width(t.item().Scalar.Bits))
		p.line("return %s_end(reg) != 0u ? %s_end(reg) : (%s)%s;", w.sum, w.sum, typ, maskText(t.item().Scalar.Bits))
	} else {
		p.line("return %s_end(reg);", w.sum)
	}
	p.line("}")
	p.line("")
}

// summer prints the parts of a checksum.
type summer struct {
	g   *generator
	p   *printer
	t   site
	sum string
}

func (w *summer) add(bytes, n string) { w.p.line("reg = %s_add(reg, %s, %s);", w.sum, bytes, n) }

func (w *summer) part(i int, c *gen.CoverPart) {
	switch c.Kind {
	case gen.CoverFill:
		w.p.line("for (off = 0; off < %du; off++) {", c.Count)
		w.p.line("const uint8_t fill = %s;", hexText(uint64(c.Fill)))
		w.p.line("")
		w.add("&fill", "1")
		w.p.line("}")
		return
	case gen.CoverParam:
		w.param(c)
		return
	case gen.CoverBefore:
		w.p.line("off = 0;")
	default:
		w.p.line("off = from%d;", i)
	}
	for j, gr := range w.t.patchesOf(w.g, c) {
		w.p.line("{")
		w.patched("buf", fmt.Sprintf("run%d_%d", i, j), gr.bytes)
		w.p.line("}")
	}
	w.add("buf + off", fmt.Sprintf("to%d - off", i))
}

// patched prints the bytes from off to the last changed one, off moving behind it. Changes count from base.
func (w *summer) patched(from, base string, changes map[int]patch) {
	at := slices.Sorted(maps.Keys(changes))
	lo, hi := at[0], at[len(at)-1]+1
	w.p.line("uint8_t part[%d];", hi-lo)
	w.p.line("")
	start := plus(base, lo)
	if base == "" {
		start = fmt.Sprintf("%du", lo)
	}
	if start != "0u" {
		w.add(from+" + off", start+" - off")
	}
	w.p.line("%sMEMCPY(part, %s + %s, %d);", w.g.upper, from, start, hi-lo)
	for _, i := range at {
		c := changes[i]
		value := hexText(uint64(c.set))
		switch {
		case c.keep != 0 && c.set == 0:
			value = fmt.Sprintf("(uint8_t)(part[%d] & %s)", i-lo, hexText(uint64(c.keep)))
		case c.keep != 0 && c.keep|c.set == 0xff && c.keep&c.set == 0:
			value = fmt.Sprintf("(uint8_t)(part[%d] | %s)", i-lo, hexText(uint64(c.set)))
		case c.keep != 0:
			value = fmt.Sprintf("(uint8_t)((part[%d] & %s) | %s)", i-lo, hexText(uint64(c.keep)), hexText(uint64(c.set)))
		}
		w.p.line("part[%d] = %s;", i-lo, value)
	}
	w.add("part", fmt.Sprint(hi-lo))
	w.p.line("off = %s;", strings.TrimPrefix(fmt.Sprintf("%s + %du", base, hi), " + "))
}

// param prints the bytes of a header that the caller gives. What is excepted lies in the first run of its type; a header
// that ends before has none of it.
func (w *summer) param(c *gen.CoverPart) {
	q, name := c.Param, argument(c.Param)
	w.p.line("off = 0;")
	for _, st := range alternatives(q) {
		gr := patchGroup{bytes: map[int]patch{}}
		for _, r := range c.Except {
			if r.Path[0].Owner != st {
				continue
			}
			if gr.run, _ = st.Steps[0].(*gen.Run); gr.run == nil || bitOf(gr.run.Parts, r.Path) < 0 {
				w.g.unsupported(q, "a checksum leaves `%s` of `%s` out, which has no fixed place", r.Last().Name.Schema, st.Name.Schema)
				continue
			}
			gr.put(bitOf(gr.run.Parts, r.Path), partBits(r.Last()), c.Mask)
		}
		if len(gr.bytes) == 0 {
			continue
		}
		test := fmt.Sprintf("%s->len >= %du", name, gr.run.Size)
		if q.Any != nil {
			test = fmt.Sprintf("%s->kind == %s && %s", name, w.g.macro(w.t.s.Name.C, q.Name.C, st.Name.C), test)
		}
		w.p.line("if (%s) {", test)
		w.patched(name+"->p", "", gr.bytes)
		w.p.line("}")
	}
	w.add(name+"->p + off", name+"->len - off")
}

// sumFunctions prints the functions of all checksums that s computes.
func (g *generator) sumFunctions(p *printer, s *gen.Struct) {
	if !g.late {
		return
	}
	for _, t := range sites(s, s.Steps) {
		p.static(t.function(), func() { g.sumFunction(p, t) })
	}
}

// verifySums prints the comparison of the checksums of s at its end.
func (d *decoder) verifySums() {
	for _, t := range sites(d.s, d.s.Steps) {
		value := d.scope().path(gen.Ref{Path: t.path})
		tests := []string{"in->sum != NULL"}
		if t.path[0].When != nil {
			tests = append(tests, d.scope().atom(t.path[0].When))
		}
		for _, q := range t.params() {
			tests = append(tests, argument(q)+" != NULL")
		}
		if t.cover().ZeroNone {
			tests = append(tests, value+" != 0u")
		}
		tests = append(tests, value+" != "+t.call(d.g, "in"))
		d.p.line("if (%s) {", strings.Join(tests, " && "))
		d.p.line("first_wrong_sum(in, %s, %s);", t.at().text(), d.field(t.item()))
		d.p.line("}")
	}
}

// writeSums prints the computation of the checksums of s, when all else has been written.
func (e *encoder) writeSums() {
	for _, t := range inOrder(sites(e.s, e.s.Steps)) {
		var tests []string
		if t.path[0].When != nil {
			tests = append(tests, e.scope().atom(t.path[0].When))
		}
		for _, q := range t.params() {
			tests = append(tests, argument(q)+" != NULL")
		}
		if len(tests) > 0 {
			e.p.line("if (%s) {", strings.Join(tests, " && "))
		}
		sc, value := t.item().Scalar, t.call(e.g, "o")
		if sc.Bits == 8 {
			e.p.line("o->buf[%s] = %s;", t.at().text(), value)
		} else {
			e.p.line("%sstore%d%s(o->buf + %s, %s);", e.g.pfx, sc.Bits, order(sc), t.at().text(), value)
		}
		if len(tests) > 0 {
			e.p.line("}")
		}
	}
}

func regBits(s *gen.Sum) int {
	if s.Kind == gen.SumOnes || s.Kind == gen.SumFletcher {
		return 32
	}
	return width(s.Width)
}
