// SPDX-License-Identifier: Apache-2.0

package gen

import "math/big"

// solveAll finds for every counted array and sized span the scalar that the encoder sets.
func (b *body) solveAll() {
	for _, a := range b.arrays {
		b.solve(a)
	}
}

func (b *body) solve(a solvable) {
	if a.item != nil && a.item.Name.Schema == "_" {
		return // padding without a name has no length of its own
	}
	l, ok := linearOf(a.count)
	if !ok {
		own := false
		walkRefs(a.count, func(r Ref) { own = own || r.Param == nil && !r.Last().determined() })
		if own {
			b.c.reportExpr("E0412", a.e, "the encoder cannot solve this for one field")
		}
		return
	}
	if l.f == nil || l.f.Ref.Param != nil || l.a.Sign() == 0 {
		return // from the caller: the encoder can only check
	}
	s := l.f.Ref.Last().Scalar
	if s.Fixed != nil {
		return
	}
	if s.Derived != nil {
		if a.item == nil || a.item.Sized != nil || !agrees(s.Derived, a.item, l) {
			b.c.reportExpr("E0413", a.e, "`%s` is derived from something else", l.f.Ref)
		}
		return
	}
	if !l.a.IsInt64() || !l.b.IsInt64() {
		b.c.reportExpr("E0412", a.e, "the encoder cannot solve this for one field")
		return
	}
	so := &Solve{A: l.a.Int64(), B: l.b.Int64()}
	if a.item == nil {
		so.Whole = b.s
	} else {
		so.Of = Ref{Path: []*Item{a.item}}
	}
	if !b.settles(s, so, a, l.f.Ref) || a.item == nil {
		return
	}
	if a.item.Array != nil && a.item.Sized == nil {
		ref := l.f.Ref
		a.item.Array.Solve = &ref
	}
}

// settles gives a scalar to what it counts. The first array of a body sets it, the others are checked.
func (b *body) settles(s *Scalar, so *Solve, a solvable, f Ref) bool {
	here := func(so *Solve) bool { return so.Whole == b.s || so.Whole == nil && so.Of.Path[0].Owner == b.s }
	switch {
	case s.Solve == nil:
		s.Solve = so
		return true
	case s.SolveFor(here) != nil, s.Solve.Whole != nil:
		return false
	case !s.Solve.counts() || !so.counts():
		b.c.unsupported(a.e.Pos, "a second body that is sized by `"+f.String()+"`")
		return false
	}
	s.Others = append(s.Others, so)
	return true
}

// counts tells whether a solve measures elements or bytes that stand as such in the packet, without `sized`.
func (so *Solve) counts() bool { return so.Whole == nil && so.Of.Last().Sized == nil }

// determined tells whether the encoder knows a scalar without solving for it.
func (it *Item) determined() bool {
	return it.Scalar != nil && (it.Scalar.Derived != nil || it.Scalar.Fixed != nil)
}

// agrees tells whether a derived field is exactly the count or size that l inverts.
func agrees(derived *Expr, it *Item, l linear) bool {
	if derived.Op != OpCount && derived.Op != OpSize || l.a.Cmp(one) != 0 || l.b.Cmp(big.NewInt(0)) != 0 {
		return false
	}
	return len(derived.Ref.Path) == 1 && derived.Ref.Path[0] == it
}
