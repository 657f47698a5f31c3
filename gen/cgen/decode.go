// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// decoder prints the function that reads one struct.
type decoder struct {
	g *generator
	p *printer
	s *gen.Struct
	// places are the locals that remember where items start, for checks that come after their run.
	places map[*gen.Item]bool
	marks  marks // the same places, and ends that checksums need
	runs   int
}

// args prints the arguments of a nested struct, each with a comma in front.
func (s scope) args(args []*gen.Expr) string {
	var b strings.Builder
	for _, a := range args {
		it := a.Ref.Last()
		switch {
		case a.Op == gen.OpRef && it != nil && it.Kind == gen.KindStruct:
			b.WriteString(", &" + s.path(a.Ref))
		case a.Op == gen.OpRef:
			b.WriteString(", " + s.leaf(a))
		case a.Bool:
			fmt.Fprintf(&b, ", (uint8_t)%s", s.num(a))
		default:
			fmt.Fprintf(&b, ", (uint%d_t)(%s)", width(a.Max.BitLen()), s.num(a))
		}
	}
	return b.String()
}

// loads prints load_STRUCT for a struct of fixed size: all members from bytes that are known to be there.
func (g *generator) loads(p *printer, s *gen.Struct) {
	p.line("static void load_%s(struct %s *out, const uint8_t *p)", s.Name.C, g.tag(s.Name))
	p.line("{")
	d := &decoder{g: g, p: p, s: s}
	run := s.Steps[0].(*gen.Run)
	if !d.parts(run.Parts, "w") {
		p.line("(void)out;")
		p.line("(void)p;")
	}
	p.line("}")
	p.line("")
}

// read prints read_STRUCT: the struct's decode program.
func (g *generator) read(p *printer, s *gen.Struct) {
	body := &printer{depth: 1}
	d := newDecoder(g, body, s)
	d.maxSize()
	d.steps(s.Steps)
	if s.Greedy {
		body.line("if (in->off != in->end) {")
		body.line("return fail(in, %sE_TRAILING, in->off, %sFIELD_NONE);", g.upper, g.upper)
		body.line("}")
	}
	d.unlimit()
	if g.late {
		d.verifySums()
	}
	text := body.buf.String()
	p.line("static int32_t read_%s(struct %s *out, struct in *in%s)", s.Name.C, g.tag(s.Name), g.allParams(s))
	p.line("{")
	d.locals(p, text)
	p.buf.WriteString(text)
	p.line("return 0;")
	p.line("}")
	p.line("")
}

func newDecoder(g *generator, p *printer, s *gen.Struct) *decoder {
	d := &decoder{g: g, p: p, s: s, places: map[*gen.Item]bool{}}
	d.findPlaces(s.Steps)
	d.marks = marks{at: d.places, ends: map[*gen.Item][]string{}}
	if g.late {
		d.marks.note(g, s)
	}
	return d
}

// locals declares what the body uses and silences what it does not.
func (d *decoder) locals(p *printer, text string) {
	before := p.buf.Len()
	for _, l := range []struct{ use, decl string }{
		{"start", "const size_t start = in->off;"},
		{"p", "const uint8_t *p;"},
		{"end", "size_t end;"},
		{"stop", "size_t stop;"},
		{"i", "size_t i;"},
		{"n", "uint64_t n;"},
		{"rc", "int32_t rc;"},
	} {
		if uses(text, l.use) || l.use == "start" && d.anyPlace() {
			p.line("%s", l.decl)
		}
	}
	for _, it := range d.s.Items {
		if d.places[it] {
			p.line("size_t %s = start;", d.place(it))
		}
	}
	for _, local := range d.marks.to {
		p.line("size_t %s = start;", local)
	}
	d.stops(p)
	if p.buf.Len() > before {
		p.line("")
	}
	for _, name := range append(paramNames(d.s), "out", "in") {
		if !uses(text, name) {
			p.line("(void)%s;", name)
		}
	}
}

func (d *decoder) anyPlace() bool { return len(d.places) > 0 }

var comments = regexp.MustCompile(`(?s)/\*.*?\*/`)

// uses tells whether text contains the identifier outside of comments.
func uses(text, name string) bool {
	text = comments.ReplaceAllString(text, "")
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(name)
		before := i == 0 || !wordByte(text[i-1]) && text[i-1] != '.' && !strings.HasSuffix(text[:i], "->")
		if before && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = end
	}
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// maxSize prints the limit that a greedy packet sets on its container.
func (d *decoder) maxSize() {
	if d.s.Packet && d.s.Greedy && d.s.Max >= 0 {
		d.p.line("if (in->end - in->off > %du) {", d.s.Max)
		d.p.line("return fail(in, %sE_SIZE, in->off, %sFIELD_NONE);", d.g.upper, d.g.upper)
		d.p.line("}")
	}
}

func (d *decoder) scope() scope { return scope{g: d.g, self: "out->"} }

func (d *decoder) field(key any) string {
	if id := d.g.ids[key]; id != "" {
		return id
	}
	return d.g.upper + "FIELD_NONE"
}

func (d *decoder) steps(steps []gen.Step) {
	for _, s := range steps {
		switch s := s.(type) {
		case *gen.Run:
			d.run(s)
		case *gen.Call:
			d.call(s)
		case *gen.Repeat:
			d.repeat(s)
		case *gen.Take:
			d.take(s)
		case *gen.Elements:
			d.elements(s)
		case *gen.Branch:
			d.branch(s)
		case *gen.Choose:
			d.choose(s)
		case *gen.Limit:
			d.limit(s)
		case *gen.Window:
			d.window(s)
		case *gen.Verify:
			for _, c := range s.Checks {
				d.check(c, nil)
			}
		}
		if it := itemOf(s); it != nil {
			d.marks.finish(d.p, it, "in")
		}
	}
}

// itemOf is the item that a step decodes on its own; nil for steps that decode none or several.
func itemOf(s gen.Step) *gen.Item {
	switch s := s.(type) {
	case *gen.Call:
		return s.Item
	case *gen.Repeat:
		return s.Item
	case *gen.Take:
		return s.Item
	case *gen.Elements:
		return s.Item
	case *gen.Choose:
		return s.Item
	}
	return nil
}

// need prints the test that n bytes are left.
func (d *decoder) need(n, id string) {
	if n == "0u" {
		return
	}
	d.p.line("if (in->end - in->off < %s) {", n)
	d.p.line("return fail(in, %sE_SHORT, in->off, %s);", d.g.upper, id)
	d.p.line("}")
}

// blame prints the return of a callee's error, which stands at id unless the callee named a field.
func (d *decoder) blame(id string) {
	d.p.line("if (rc < 0) {")
	d.p.line("return blame(in, rc, %s);", id)
	d.p.line("}")
}

func (d *decoder) trailing(id string) {
	d.p.line("if (in->off != in->end) {")
	d.p.line("return fail(in, %sE_TRAILING, in->off, %s);", d.g.upper, id)
	d.p.line("}")
}

// firstLeaf is the first item of a run that is not a nested struct.
func firstLeaf(r *gen.Run) *gen.Item {
	var it *gen.Item
	for len(r.Parts) > 0 {
		it = r.Parts[0].Item
		if it.Kind != gen.KindStruct {
			break
		}
		r = it.Struct.Steps[0].(*gen.Run)
	}
	return it
}

func (d *decoder) run(r *gen.Run) {
	first := firstLeaf(r)
	if first == nil {
		for _, c := range r.Checks {
			d.check(c, r)
		}
		return
	}
	d.need(fmt.Sprintf("%du", r.Size), d.field(first))
	prefix := "w"
	if d.runs++; d.runs > 1 {
		prefix = fmt.Sprintf("w%d_", d.runs)
	}
	if d.s.FixedSize {
		d.p.line("p = in->buf + in->off;")
		d.p.line("load_%s(out, p);", d.s.Name.C)
	} else {
		loads := &printer{depth: d.p.depth}
		inner := *d
		inner.p = loads
		inner.parts(r.Parts, prefix)
		if inner.runs = d.runs; loads.buf.Len() > 0 || d.readsBytes(r) {
			d.p.line("p = in->buf + in->off;")
		}
		d.p.buf.Write(loads.buf.Bytes())
	}
	for _, part := range r.Parts {
		if d.places[part.Item] {
			d.p.line("%s = %s;", d.place(part.Item), plus("in->off", part.Bit/8))
		}
	}
	d.marks.partEnds(d.p, r, "in")
	d.contents(r.Parts, 0, "out->")
	for _, c := range r.Checks {
		d.check(c, r)
	}
	if !d.g.late {
		d.sums(r.Parts, 0, "out->")
	}
	d.p.line("in->off += %du;", r.Size)
}

// readsBytes tells whether checks of the run look at bytes that have no member.
func (d *decoder) readsBytes(r *gen.Run) bool {
	for _, c := range r.Checks {
		if it := c.Item.Last(); it != nil && unnamed(it) {
			return true
		}
	}
	return len(r.Parts) > 0
}

// parts prints the loads of a run's items; false when there is nothing to load.
func (d *decoder) parts(parts []gen.Part, prefix string) bool {
	any := false
	words := map[int]group{}
	for _, gr := range groups(parts) {
		words[gr.parts[0].Bit] = gr
	}
	var gr group
	word := ""
	for _, part := range parts {
		it := part.Item
		if found, ok := words[part.Bit]; ok && it.Scalar != nil {
			gr, word = found, d.word(found, prefix)
		}
		if !stored(it) {
			continue
		}
		any = true
		d.part(part, gr, word)
	}
	return any
}

// word prints the load of a group into a local and returns its name; empty when members are loaded one by one.
func (d *decoder) word(gr group, prefix string) string {
	if len(gr.parts) == 1 || gr.n > 8 {
		return ""
	}
	used := 0
	for _, p := range gr.parts {
		if stored(p.Item) {
			used++
		}
	}
	if used < 2 {
		return ""
	}
	name, typ := fmt.Sprintf("%s%d", prefix, gr.byte), "uint32_t"
	if gr.n > 4 {
		typ = "uint64_t"
	}
	d.p.line("const %s %s = %s;", typ, name, d.g.load("p", gr.byte, gr.n, ""))
	return name
}

func (d *decoder) part(part gen.Part, gr group, word string) {
	it, byteOff := part.Item, part.Bit/8
	to := "out->" + it.Name.C
	switch it.Kind {
	case gen.KindScalar, gen.KindReserved:
		d.p.line("%s = %s;", to, d.scalar(part, gr, word))
	case gen.KindBits:
		d.p.line("%s = %sbits%d_load(%s);", to, d.g.pfx, it.Vector.Bits, plus("p", byteOff))
	case gen.KindStruct:
		d.p.line("load_%s(&%s, %s);", it.Struct.Name.C, to, plus("p", byteOff))
	case gen.KindSpan:
		if it.Span.Fixed > 0 {
			d.p.line("%sMEMCPY(%s, %s, %d);", d.g.upper, to, plus("p", byteOff), it.Span.Fixed)
		}
	}
}

// scalar is the value of a scalar part: from its group's word when there is one.
func (d *decoder) scalar(part gen.Part, gr group, word string) string {
	s := part.Item.Scalar
	if word == "" {
		return d.g.get(s, "p", part.Bit)
	}
	shift := (gr.byte+gr.n)*8 - part.Bit - s.Bits
	if s.Flag {
		return fmt.Sprintf("(%s & %s) != 0u", word, hexText(uint64(1)<<uint(shift)))
	}
	wordBits := gr.n * 8
	w := window{shift: shift, bits: s.Bits}
	text := w.extract(word, wordBits)
	if s.Signed {
		return d.g.cast(s, text)
	}
	if strings.Contains(text, " ") {
		text = "(" + text + ")"
	}
	return fmt.Sprintf("(%s)%s", d.g.scalarType(s), text)
}

// contents checks fixed strings and pads, nested ones included.
func (d *decoder) contents(parts []gen.Part, bit int, self string) {
	for _, part := range parts {
		it, at := part.Item, (bit+part.Bit)/8
		switch {
		case it.Kind == gen.KindStruct:
			inner := it.Struct.Steps[0].(*gen.Run).Parts
			d.contents(inner, bit+part.Bit, self+it.Name.C+".")
		case it.Kind == gen.KindSpan:
			d.spanContent(it, plus("p", at), plus("in->off", at), fmt.Sprint(it.Span.Fixed))
		}
	}
}

// spanContent checks text and padding of n bytes at p, in C, that start at offset at.
func (d *decoder) spanContent(it *gen.Item, p, at, n string) {
	check := func(code, test string) {
		d.p.line("if (!%s(%s, %s)) {", test, p, n)
		d.p.line("return fail(in, %s%s, %s, %s);", d.g.upper, code, at, d.field(it))
		d.p.line("}")
	}
	switch sp := it.Span; {
	case sp.Kind == gen.SpanString && sp.ASCII:
		check("E_STRING", "is_ascii")
	case sp.Kind == gen.SpanString:
		check("E_STRING", "is_utf8")
	case sp.Kind == gen.SpanPad && !sp.Ignore:
		check("E_PADDING", "is_zero")
	}
	if it.Span.Padded {
		check("E_PADDING", "is_padded")
	}
}

// sums prints the comparison of checksum fields, which happens when the caller verifies.
func (d *decoder) sums(parts []gen.Part, bit int, self string) {
	for _, part := range parts {
		it, at := part.Item, (bit+part.Bit)/8
		switch {
		case it.Kind == gen.KindStruct:
			d.sums(it.Struct.Steps[0].(*gen.Run).Parts, bit+part.Bit, self+it.Name.C+".")
		case it.Scalar != nil && it.Scalar.Sum != nil && stored(it):
			off := plus("in->off", at)
			d.p.line("if (in->sum != NULL && %s%s != %s%s(in->buf, %s)) {",
				self, it.Name.C, d.g.pfx, it.Scalar.Sum.Sum.Name.C, off)
			d.p.line("wrong_sum(in, %s, %s);", off, d.field(it))
			d.p.line("}")
		}
	}
}
