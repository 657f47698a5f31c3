// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strings"
)

// strengths tells how strongly an operator binds in Text; unary operators and leaves bind strongest.
var strengths = map[Op]int{
	OpCond: 1, OpOrOr: 2, OpAndAnd: 3, OpEq: 4, OpNe: 4, OpLt: 4, OpLe: 4, OpGt: 4, OpGe: 4, OpIn: 4,
	OpOr: 5, OpXor: 6, OpAnd: 7, OpShl: 8, OpShr: 8, OpAdd: 9, OpSub: 9, OpMul: 10, OpDiv: 10, OpMod: 10,
}

const unaryStrength = 11

// Text is the expression as a schema writes it, with the parentheses that it needs.
func (x *Expr) Text() string {
	if x == nil {
		return ""
	}
	switch x.Op {
	case OpConst:
		return x.constText()
	case OpRef:
		return x.Ref.String()
	case OpNot:
		return "!" + x.arg(0, unaryStrength)
	case OpNeg:
		return "-" + x.arg(0, unaryStrength)
	case OpCond:
		return fmt.Sprintf("%s ? %s : %s", x.arg(0, 2), x.arg(1, 1), x.arg(2, 1))
	case OpIn:
		return x.arg(0, 5) + " in " + setText(x.Set)
	case OpSize, OpCount, OpPresent, OpAny, OpTest:
		name := map[Op]string{OpSize: "size", OpCount: "count", OpPresent: "present", OpAny: "any", OpTest: "test"}[x.Op]
		args := []string{x.Ref.String()}
		for i := range x.Args {
			args = append(args, x.arg(i, 0))
		}
		return name + "(" + strings.Join(args, ", ") + ")"
	}
	n := strengths[x.Op]
	return x.arg(0, n) + " " + signs[x.Op] + " " + x.arg(1, n+1)
}

// arg is an operand, in parentheses when it binds less than least.
func (x *Expr) arg(i, least int) string {
	a := x.Args[i]
	n, ok := strengths[a.Op]
	if !ok {
		n = unaryStrength
	}
	if n < least {
		return "(" + a.Text() + ")"
	}
	return a.Text()
}

// constText names a member of an enum where the schema does.
func (x *Expr) constText() string {
	if x.Enum != nil && x.Value.IsUint64() {
		for _, m := range x.Enum.Members {
			if m.First == x.Value.Uint64() && m.First == m.Last {
				return x.Enum.Name.Schema + "." + m.Name.Schema
			}
		}
	}
	if x.Bool {
		return map[bool]string{false: "false", true: "true"}[x.Value.Sign() != 0]
	}
	return x.Value.String()
}

func setText(set []Range) string {
	var parts []string
	for _, r := range set {
		parts = append(parts, r.Text())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// Text is the range as a schema writes it.
func (r Range) Text() string {
	if r.First == r.Last {
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d..%d", r.First, r.Last)
}
