// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// namer gives the Lua local that holds a value.
type namer func(value) string

// Binding strength of Lua's operators, weakest first; leaf binds strongest.
const (
	bindOr = iota + 1
	bindAnd
	bindCompare
	bindAdd
	bindMul
	bindUnary
	leaf
)

// text is a Lua expression and how strongly its outermost operator binds.
type text struct {
	s    string
	bind int
}

func (t text) within(bind int) string {
	if t.bind < bind {
		return "(" + t.s + ")"
	}
	return t.s
}

// printer prints IR expressions as Lua. Numbers are doubles while every part fits 53 bits, else Int64 or UInt64.
type printer struct{ name namer }

// truth prints e as a condition.
func (p printer) truth(e *gen.Expr) string { return p.bool(e).s }

// unless prints the opposite of e.
func (p printer) unless(e *gen.Expr) string {
	if op, ok := opposite[e.Op]; ok {
		return p.compare(e, op).s
	}
	if e.Op == gen.OpNot {
		return p.truth(e.Args[0])
	}
	return "not " + p.bool(e).within(bindUnary)
}

// count prints e as a plain number.
func (p printer) count(e *gen.Expr) string { return p.num(e).s }

var luaCompare = map[gen.Op]string{gen.OpEq: "==", gen.OpNe: "~=", gen.OpLt: "<", gen.OpLe: "<=", gen.OpGt: ">", gen.OpGe: ">="}

var opposite = map[gen.Op]string{gen.OpEq: "~=", gen.OpNe: "==", gen.OpLt: ">=", gen.OpLe: ">", gen.OpGt: "<=", gen.OpGe: "<"}

func (p printer) bool(e *gen.Expr) text {
	switch e.Op {
	case gen.OpConst:
		return text{fmt.Sprint(e.Value.Sign() != 0), leaf}
	case gen.OpRef:
		if isFlag(e) {
			return text{p.name(value{valNumber, e.Ref}), leaf}
		}
	case gen.OpPresent:
		return text{p.name(value{valPresent, e.Ref}), leaf}
	case gen.OpAny:
		return text{"any(" + p.name(value{valBytes, e.Ref}) + ")", leaf}
	case gen.OpTest:
		return text{"test(" + p.name(value{valBytes, e.Ref}) + ", " + p.count(e.Args[0]) + ")", leaf}
	case gen.OpNot:
		return text{"not " + p.bool(e.Args[0]).within(bindUnary), bindUnary}
	case gen.OpAndAnd:
		return text{p.bool(e.Args[0]).within(bindAnd) + " and " + p.bool(e.Args[1]).within(bindAnd+1), bindAnd}
	case gen.OpOrOr:
		return text{p.bool(e.Args[0]).within(bindOr) + " or " + p.bool(e.Args[1]).within(bindOr+1), bindOr}
	case gen.OpIn:
		return p.in(e)
	case gen.OpCond:
		c := p.bool(e.Args[0]).within(bindAnd)
		n := p.bool(e.Args[0]).within(bindUnary)
		return text{fmt.Sprintf("%s and %s or not %s and %s", c, p.bool(e.Args[1]).within(bindCompare), n,
			p.bool(e.Args[2]).within(bindCompare)), bindOr}
	}
	if op, ok := luaCompare[e.Op]; ok {
		return p.compare(e, op)
	}
	return text{p.num(e).within(bindCompare) + " ~= 0", bindCompare}
}

// compare prints a comparison with another operator than e's own when op says so.
func (p printer) compare(e *gen.Expr, op string) text {
	a, b := e.Args[0], e.Args[1]
	if (op == "==" || op == "~=") && (isTruth(a) || isTruth(b)) {
		return text{p.bool(a).within(bindCompare+1) + " " + op + " " + p.bool(b).within(bindCompare+1), bindCompare}
	}
	if op == "==" || op == "~=" {
		if t, ok := p.sameBytes(a, b, op); ok {
			return t
		}
	}
	if huge(a) || huge(b) {
		typ := bigOf(a, b)
		return text{p.big(a, typ) + " " + op + " " + p.big(b, typ), bindCompare}
	}
	return text{p.num(a).within(bindCompare+1) + " " + op + " " + p.num(b).within(bindCompare+1), bindCompare}
}

func (p printer) in(e *gen.Expr) text {
	var alts []string
	for _, r := range e.Set {
		alts = append(alts, p.inRange(e.Args[0], r))
	}
	if len(alts) == 1 {
		return text{alts[0], bindAnd}
	}
	return text{strings.Join(alts, " or "), bindOr}
}

func (p printer) inRange(e *gen.Expr, r gen.Range) string {
	first, last := fmt.Sprintf("%d", r.First), fmt.Sprintf("%d", r.Last)
	n := ""
	if huge(e) {
		typ := bigOf(e)
		first, last, n = bigConst(typ, new(big.Int).SetUint64(r.First)), bigConst(typ, new(big.Int).SetUint64(r.Last)), p.big(e, typ)
	} else {
		n = p.num(e).within(bindCompare + 1)
	}
	switch {
	case r.First == r.Last:
		return n + " == " + first
	case r.First == 0 && (e.Min == nil || e.Min.Sign() >= 0):
		return n + " <= " + last
	case e.Max != nil && new(big.Int).SetUint64(r.Last).Cmp(e.Max) >= 0:
		return n + " >= " + first
	}
	return n + " >= " + first + " and " + n + " <= " + last
}

var luaArith = map[gen.Op]struct {
	op   string
	bind int
}{gen.OpAdd: {"+", bindAdd}, gen.OpSub: {"-", bindAdd}, gen.OpMul: {"*", bindMul}}

var luaCalls = map[gen.Op]string{gen.OpAnd: "band", gen.OpOr: "bor", gen.OpXor: "bxor", gen.OpDiv: "quo", gen.OpMod: "rem"}

func (p printer) num(e *gen.Expr) text {
	if isTruth(e) || isFlag(e) {
		return text{"(" + p.bool(e).s + " and 1 or 0)", leaf}
	}
	if e.Op != gen.OpConst && (huge(e) || len(e.Args) > 0 && e.Op != gen.OpCond && anyHuge(e.Args)) {
		return text{p.big(e, bigOf(e)) + ":tonumber()", leaf}
	}
	switch e.Op {
	case gen.OpConst:
		return text{e.Value.String(), leaf}
	case gen.OpRef:
		return text{p.name(value{valNumber, e.Ref}), leaf}
	case gen.OpSize, gen.OpCount:
		v, ok := valueOf(e)
		if !ok {
			return text{fmt.Sprint(e.Ref.Last().Span.Fixed), leaf}
		}
		return text{p.name(v), leaf}
	case gen.OpNeg:
		return text{"-" + p.num(e.Args[0]).within(bindUnary), bindUnary}
	case gen.OpCond:
		return text{fmt.Sprintf("%s and %s or %s", p.bool(e.Args[0]).within(bindAnd), p.num(e.Args[1]).within(bindCompare),
			p.num(e.Args[2]).within(bindCompare)), bindOr}
	}
	return p.arith(e)
}

func (p printer) arith(e *gen.Expr) text {
	a, b := p.num(e.Args[0]), p.num(e.Args[1])
	if o, ok := luaArith[e.Op]; ok {
		return text{a.within(o.bind) + " " + o.op + " " + b.within(o.bind+1), o.bind}
	}
	switch {
	case e.Op == gen.OpMod && natural(e.Args[0]) && natural(e.Args[1]):
		return text{a.within(bindMul) + " % " + b.within(bindMul+1), bindMul}
	case e.Op == gen.OpShl:
		return text{a.within(bindMul) + " * 2 ^ " + b.within(leaf), bindMul}
	case e.Op == gen.OpShr:
		return text{"floor(" + a.within(bindMul) + " / 2 ^ " + b.within(leaf) + ")", leaf}
	}
	return text{luaCalls[e.Op] + "(" + a.s + ", " + b.s + ")", leaf}
}

var bigMethods = map[gen.Op]string{gen.OpAnd: "band", gen.OpOr: "bor", gen.OpXor: "bxor", gen.OpShl: "lshift", gen.OpShr: "rshift"}

// big prints e as Int64 or UInt64; the result is a primary expression.
func (p printer) big(e *gen.Expr, typ string) string {
	switch {
	case e.Op == gen.OpConst:
		return bigConst(typ, e.Value)
	case e.Op == gen.OpRef && huge(e):
		return typ + ".decode(" + p.name(value{valNumber, e.Ref}) + ", false)"
	case e.Op == gen.OpCond:
		return fmt.Sprintf("(%s and %s or %s)", p.bool(e.Args[0]).within(bindAnd), p.big(e.Args[1], typ), p.big(e.Args[2], typ))
	case len(e.Args) == 0 || isTruth(e):
		return typ + ".new(" + p.num(e).s + ")"
	case e.Op == gen.OpNeg:
		return "(-" + p.big(e.Args[0], typ) + ")"
	}
	a := p.big(e.Args[0], typ)
	if m, ok := bigMethods[e.Op]; ok {
		if e.Op == gen.OpShl || e.Op == gen.OpShr {
			return a + ":" + m + "(" + p.count(e.Args[1]) + ")"
		}
		return a + ":" + m + "(" + p.big(e.Args[1], typ) + ")"
	}
	ops := map[gen.Op]string{gen.OpAdd: "+", gen.OpSub: "-", gen.OpMul: "*", gen.OpDiv: "/", gen.OpMod: "%"}
	return "(" + a + " " + ops[e.Op] + " " + p.big(e.Args[1], typ) + ")"
}

func bigConst(typ string, n *big.Int) string {
	u := new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0))).Uint64()
	return fmt.Sprintf("%s.new(%d, %d)", typ, u&0xffffffff, u>>32)
}

// bigOf is the 64-bit type in which all parts of the expressions fit.
func bigOf(es ...*gen.Expr) string {
	for _, e := range es {
		if e.Min != nil && e.Min.Sign() < 0 || len(e.Args) > 0 && bigOf(e.Args...) == "Int64" {
			return "Int64"
		}
	}
	return "UInt64"
}

var exactLimit = new(big.Int).Lsh(big.NewInt(1), exactBits)

// huge reports whether e may leave what a double holds exactly.
func huge(e *gen.Expr) bool {
	if isTruth(e) {
		return false
	}
	if e.Op == gen.OpRef {
		return e.Ref.Last() != nil && wide(e.Ref.Last().Scalar) || e.Ref.Last() == nil && e.Ref.Param.Bits > exactBits
	}
	if e.Op == gen.OpConst {
		return e.Value.CmpAbs(exactLimit) > 0
	}
	return e.Min != nil && e.Min.CmpAbs(exactLimit) > 0 || e.Max != nil && e.Max.CmpAbs(exactLimit) > 0
}

func anyHuge(es []*gen.Expr) bool {
	for _, e := range es {
		if huge(e) || len(e.Args) > 0 && !isTruth(e) && anyHuge(e.Args) {
			return true
		}
	}
	return false
}

func natural(e *gen.Expr) bool {
	if e.Op == gen.OpConst {
		return e.Value.Sign() >= 0
	}
	return e.Min != nil && e.Min.Sign() >= 0
}

// isFlag reports whether e is a bit, which locals hold as a boolean.
func isFlag(e *gen.Expr) bool {
	if e.Op != gen.OpRef {
		return false
	}
	last := e.Ref.Last()
	return last == nil && e.Ref.Param.Bits == 1 || last != nil && last.Scalar != nil && last.Scalar.Flag
}

// isTruth reports whether e yields a boolean and not a flag's number.
func isTruth(e *gen.Expr) bool {
	switch e.Op {
	case gen.OpRef:
		return false
	case gen.OpNot, gen.OpAndAnd, gen.OpOrOr, gen.OpIn, gen.OpPresent, gen.OpAny, gen.OpTest:
		return true
	case gen.OpConst, gen.OpCond:
		return e.Bool
	}
	return e.Op >= gen.OpEq && e.Op <= gen.OpGe
}

// sameBytes compares a wide item with a constant, both as eight bytes.
func (p printer) sameBytes(a, b *gen.Expr, op string) (text, bool) {
	if a.Op == gen.OpConst {
		a, b = b, a
	}
	if a.Op != gen.OpRef || !huge(a) || b.Op != gen.OpConst {
		return text{}, false
	}
	n := new(big.Int).And(b.Value, new(big.Int).SetUint64(^uint64(0))).Uint64()
	want := "ZERO"
	if n != 0 {
		want = `"`
		for shift := 56; shift >= 0; shift -= 8 {
			want += fmt.Sprintf(`\%03d`, byte(n>>uint(shift)))
		}
		want += `"`
	}
	return text{p.name(value{valNumber, a.Ref}) + " " + op + " " + want, bindCompare}, true
}
