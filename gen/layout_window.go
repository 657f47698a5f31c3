// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// ownSize resolves `sized` of a struct that is sized by one of its fields.
func (b *body) ownSize(e *syntax.Expr) {
	x := b.size(e)
	if x == nil {
		return
	}
	if x.Max.Cmp(big.NewInt(unboundedSize)) > 0 {
		b.c.reportExpr("E0213", e, "up to %s bytes are too many", brief(x.Max))
		return
	}
	b.s.Sized = x
	b.arrays = append(b.arrays, solvable{nil, e, x})
}

// limitIndex is the piece behind which the struct's size is known; -1 = before the first one.
func (w *blockWriter) limitIndex() int {
	index := -1
	if w.limit == nil {
		return index
	}
	for _, it := range inputs(w.limit) {
		index = max(index, w.at[it])
	}
	return index
}

// closeLimit completes the Limit among the steps of a struct and marks what stands behind it.
func closeLimit(steps []Step) []Step {
	for i, s := range steps {
		if l, ok := s.(*Limit); ok {
			l.Rest = sizeOf(steps[i+1:]).min
			markLimited(steps[i+1:])
		}
	}
	return steps
}

func markLimited(steps []Step) {
	for _, s := range steps {
		switch s := s.(type) {
		case *Window:
			s.Limited = true
		case *Branch:
			markLimited(s.Then)
			markLimited(s.Else)
		}
	}
}

// windowStep lays out an item with `sized`.
func (b *body) windowStep(it *Item) Step {
	w := &Window{Item: it, Size: it.Sized}
	if it.Kind == KindStruct && it.Struct.FixedSize {
		run := &Run{Size: it.Struct.Min, Parts: []Part{{it, 0}}}
		b.c.collectChecks(run)
		w.Body = []Step{run}
	} else {
		inner := *it
		inner.Sized = nil
		w.Body = []Step{b.variableStep(&inner)}
		setItem(w.Body[0], it)
	}
	content := sizeOf(w.Body)
	w.Least = content.min
	b.clipped(content, it.Sized, b.c.origin[it])
	return w
}

// setItem makes a step decode an item.
func setItem(s Step, it *Item) {
	switch s := s.(type) {
	case *Call:
		s.Item = it
	case *Repeat:
		s.Item = it
	case *Elements:
		s.Item = it
	case *Choose:
		s.Item = it
	}
}

// clipped bounds a content by the size that is declared for it, and reports a size that it can never have.
func (b *body) clipped(content extent, size *Expr, at syntax.Pos) extent {
	out := clip(content, size)
	if out.max >= 0 && out.min > out.max {
		b.c.report("E0210", at, "the size lies in %s..%s and the content has %s bytes", brief(size.Min), brief(size.Max), content.text())
		out.min = out.max
	} else if l, ok := linearOf(size); ok && l.f != nil && content.constant() && !l.gives(content.min) {
		b.c.report("E0210", at, "the content has %s bytes, which no `%s` gives", content.text(), l.f.Ref)
	}
	return out
}

// tail is what stands behind a greedy step: n bytes and as many as x says.
type tail struct {
	n int
	x *Expr // nil = none
}

// plus adds what a step takes; false = its size is not known before it.
func (t tail) plus(s Step) (tail, bool) {
	if e := stepSize(s); e.constant() {
		return tail{t.n + e.min, t.x}, true
	}
	x, ok := sizeExpr(s)
	switch {
	case !ok:
		return t, false
	case x.Op == OpConst:
		return tail{t.n + int(x.Value.Int64()), t.x}, true
	case t.x == nil:
		return tail{t.n, x}, true
	}
	return tail{t.n, arithExpr(OpAdd, x, t.x)}, true
}

// sizeExpr is the size of a step as an expression over what is decoded before it.
func sizeExpr(s Step) (*Expr, bool) {
	if e := stepSize(s); e.constant() {
		return constExpr(big.NewInt(int64(e.min))), true
	}
	switch s := s.(type) {
	case *Take:
		return s.Item.Span.Size, s.Item.Span.Size != nil
	case *Window:
		return s.Size, true
	case *Repeat:
		a := s.Item.Array
		element := a.element()
		if a.Count == nil || !element.constant() {
			return nil, false
		}
		return arithExpr(OpMul, a.Count, constExpr(big.NewInt(int64(element.min)))), true
	case *Branch:
		a, ok := sizesExpr(s.Then)
		b, ok2 := sizesExpr(s.Else)
		if !ok || !ok2 {
			return nil, false
		}
		both := a.interval().join(b.interval())
		return &Expr{Op: OpCond, Args: []*Expr{s.Cond, a, b}, Min: both.lo, Max: both.hi}, true
	}
	return nil, false
}

func sizesExpr(steps []Step) (*Expr, bool) {
	sum := constExpr(zero)
	for _, s := range steps {
		x, ok := sizeExpr(s)
		if !ok {
			return nil, false
		}
		sum = arithExpr(OpAdd, sum, x)
	}
	return sum, true
}

// arithExpr joins two numbers and folds what is constant.
func arithExpr(op Op, a, b *Expr) *Expr {
	switch {
	case a.Op == OpConst && b.Op == OpConst:
		return constExpr(fold(op, a.Value, b.Value))
	case op == OpAdd && a.Op == OpConst && a.Value.Sign() == 0:
		return b
	case op == OpMul && b.Op == OpConst && b.Value.Cmp(one) == 0:
		return a
	}
	iv := arithInterval(op, a.interval(), b.interval())
	return &Expr{Op: op, Args: []*Expr{a, b}, Min: iv.lo, Max: iv.hi}
}

// reserveTail tells every greedy step how many bytes stand behind it. behind is what follows the block.
func (b *body) reserveTail(steps []Step, behind tail) {
	known, greedy := true, false
	for i := len(steps) - 1; i >= 0; i-- {
		if stepSize(steps[i]).greedy {
			switch {
			case greedy:
				b.c.stepFault("E0511", steps[i], "two items would take all that is left")
			case !known, !b.before(behind.x, steps[i]):
				b.c.stepFault("E0513", steps[i], "the size of what stands behind this is not known here")
			}
			greedy = true
			b.setReserve(steps[i], behind)
			continue
		}
		next, ok := behind.plus(steps[i])
		known = known && ok
		behind = next
	}
}

// before tells whether a size reads only what is decoded before a step.
func (b *body) before(x *Expr, s Step) bool {
	if x == nil {
		return true
	}
	if !x.interval().fits() {
		return false
	}
	index := b.index(firstItem(s))
	for _, it := range inputs(x) {
		if b.index(it) >= index {
			return false
		}
	}
	return true
}

func (b *body) setReserve(s Step, t tail) {
	switch s := s.(type) {
	case *Call:
		s.Reserve, s.Tail = t.n, t.x
	case *Repeat:
		s.Reserve, s.Tail = t.n, t.x
	case *Take:
		s.Reserve, s.Tail = t.n, t.x
	case *Elements:
		s.Reserve, s.Tail = t.n, t.x
	case *Choose:
		s.Reserve, s.Tail = t.n, t.x
	case *Branch:
		b.reserveTail(s.Then, t)
		b.reserveTail(s.Else, t)
	}
}

// checkPayloads reports a body with two payloads on one path.
func (b *body) checkPayloads() {
	if n, it := payloads(b.s.Steps); n > 1 && it != nil {
		b.c.report("E0512", b.c.origin[it], "a second payload on the same path")
	}
}

// payloads counts the payloads of a body's own on the path that has most, and names the last one.
func payloads(steps []Step) (n int, last *Item) {
	for _, s := range steps {
		switch s := s.(type) {
		case *Take:
			if s.Item.Span.Kind == SpanPayload {
				n, last = n+1, s.Item
			}
		case *Run:
			for _, p := range s.Parts {
				if p.Item.Kind == KindSpan && p.Item.Span.Kind == SpanPayload {
					n, last = n+1, p.Item
				}
			}
		case *Branch:
			a, x := payloads(s.Then)
			b, y := payloads(s.Else)
			if n += max(a, b); b > a {
				last = y
			} else if a > 0 {
				last = x
			}
		}
	}
	return n, last
}
