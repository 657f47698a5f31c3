// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// scope is where an expression stands: how it reaches the struct's own members and how it reads bits that have none.
type scope struct {
	g        *generator
	self     string                                 // "out->", "in->", "v."
	reserved func(it *gen.Item, ref gen.Ref) string // value of unnamed reserved bits; nil = not readable here
	packing  bool                                   // fixed items read as their constants
}

// comparisons in C, by operator.
var compareText = map[gen.Op]string{
	gen.OpEq: "==", gen.OpNe: "!=", gen.OpLt: "<", gen.OpLe: "<=", gen.OpGt: ">", gen.OpGe: ">=",
}

var inverse = map[gen.Op]gen.Op{
	gen.OpEq: gen.OpNe, gen.OpNe: gen.OpEq, gen.OpLt: gen.OpGe, gen.OpLe: gen.OpGt, gen.OpGt: gen.OpLe, gen.OpGe: gen.OpLt,
}

var arithText = map[gen.Op]string{
	gen.OpAdd: "+", gen.OpSub: "-", gen.OpMul: "*", gen.OpDiv: "/", gen.OpMod: "%",
	gen.OpAnd: "&", gen.OpOr: "|", gen.OpXor: "^", gen.OpShl: "<<", gen.OpShr: ">>",
}

// path is the C expression that reaches ref.
func (s scope) path(r gen.Ref) string {
	prefix := s.self
	if r.Param != nil {
		if r.Param.Struct == nil || len(r.Path) == 0 {
			return argument(r.Param)
		}
		prefix = argument(r.Param) + "->"
	}
	names := make([]string, len(r.Path))
	for i, it := range r.Path {
		names[i] = it.Name.C
	}
	return prefix + strings.Join(names, ".")
}

// inner is the scope of the struct that holds ref's last item.
func (s scope) inner(r gen.Ref) scope {
	if len(r.Path) <= 1 && r.Param == nil {
		return s
	}
	in := s
	in.self = s.path(gen.Ref{Param: r.Param, Path: r.Path[:len(r.Path)-1]}) + "."
	if len(r.Path) == 1 {
		in.self = argument(r.Param) + "->"
	}
	return in
}

// cond prints e as a truth value.
func (s scope) cond(e *gen.Expr) string {
	switch e.Op {
	case gen.OpConst:
		return fmt.Sprint(e.Value.Sign() != 0)
	case gen.OpNot:
		return s.not(e.Args[0])
	case gen.OpAndAnd:
		return s.join(e, gen.OpAndAnd)
	case gen.OpOrOr:
		return s.join(e, gen.OpOrOr)
	case gen.OpEq, gen.OpNe, gen.OpLt, gen.OpLe, gen.OpGt, gen.OpGe:
		return s.compare(e.Op, e.Args[0], e.Args[1])
	case gen.OpIn:
		return s.in(e)
	case gen.OpPresent:
		return s.present(e.Ref)
	case gen.OpAny:
		return fmt.Sprintf("%sbits%d_any(&%s)", s.g.pfx, e.Ref.Last().Vector.Bits, s.path(e.Ref))
	case gen.OpTest:
		bits := e.Ref.Last().Vector.Bits
		at := "(size_t)(" + s.num(e.Args[0]) + ")"
		if e.Args[0].Op == gen.OpConst {
			at = e.Args[0].Value.String()
		}
		return fmt.Sprintf("%sbits%d_test(&%s, %s)", s.g.pfx, bits, s.path(e.Ref), at)
	case gen.OpCond:
		return fmt.Sprintf("(%s ? %s : %s)", s.cond(e.Args[0]), s.cond(e.Args[1]), s.cond(e.Args[2]))
	case gen.OpRef:
		if it := e.Ref.Last(); it != nil && it.Scalar != nil && it.Scalar.Flag {
			return s.leaf(e)
		}
		if !signed(e) {
			return group1(s.leaf(e)) + " != 0u"
		}
	}
	return s.num(e) + " != 0u"
}

// atom prints e as a truth value that may stand beside any operator.
func (s scope) atom(e *gen.Expr) string {
	text := s.cond(e)
	if e.Op == gen.OpRef && e.Bool || e.Op == gen.OpConst || e.Op == gen.OpAny || e.Op == gen.OpTest || isCall(text) {
		return text
	}
	if strings.HasPrefix(text, "!") && !strings.Contains(text, " ") {
		return text
	}
	return "(" + text + ")"
}

// join prints a chain of one operator: comparisons stand bare in it, other chains in brackets.
func (s scope) join(e *gen.Expr, op gen.Op) string {
	parts := make([]string, 2)
	for i, a := range e.Args {
		if a.Op == gen.OpNot && chain(a.Args[0]) {
			a = opposite(a.Args[0])
		}
		_, bare := inverse[a.Op]
		switch {
		case a.Op == op:
			parts[i] = s.join(a, op)
		case bare || a.Op == gen.OpRef || a.Op == gen.OpNot && a.Args[0].Op != gen.OpIn:
			parts[i] = s.cond(a)
		default:
			parts[i] = s.atom(a)
		}
	}
	if op == gen.OpAndAnd {
		return strings.Join(parts, " && ")
	}
	return strings.Join(parts, " || ")
}

func chain(e *gen.Expr) bool { return e.Op == gen.OpAndAnd || e.Op == gen.OpOrOr }

// not prints the negation of e.
func (s scope) not(e *gen.Expr) string {
	if op, ok := inverse[e.Op]; ok {
		return s.compare(op, e.Args[0], e.Args[1])
	}
	switch e.Op {
	case gen.OpNot:
		return s.cond(e.Args[0])
	case gen.OpConst:
		return fmt.Sprint(e.Value.Sign() == 0)
	case gen.OpAndAnd, gen.OpOrOr:
		return s.cond(opposite(e))
	case gen.OpIn:
		if len(e.Set) == 1 {
			return s.outside(e)
		}
	}
	return "!" + s.atom(e)
}

// opposite moves the negation of a chain to its operands.
func opposite(e *gen.Expr) *gen.Expr {
	n := &gen.Expr{Op: gen.OpOrOr, Bool: true}
	if e.Op == gen.OpOrOr {
		n.Op = gen.OpAndAnd
	}
	for _, a := range e.Args {
		switch op, ok := inverse[a.Op]; {
		case a.Op == gen.OpAndAnd || a.Op == gen.OpOrOr:
			n.Args = append(n.Args, opposite(a))
		case a.Op == gen.OpNot:
			n.Args = append(n.Args, a.Args[0])
		case ok && (!a.Args[0].Bool || !a.Args[1].Bool):
			n.Args = append(n.Args, &gen.Expr{Op: op, Bool: true, Args: a.Args})
		default:
			n.Args = append(n.Args, &gen.Expr{Op: gen.OpNot, Bool: true, Args: []*gen.Expr{a}})
		}
	}
	return n
}

// outside prints that a number lies in none of a single range.
func (s scope) outside(e *gen.Expr) string {
	a, r := e.Args[0], e.Set[0]
	if r.First == r.Last {
		return s.compare(gen.OpNe, a, constExpr(r.First))
	}
	low, high := s.compare(gen.OpLt, a, constExpr(r.First)), s.compare(gen.OpGt, a, constExpr(r.Last))
	switch {
	case low == "false":
		return high
	case high == "false":
		return low
	}
	return low + " || " + high
}

func (s scope) present(r gen.Ref) string {
	it := r.Last()
	if it == nil || it.When == nil {
		return "true"
	}
	return s.inner(r).cond(it.When)
}

// leaf is a plain reference, read with its own C type.
func (s scope) leaf(e *gen.Expr) string {
	it := e.Ref.Last()
	if it != nil && it.Scalar != nil {
		if unnamed(it) {
			if s.reserved == nil {
				s.g.unsupported(it, "unnamed bits of `%s` are read where they are not kept", it.Owner.Name.Schema).Help("give them a name")
				return "0u"
			}
			return s.reserved(it, e.Ref)
		}
		if s.packing && it.Scalar.Fixed != nil {
			return constText(new(big.Int).SetUint64(*it.Scalar.Fixed))
		}
	}
	return s.path(e.Ref)
}

// simple returns the C text of an operand that needs no cast in a comparison: unsigned members and constants.
func (s scope) simple(e *gen.Expr) (text string, ok bool) {
	switch e.Op {
	case gen.OpConst:
		if e.Value.Sign() < 0 {
			return "", false
		}
		return s.constant(e), true
	case gen.OpRef:
		it := e.Ref.Last()
		if it == nil && e.Ref.Param.Signed {
			return "", false
		}
		if it == nil {
			return s.path(e.Ref), true
		}
		if it.Scalar == nil || it.Scalar.Signed || it.Scalar.Flag {
			return "", false
		}
		if unnamed(it) {
			return group1(s.leaf(e)), true
		}
		return s.leaf(e), true
	case gen.OpSize, gen.OpCount:
		if text, ok := s.measure(e); ok {
			return text, true
		}
	}
	return "", false
}

// constant prints a constant by the name the schema gave it.
func (s scope) constant(e *gen.Expr) string {
	if e.Enum != nil && e.Value.IsUint64() {
		if name := s.g.memberConst(e.Enum, e.Value.Uint64()); name != "" {
			return name
		}
	}
	return constText(e.Value)
}

func constText(v *big.Int) string {
	if v.Sign() < 0 {
		return fmt.Sprintf("INT64_C(%s)", v)
	}
	if v.BitLen() > 32 {
		return fmt.Sprintf("UINT64_C(%s)", v)
	}
	return v.String() + "u"
}

// compare prints a comparison. What the operand's type decides alone is not printed: compilers warn about it.
func (s scope) compare(op gen.Op, a, b *gen.Expr) string {
	if known, truth := decided(op, a, b); known {
		return fmt.Sprint(truth)
	}
	if a.Bool && b.Bool && (op == gen.OpEq || op == gen.OpNe) && a.Op != gen.OpConst && b.Op != gen.OpConst {
		return s.atom(a) + " " + compareText[op] + " " + s.atom(b)
	}
	ta, okA := s.simple(a)
	tb, okB := s.simple(b)
	if okA && okB {
		return ta + " " + compareText[op] + " " + tb
	}
	na, nb := s.num(a), s.num(b)
	if signed(a) == signed(b) {
		return na + " " + compareText[op] + " " + nb
	}
	return s.mixed(op, a, b)
}

// mixed compares numbers of which one may be negative and the other above INT64_MAX.
func (s scope) mixed(op gen.Op, a, b *gen.Expr) string {
	if !signed(a) {
		return s.mixed(mirror(op), b, a)
	}
	if b.Op == gen.OpConst && b.Value.IsInt64() {
		return fmt.Sprintf("%s %s INT64_C(%s)", s.num(a), compareText[op], b.Value)
	}
	negative := fmt.Sprintf("%s < 0", s.num(a))
	rest := fmt.Sprintf("(uint64_t)(%s) %s %s", s.num(a), compareText[op], s.num(b))
	if op == gen.OpLt || op == gen.OpLe || op == gen.OpNe {
		return fmt.Sprintf("(%s || %s)", negative, rest)
	}
	return fmt.Sprintf("(!(%s) && %s)", negative, rest)
}

func mirror(op gen.Op) gen.Op {
	switch op {
	case gen.OpLt:
		return gen.OpGt
	case gen.OpLe:
		return gen.OpGe
	case gen.OpGt:
		return gen.OpLt
	case gen.OpGe:
		return gen.OpLe
	}
	return op
}

// in prints membership in a set of ranges.
func (s scope) in(e *gen.Expr) string {
	var parts []string
	a := e.Args[0]
	for _, r := range e.Set {
		first, last := constExpr(r.First), constExpr(r.Last)
		if r.First == r.Last {
			parts = append(parts, s.compare(gen.OpEq, a, first))
			continue
		}
		low, high := s.compare(gen.OpGe, a, first), s.compare(gen.OpLe, a, last)
		switch {
		case low == "true":
			parts = append(parts, high)
		case high == "true":
			parts = append(parts, low)
		case len(e.Set) > 1:
			parts = append(parts, "("+low+" && "+high+")")
		default:
			parts = append(parts, low+" && "+high)
		}
	}
	if len(parts) == 0 {
		return "false"
	}
	return strings.Join(parts, " || ")
}

func constExpr(v uint64) *gen.Expr {
	n := new(big.Int).SetUint64(v)
	return &gen.Expr{Op: gen.OpConst, Value: n, Min: n, Max: n}
}

// signed tells whether num prints e as int64_t; else it is uint64_t.
func signed(e *gen.Expr) bool {
	if e.Op == gen.OpConst {
		return e.Value.Sign() < 0
	}
	if e.Op == gen.OpRef {
		it := e.Ref.Last()
		if it == nil {
			return e.Ref.Param.Signed
		}
		return it.Scalar != nil && it.Scalar.Signed
	}
	return e.Min != nil && e.Min.Sign() < 0
}

// num prints e as a number of type uint64_t, or int64_t when it may be negative.
func (s scope) num(e *gen.Expr) string {
	if e.Bool && e.Op != gen.OpRef && e.Op != gen.OpConst {
		return fmt.Sprintf("(%s ? UINT64_C(1) : UINT64_C(0))", s.cond(e))
	}
	switch e.Op {
	case gen.OpConst:
		return s.constant(e)
	case gen.OpRef:
		if signed(e) {
			return "(int64_t)" + s.leaf(e)
		}
		return "(uint64_t)" + group1(s.leaf(e))
	case gen.OpSize, gen.OpCount:
		text, ok := s.measure(e)
		if !ok {
			s.g.unsupported(e.Ref.Last(), "an expression asks for the size or count of `%s`", e.Ref.Last().Name.Schema)
		}
		return castConst(text)
	case gen.OpNeg:
		return fmt.Sprintf("(int64_t)(UINT64_C(0) - %s)", s.unsigned(e.Args[0]))
	case gen.OpCond:
		t := "uint64_t"
		if signed(e) {
			t = "int64_t"
		}
		return fmt.Sprintf("(%s ? (%s)(%s) : (%s)(%s))", s.cond(e.Args[0]), t, s.num(e.Args[1]), t, s.num(e.Args[2]))
	}
	return s.arith(e)
}

// group1 puts brackets around an expression that a cast would split.
func group1(text string) string {
	if strings.Contains(text, " ") && !isCall(text) {
		return "(" + text + ")"
	}
	return text
}

func castConst(text string) string {
	if strings.HasPrefix(text, "UINT64_C(") || strings.HasPrefix(text, "INT64_C(") {
		return text
	}
	return "(uint64_t)" + text
}

// firstRead is an item that an expression reads; nil = none.
func firstRead(e *gen.Expr) gen.Declared {
	for _, r := range exprRefs(e) {
		if it := r.Last(); it != nil {
			return it
		}
	}
	return nil
}

// unsigned prints e modulo 2^64.
func (s scope) unsigned(e *gen.Expr) string {
	if signed(e) {
		return "(uint64_t)(" + s.num(e) + ")"
	}
	return s.num(e)
}

// arith prints a binary operator. Sums, differences and products are computed modulo 2^64: the compiler has proved that
// the result fits, so the reduction is exact.
func (s scope) arith(e *gen.Expr) string {
	op, ok := arithText[e.Op]
	if !ok {
		s.g.unsupported(firstRead(e), "the expression `%s` is no number in C", e.Text())
		return "0u"
	}
	a, b := e.Args[0], e.Args[1]
	if (e.Op == gen.OpDiv || e.Op == gen.OpMod || e.Op == gen.OpShr) && (signed(a) || signed(b)) {
		text := fmt.Sprintf("((int64_t)(%s) %s (int64_t)(%s))", s.num(a), op, s.num(b))
		if signed(e) {
			return text
		}
		return "(uint64_t)" + text
	}
	left := s.unsigned(a)
	if a.Op == gen.OpConst && (b.Op == gen.OpConst || e.Op == gen.OpShl || e.Op == gen.OpShr) {
		left = castConst(left)
	}
	text := fmt.Sprintf("(%s %s %s)", left, op, s.unsigned(b))
	if signed(e) {
		return "(int64_t)" + text
	}
	return text
}
