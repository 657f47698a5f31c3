// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// armScope is what the arms of one switch share.
type armScope struct {
	enum     *Enum // of the selector; nil = plain numbers
	selector *Expr
	prefix   string // of the names of arms: the switch behind another one in its body; "" = the first one
	aged     []agedArm
}

// agedArm is an arm that not every version has.
type agedArm struct {
	arm   *Arm
	pos   syntax.Pos
	known *Expr // the condition under which it is there
}

// aged takes `since` and `until` out of the clauses of an arm.
func (b *body) aged(arm *Arm, d *syntax.Arm, look *armScope) ([]*syntax.Clause, bool) {
	var known *Expr
	rest := slices.Clone(d.Clauses)
	for len(rest) > 0 {
		i := slices.IndexFunc(rest, func(k *syntax.Clause) bool { return k.Since != nil })
		if i < 0 {
			break
		}
		x := b.versioned(rest[i].Since)
		if x == nil {
			return nil, false
		}
		if known == nil {
			known = x
		} else {
			known = &Expr{Op: OpAndAnd, Args: []*Expr{known, x}, Bool: true}
		}
		rest = slices.Delete(rest, i, i+1)
	}
	if known != nil && arm.Labels == nil {
		b.c.report("E0312", d.Clauses[0].Pos, "`%s` does not fit `_`", clauseWord(d.Clauses[0]))
		return nil, false
	}
	if known != nil {
		look.aged = append(look.aged, agedArm{arm, d.Clauses[0].Pos, known})
	}
	return rest, true
}

// armRules are the rules in front of a switch whose arms depend on the version: in the versions that lack an arm its numbers
// are what all unknown numbers are.
func (b *body) armRules(sw *Switch, look *armScope) (out []node) {
	code := b.c.builtin(SwitchNumber)
	for _, a := range sw.Arms {
		if a.Labels == nil {
			code = a.Reject
		}
	}
	for _, a := range look.aged {
		if code == nil {
			b.c.unsupported(a.pos, "an arm with `since` or `until` beside a `_` that is no `reject`")
			return nil
		}
		chosen := &Expr{Op: OpIn, Args: []*Expr{look.selector}, Set: a.arm.Labels, Bool: true}
		hold := &Expr{Op: OpOrOr, Args: []*Expr{negate(chosen), a.known}, Bool: true}
		b.rules++
		check := &Check{Kind: CheckWhere, Code: code, Hold: hold, Bit: -1, Text: hold.Text()}
		out = append(out, node{rule: &rule{check: check, order: b.rules}})
	}
	return out
}
