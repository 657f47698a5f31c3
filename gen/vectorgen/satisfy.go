// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"math/big"

	"github.com/openmetaroce/metaroce/gen"
)

// knob is something in a packet that a rule reads and that may be set: a number, or how long or how many something is.
type knob struct {
	now uint64
	set func(uint64) bool // false = it cannot be that; nothing has changed then
}

// satisfy makes a condition true by setting what it reads, one or two things at a time, if that is possible.
func (m *maker) satisfy(sc gen.Scope, e *gen.Expr) bool {
	if sc.Truth(e) {
		return true
	}
	numbers, lengths := m.knobs(sc, e)
	if turnOne(sc, e, numbers) || turnOne(sc, e, lengths) {
		return true
	}
	switch e.Op {
	case gen.OpAndAnd:
		for range 2 { // the second may have broken the first
			if m.satisfy(sc, e.Args[0]) && m.satisfy(sc, e.Args[1]) && sc.Truth(e) {
				return true
			}
		}
		return false
	case gen.OpOrOr:
		return m.satisfy(sc, e.Args[0]) || m.satisfy(sc, e.Args[1])
	}
	knobs := append(numbers, lengths...)
	for i, k := range knobs {
		for _, n := range []uint64{0, 1, k.now + 1, k.now * 2, 15, 255, 65535} {
			if k.set(n) && turnOne(sc, e, append(knobs[:i:i], knobs[i+1:]...)) {
				return true
			}
		}
		k.set(k.now)
	}
	return false
}

// turnOne tries each of the knobs alone.
func turnOne(sc gen.Scope, e *gen.Expr, knobs []knob) bool {
	for _, k := range knobs {
		for _, n := range append(candidates(sc, e), k.steps(sc, e)...) {
			if k.set(n) && sc.Truth(e) {
				return true
			}
		}
		k.set(k.now)
	}
	return false
}

// knobs lists what e reads: numbers, and what has a length or is bound to one.
func (m *maker) knobs(sc gen.Scope, e *gen.Expr) (numbers, lengths []knob) {
	for _, r := range refs(e) {
		v := sc.Resolve(r)
		switch {
		case v == nil || v.Scalar == nil && v.Item == nil || v.Scalar != nil && v.Scalar.Fixed != nil:
		case v.Scalar != nil && v.Scalar.Solve == nil:
			numbers = append(numbers, knob{v.Num, func(n uint64) bool { return m.setNumber(sc, v, n) }})
		case v.Scalar != nil:
			lengths = append(lengths, knob{v.Num, func(n uint64) bool { return m.setNumber(sc, v, n) }})
		case v.Item.Kind == gen.KindBits:
			lengths = append(lengths, bitKnob(v))
		case v.Item.Kind == gen.KindSpan && v.Item.Span.Fixed < 0:
			lengths = append(lengths, knob{uint64(len(v.Bytes)) + v.Num, func(n uint64) bool { return m.setLength(sc, v, n) }})
		case v.Item.Kind == gen.KindArray:
			lengths = append(lengths, knob{uint64(len(v.Kids)), func(n uint64) bool { return m.setLength(sc, v, n) }})
		}
	}
	return numbers, lengths
}

// bitKnob sets one bit of a vector alone, or none; its own position stands for the vector as it was.
func bitKnob(v *gen.Value) knob {
	old := v.Bytes
	own := uint64(8 * len(old))
	return knob{own, func(n uint64) bool {
		if v.Bytes = make([]byte, len(old)); n == own {
			copy(v.Bytes, old)
		} else if n < own {
			v.Bytes[n/8] |= 0x80 >> (n % 8)
		}
		return true
	}}
}

// setNumber sets a number that may have this value. What it counts or measures in the same struct follows.
func (m *maker) setNumber(sc gen.Scope, v *gen.Value, n uint64) bool {
	s := v.Scalar
	if n > maxOf(s.Bits) || smallest(s, n) != n {
		return false
	}
	if s.Solve != nil && s.Solve.Whole == nil {
		of := sc.Self.Find(s.Solve.Of.Last())
		if of != nil && of.Item.Sized == nil {
			x := new(big.Int).SetUint64(n)
			x.Add(x.Mul(x, big.NewInt(s.Solve.A)), big.NewInt(s.Solve.B))
			if !x.IsUint64() || !m.setLength(sc, of, x.Uint64()) {
				return false
			}
		}
	}
	v.Num = n
	return true
}

// maxLength bounds how long something is made to satisfy a rule.
const maxLength = 1 << 12

// setLength gives a span so many bytes or an array so many elements. The number that the encoder solves for it follows.
func (m *maker) setLength(sc gen.Scope, v *gen.Value, n uint64) bool {
	if n > maxLength {
		return false
	}
	var e *gen.Expr
	if v.Item.Kind == gen.KindSpan {
		s := v.Item.Span
		if e = s.Size; int(n) < s.Min || s.Max >= 0 && int(n) > s.Max || s.Align > 0 {
			return false
		}
		m.resize(v, int(n))
	} else {
		e = v.Item.Array.Count
		for uint64(len(v.Kids)) < n {
			v.Kids = append(v.Kids, m.elementOf(sc, v.Item.Array))
		}
		v.Kids = v.Kids[:n]
	}
	if e == nil {
		return true
	}
	counter := solvedBy(sc, e, func(s *gen.Solve) bool { return s.Whole == nil && s.Of.Last() == v.Item })
	if counter != nil && v.Item.Sized == nil {
		raw := (int64(n) - counter.Scalar.Solve.B) / counter.Scalar.Solve.A
		if raw < 0 || uint64(raw) > maxOf(counter.Scalar.Bits) {
			return false
		}
		counter.Num = uint64(raw)
	}
	return true
}

// steps lists numbers that make the two sides of a comparison equal, if the knob moves one of them evenly.
func (k knob) steps(sc gen.Scope, e *gen.Expr) []uint64 {
	if e.Op == gen.OpNot || len(e.Args) == 0 {
		if e.Op == gen.OpNot {
			return k.steps(sc, e.Args[0])
		}
		return nil
	}
	gap := func() []*big.Int {
		left := sc.Eval(e.Args[0])
		switch {
		case e.Op >= gen.OpEq && e.Op <= gen.OpGe:
			return []*big.Int{new(big.Int).Sub(left, sc.Eval(e.Args[1]))}
		case e.Op == gen.OpIn:
			var out []*big.Int
			for _, r := range e.Set {
				out = append(out, new(big.Int).Sub(left, new(big.Int).SetUint64(r.First)), new(big.Int).Sub(left, new(big.Int).SetUint64(r.Last)))
			}
			return out
		}
		return nil
	}
	before := gap()
	at, moved := k.now, uint64(1)
	if !k.set(at + 1) {
		if at == 0 || !k.set(at-1) {
			return nil
		}
		moved = ^uint64(0)
	}
	after := gap()
	k.set(at)
	var out []uint64
	for i, b := range before {
		d := new(big.Int).Sub(after[i], b)
		if moved != 1 {
			d.Neg(d)
		}
		if d.Sign() == 0 {
			continue
		}
		n := new(big.Int).Sub(new(big.Int).SetUint64(at), new(big.Int).Quo(b, d))
		for _, near := range []int64{0, 1, -1} {
			if x := new(big.Int).Add(n, big.NewInt(near)); x.IsUint64() {
				out = append(out, x.Uint64())
			}
		}
	}
	return out
}

// candidates lists numbers that may decide a condition: those it names, their neighbours, and the sizes that it reads.
func candidates(sc gen.Scope, e *gen.Expr) []uint64 {
	out := []uint64{0, 1}
	add := func(n *big.Int) {
		for d := int64(-1); d <= 1; d++ {
			if x := new(big.Int).Add(n, big.NewInt(d)); x.IsUint64() {
				out = append(out, x.Uint64())
			}
		}
	}
	var visit func(*gen.Expr)
	visit = func(e *gen.Expr) {
		switch {
		case e.Op == gen.OpConst:
			add(e.Value)
		case e.Op == gen.OpRef, e.Op == gen.OpSize, e.Op == gen.OpCount, e.Op >= gen.OpAdd && e.Op <= gen.OpShr:
			add(sc.Eval(e))
		}
		for _, r := range e.Set {
			out = append(out, r.First, r.Last)
		}
		for _, a := range e.Args {
			visit(a)
		}
	}
	visit(e)
	return out
}
