// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"github.com/openmetaroce/metaroce/gen"
)

// maxSteps bounds how many sizes of a window are tried.
const maxSteps = 64

// fit gives every item and struct with `sized` below sc, the inner ones first, so many bytes that its size can be written.
func (m *maker) fit(sc gen.Scope) {
	var all []gen.Scope
	scopes(sc, func(sc gen.Scope) { all = append(all, sc) })
	for i := len(all) - 1; i >= 0; i-- {
		sc := all[i]
		for _, k := range sc.Self.Kids {
			if k.Item != nil && k.Item.Sized != nil {
				m.fitTo(sc, k, k.Item.Sized, func(s *gen.Solve) bool { return s.Whole == nil && s.Of.Last() == k.Item })
			}
		}
		if st := sc.Self.Struct; st.Sized != nil {
			m.fitTo(sc, sc.Self, st.Sized, func(s *gen.Solve) bool { return s.Whole == st })
		}
	}
}

// fitTo makes v longer until e can give its size: the least number of the solved field that is large enough, else what e says.
func (m *maker) fitTo(sc gen.Scope, v *gen.Value, e *gen.Expr, mine func(*gen.Solve) bool) {
	n := sizeOf(sc, v)
	target := solvedBy(sc, e, mine)
	if target == nil {
		m.grow(sc, v, sc.Size(e)-n)
		return
	}
	a, b := target.Scalar.Solve.A, target.Scalar.Solve.B
	if a < 0 {
		return
	}
	raw := uint64(max(0, (int64(n)-b+a-1)/a))
	for range maxSteps {
		raw = smallestFrom(target.Scalar, raw)
		if raw > maxOf(target.Scalar.Bits) {
			return
		}
		if m.grow(sc, v, int(int64(raw)*a+b)-n) {
			target.Num = raw
			return
		}
		raw++
	}
}

// solvedBy finds the number in e that the encoder sets, so that the size of what is meant is free.
func solvedBy(sc gen.Scope, e *gen.Expr, mine func(*gen.Solve) bool) *gen.Value {
	for _, r := range refs(e) {
		if v := sc.Resolve(r); v != nil && v.Scalar != nil && v.Scalar.Solve != nil && mine(v.Scalar.Solve) {
			return v
		}
	}
	return nil
}

// smallestFrom is the smallest number that is not below n and that the scalar may have; n when there is none.
func smallestFrom(s *gen.Scalar, n uint64) uint64 {
	best, found := n, false
	for _, r := range allowed(s) {
		if x := max(r.First, n); x <= r.Last && (!found || x < best) {
			best, found = x, true
		}
	}
	return best
}

// grow makes what v holds longer by d bytes, or shorter; false when nothing in it can be.
func (m *maker) grow(sc gen.Scope, v *gen.Value, d int) bool {
	if d == 0 {
		return true
	}
	if v.Item != nil {
		switch v.Item.Kind {
		case gen.KindSpan:
			return m.growSpan(v, d)
		case gen.KindArray:
			return m.growArray(sc, v, d)
		case gen.KindList:
			return m.growList(sc, v, d)
		}
	}
	if v.Struct != sc.Self.Struct || v != sc.Self {
		sc = gen.Scope{Self: v, Args: argsOf(sc, v)}
	}
	for _, k := range v.Kids {
		if k.Item != nil && k.Item.Sized == nil && (k.Struct == nil || k.Struct.Sized == nil) && m.grow(sc, k, d) {
			return true
		}
	}
	return false
}

func (m *maker) growSpan(v *gen.Value, d int) bool {
	s := v.Item.Span
	n := len(v.Bytes) + d
	if s.Kind == gen.SpanPad {
		n = int(v.Num) + d
	}
	if s.Fixed >= 0 || s.Align > 0 || n < s.Min || s.Max >= 0 && n > s.Max {
		return false
	}
	if s.Size != nil && (s.Size.Min == nil || s.Size.Min.Cmp(s.Size.Max) == 0) {
		return false
	}
	m.resize(v, n)
	return true
}

// growArray adds elements to an array that is not counted, or takes some away.
func (m *maker) growArray(sc gen.Scope, v *gen.Value, d int) bool {
	a := v.Item.Array
	if a.Count != nil {
		return false
	}
	one := m.elementOf(sc, a)
	size := elementBits(sc, a, one) / 8
	n := len(v.Kids)
	if size == 0 || d%size != 0 || n+d/size < 0 {
		return false
	}
	if d < 0 {
		v.Kids = v.Kids[:n+d/size]
		return true
	}
	for range d / size {
		v.Kids = append(v.Kids, one.Clone())
	}
	return true
}

// growList puts bytes behind the end marker, or makes an element longer, or adds one whose value has any length.
func (m *maker) growList(sc gen.Scope, v *gen.Value, d int) bool {
	l := v.Item.List
	if l.End != nil && v.Pad+d >= 0 {
		v.Pad += d
		return true
	}
	for _, k := range v.Kids {
		if d%max(1, l.ElementAlign) == 0 && m.grow(gen.Scope{Self: k}, k, d) {
			return true
		}
	}
	for _, c := range l.Cases {
		if c.Required || c.Unique && holdsCase(v, c) {
			continue
		}
		e := m.element(gen.Scope{Self: v, Args: sc.ArgsOf(v)}, c, 0)
		if n := sizeOf(gen.Scope{Self: v}, &gen.Value{Item: v.Item, Kids: []*gen.Value{e}}); n == d || d > n && m.grow(gen.Scope{Self: e}, e, d-n) {
			v.Kids = append(v.Kids, e)
			return true
		}
	}
	return false
}

func holdsCase(v *gen.Value, c *gen.Case) bool {
	for _, k := range v.Kids {
		if k.Case == c {
			return true
		}
	}
	return false
}
