// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// plan says what a packet shall hold.
type plan struct {
	picks    map[*gen.Switch]pick
	with     map[*gen.Item]bool // optional items whose condition is made true
	cases    map[*gen.Case]bool // TLVs to put in, besides the required ones
	amount   int                // elements of arrays and bytes of spans that have a choice
	repeated int                // elements of a repeatable TLV case
}

// pick is the arm of a switch, and the selector's value that leads to it.
type pick struct {
	arm   *gen.Arm
	label uint64
}

// maker builds value trees for one plan.
type maker struct {
	plan plan
	n    byte // last byte put into a span

	settled map[*gen.Value]bool // numbers that have chosen an arm
}

// structure builds the items of st into v.
func (m *maker) structure(v *gen.Value, st *gen.Struct, args map[*gen.Param]*gen.Value) {
	v.Struct = st
	sc := gen.Scope{Self: v, Args: args}
	for _, item := range st.Items {
		if item.When != nil {
			if m.wanted(item) {
				m.satisfy(sc, item.When)
			}
			if !sc.Truth(item.When) {
				continue
			}
		}
		k := gen.NewValue(item)
		v.Kids = append(v.Kids, k)
		m.fill(sc, k)
	}
}

func (m *maker) fill(sc gen.Scope, k *gen.Value) {
	switch k.Item.Kind {
	case gen.KindScalar:
		k.Num = smallest(k.Scalar, k.Num)
	case gen.KindBits:
		k.Bytes[len(k.Bytes)-1] = 1
	case gen.KindStruct:
		m.structure(k, k.Item.Struct, sc.Bind(k.Item.Struct, k.Item.Args))
	case gen.KindArray:
		m.array(sc, k)
	case gen.KindSpan:
		m.span(sc, k)
	case gen.KindList:
		m.list(gen.Scope{Self: k, Args: sc.ArgsOf(k)})
	case gen.KindSwitch:
		m.choice(sc, k)
	}
}

// smallest returns n when the scalar may have that value, else the smallest one that it may have.
func smallest(s *gen.Scalar, n uint64) uint64 {
	if s.Fixed != nil {
		return n
	}
	if s.Signed {
		return smallestSigned(s, n)
	}
	ranges := allowed(s)
	if len(ranges) == 0 {
		return n
	}
	low := ranges[0].First
	for _, r := range ranges {
		if r.First <= n && n <= r.Last {
			return n
		}
		low = min(low, r.First)
	}
	return low
}

// allowed lists the numbers that a scalar may have; none = all.
func allowed(s *gen.Scalar) []gen.Range {
	if len(s.In) > 0 || s.Enum == nil || !s.Enum.Closed {
		return s.In
	}
	var out []gen.Range
	for _, e := range s.Enum.Members {
		out = append(out, gen.Range{First: e.First, Last: e.Last})
	}
	return out
}

// smallestSigned does the same for raw bits of a signed scalar.
func smallestSigned(s *gen.Scalar, n uint64) uint64 {
	if len(s.In) == 0 {
		return n
	}
	v := int64(n<<uint(64-s.Bits)) >> uint(64-s.Bits)
	for _, r := range s.In {
		if int64(r.First) <= v && v <= int64(r.Last) {
			return n
		}
	}
	return s.In[0].First & maxOf(s.Bits)
}

// limits clips the wanted amount to the interval of e; e is nil for a greedy item.
func (m *maker) limits(e *gen.Expr) int {
	n := m.plan.amount
	if e == nil {
		return n
	}
	if e.Min != nil && e.Min.IsInt64() {
		n = max(n, int(e.Min.Int64()))
	}
	if e.Max != nil && e.Max.IsInt64() {
		n = min(n, int(e.Max.Int64()))
	}
	return n
}

// solved reports whether an item in e follows from what is being measured, so that the amount is free.
func solved(sc gen.Scope, e *gen.Expr, item *gen.Item) bool {
	for _, r := range refs(e) {
		v := sc.Resolve(r)
		if v == nil || v.Scalar == nil {
			continue
		}
		if v.Scalar.SolveFor(func(so *gen.Solve) bool { return so.Whole == nil && so.Of.Last() == item }) != nil {
			return true
		}
	}
	return false
}

// refs lists the references in e.
func refs(e *gen.Expr) []gen.Ref {
	if e == nil {
		return nil
	}
	var out []gen.Ref
	if e.Op == gen.OpRef || e.Op >= gen.OpSize {
		out = append(out, e.Ref)
	}
	for _, a := range e.Args {
		out = append(out, refs(a)...)
	}
	return out
}

// most is the longest array or span that is made; a count that breaks its range may ask for any.
const most = 1 << 16

func (m *maker) array(sc gen.Scope, k *gen.Value) {
	a := k.Item.Array
	n := m.limits(a.Count)
	switch {
	case a.Count == nil:
	case solved(sc, a.Count, k.Item):
		n = counted(sc, a.Count, k.Item, n)
	default:
		n = min(sc.Size(a.Count), most)
	}
	for range n {
		k.Kids = append(k.Kids, m.elementOf(sc, a))
	}
}

// counted sets the number in e that the encoder will solve for n elements or bytes, so that others that share it come out alike.
// It returns how many there can be: n, or some more.
func counted(sc gen.Scope, e *gen.Expr, item *gen.Item, n int) int {
	v := solvedBy(sc, e, func(s *gen.Solve) bool { return s.Whole == nil && s.Of.Last() == item })
	if v == nil || item.Sized != nil || v.Scalar.Solve.A < 0 {
		return n
	}
	a, b := v.Scalar.Solve.A, v.Scalar.Solve.B
	raw := smallestFrom(v.Scalar, uint64(max(0, (int64(n)-b+a-1)/a)))
	if all := int64(raw)*a + b; raw <= maxOf(v.Scalar.Bits) && all <= most {
		v.Num = raw
		return int(all)
	}
	return n
}

// elementOf makes an element of an array that stands in sc.
func (m *maker) elementOf(sc gen.Scope, a *gen.Array) *gen.Value {
	e := &gen.Value{Scalar: a.Scalar}
	if a.Struct != nil {
		m.structure(e, a.Struct, sc.Bind(a.Struct, a.Args))
	} else {
		e.Num = smallest(a.Scalar, 0)
	}
	return e
}

func (m *maker) span(sc gen.Scope, k *gen.Value) {
	s := k.Item.Span
	n := max(m.limits(s.Size), s.Min)
	if s.Max >= 0 {
		n = min(n, s.Max)
	}
	switch {
	case s.Fixed >= 0:
		n = s.Fixed
	case s.Size != nil && !solved(sc, s.Size, k.Item):
		n = min(sc.Size(s.Size), most)
	case s.Size != nil:
		n = counted(sc, s.Size, k.Item, n)
	}
	m.resize(k, n)
}

// resize gives a span n bytes.
func (m *maker) resize(k *gen.Value, n int) {
	if k.Item.Span.Kind == gen.SpanPad {
		k.Num = uint64(n)
		return
	}
	if k.Item.Span.Padded {
		n /= 2
	}
	k.Bytes = make([]byte, n)
	for i := range k.Bytes {
		m.n++
		k.Bytes[i] = m.n
		if k.Item.Span.Kind == gen.SpanString {
			k.Bytes[i] = 'a' + m.n%26
		}
	}
}

func (m *maker) list(sc gen.Scope) {
	k := sc.Self
	for _, c := range k.Item.List.Cases {
		if !c.Required && !m.plan.cases[c] {
			continue
		}
		n := 1
		if !c.Unique && !c.Required {
			n = max(1, m.plan.repeated)
		}
		for i := range n {
			k.Kids = append(k.Kids, m.element(sc, c, i))
		}
	}
}

// element makes the i-th element of a case, each with another one of its keys.
func (m *maker) element(sc gen.Scope, c *gen.Case, i int) *gen.Value {
	l := sc.Self.Item.List
	e := &gen.Value{Case: c}
	keys := l.KeyItems()
	for _, it := range c.Head {
		k := gen.NewValue(it)
		m.fill(gen.Scope{Self: e}, k)
		if n := slices.Index(keys, it); n >= 0 {
			if k.Num = c.Keys[i%len(c.Keys)][n].First; i >= len(c.Keys) {
				k.Num = c.Keys[i%len(c.Keys)][n].Last
			}
		}
		e.Kids = append(e.Kids, k)
	}
	if c.Struct != nil {
		m.structure(e, c.Struct, sc.Bind(c.Struct, c.Args))
	}
	return e
}

// picksOf lists every arm that has a layout, with the first and the last number of each label.
func picksOf(s *gen.Switch) []pick {
	var out []pick
	for _, a := range s.Arms {
		if a.Reject != nil {
			continue
		}
		for _, r := range a.Labels {
			out = append(out, pick{a, r.First})
			if r.Last != r.First {
				out = append(out, pick{a, r.Last})
			}
		}
	}
	return out
}

func maxOf(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<uint(bits) - 1
}
