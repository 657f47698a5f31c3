// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// run prints a Run: the bounds, the values, the tree, the hooks and the checks.
func (f *function) run(r *gen.Run) {
	g := f.g
	g.open("do")
	g.line("local e = o + %d", r.Size)
	past := "e > cap"
	if f.reads(r) {
		past = "e > held and not fetch(e)"
	}
	g.line("if e > stop or %s then return short(e > stop, %s, o) end", past, quote(firstLeaf(r)))
	f.read(r)
	if len(r.Parts) > 0 {
		g.open("if t and W.%s then", f.s.Name.Filter)
		g.addRun(f.s, r, "o")
		g.shut("end")
	}
	f.sums(r)
	for _, n := range nestedIn(r) {
		if h := g.hooks[n.last().Struct]; h != nil {
			f.hook(h, n.path)
		}
	}
	f.contents(r)
	for _, c := range r.Checks {
		f.check(c, r)
	}
	g.line("o = e")
	g.shut("end")
}

// reads reports whether the run looks at bytes, and not only at how many there are.
func (f *function) reads(r *gen.Run) bool {
	for _, v := range f.g.use.needs[f.s].list {
		if v.ref.Param == nil && v.kind != valAt && v.kind != valEnd && v.kind != valPresent && inRun(r, v.ref) {
			return true
		}
	}
	return false
}

// firstLeaf is the path of the first item without inner structure.
func firstLeaf(r *gen.Run) string {
	leaves := leavesOf(r)
	if len(leaves) == 0 {
		return ""
	}
	return pathText(leaves[0].path)
}

func pathText(path []*gen.Item) string {
	var names []string
	for _, it := range path {
		names = append(names, it.Name.Schema)
	}
	return strings.Join(names, ".")
}

// read assigns every needed value that lies in the run.
func (f *function) read(r *gen.Run) {
	var numbers []place
	for _, v := range f.g.use.needs[f.s].list {
		if v.ref.Param != nil {
			continue
		}
		p, ok := placeIn(r, v.ref)
		if !ok {
			continue
		}
		first, size := p.window()
		switch {
		case v.kind == valNumber && !wide(p.last().Scalar):
			numbers = append(numbers, p)
		case v.kind == valNumber:
			f.g.line("%s = %s", f.local(v), wideText(p))
		case v.kind == valBytes:
			f.g.line("%s = sub(s, %s, %s)", f.local(v), plus("o", first+1), plus("o", first+size))
		case v.kind == valSize:
			f.g.line("%s = %d", f.local(v), p.width()/8)
		case v.kind == valPresent:
			f.g.line("%s = true", f.local(v))
		case v.kind == valAt:
			f.g.line("%s = %s", f.local(v), plus("o", first))
		case v.kind == valEnd:
			f.g.line("%s = %s", f.local(v), plus("o", first+size))
		}
	}
	f.numbers(numbers)
}

// wideText reads a scalar of more than 53 bits as eight bytes, most significant first.
func wideText(p place) string {
	s := p.last().Scalar
	first, size := p.window()
	raw := fmt.Sprintf("sub(s, %s, %s)", plus("o", first+1), plus("o", first+size))
	at := fmt.Sprintf("tvb(%s, %d)", plus("o", first), size)
	switch {
	case p.width() == 64 && size == 8 && little(s):
		return "reverse(" + raw + ")"
	case p.width() == 64 && size == 8:
		return raw
	case little(s):
		return fmt.Sprintf("padded(reverse(%s), %d, %t)", raw, p.width(), s.Signed)
	case p.width() == 8*size:
		return fmt.Sprintf("padded(%s, %d, %t)", raw, p.width(), s.Signed)
	}
	return fmt.Sprintf("padded(%s:bitfield(%d, %d):encode(false), %d, %t)", at, p.bit-8*first, p.width(), p.width(), s.Signed)
}

// maxFetch is the number of bytes that one call of byte() fetches; maxGap how many unused ones it may pass over.
const (
	maxFetch = 24
	maxGap   = 8
)

// numbers reads scalars of up to 53 bits, neighbours with one call.
func (f *function) numbers(ps []place) {
	sort.SliceStable(ps, func(i, j int) bool { return ps[i].bit < ps[j].bit })
	for len(ps) > 0 {
		first, size := ps[0].window()
		end, n := first+size, 1
		for n < len(ps) {
			a, sz := ps[n].window()
			if a-end > maxGap || a+sz-first > maxFetch {
				break
			}
			end, n = max(end, a+sz), n+1
		}
		f.fetch(ps[:n], first, end)
		ps = ps[n:]
	}
}

func (f *function) fetch(ps []place, first, end int) {
	used := map[int]bool{}
	for _, p := range ps {
		a, n := p.window()
		for i := a; i < a+n; i++ {
			used[i] = true
		}
	}
	var names []string
	for i := first; i < end; i++ {
		if used[i] {
			names = append(names, fmt.Sprintf("b%d", i))
		} else {
			names = append(names, "_")
		}
	}
	f.g.open("do")
	f.g.line("local %s = byte(s, %s, %s)", strings.Join(names, ", "), plus("o", first+1), plus("o", end))
	for _, p := range ps {
		f.g.line("%s = %s", f.local(value{valNumber, gen.Ref{Path: p.path}}), scalarText(p))
	}
	f.g.shut("end")
}

// scalarText computes a scalar from the bytes b<n>, n counted from the start of the run.
func scalarText(p place) string {
	s := p.last().Scalar
	first, size := p.window()
	lead, tail := p.bit%8, 8*(first+size)-p.bit-p.width()
	if s.Flag {
		if lead == 0 {
			return fmt.Sprintf("b%d >= 128", first)
		}
		return fmt.Sprintf("b%d %% %d >= %d", first, 1<<uint(8-lead), 1<<uint(7-lead))
	}
	var terms []string
	for i := range size {
		b, shift := fmt.Sprintf("b%d", first+i), 8*(size-1-i)-tail
		if i == 0 && lead > 0 && (size > 1 || tail == 0) {
			b = fmt.Sprintf("%s %% %d", b, 1<<uint(8-lead))
		} else if i == 0 && lead > 0 {
			b = fmt.Sprintf("%s %% %d - %s %% %d", b, 1<<uint(8-lead), b, 1<<uint(tail))
		} else if i == size-1 && tail > 0 {
			b = fmt.Sprintf("%s - %s %% %d", b, b, 1<<uint(tail))
		}
		if little(s) {
			shift = 8 * i
		}
		terms = append(terms, scaled(b, shift))
	}
	sum := strings.Join(terms, " + ")
	if s.Signed {
		return fmt.Sprintf("extend(%s, %.0f)", sum, float64(uint64(1)<<uint(p.width())))
	}
	return sum
}

// scaled prints b * 2^shift; b is reduced so that a negative shift divides it.
func scaled(b string, shift int) string {
	if strings.Contains(b, " - ") {
		b = "(" + b + ")"
	}
	switch {
	case shift < 0:
		return fmt.Sprintf("%s / %d", b, 1<<uint(-shift))
	case shift == 0:
		return b
	}
	return fmt.Sprintf("%s * %d", b, uint64(1)<<uint(shift))
}

// contents checks the text and padding of fixed spans, in wire order.
func (f *function) contents(r *gen.Run) {
	for _, p := range leavesOf(r) {
		it := p.last()
		if it.Kind == gen.KindSpan {
			first, size := p.window()
			f.spanContent(it, span{pathText(p.path), plus("o", first), plus("o", first+size)})
		}
	}
}

// span is a range of bytes: its path, and Lua expressions for its first byte and its end.
type span struct{ path, from, to string }

func (f *function) spanContent(it *gen.Item, sp span) {
	switch {
	case it.Span.Kind == gen.SpanString:
		valid := "utf8"
		if it.Span.ASCII {
			valid = "ascii"
		}
		f.g.line("if not %s(%s, %s) then %s end", valid, sp.from, sp.to, failure(gen.StringNumber, sp.path, sp.from))
		if it.Span.Padded {
			f.g.line("if not padded(%s, %s) then %s end", sp.from, sp.to, failure(gen.PaddingNumber, sp.path, sp.from))
		}
	case it.Span.Kind == gen.SpanPad && !it.Span.Ignore:
		f.g.line("if not blank(%s, %s) then %s end", sp.from, sp.to, failure(gen.PaddingNumber, sp.path, sp.from))
	}
}

var checkNumbers = map[gen.CheckKind]int{gen.CheckFixed: gen.FixedNumber, gen.CheckReserved: gen.ReservedNumber, gen.CheckRange: gen.RangeNumber,
	gen.CheckEnum: gen.EnumNumber, gen.CheckDerived: gen.DerivedNumber, gen.CheckWhere: gen.WhereNumber}

// check prints one rule; the error names its item, or the struct when the rule speaks of a parameter.
func (f *function) check(c *gen.Check, r *gen.Run) {
	number := checkNumbers[c.Kind]
	if c.Code != nil {
		number = c.Code.Number
	}
	path, at := "", "at"
	if c.Item.Param == nil && len(c.Item.Path) > 0 {
		path = pathText(c.Item.Path)
		if p, ok := f.placeOf(c, r); ok {
			first, _ := p.window()
			at = plus("o", first)
		} else {
			at = f.local(value{valAt, c.Item})
		}
	}
	f.g.line("if %s then %s end", f.printer().unless(c.Hold), failure(number, path, at))
}

func (f *function) placeOf(c *gen.Check, r *gen.Run) (place, bool) {
	if r == nil {
		return place{}, false
	}
	return placeIn(r, c.Item)
}

// sums notes where a checksum field lies, to be verified when all else is known to be well.
func (f *function) sums(r *gen.Run) {
	g := f.g
	for _, p := range leavesOf(r) {
		s := p.last().Scalar
		if p.last().Kind != gen.KindScalar || s.Sum == nil {
			continue
		}
		first, _ := p.window()
		if !g.covers() {
			g.open("if summing then")
		}
		g.line("sum_n = sum_n + 1")
		g.line("sum_id[sum_n], sum_at[sum_n] = %d, %s", g.sumOf(p), plus("o", first))
		if g.deep() {
			g.line("sum_path[sum_n] = %s", quote(pathText(p.path)))
		}
		if g.covers() {
			g.line("sum_cover[sum_n] = nil")
		}
		for _, c := range coverings(f.s) {
			if samePath(p.path, append(slices.Clone(c.holder), c.item)) {
				g.line("%s = sum_n", c.slot())
			}
		}
		if !g.covers() {
			g.shut("end")
		}
	}
}
