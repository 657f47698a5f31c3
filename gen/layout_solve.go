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
	if s.Solve != nil {
		if s.Solve.Whole == nil && s.Solve.Of.Path[0].Owner != b.s {
			b.c.unsupported(a.e.Pos, "a second body that counts by `"+l.f.Ref.String()+"`")
		}
		return // the first array of the body sets it; the others are checked
	}
	s.Solve = &Solve{A: l.a.Int64(), B: l.b.Int64()}
	if a.item == nil {
		s.Solve.Whole = b.s
		return
	}
	s.Solve.Of = Ref{Path: []*Item{a.item}}
	if a.item.Array != nil && a.item.Sized == nil {
		ref := l.f.Ref
		a.item.Array.Solve = &ref
	}
}

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
