// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// place tells where a run lies: in which printed array, and at which printed offset.
type place struct {
	run   *gen.Run
	buf   string
	start string
	load  *loader // which has loaded words of it; nil = none
}

func (d *decoder) run(r *gen.Run) {
	if r.Size == 0 {
		for _, c := range r.Checks {
			d.check(c, place{})
		}
		return
	}
	if d.at != "" {
		d.float()
	}
	off := d.off()
	left := "len(src)"
	if off != "0" {
		left += "-" + off
	}
	switch {
	case d.most != "":
		d.b.line("if len(src) < %d || len(src) > %s {\nreturn 0, unfit(len(src), %d, %s, %q)\n}", r.Size, d.most, r.Size, d.most, firstLeaf(r))
		d.most = ""
	case d.remain < r.Size:
		d.b.line("if %s < %d {\nreturn 0, short(%q, %s, %d)\n}", left, r.Size, firstLeaf(r), off, r.Size)
	}
	d.remain = max(d.remain-r.Size, -1)
	d.raws++
	name := "raw"
	if d.raws > 1 {
		name = fmt.Sprintf("raw%d", d.raws)
	}
	var inner body
	outer := d.b
	d.b = &inner
	for _, p := range r.Parts {
		d.mark(p.Item, plus(off, p.Bit/8))
	}
	l := &loader{g: d.g, b: &inner, buf: buffer{name, r.Size}, first: d.bytes}
	l.parts(runPlace{target: d.sc.self}, r.Parts)
	d.bytes += r.Size
	pl := place{run: r, buf: name, start: off, load: l}
	d.spanChecks(pl)
	for _, c := range r.Checks {
		d.check(c, pl)
	}
	d.b = outer
	d.printRun(r, name, inner.String())
	if d.dynamic {
		d.b.line("off += %d", r.Size)
	} else {
		d.fixed += r.Size
	}
}

// sized ends before the argument of what reads as many bytes as it needs.
var sized = regexp.MustCompile(`(\]byte\)?|binary\.\w+\.\w+)\($`)

// printRun prints the lines of a run after the array they read, or with it in its place if they read it once.
func (d *decoder) printRun(r *gen.Run, name, lines string) {
	for _, whole := range []string{fmt.Sprintf("%s[0:%d]", name, r.Size), name + "[0:]"} {
		if strings.Count(lines, name) == 1 && strings.Contains(lines, whole) {
			end := plus(d.off(), r.Size)
			if before, _, _ := strings.Cut(lines, whole); sized.MatchString(before) {
				end = ""
			}
			d.b.WriteString(strings.Replace(lines, whole, d.rest(end), 1))
			return
		}
	}
	if strings.Contains(lines, name) {
		d.b.line("%s := (*[%d]byte)(%s)", name, r.Size, d.rest(""))
	}
	d.b.WriteString(lines)
}

// spanChecks prints the checks of what fixed strings and pads hold.
func (d *decoder) spanChecks(pl place) {
	d.nestedSpans(pl, pl.run.Parts, nestedAt{})
}

// nestedAt is the place of a nested struct in a run.
type nestedAt struct {
	path string
	at   int
}

func (d *decoder) nestedSpans(pl place, parts []gen.Part, in nestedAt) {
	for _, p := range parts {
		it := p.Item
		at := in.at + p.Bit/8
		path := joinPath(in.path, it.Name.Schema)
		switch {
		case it.Kind == gen.KindStruct:
			d.nestedSpans(pl, fixedParts(it.Struct), nestedAt{path, at})
		case it.Kind != gen.KindSpan:
		case it.Span.Kind == gen.SpanString:
			for _, f := range textFaults(it.Span, fmt.Sprintf("%s[%d:%d]", pl.buf, at, at+it.Span.Fixed)) {
				d.b.line("if %s {\nreturn %sfault(%s, %q, %s, 0)\n}", f[0], d.fail, f[1], path, plus(pl.start, at))
			}
		case it.Span.Kind == gen.SpanPad && !it.Span.Ignore:
			d.b.line("if !allZero(%s[%d:%d]) {\nreturn %sfault(CodePadding, %q, %s, 0)\n}",
				pl.buf, at, at+it.Span.Fixed, d.fail, path, plus(pl.start, at))
		}
	}
}

func joinPath(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// check prints one check.
func (d *decoder) check(c *gen.Check, pl place) {
	d.sc.raw = func(r gen.Ref) (val, bool) { return d.unnamed(r, pl) }
	cond := d.sc.negate(c.Hold).code
	got := d.values(c)
	d.sc.raw = nil
	field, off, bit := d.checkPlace(c, pl)
	if cond == "false" {
		return
	}
	d.b.line("if %s {\nreturn %sfault(%s, %q, %s, %d)%s\n}", cond, d.fail, checkCode(c), field, off, bit, got)
}

// unnamed reads reserved bits, which have no field, from the run.
func (d *decoder) unnamed(r gen.Ref, pl place) (val, bool) {
	if pl.run == nil || r.Param != nil || len(r.Path) == 0 || r.Last().Scalar == nil || hasField(r.Last()) {
		return val{}, false
	}
	bit, ok := bitOf(pl.run, r.Path)
	if !ok {
		return val{}, false
	}
	if pl.load != nil {
		return pl.load.scalar(bit, r.Last().Scalar), true
	}
	return d.g.loadScalar(buffer{pl.buf, pl.run.Size}, bit, r.Last().Scalar), true
}

// bitOf finds an item in a run, nested structs included.
func bitOf(r *gen.Run, path []*gen.Item) (int, bool) {
	for _, p := range r.Parts {
		if p.Item != path[0] {
			continue
		}
		if len(path) == 1 {
			return p.Bit, true
		}
		inner := fixedRun(p.Item.Struct)
		if inner == nil {
			return 0, false
		}
		bit, ok := bitOf(inner, path[1:])
		return p.Bit + bit, ok
	}
	return 0, false
}

var checkCodes = map[gen.CheckKind]string{
	gen.CheckFixed: "CodeFixed", gen.CheckReserved: "CodeReserved", gen.CheckRange: "CodeRange",
	gen.CheckEnum: "CodeEnum", gen.CheckDerived: "CodeDerived", gen.CheckWhere: "CodeWhere",
}

func checkCode(c *gen.Check) string {
	if c.Code != nil {
		return codeConst(c.Code)
	}
	return checkCodes[c.Kind]
}

// checkPlace is the field, byte and bit that a failing check names.
func (d *decoder) checkPlace(c *gen.Check, pl place) (field, off string, bit int) {
	if c.Item.Param != nil || len(c.Item.Path) == 0 {
		return "", "0", 0
	}
	field = pathOf(c.Item)
	if pl.run != nil && c.Bit >= 0 {
		return field, plus(pl.start, c.Bit/8), c.Bit % 8
	}
	first := c.Item.Path[0]
	start, ok := d.recorded[first]
	if !ok {
		return field, "0", 0
	}
	if first.Kind != gen.KindStruct || len(c.Item.Path) == 1 {
		return field, start, 0
	}
	if run, ok := first.Struct.Steps[0].(*gen.Run); ok {
		if within, ok := bitOf(run, c.Item.Path[1:]); ok {
			return field, plus(start, within/8), within % 8
		}
	}
	d.g.fail(first, "a rule of `%s` speaks of `%s`, whose place in `%s` varies", d.s.Name.Schema, field, first.Name.Schema).
		Help("state the rule in the header that holds the field")
	return field, start, 0
}

// values prints what was wanted and what was there, of checks on one number.
func (d *decoder) values(c *gen.Check) string {
	it := c.Item.Last()
	if it == nil || it.Scalar == nil || c.Kind == gen.CheckWhere {
		return ""
	}
	want := "0"
	switch {
	case c.Kind == gen.CheckFixed && it.Scalar.Fixed != nil:
		want = fmt.Sprint(*it.Scalar.Fixed)
	case c.Kind == gen.CheckReserved && it.Scalar.Reserved == gen.ReservedOnes:
		want = mask(it.Scalar.Bits)
	case c.Kind == gen.CheckDerived && it.Scalar.Derived != nil && len(c.Item.Path) == 1:
		want = convert(d.sc.expr(it.Scalar.Derived), "uint64").code
	}
	return fmt.Sprintf(".values(%s, %s)", want, convert(d.sc.resolve(c.Item), "uint64").code)
}

// window prints the end of what a greedy item may take, and the test that its trailers fit.
func (d *decoder) window(reserve int, path string) string {
	if reserve == 0 {
		return ""
	}
	d.b.line("end %s len(src) - %d", d.assign("end"), reserve)
	d.b.line("if end < %s {\nreturn 0, short(%q, %s, %d)\n}", d.off(), path, d.off(), reserve)
	return "end"
}

func (d *decoder) call(c *gen.Call) {
	if d.at != "" {
		d.float()
	}
	name := c.Item.Name
	end := ""
	if c.Windowed {
		end = d.behind(c.Reserve, c.Tail, c.Item)
	}
	d.mark(c.Item, d.off())
	if c.Windowed && dispatches(c.Item.Struct) {
		d.dispatch(c, end)
		d.reach(end, c.Reserve, c.Tail)
		return
	}
	if c.Windowed {
		d.fill(c.Item, commas(d.rest(end), d.sc.args(c.Item.Struct, c.Item.Args)))
		d.reach(end, c.Reserve, c.Tail)
		return
	}
	args := commas(d.rest(""), d.sc.args(c.Item.Struct, c.Item.Args))
	d.b.line("used, err %s %s.%s.Decode(%s)", d.assign("used, err"), d.sc.self, name.Go, args)
	d.b.line("if err != nil {\nreturn 0, inside(err, %q, %s)\n}", name.Schema, d.off())
	d.advance("used")
}

// fill prints the decoding of an item that is all of what it is given.
func (d *decoder) fill(it *gen.Item, args string) {
	d.b.line("if _, err := %s.%s.Decode(%s); err != nil {\nreturn 0, inside(err, %q, %s)\n}", d.sc.self, it.Name.Go, args, it.Name.Schema, d.off())
}

// reach moves the offset to the end of a greedy item, behind which trailers stand.
func (d *decoder) reach(end string, reserve int, tail *gen.Expr) {
	if end == "" {
		end = "len(src)"
	}
	d.jump(end)
	if tail == nil {
		d.remain = reserve
	}
}

// pointer tells whether a parameter that is a struct is printed as a pointer to it.
func (s *scope) pointer(p *gen.Param) bool {
	return !s.given(p) || strings.HasPrefix(s.params[p.Name.Schema], pointed)
}

// args prints what a struct's parameters receive.
func (s *scope) args(st *gen.Struct, args []*gen.Expr) string {
	var out []string
	for i, e := range args {
		p := st.Params[i]
		switch {
		case p.Cover:
		case p.Struct == nil:
			out = append(out, s.number(e, paramType(p)).code)
		case e.Ref.Param != nil && len(e.Ref.Path) == 0 && s.pointer(e.Ref.Param):
			out = append(out, s.place(e.Ref))
		default:
			out = append(out, "&"+s.place(e.Ref))
		}
	}
	return strings.Join(out, ", ")
}

func (d *decoder) take(t *gen.Take) {
	if d.at != "" {
		d.float()
	}
	it, sp := t.Item, t.Item.Span
	field := d.sc.self + "." + it.Name.Go
	path := it.Name.Schema
	d.mark(it, d.off())
	if sp.Align > 0 {
		d.align(it)
		return
	}
	end := "len(src)"
	if sp.Size == nil {
		if e := d.behind(t.Reserve, t.Tail, it); e != "" {
			end = e
		}
	} else {
		end = d.sizedEnd(sp, path)
	}
	span := d.rest(end)
	length := end
	if d.off() != "0" {
		length += " - " + d.off()
	}
	if cond := lengthOutside(length, sp); cond != "" {
		d.b.line("if %s {\nreturn 0, fault(CodeRange, %q, %s, 0)\n}", cond, path, d.off())
	}
	switch {
	case sp.Kind == gen.SpanString:
		for _, f := range textFaults(sp, span) {
			d.b.line("if %s {\nreturn 0, fault(%s, %q, %s, 0)\n}", f[0], f[1], path, d.off())
		}
		d.b.line("%s = string(%s)", field, span)
	case sp.Kind == gen.SpanPad:
		if !sp.Ignore {
			d.b.line("if !allZero(%s) {\nreturn 0, fault(CodePadding, %q, %s, 0)\n}", span, path, d.off())
		}
		if hasField(it) {
			d.b.line("%s = %s", field, length)
		}
	default:
		d.b.line("%s = src[%s:%s:%s]", field, strings.TrimPrefix(d.off(), "0"), end, end)
	}
	if sp.Size == nil {
		d.reach(end, t.Reserve, t.Tail)
		return
	}
	d.jump(end)
}

// align prints the padding to a multiple, counted from the struct's start.
func (d *decoder) align(it *gen.Item) {
	d.float()
	path := it.Name.Schema
	d.b.line("pad %s shortOf(off, %d)", d.assign("pad"), it.Span.Align)
	d.b.line("if len(src)-off < pad {\nreturn 0, short(%q, off, pad)\n}", path)
	if !it.Span.Ignore {
		d.b.line("if !allZero(src[off:off+pad]) {\nreturn 0, fault(CodePadding, %q, off, 0)\n}", path)
	}
	if hasField(it) {
		d.b.line("%s.%s = pad", d.sc.self, it.Name.Go)
	}
	d.b.line("off += pad")
}

// sizedEnd prints the end of a span whose size the packet states.
func (d *decoder) sizedEnd(sp *gen.Span, path string) string {
	d.b.line("size %s %s", d.assign("size"), operand("uint64("+d.sc.expr(sp.Size).code+")", "uint64").code)
	left := "len(src)"
	if d.off() != "0" {
		left += "-" + d.off()
	}
	d.b.line("if uint64(%s) < size {\nreturn 0, short(%q, %s, int(size))\n}", left, path, d.off())
	d.b.line("end %s %s", d.assign("end"), strings.TrimPrefix(d.off()+" + int(size)", "0 + "))
	return "end"
}

// lengthOutside prints the test for a length outside a span's limits; "" when there are none.
func lengthOutside(length string, sp *gen.Span) string {
	var terms []string
	x := length
	if strings.Contains(length, " ") {
		x = strings.ReplaceAll(length, " ", "")
	}
	if sp.Min > 0 {
		terms = append(terms, fmt.Sprintf("%s < %d", x, sp.Min))
	}
	if sp.Max >= 0 {
		terms = append(terms, fmt.Sprintf("%s > %d", x, sp.Max))
	}
	return strings.Join(terms, " || ")
}

func (d *decoder) elements(e *gen.Elements) {
	if d.at != "" {
		d.float()
	}
	it := e.Item
	end := d.behind(e.Reserve, e.Tail, it)
	d.mark(it, d.off())
	d.fill(it, commas(d.rest(end), d.sc.listArgs(it)))
	d.reach(end, e.Reserve, e.Tail)
}

// listArgs prints what a list's parameters receive.
func (s *scope) listArgs(it *gen.Item) string {
	return s.args(&gen.Struct{Params: it.List.Params}, it.Args)
}
