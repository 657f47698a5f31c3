// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// maxRun is the most bytes that are read at once.
const maxRun = 65535

// layOut turns the lines of a body into the struct's decode program.
func (c *compiler) layOut(b *body, nodes []node) {
	faults := len(c.f.Diags)
	s := b.s
	w := b.blockOf(nodes)
	if s.Sized != nil {
		w.limit = s.Sized
	}
	s.Steps = w.finish()
	if len(c.f.Diags) > faults {
		return
	}
	b.reserveTail(s.Steps, tail{})
	b.checkPayloads()
	b.checkCovers()
	sz := sizeOf(s.Steps)
	if s.Sized != nil {
		sz = b.clipped(sz, s.Sized, c.origin[s])
	}
	s.Min, s.Max, s.Greedy = sz.min, sz.max, sz.greedy
	run, one := (*Run)(nil), len(s.Steps) == 1
	if one {
		run, one = s.Steps[0].(*Run)
	}
	s.FixedSize = one && run.Size > 0 && len(s.Params) == 0
	c.nest(s)
}

// block lays out the lines of one block.
func (b *body) block(nodes []node) []Step { return b.blockOf(nodes).finish() }

func (b *body) blockOf(nodes []node) *blockWriter {
	w := &blockWriter{b: b, at: map[*Item]int{}, pieces: nil}
	for _, n := range nodes {
		switch {
		case n.rule != nil:
			w.rules = append(w.rules, placed{n.rule, len(w.pieces) - 1})
		case n.cond != nil:
			w.branch(n)
		default:
			w.item(n.item)
		}
	}
	w.closeRun()
	return w
}

// blockWriter builds the steps of a block. A piece is a step together with the rules that wait for it.
type blockWriter struct {
	b      *body
	pieces []piece
	run    *Run // open at the end of pieces; nil = none
	bits   int  // of run
	at     map[*Item]int
	rules  []placed
	limit  *Expr // size of the whole struct, for its own block
}

type piece struct {
	step  Step
	rules []*rule
}

// placed is a rule and the piece that it stands behind; -1 = it stands first.
type placed struct {
	rule   *rule
	behind int
}

func (w *blockWriter) item(it *Item) {
	bits, whole := fixedBits(it)
	if bits < 0 {
		w.closeRun()
		w.at[it] = len(w.pieces)
		w.pieces = append(w.pieces, piece{step: w.b.variableStep(it)})
		return
	}
	if w.run == nil {
		w.run, w.bits = &Run{}, 0
		w.pieces = append(w.pieces, piece{step: w.run})
	}
	if it.Scalar != nil && it.Scalar.Little && w.bits%8 != 0 {
		w.b.c.report("E0209", w.b.c.origin[it], "`%s` begins within a byte", it.Name.Schema)
	}
	if whole && w.bits%8 != 0 {
		w.unclosed("this needs a byte boundary", it)
	}
	w.run.Parts = append(w.run.Parts, Part{it, w.bits})
	w.bits += bits
	w.at[it] = len(w.pieces) - 1
	if w.bits > maxRun*8 {
		w.b.c.report("E0213", w.b.c.origin[it], "more than %d bytes in a row", maxRun)
		w.bits = 0
	}
}

// fixedBits returns the constant width of an item, and whether it must begin at a byte; -1 when the width varies.
func fixedBits(it *Item) (bits int, whole bool) {
	if it.Sized != nil {
		return -1, true
	}
	switch it.Kind {
	case KindScalar, KindReserved:
		return it.Scalar.Bits, it.Scalar.Sum != nil
	case KindBits:
		return it.Vector.Bits, true
	case KindStruct:
		if it.Struct.FixedSize {
			return it.Struct.Min * 8, true
		}
	case KindSpan:
		if it.Span.Fixed >= 0 {
			return it.Span.Fixed * 8, true
		}
	}
	return -1, true
}

func (b *body) variableStep(it *Item) Step {
	if it.Sized != nil {
		return b.windowStep(it)
	}
	switch it.Kind {
	case KindStruct:
		return &Call{Item: it, Windowed: it.Struct.Greedy}
	case KindArray:
		return &Repeat{Item: it}
	case KindSpan:
		return &Take{Item: it}
	case KindList:
		return &Elements{Item: it}
	}
	return &Choose{Item: it}
}

// closeRun ends the open run, which must fill its last byte.
func (w *blockWriter) closeRun() {
	if w.run == nil {
		return
	}
	if w.bits%8 != 0 {
		w.unclosed("", nil)
	}
	w.run.Size = (w.bits + 7) / 8
	w.b.c.collectChecks(w.run)
	w.run = nil
}

// unclosed reports a run that ends within a byte.
func (w *blockWriter) unclosed(why string, next *Item) {
	c := w.b.c
	first := w.run.Parts[0]
	for _, p := range w.run.Parts {
		if p.Bit%8 == 0 {
			first = p
		}
	}
	missing := 8 - w.bits%8
	r := c.report("E0207", c.origin[first.Item], "sub-byte run ends %s short of a byte", plural(missing, "bit"))
	r.Mark("run starts here (bit %d), ends at bit %d", first.Bit, w.bits).Help("add `_ : rsvd %d zero;`", missing)
	w.fixRun(r, strconv.Itoa(missing))
	if next != nil {
		r.Label(c.f.At(c.origin[next]), "%s", why)
	}
	w.bits += missing
}

func (w *blockWriter) branch(n node) {
	w.closeRun()
	index := len(w.pieces)
	br := &Branch{Cond: n.cond, Then: w.b.block(n.then), Else: w.b.block(n.els)}
	w.pieces = append(w.pieces, piece{step: br})
	for _, it := range itemsOf(append(slices.Clone(n.then), n.els...)) {
		w.at[it] = index
	}
}

func itemsOf(nodes []node) (items []*Item) {
	for _, n := range nodes {
		if n.item != nil {
			items = append(items, n.item)
		}
		items = append(items, itemsOf(n.then)...)
		items = append(items, itemsOf(n.els)...)
	}
	return items
}

// finish puts every rule behind the step that decodes its last input and returns the steps.
func (w *blockWriter) finish() []Step {
	var first []*rule
	for _, p := range w.rules {
		index, known := -1, false
		for _, it := range inputs(p.rule.check.Hold) {
			if i, ok := w.at[it]; ok {
				index, known = max(index, i), true
			}
		}
		w.outside(p.rule)
		if !known {
			index = p.behind
		}
		if index < 0 && len(w.pieces) > 0 {
			if _, ok := w.pieces[0].step.(*Run); ok {
				index = 0
			}
		}
		if index < 0 {
			first = append(first, p.rule)
			continue
		}
		w.pieces[index].rules = append(w.pieces[index].rules, p.rule)
	}
	var out []Step
	if first != nil {
		out = append(out, &Verify{w.b.checks(first, nil)})
	}
	limited := w.limitIndex()
	if limited == -1 && w.limit != nil {
		out = append(out, &Limit{Size: w.limit, Item: w.b.lastRef(w.limit)})
	}
	for i, p := range w.pieces {
		out = append(out, p.step)
		if run, ok := p.step.(*Run); ok {
			run.Checks = append(run.Checks, w.b.checks(p.rules, run)...)
			w.b.c.sortRules(run)
		} else if p.rules != nil {
			out = append(out, &Verify{w.b.checks(p.rules, nil)})
		}
		if i == limited && w.limit != nil {
			out = append(out, &Limit{Size: w.limit, Item: w.b.lastRef(w.limit)})
		}
	}
	return closeLimit(out)
}

// outside reports a derived field that names an item behind its own if-block.
func (w *blockWriter) outside(r *rule) {
	if r.check.Kind != CheckDerived {
		return
	}
	self := r.check.Item.Last()
	for _, it := range inputs(r.check.Hold) {
		if _, ok := w.at[it]; !ok && w.b.index(it) > w.b.index(self) {
			w.b.c.report("E0405", w.b.c.origin[self], "`%s` names `%s`, which stands behind its if-block", self.Name.Schema, it.Name.Schema)
		}
	}
}

func (b *body) index(it *Item) int { return slices.Index(b.s.Items, it) }

// inputs returns the struct's own items that an expression reads.
func inputs(x *Expr) (items []*Item) {
	if x.Ref.Param == nil && len(x.Ref.Path) > 0 {
		items = append(items, x.Ref.Path[0])
	}
	for _, a := range x.Args {
		items = append(items, inputs(a)...)
	}
	return items
}

// checks completes rules: the item that an error names and its place in the run.
func (b *body) checks(rules []*rule, run *Run) (out []*Check) {
	slices.SortFunc(rules, func(x, y *rule) int { return cmp.Compare(x.order, y.order) })
	for _, r := range rules {
		k := r.check
		if k.Kind == CheckWhere {
			k.Item = b.lastRef(k.Hold)
		}
		k.Bit = -1
		if run != nil {
			k.Bit = run.bitOf(k.Item)
		}
		out = append(out, k)
	}
	return out
}

// bitOf returns where a referenced item begins in a run; -1 when it lies outside.
func (r *Run) bitOf(ref Ref) int {
	if ref.Param != nil || len(ref.Path) == 0 {
		return -1
	}
	bit := -1
	for _, p := range r.Parts {
		if p.Item == ref.Path[0] {
			bit = p.Bit
		}
	}
	for _, it := range ref.Path[1:] {
		inner, ok := it.Owner.bitOffset(it)
		if !ok || bit < 0 {
			return -1
		}
		bit += inner
	}
	return bit
}

// lastRef returns what an expression reads that stands last on the wire; parameters come before all items.
func (b *body) lastRef(x *Expr) Ref {
	var best Ref
	var bestRank []int
	walkRefs(x, func(r Ref) {
		if rank := refRank(b.s, r); bestRank == nil || slices.Compare(rank, bestRank) >= 0 {
			best, bestRank = r, rank
		}
	})
	return best
}

func walkRefs(x *Expr, visit func(Ref)) {
	if x.Ref.Param != nil || len(x.Ref.Path) > 0 {
		visit(x.Ref)
	}
	for _, a := range x.Args {
		walkRefs(a, visit)
	}
}

// refRank orders references by their place on the wire.
func refRank(s *Struct, r Ref) []int {
	rank := []int{len(s.Params)}
	if r.Param != nil {
		rank[0] = slices.Index(s.Params, r.Param)
	}
	for _, it := range r.Path {
		rank = append(rank, slices.Index(it.Owner.Items, it))
	}
	return rank
}

// limits applies the clauses of a header or packet to its size.
func (c *compiler) limits(s *Struct, d *syntax.Struct) {
	if d.Sized != nil && s.Sized == nil {
		c.sized(s, d.Sized)
	}
	if d.Max == nil {
		if s.Packet && s.Max < 0 {
			c.report("E0211", d.Name.Pos, "`%s` has no largest size", s.Name.Schema)
		}
		return
	}
	v, ok := c.constUint(d.Max, maxSpan)
	if !ok {
		return
	}
	switch {
	case int(v) < s.Min:
		c.reportExpr("E0210", d.Max, "`%s` has at least %d bytes", s.Name.Schema, s.Min)
	case s.Sized != nil && int(v) < s.Max:
		c.reportExpr("E0210", d.Max, "`%s` has up to %d bytes: bound its size with `in`", s.Name.Schema, s.Max)
	}
	if s.Max < 0 || s.Max > int(v) {
		s.Max = int(v)
	}
}

func (c *compiler) sized(s *Struct, e *syntax.Expr) {
	v, ok := c.constUint(e, maxSpan)
	if ok && (s.Min != int(v) || s.Max != int(v)) {
		c.reportExpr("E0210", e, "`%s` has %s and not %d bytes", s.Name.Schema, bytesText(s), v)
	}
}

// nest bounds how deep structs nest, which bounds the paths of references.
func (c *compiler) nest(s *Struct) {
	depth := 0
	inside := func(inner *Struct) {
		if inner != nil {
			depth = max(depth, c.nested[inner])
		}
	}
	for _, it := range s.Items {
		inside(it.Struct)
		if it.Array != nil {
			inside(it.Array.Struct)
		}
		if it.Switch != nil {
			for _, a := range it.Switch.Arms {
				inside(a.Struct)
			}
		}
		if it.List != nil {
			for _, k := range it.List.Cases {
				inside(k.Struct)
			}
		}
	}
	if c.nested[s] = depth + 1; depth >= syntax.MaxDepth {
		c.report("E0006", c.origin[s], "headers nest more than %d deep", syntax.MaxDepth)
	}
}

// maxLines is the most members of an enum, lines of a body, labels of a switch or rules of a list.
const maxLines = 4096

// tooMany reports a declaration with more than maxLines parts.
func (c *compiler) tooMany(n int, at syntax.Pos, what string) bool {
	if n <= maxLines {
		return false
	}
	c.report("E0213", at, "%d %s: at most %d are allowed", n, what, maxLines)
	return true
}
