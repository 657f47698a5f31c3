// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// memberVersion reads `since n` or `until n` of a member.
func (c *compiler) memberVersion(m *Member, s *syntax.Since) {
	n, ok := c.versionNumber(s)
	if !ok {
		return
	}
	into := map[string]*uint64{"since": &m.Since, "until": &m.Until}[s.Word]
	if *into != 0 {
		c.report("E0102", s.Pos, "`%s` stands twice", s.Word)
	}
	*into = n.Uint64()
}

// varies tells whether the numbers that a closed enum accepts depend on the version.
func (e *Enum) varies() bool {
	return e.Closed && slices.ContainsFunc(e.Members, func(m *Member) bool { return m.Since+m.Until > 0 })
}

// memberRules are the rules of an item whose closed enum has members that not every version knows: in the others each of
// them is E_ENUM.
func (b *body) memberRules(it *Item) (out []node) {
	if it.Scalar == nil || it.Scalar.Enum == nil || !it.Scalar.Enum.varies() {
		return nil
	}
	if b.c.version == nil {
		b.c.report("E0110", b.c.origin[it], "members of `%s` need versions", it.Scalar.Enum.Name.Schema).Help("add `versions 1..2 by Header.item;`")
		return nil
	}
	v := b.knownVersion(b.c.origin[it])
	if v == nil {
		return nil
	}
	for _, m := range it.Scalar.Enum.Members {
		if m.Since > 0 {
			out = append(out, b.memberRule(it, m, &Expr{Op: OpGe, Args: []*Expr{v, wordExpr(m.Since)}, Bool: true}))
		}
		if m.Until > 0 {
			out = append(out, b.memberRule(it, m, &Expr{Op: OpLt, Args: []*Expr{v, wordExpr(m.Until)}, Bool: true}))
		}
	}
	return out
}

func wordExpr(n uint64) *Expr { return constExpr(new(big.Int).SetUint64(n)) }

// memberRule demands that an item is a member only where known holds.
func (b *body) memberRule(it *Item, m *Member, known *Expr) node {
	iv := it.Scalar.interval()
	value := &Expr{Op: OpRef, Ref: Ref{Path: []*Item{it}}, Min: iv.lo, Max: iv.hi}
	named := &Expr{Op: OpIn, Args: []*Expr{value}, Set: []Range{{m.First, m.Last}}, Bool: true}
	hold := &Expr{Op: OpOrOr, Args: []*Expr{negate(named), known}, Bool: true}
	b.rules++
	check := &Check{Kind: CheckWhere, Code: b.c.builtin(EnumNumber), Hold: hold, Bit: -1, Text: hold.Text()}
	return node{rule: &rule{check: check, order: b.rules}}
}
