// SPDX-License-Identifier: Apache-2.0

package gen

import "slices"

// collectChecks fills a run with the checks of its parts. Rules of the struct itself follow later.
func (c *compiler) collectChecks(r *Run) {
	for _, p := range r.Parts {
		if p.Item.Kind == KindStruct {
			c.nestedChecks(r, p)
			continue
		}
		if p.Item.Scalar != nil {
			r.Checks = append(r.Checks, c.scalarChecks(p.Item, p.Bit)...)
		}
	}
	if c.checks > maxChecks {
		c.report("E0213", c.origin[r.Parts[0].Item], "nested headers bring too many checks along")
	}
}

// nestedChecks copies the checks of a nested struct of fixed size.
func (c *compiler) nestedChecks(r *Run, p Part) {
	path := []*Item{p.Item}
	inner := p.Item.Struct.Steps[0].(*Run)
	for _, k := range inner.Checks {
		if c.checks += exprNodes(k.Hold) + len(k.Item.Path); c.checks > maxChecks {
			return
		}
		copied := *k
		copied.Item = Ref{nil, append(slices.Clone(path), k.Item.Path...)}
		copied.Hold = rebase(k.Hold, nil, path)
		if k.Bit >= 0 {
			copied.Bit = p.Bit + k.Bit
		}
		r.Checks = append(r.Checks, &copied)
	}
}

// sortRules puts the checks of single fields before all rules and keeps both in wire order.
func (c *compiler) sortRules(r *Run) {
	isRule := func(k *Check) int {
		if k.Kind == CheckWhere || k.Kind == CheckDerived {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(r.Checks, func(a, b *Check) int { return isRule(a) - isRule(b) })
}

// scalarChecks returns the checks that a scalar brings along.
func (c *compiler) scalarChecks(it *Item, bit int) (out []*Check) {
	s := it.Scalar
	iv := s.width()
	ref := Ref{Path: []*Item{it}}
	value := &Expr{Op: OpRef, Ref: ref, Min: iv.lo, Max: iv.hi}
	equals := func(n uint64) *Expr {
		x := constExpr(s.number(n))
		x.Enum = s.Enum
		return &Expr{Op: OpEq, Args: []*Expr{value, x}, Bool: true}
	}
	add := func(kind CheckKind, number int, hold *Expr) {
		out = append(out, &Check{Kind: kind, Code: c.builtin(number), Item: ref, Bit: bit, Hold: hold, Text: key(hold)})
	}
	if s.Fixed != nil {
		add(CheckFixed, FixedNumber, equals(*s.Fixed))
	}
	switch s.Reserved {
	case ReservedZero:
		add(CheckReserved, ReservedNumber, equals(0))
	case ReservedOnes:
		add(CheckReserved, ReservedNumber, equals(maxOfBits(s.Bits)))
	}
	if len(s.In) > 0 {
		add(CheckRange, RangeNumber, s.inRange(value))
	}
	if s.Enum != nil && s.Enum.Closed {
		set := []Range{}
		for _, m := range s.Enum.Members {
			set = append(set, Range{m.First, m.Last})
		}
		add(CheckEnum, EnumNumber, &Expr{Op: OpIn, Args: []*Expr{value}, Set: merged(set), Bool: true})
	}
	return out
}

// inRange is the condition that a value lies in the scalar's ranges. Sets of expressions are unsigned, so that a signed
// value is compared with the ends.
func (s *Scalar) inRange(value *Expr) *Expr {
	if !s.Signed {
		return &Expr{Op: OpIn, Args: []*Expr{value}, Set: s.In, Bool: true}
	}
	var out *Expr
	for _, r := range s.In {
		low := &Expr{Op: OpGe, Args: []*Expr{value, constExpr(s.end(r.First))}, Bool: true}
		high := &Expr{Op: OpLe, Args: []*Expr{value, constExpr(s.end(r.Last))}, Bool: true}
		both := &Expr{Op: OpAndAnd, Args: []*Expr{low, high}, Bool: true}
		if out == nil {
			out = both
		} else {
			out = &Expr{Op: OpOrOr, Args: []*Expr{out, both}, Bool: true}
		}
	}
	return out
}

func exprNodes(x *Expr) int {
	n := 1
	for _, a := range x.Args {
		n += exprNodes(a)
	}
	return n
}
