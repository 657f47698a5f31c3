// SPDX-License-Identifier: Apache-2.0

package layergen

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// argument is the value of a scalar parameter.
func (f *finder) argument(at place, a *gen.Param, e *gen.Expr) value {
	text := ""
	switch {
	case e.Op == gen.OpRef && !isFlag(e):
		v := f.reach(at, e.Ref)
		if e.Ref.Last() != nil {
			v.arg = numberType(a) + "(" + v.expr + ")"
		}
		return v
	case e.Bool || isFlag(e):
		text = choice(numberType(a), f.truth(at, e), "1", "0")
	default:
		text = numberType(a) + "(" + f.word(at, e) + ")"
	}
	return value{text, text}
}

func isFlag(e *gen.Expr) bool {
	it := e.Ref.Last()
	return e.Op == gen.OpRef && it != nil && it.Scalar != nil && it.Scalar.Flag
}

// choice prints `cond ? yes : no`.
func choice(typ, cond, yes, no string) string {
	return fmt.Sprintf("func() %s {\nif %s {\nreturn %s\n}\nreturn %s\n}()", typ, cond, yes, no)
}

var arithmetic = map[gen.Op]string{
	gen.OpAdd: "+", gen.OpSub: "-", gen.OpMul: "*", gen.OpDiv: "/", gen.OpMod: "%", gen.OpAnd: "&", gen.OpOr: "|", gen.OpXor: "^",
	gen.OpShl: "<<", gen.OpShr: ">>",
}

// word prints a number modulo 2^64, as a uint64. The compiler has proved that it fits an int64 or a uint64.
func (f *finder) word(at place, e *gen.Expr) string {
	switch e.Op {
	case gen.OpConst:
		return fmt.Sprintf("uint64(%d)", new(big.Int).And(e.Value, new(big.Int).SetUint64(^uint64(0))))
	case gen.OpRef:
		if isFlag(e) {
			return choice("uint64", f.truth(at, e), "1", "0")
		}
		return "uint64(" + f.reach(at, e.Ref).expr + ")"
	case gen.OpNeg:
		return "(-" + f.word(at, e.Args[0]) + ")"
	case gen.OpCond:
		return choice("uint64", f.truth(at, e.Args[0]), f.word(at, e.Args[1]), f.word(at, e.Args[2]))
	case gen.OpCount:
		return "uint64(len(" + f.reach(at, e.Ref).expr + "))"
	case gen.OpSize:
		return f.size(at, e.Ref)
	}
	op, ok := arithmetic[e.Op]
	if !ok {
		f.fail(at.s, "a truth value in the place of a number")
		return "0"
	}
	a, b := f.word(at, e.Args[0]), f.word(at, e.Args[1])
	if (e.Op == gen.OpDiv || e.Op == gen.OpMod || e.Op == gen.OpShr) && (negative(e.Args[0]) || negative(e.Args[1])) {
		return fmt.Sprintf("uint64(int64(%s) %s int64(%s))", a, op, b)
	}
	return fmt.Sprintf("(%s %s %s)", a, op, b)
}

func negative(e *gen.Expr) bool { return e.Min != nil && e.Min.Sign() < 0 }

func (f *finder) size(at place, r gen.Ref) string {
	it := r.Last()
	switch {
	case it.Kind != gen.KindSpan:
		f.fail(it, "the size of `%s` in an argument", it.Name.Schema)
		return "0"
	case it.Span.Fixed >= 0:
		return fmt.Sprintf("uint64(%d)", it.Span.Fixed)
	case it.Span.Kind == gen.SpanPad:
		return "uint64(" + f.reach(at, r).expr + ")"
	}
	return "uint64(len(" + f.reach(at, r).expr + "))"
}

var comparisons = map[gen.Op]string{gen.OpEq: "==", gen.OpNe: "!=", gen.OpLt: "<", gen.OpLe: "<=", gen.OpGt: ">", gen.OpGe: ">="}

// truth prints a truth value.
func (f *finder) truth(at place, e *gen.Expr) string {
	switch e.Op {
	case gen.OpConst:
		return fmt.Sprint(e.Value.Sign() != 0)
	case gen.OpNot:
		return "!" + f.truth(at, e.Args[0])
	case gen.OpAndAnd:
		return "(" + f.truth(at, e.Args[0]) + " && " + f.truth(at, e.Args[1]) + ")"
	case gen.OpOrOr:
		return "(" + f.truth(at, e.Args[0]) + " || " + f.truth(at, e.Args[1]) + ")"
	case gen.OpCond:
		return choice("bool", f.truth(at, e.Args[0]), f.truth(at, e.Args[1]), f.truth(at, e.Args[2]))
	case gen.OpRef:
		if isFlag(e) {
			return f.reach(at, e.Ref).expr
		}
		return "(" + f.word(at, e) + " != 0)"
	case gen.OpAny:
		return f.reach(at, e.Ref).expr + ".Any()"
	case gen.OpTest:
		return f.reach(at, e.Ref).expr + ".Test(int(" + f.word(at, e.Args[0]) + "))"
	case gen.OpPresent:
		if it := e.Ref.Last(); e.Ref.Param == nil && len(e.Ref.Path) == 1 && it.When != nil {
			return f.truth(at, it.When)
		}
	case gen.OpIn:
		return f.within(at, e)
	}
	if op, ok := comparisons[e.Op]; ok {
		return f.compare(at, e, op)
	}
	f.fail(at.s, "an argument that asks more than numbers, sizes and bits")
	return "false"
}

func (f *finder) compare(at place, e *gen.Expr, op string) string {
	a, b := e.Args[0], e.Args[1]
	switch {
	case a.Bool:
		return fmt.Sprintf("(%s %s %s)", f.truth(at, a), op, f.truth(at, b))
	case !negative(a) && !negative(b):
		return fmt.Sprintf("(%s %s %s)", f.word(at, a), op, f.word(at, b))
	case !a.Max.IsInt64() || !b.Max.IsInt64():
		f.fail(at.s, "an argument that compares a number that may be negative with one that may have 64 bits")
	}
	return fmt.Sprintf("(int64(%s) %s int64(%s))", f.word(at, a), op, f.word(at, b))
}

// within prints membership in a set.
func (f *finder) within(at place, e *gen.Expr) string {
	x := f.word(at, e.Args[0])
	if negative(e.Args[0]) {
		f.fail(at.s, "an argument that looks for a number that may be negative in a set")
	}
	var out []string
	for _, r := range e.Set {
		out = append(out, fmt.Sprintf("%s >= %d && %s <= %d", x, r.First, x, r.Last))
	}
	return "(" + strings.Join(out, " || ") + ")"
}
