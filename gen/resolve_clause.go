// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// clauseSet is what stands behind a type.
type clauseSet struct {
	list                                    []*syntax.Clause
	serial, opaque, unique, required, ascii syntax.Pos // place of the word; Line 0 when absent
	in                                      *syntax.Set
	equals                                  *syntax.Expr
	initial                                 *syntax.Expr
	sized                                   *syntax.Expr
	over                                    *syntax.Cover
	cond                                    *syntax.Expr
	since, until                            *syntax.Since
	names                                   *syntax.Attr // @name
	format, unit                            string
	next                                    *Next
	nextAt                                  syntax.Pos
}

// ranks orders the clauses; `=` and `default` exclude each other.
var ranks = map[string]int{
	"serial": 1, "opaque": 2, "in": 3, "=": 4, "default": 4, "sized": 5, "over": 6, "if": 7, "unique": 8, "required": 8, "since": 9, "until": 10, "@": 11,
}

func clauseWord(k *syntax.Clause) string {
	switch {
	case k.In != nil:
		return "in"
	case k.Equals != nil:
		return "="
	case k.Default != nil:
		return "default"
	case k.Sized != nil:
		return "sized"
	case k.Over != nil:
		return "over"
	case k.If != nil:
		return "if"
	case k.Since != nil:
		return k.Since.Word
	case k.Attr != nil:
		return "@"
	}
	return k.Word
}

// sortClauses checks order and multiplicity.
func (c *compiler) sortClauses(list []*syntax.Clause) (*clauseSet, bool) {
	cs := &clauseSet{list: list}
	last, ok := 0, true
	for _, k := range list {
		word := clauseWord(k)
		rank := ranks[word]
		if rank < last || rank == last && word != "@" {
			// An attribute may stand before `unique`: it belongs to the type there.
			if last != ranks["@"] || rank != ranks["unique"] {
				c.fixClauses(c.report("E0011", k.Pos, "`%s` stands too late or twice", word), list)
				ok = false
				continue
			}
		}
		last = rank
		ok = c.clause(cs, k) && ok
	}
	return cs, ok
}

func (c *compiler) clause(cs *clauseSet, k *syntax.Clause) bool {
	switch {
	case k.In != nil:
		cs.in = k.In
	case k.Equals != nil:
		cs.equals = k.Equals
	case k.Default != nil:
		cs.initial = k.Default
	case k.Over != nil:
		cs.over = k.Over
	case k.If != nil:
		cs.cond = k.If
	case k.Attr != nil:
		return c.attribute(cs, k.Attr)
	case k.Sized != nil:
		cs.sized = k.Sized
	case k.Since != nil && k.Since.Word == "since":
		cs.since = k.Since
	case k.Since != nil:
		cs.until = k.Since
	case k.Word == "serial":
		cs.serial = k.Pos
	case k.Word == "opaque":
		cs.opaque = k.Pos
	case k.Word == "unique":
		cs.unique = k.Pos
	case k.Word == "required":
		cs.required = k.Pos
	}
	return true
}

func (c *compiler) attribute(cs *clauseSet, a *syntax.Attr) bool {
	switch a.Name.Text {
	case "fmt":
		formats := []string{"hex", "ipv4", "ipv6", "eui48", "eui64"}
		if len(a.Args) == 1 && a.Args[0].Kind == syntax.ExprPath && slices.Contains(formats, a.Args[0].Names[0].Text) && cs.format == "" {
			cs.format = a.Args[0].Names[0].Text
			return true
		}
		c.report("E0012", a.Name.Pos, "`@fmt` takes hex, ipv4, ipv6, eui48 or eui64, once")
	case "unit":
		if len(a.Args) == 1 && a.Args[0].Kind == syntax.ExprText && cs.unit == "" {
			cs.unit = a.Args[0].Text
			return true
		}
		c.report("E0012", a.Name.Pos, "`@unit` takes a text, once")
	case "name":
		if cs.names == nil && len(a.Args) == 0 {
			cs.names = a
			return true
		}
		c.report("E0012", a.Name.Pos, "`@name` takes go, c and filter, once")
	case "next":
		return c.nextAttr(cs, a)
	case "ascii":
		if len(a.Args) == 0 && a.Named == nil && cs.ascii.Line == 0 {
			cs.ascii = a.Pos
			return true
		}
		c.report("E0012", a.Name.Pos, "`@ascii` takes nothing, once")
	default:
		c.report("E0012", a.Name.Pos, "there is no attribute `@%s`", a.Name.Text)
	}
	return false
}

// applyClauses completes an item by what stands behind its type.
func (b *body) applyClauses(it *Item, cs *clauseSet) bool {
	plain := it.Kind == KindScalar && it.Scalar.Sum == nil
	isSum := it.Scalar != nil && it.Scalar.Sum != nil
	checks := []struct {
		at    syntax.Pos
		word  string
		legal bool
	}{
		{cs.serial, "serial", plain && it.Scalar.Enum == nil && !it.Scalar.Flag},
		{cs.opaque, "opaque", it.Kind == KindSpan && it.Span.Kind == SpanBytes},
		{cs.ascii, "@ascii", it.Kind == KindSpan && it.Span.Kind == SpanString},
		{cs.unique, "unique", false},
		{cs.required, "required", false},
		{posOf(cs.equals), "=", plain},
		{posOf(cs.initial), "default", plain},
		{coverPos(cs.over), "over", isSum},
	}
	for _, k := range checks {
		if k.at.Line > 0 && !k.legal {
			b.c.fixClause(b.c.report("E0312", k.at, "`%s` does not fit this type", k.word), cs.list, k.word)
			return false
		}
	}
	if cs.serial.Line > 0 {
		it.Scalar.Serial = true
	}
	if cs.opaque.Line > 0 {
		it.Span.Opaque = true
	}
	if cs.ascii.Line > 0 {
		it.Span.ASCII = true
	}
	return b.window(it, cs.sized, cs.list) && b.bounds(it, cs) && b.initialValue(it, cs) && b.coverage(it, cs) && b.format(it) && b.next(it, cs)
}

// window applies `sized`.
func (b *body) window(it *Item, e *syntax.Expr, list []*syntax.Clause) bool {
	if e == nil {
		return true
	}
	switch {
	case it.Kind == KindSpan && it.Span.greedy():
		return b.spanSize(it, &syntax.Array{Pos: e.Pos, Count: e})
	case it.Kind == KindStruct, it.Kind == KindArray, it.Kind == KindList, it.Kind == KindSwitch:
		if it.Sized = b.size(e); it.Sized == nil {
			return false
		}
		b.arrays = append(b.arrays, solvable{it, e, it.Sized})
		return true
	}
	b.c.fixClause(b.c.reportExpr("E0312", e, "`sized` does not fit this type"), list, "sized")
	return false
}

func coverPos(k *syntax.Cover) syntax.Pos {
	if k == nil {
		return syntax.Pos{}
	}
	return k.Pos
}

func posOf(e *syntax.Expr) syntax.Pos {
	if e == nil {
		return syntax.Pos{}
	}
	return e.Pos
}

// bounds applies `in`.
func (b *body) bounds(it *Item, cs *clauseSet) bool {
	if cs.in == nil {
		return true
	}
	at := b.c.f.Range(cs.in.Pos, cs.in.EndPos)
	switch {
	case it.Kind == KindScalar && it.Scalar.Signed:
		set, ok := b.c.signedSet(cs.in.Ranges, it.Scalar)
		it.Scalar.In = set
		return ok
	case it.Kind == KindScalar && it.Scalar.Sum == nil && !it.Scalar.Flag:
		set, ok := b.c.set(cs.in.Ranges, maxOfBits(it.Scalar.Bits))
		it.Scalar.In = set
		return ok
	case it.Kind == KindSpan && it.Span.Fixed < 0 && it.Span.Kind != SpanPad && len(cs.in.Ranges) == 1:
		r, ok := b.c.constRange(cs.in.Ranges[0], maxSpan)
		it.Span.Min, it.Span.Max = int(r.First), int(r.Last)
		return ok
	}
	b.c.fixClause(b.c.f.Report("E0312", at, "`in` does not fit this type"), cs.list, "in")
	return false
}

// initialValue applies `=` with a constant, and `default`.
func (b *body) initialValue(it *Item, cs *clauseSet) bool {
	e := cs.equals
	if e == nil {
		e = cs.initial
	}
	if e == nil || namesItem(e) && cs.equals != nil {
		return true
	}
	if e.Kind == syntax.ExprBool && it.Scalar.Flag {
		e = &syntax.Expr{Pos: e.Pos, EndPos: e.EndPos, Kind: syntax.ExprNumber, Num: truths[e.Text == "true"]}
	}
	v, ok := b.c.constRaw(e, it.Scalar)
	if !ok {
		return false
	}
	if len(it.Scalar.In) > 0 && !it.Scalar.allows(v) {
		b.c.reportExpr("E0307", e, "%d lies outside the field's own range", v)
		return false
	}
	if it.Scalar.Default = v; cs.equals != nil {
		it.Scalar.Fixed = &v
	}
	return true
}

// constRaw evaluates a constant that must fit a scalar and returns its bits.
func (c *compiler) constRaw(e *syntax.Expr, s *Scalar) (uint64, bool) {
	v, ok := c.constInt(e)
	if !ok {
		return 0, false
	}
	if w := s.width(); !w.has(v) {
		c.reportExpr("E0307", e, "%s does not lie in %s..%s", v, w.lo, w.hi)
		return 0, false
	}
	return new(big.Int).And(v, new(big.Int).SetUint64(bitMask(s.Bits))).Uint64(), true
}

// allows tells whether raw bits lie in the scalar's ranges.
func (s *Scalar) allows(raw uint64) bool {
	n := s.number(raw)
	return slices.ContainsFunc(s.In, func(r Range) bool { return s.end(r.First).Cmp(n) <= 0 && n.Cmp(s.end(r.Last)) <= 0 })
}

// signedSet evaluates ranges of a signed scalar; both ends of each are sign-extended to 64 bits.
func (c *compiler) signedSet(ranges []*syntax.Range, s *Scalar) ([]Range, bool) {
	var out []Range
	end := func(t *syntax.Term) (uint64, bool) {
		raw, ok := c.constRaw(&t.Expr, s)
		return uint64(signExtend(raw, s.Bits)), ok
	}
	for _, r := range ranges {
		first, ok := end(r.First)
		last := first
		if ok && r.Last != nil {
			last, ok = end(r.Last)
		}
		if ok && int64(last) < int64(first) {
			c.fixOrder(c.f.Report("E0308", c.f.Range(r.Pos, r.EndPos), "the range ends before it begins"), r)
			ok = false
		}
		if !ok {
			return nil, false
		}
		out = append(out, Range{first, last})
	}
	slices.SortFunc(out, func(a, b Range) int { return cmp.Compare(int64(a.First), int64(b.First)) })
	return out, true
}

// namesItem tells whether an expression depends on decoded items.
func namesItem(e *syntax.Expr) bool {
	if e.Kind == syntax.ExprPath {
		_, names := importedName(e.Names)
		return !isUpper(names[0].Text)
	}
	return slices.ContainsFunc(e.Args, namesItem)
}

// format checks that @fmt fits the type.
func (b *body) format(it *Item) bool {
	size := map[string]int{"ipv4": 4, "ipv6": 16, "eui48": 6, "eui64": 8}[it.Format]
	if size == 0 || it.Kind == KindSpan && it.Span.Kind == SpanBytes && it.Span.Fixed == size {
		return true
	}
	b.c.report("E0312", b.c.origin[it], "`@fmt(%s)` needs bytes[%d]", it.Format, size)
	return false
}

// resolveDerived resolves the expressions of derived fields, which may name any item of the body.
func (b *body) resolveDerived() {
	for _, d := range b.derived {
		v := b.env()
		v.derived = true
		s := d.item.Scalar
		var x *Expr
		if s.Flag {
			if x = v.any(d.expr); x != nil {
				x = asTruth(x)
			}
		} else {
			x = v.integer(d.expr)
		}
		if x == nil {
			b.lost = true
			continue
		}
		if s.Flag && !x.Bool {
			b.c.fixTruth(b.c.reportExpr("E0302", d.expr, "a bit is derived from a truth value").Help("write a comparison, for example `… != 0`"), d.expr)
			continue
		}
		if x.Op == OpConst {
			b.c.reportExpr("E0411", d.expr, "this value is always the same")
			continue
		}
		s.Derived = x
		self := &Expr{Op: OpRef, Ref: Ref{Path: []*Item{d.item}}, Bool: x.Bool}
		if !x.Bool {
			iv := s.width()
			self.Min, self.Max = iv.lo, iv.hi
		}
		d.rule.check.Hold = &Expr{Op: OpEq, Args: []*Expr{self, x}, Bool: true}
		d.rule.check.Text = d.item.Name.Schema + " = " + b.c.f.Text(d.expr.Pos, d.expr.EndPos)
		d.rule.check.Item = self.Ref
	}
}
