// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"
	"slices"
	"strconv"
)

// extent is what a piece of layout takes: bytes at least, bytes at most (-1 = bounded by its container) and whether it
// takes the rest of its container on some path.
type extent struct {
	min, max int
	greedy   bool
}

// hugeSize is where a computed size stops to be a bound.
const hugeSize = 1 << 40

func (e extent) constant() bool { return e.min == e.max && !e.greedy }

func (e extent) then(f extent) extent {
	out := extent{e.min + f.min, e.max + f.max, e.greedy || f.greedy}
	if e.max < 0 || f.max < 0 || out.max > hugeSize {
		out.max = -1
	}
	return out
}

func (e extent) or(f extent) extent {
	out := extent{min(e.min, f.min), max(e.max, f.max), e.greedy || f.greedy}
	if e.max < 0 || f.max < 0 {
		out.max = -1
	}
	return out
}

func sizeOf(steps []Step) extent {
	var out extent
	for _, s := range steps {
		out = out.then(stepSize(s))
	}
	return out
}

func stepSize(s Step) extent {
	switch s := s.(type) {
	case *Run:
		return extent{s.Size, s.Size, false}
	case *Call:
		return structSize(s.Item.Struct)
	case *Repeat:
		return arraySize(s.Item.Array)
	case *Take:
		return spanExtent(s.Item.Span)
	case *Elements:
		return extent{0, s.Item.List.Max, true}
	case *Branch:
		return sizeOf(s.Then).or(sizeOf(s.Else))
	case *Choose:
		return chooseSize(s.Item.Switch)
	case *Window:
		return clip(sizeOf(s.Body), s.Size)
	}
	return extent{}
}

// clip bounds a content by the size that is declared for it.
func clip(content extent, size *Expr) extent {
	out := extent{min: max(content.min, sizeBound(size.Min)), max: content.max}
	if hi := sizeBound(size.Max); hi < hugeSize && (out.max < 0 || out.max > hi) {
		out.max = hi
	}
	return out
}

// sizeBound is an end of a size's interval; hugeSize stands for all that is larger.
func sizeBound(n *big.Int) int {
	if !n.IsInt64() || n.Int64() > hugeSize {
		return hugeSize
	}
	return int(n.Int64())
}

func structSize(s *Struct) extent { return extent{s.Min, s.Max, s.Greedy} }

// element is the size of one element.
func (a *Array) element() extent {
	if a.Struct != nil {
		return structSize(a.Struct)
	}
	return extent{min: a.Scalar.Bits / 8, max: a.Scalar.Bits / 8}
}

func arraySize(a *Array) extent {
	element := a.element()
	if a.Count == nil {
		return extent{0, -1, true}
	}
	out := extent{times(int(a.Count.Min.Int64()), element.min), times(a.MaxCount, element.max), false}
	if element.max < 0 || out.max >= hugeSize {
		out.max = -1
	}
	return out
}

func spanExtent(s *Span) extent {
	if s.Align > 0 {
		return extent{0, s.Align - 1, false}
	}
	out := extent{s.Min, s.Max, s.Size == nil}
	if s.Size == nil {
		return out
	}
	if lo := s.Size.Min; lo.IsInt64() && lo.Int64() < hugeSize {
		out.min = max(out.min, int(lo.Int64()))
	}
	if most := s.most(); most < unboundedSize {
		out.max = int(most)
	}
	return out
}

func chooseSize(sw *Switch) extent {
	var out *extent
	for _, a := range sw.Arms {
		if a.Reject != nil {
			continue
		}
		e := extent{}
		if a.Struct != nil {
			e = structSize(a.Struct)
		}
		if out != nil {
			e = out.or(e)
		}
		out = &e
	}
	if out == nil {
		return extent{}
	}
	return *out
}

func (c *compiler) stepFault(code string, s Step, text string) {
	if it := firstItem(s); it != nil {
		c.report(code, c.origin[it], "%s", text)
	}
}

// firstItem finds an item that a step decodes.
func firstItem(s Step) *Item {
	switch s := s.(type) {
	case *Call:
		return s.Item
	case *Repeat:
		return s.Item
	case *Take:
		return s.Item
	case *Elements:
		return s.Item
	case *Choose:
		return s.Item
	case *Window:
		return s.Item
	case *Run:
		return s.Parts[0].Item
	case *Branch:
		for _, inner := range append(slices.Clone(s.Then), s.Else...) {
			if it := firstItem(inner); it != nil {
				return it
			}
		}
	}
	return nil
}

func bytesText(s *Struct) string { return structSize(s).text() }

func (e extent) text() string {
	switch {
	case e.max < 0:
		return strconv.Itoa(e.min) + " or more"
	case e.max != e.min:
		return strconv.Itoa(e.min) + " to " + strconv.Itoa(e.max)
	}
	return strconv.Itoa(e.min)
}

// linear is a·f + b over one scalar f.
type linear struct {
	a, b *big.Int
	f    *Expr // OpRef
}

// linearOf finds the linear form of an expression.
func linearOf(x *Expr) (linear, bool) {
	switch x.Op {
	case OpRef:
		return linear{one, zero, x}, true
	case OpConst:
		return linear{zero, x.Value, nil}, true
	case OpAdd, OpSub, OpMul, OpShl:
	default:
		return linear{}, false
	}
	l, ok := linearOf(x.Args[0])
	r, ok2 := linearOf(x.Args[1])
	if !ok || !ok2 {
		return linear{}, false
	}
	switch {
	case x.Op == OpAdd || x.Op == OpSub:
		return joinLinear(x.Op, l, r)
	case x.Op == OpShl && r.f == nil:
		return linear{fold(OpShl, l.a, r.b), fold(OpShl, l.b, r.b), l.f}, true
	case x.Op == OpMul && r.f == nil:
		return linear{fold(OpMul, l.a, r.b), fold(OpMul, l.b, r.b), l.f}, true
	case x.Op == OpMul && l.f == nil:
		return linear{fold(OpMul, r.a, l.b), fold(OpMul, r.b, l.b), r.f}, true
	}
	return linear{}, false
}

// gives tells whether a·f + b can be n as far as divisibility goes.
func (l linear) gives(n int) bool {
	d := new(big.Int).Sub(big.NewInt(int64(n)), l.b)
	return l.a.Sign() == 0 || d.Rem(d, l.a).Sign() == 0
}

func joinLinear(op Op, l, r linear) (linear, bool) {
	if l.f != nil && r.f != nil {
		if key(l.f) != key(r.f) {
			return linear{}, false
		}
	}
	f := l.f
	if f == nil {
		f = r.f
	}
	return linear{fold(op, l.a, r.a), fold(op, l.b, r.b), f}, true
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// times multiplies two sizes; hugeSize stands for all that is larger.
func times(a, b int) int {
	if a > 0 && b > hugeSize/a {
		return hugeSize
	}
	return a * b
}
