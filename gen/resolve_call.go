// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// call resolves a built-in function.
func (v *env) call(e *syntax.Expr) *Expr {
	arity := map[string]int{
		"size": 1, "count": 1, "offset": 1, "minsize": 1, "maxsize": 1, "present": 1, "any": 1, "test": 2,
	}
	n, ok := arity[e.Text]
	switch {
	case e.Text == "remaining":
		v.c.reportExpr("E0010", e, "`remaining()` is known to decoders and not to encoders").
			Help("write `[..]` for all that is left: what follows keeps its room; or state a size with a field")
		return nil
	case !ok:
		v.c.report("E0101", e.Pos, "there is no function `%s`", e.Text).
			Help("the functions are size, count, offset, minsize, maxsize, present, any and test")
		return nil
	case len(e.Args) != n:
		v.c.reportExpr("E0309", e, "`%s` takes %s and not %d", e.Text, plural(n, "argument"), len(e.Args))
		return nil
	case e.Args[0].Kind != syntax.ExprPath:
		v.c.reportExpr("E0309", e.Args[0], "`%s` takes a name", e.Text)
		return nil
	}
	switch e.Text {
	case "offset", "minsize", "maxsize":
		return v.layoutCall(e)
	}
	if x, outer := v.outerCall(e); outer {
		return x
	}
	return v.itemCall(e)
}

// layoutCall evaluates what is known at compile time.
func (v *env) layoutCall(e *syntax.Expr) *Expr {
	scope, names := importedName(e.Args[0].Names)
	n := v.c.scoped(scope, names[0].Text, names[0].Pos)
	if n == nil {
		return nil
	}
	lo, hi := 0, 0
	switch {
	case n.str != nil:
		lo, hi = n.str.Min, n.str.Max
	case n.list != nil:
		lo, hi = 0, n.list.Max
	case n.missing:
		return nil
	default:
		v.c.reportExpr("E0301", e.Args[0], "`%s` has no layout", n.name)
		return nil
	}
	if n.missing {
		return nil
	}
	if e.Text == "offset" {
		return v.offset(e, n)
	}
	if len(names) != 1 {
		v.c.reportExpr("E0309", e.Args[0], "`%s` takes the name of a type", e.Text)
		return nil
	}
	if e.Text == "minsize" {
		return constExpr(big.NewInt(int64(lo)))
	}
	if hi < 0 {
		v.c.reportExpr("E0211", e, "`%s` has no largest size", n.name)
		return nil
	}
	return constExpr(big.NewInt(int64(hi)))
}

func (v *env) offset(e *syntax.Expr, n *named) *Expr {
	_, names := importedName(e.Args[0].Names)
	st, bits := n.str, 0
	for _, id := range names[1:] {
		if st == nil {
			v.c.report("E0101", id.Pos, "there are no items in it")
			return nil
		}
		it := st.item(id.Text)
		if it == nil {
			v.c.report("E0101", id.Pos, "`%s` has no item `%s`", st.Name.Schema, id.Text)
			return nil
		}
		at, ok := st.bitOffset(it)
		if !ok {
			v.c.report("E0309", id.Pos, "the place of `%s` depends on the packet", id.Text)
			return nil
		}
		bits += at
		st = it.Struct
	}
	if bits%8 != 0 || len(names) < 2 {
		v.c.reportExpr("E0309", e, "this is not the offset of a whole byte")
		return nil
	}
	return constExpr(big.NewInt(int64(bits / 8)))
}

// bitOffset returns where an item begins, when the first run holds it or it stands right behind.
func (s *Struct) bitOffset(it *Item) (int, bool) {
	if len(s.Steps) == 0 {
		return 0, false
	}
	run, ok := s.Steps[0].(*Run)
	if !ok {
		return 0, s.Items[0] == it
	}
	for i, p := range run.Parts {
		if p.Item == it {
			return p.Bit, true
		}
		if i == len(run.Parts)-1 && len(s.Items) > i+1 && s.Items[i+1] == it {
			return run.Size * 8, true
		}
	}
	return 0, false
}

// itemCall resolves a function of an item.
func (v *env) itemCall(e *syntax.Expr) *Expr {
	arg := e.Args[0]
	inner := *v
	if e.Text == "present" {
		inner.derived = true
	}
	if _, names := importedName(arg.Names); isUpper(names[0].Text) {
		v.c.reportExpr("E0309", arg, "`%s` takes an item", e.Text)
		return nil
	}
	r, ok := inner.ref(arg)
	if !ok {
		return nil
	}
	it := r.Last()
	switch {
	case it == nil:
	case e.Text == "size" && it.Kind == KindSpan && it.Span.Padded:
		return paddedSize(it, r)
	case e.Text == "size" && it.Kind == KindSpan:
		return &Expr{Op: OpSize, Ref: r, Min: big.NewInt(int64(it.Span.least())), Max: big.NewInt(it.Span.most())}
	case e.Text == "count" && it.Kind == KindArray:
		most := int64(it.Array.MaxCount)
		if most < 0 {
			most = unboundedSize
		}
		return &Expr{Op: OpCount, Ref: r, Min: zero, Max: big.NewInt(most)}
	case e.Text == "present":
		if it.When == nil {
			return truthConst(one)
		}
		return &Expr{Op: OpPresent, Ref: r, Bool: true}
	case e.Text == "any" && it.Kind == KindBits:
		return &Expr{Op: OpAny, Ref: r, Bool: true}
	case e.Text == "test" && it.Kind == KindBits:
		return v.test(e, r)
	}
	v.c.reportExpr("E0309", arg, "`%s` cannot be asked of `%s`", e.Text, r)
	return nil
}

func (v *env) test(e *syntax.Expr, r Ref) *Expr {
	i := v.integer(e.Args[1])
	if i == nil {
		return nil
	}
	if bits := r.Last().Vector.Bits; !i.interval().within(upTo(int64(bits - 1))) {
		v.c.reportExpr("E0404", e.Args[1], "the index may leave 0..%d", bits-1)
		return nil
	}
	return &Expr{Op: OpTest, Ref: r, Args: []*Expr{i}, Bool: true}
}

// paddedSize is the size of a string whose value is shorter than its bytes.
func paddedSize(it *Item, r Ref) *Expr {
	n := constExpr(big.NewInt(int64(it.Span.Fixed)))
	if it.When == nil {
		return n
	}
	here := &Expr{Op: OpPresent, Ref: r, Bool: true}
	return &Expr{Op: OpCond, Args: []*Expr{here, n, constExpr(zero)}, Min: zero, Max: n.Value}
}

// least and most bound a span's length.
func (s *Span) least() int {
	if s.Fixed >= 0 {
		return s.Fixed
	}
	return s.Min
}

func (s *Span) most() int64 {
	switch {
	case s.Fixed >= 0:
		return int64(s.Fixed)
	case s.Max >= 0:
		return int64(s.Max)
	case s.Size != nil && s.Size.Max.IsInt64() && s.Size.Max.Int64() < unboundedSize:
		return s.Size.Max.Int64()
	}
	return unboundedSize
}
