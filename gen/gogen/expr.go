// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// val is a printed expression. typ is a Go type, or "const" for an untyped constant; prec is Go's precedence, 6 for operands.
type val struct {
	code string
	typ  string
	prec int
}

func operand(code, typ string) val { return val{code, typ, 6} }

// at returns the code, in parentheses when it binds looser than prec.
func (v val) at(prec int) string {
	if v.prec < prec {
		return "(" + v.code + ")"
	}
	return v.code
}

// scope resolves references for the printed function: its receiver's fields, its parameters, and overrides.
type scope struct {
	g       *generator
	of      *gen.Struct // whose methods self has; nil for a view
	self    string
	getters bool                      // self is a view: items are read by calling getters
	known   map[string]val            // values that stand for items, by path: what the encoder writes instead of the stored value
	params  map[string]string         // what stands for the struct's parameters, by name, where it is printed in the body of another
	raw     func(gen.Ref) (val, bool) // reads items that have no field
}

// pathOf spells a reference without its parameter, as items of the struct.
func pathOf(r gen.Ref) string {
	var names []string
	for _, it := range r.Path {
		names = append(names, it.Name.Schema)
	}
	return strings.Join(names, ".")
}

// resolve prints the value behind a reference.
func (s *scope) resolve(r gen.Ref) val {
	if r.Param == nil {
		if v, ok := s.known[pathOf(r)]; ok {
			return v
		}
		if s.raw != nil {
			if v, ok := s.raw(r); ok {
				return v
			}
		}
	}
	typ := ""
	if it := r.Last(); it != nil {
		typ = fieldType(it)
	} else {
		typ = paramType(r.Param)
	}
	return operand(s.place(r), typ)
}

// place prints the Go expression of the field that a reference names.
func (s *scope) place(r gen.Ref) string {
	code := s.self
	if r.Param != nil {
		code = lowerCamel(r.Param.Name)
		if s.given(r.Param) {
			code = strings.TrimPrefix(s.params[r.Param.Name.Schema], pointed)
		}
	}
	for _, it := range r.Path {
		code += "." + it.Name.Go
		if s.getters && r.Param == nil {
			code += "()"
		}
	}
	return code
}

// pointed begins what stands for a parameter if that is a pointer, as a struct's own parameters are.
const pointed = "*"

// given tells whether a parameter is printed as the argument that stands for it.
func (s *scope) given(p *gen.Param) bool { return s.params[p.Name.Schema] != "" }

// truth prints e as a Go bool.
func (s *scope) truth(e *gen.Expr) val {
	v := s.expr(e)
	switch v.typ {
	case "bool":
		return v
	case "const":
		return operand(fmt.Sprint(v.code != "0"), "bool")
	}
	return val{v.at(4) + " != 0", "bool", 3}
}

// number prints e as the given integer type.
func (s *scope) number(e *gen.Expr, typ string) val { return convert(s.expr(e), typ) }

func convert(v val, typ string) val {
	switch {
	case v.typ == typ || v.typ == "const":
		return v
	case v.typ == "bool":
		return operand("bit["+typ+"]("+v.code+")", typ)
	}
	return operand(typ+"("+v.code+")", typ)
}

// expr prints e in the type that suits it best.
func (s *scope) expr(e *gen.Expr) val {
	switch e.Op {
	case gen.OpConst:
		return constant(e)
	case gen.OpRef:
		return s.resolve(e.Ref)
	case gen.OpNot:
		return s.negate(e.Args[0])
	case gen.OpNeg:
		return val{"-" + s.number(e.Args[0], "int64").at(6), "int64", 6}
	case gen.OpEq, gen.OpNe, gen.OpLt, gen.OpLe, gen.OpGt, gen.OpGe:
		return s.compare(comparisons[e.Op], e.Args[0], e.Args[1])
	case gen.OpAndAnd:
		return val{s.truth(e.Args[0]).at(2) + " && " + s.truth(e.Args[1]).at(3), "bool", 2}
	case gen.OpOrOr:
		return val{s.truth(e.Args[0]).at(1) + " || " + s.truth(e.Args[1]).at(2), "bool", 1}
	case gen.OpCond:
		return s.conditional(e)
	case gen.OpIn:
		return s.within(e)
	case gen.OpSize, gen.OpCount, gen.OpPresent, gen.OpAny, gen.OpTest:
		return s.call(e)
	}
	return s.arithmetic(e)
}

func constant(e *gen.Expr) val {
	if e.Enum != nil && e.Value.IsUint64() {
		for _, m := range e.Enum.Members {
			if m.First == m.Last && m.First == e.Value.Uint64() {
				return operand(e.Enum.Name.Go+m.Name.Go, e.Enum.Name.Go)
			}
		}
	}
	return operand(e.Value.String(), "const")
}

var comparisons = map[gen.Op]string{gen.OpEq: "==", gen.OpNe: "!=", gen.OpLt: "<", gen.OpLe: "<=", gen.OpGt: ">", gen.OpGe: ">="}

var inverse = map[string]string{"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

// compare prints a comparison in a type that holds both sides.
func (s *scope) compare(op string, left, right *gen.Expr) val {
	a, b := s.expr(left), s.expr(right)
	if a.typ == "bool" && b.typ == "bool" {
		return val{a.at(4) + " " + op + " " + b.at(4), "bool", 3}
	}
	if a.typ != b.typ || a.typ == "const" {
		typ := wide(left, right)
		switch {
		case b.typ == "const" && constFits(right, a.typ), a.typ == "const" && constFits(left, b.typ):
		default:
			a, b = convert(a, typ), convert(b, typ)
		}
	}
	return val{a.at(4) + " " + op + " " + b.at(4), "bool", 3}
}

// wide is the 64-bit type for operands; the compiler has proved that one of the two holds them.
func wide(es ...*gen.Expr) string {
	for _, e := range es {
		if e.Min != nil && e.Min.Sign() < 0 || e.Op == gen.OpConst && e.Value.Sign() < 0 {
			return "int64"
		}
	}
	return "uint64"
}

// constFits tells whether a constant may stand beside an operand of a type.
func constFits(e *gen.Expr, typ string) bool {
	switch typ {
	case "bool", "const":
		return false
	case "uint8", "uint16", "uint32", "uint64":
		return e.Value.Sign() >= 0 && e.Value.BitLen() <= typeBits(typ)
	case "int8", "int16", "int32", "int64":
		return e.Value.BitLen() < typeBits(typ)
	}
	return e.Value.Sign() >= 0 // an enum; its width was checked against the constant
}

var operators = map[gen.Op]struct {
	text string
	prec int
}{
	gen.OpAdd: {"+", 4}, gen.OpSub: {"-", 4}, gen.OpOr: {"|", 4}, gen.OpXor: {"^", 4},
	gen.OpMul: {"*", 5}, gen.OpDiv: {"/", 5}, gen.OpMod: {"%", 5}, gen.OpAnd: {"&", 5}, gen.OpShl: {"<<", 5}, gen.OpShr: {">>", 5},
}

// arithmetic prints an operation in the operands' own type when nothing can leave it, else in 64 bits.
func (s *scope) arithmetic(e *gen.Expr) val {
	op, ok := operators[e.Op]
	if !ok {
		s.g.fail(s.of, "the expression `%s` has no form in Go", e.Text())
		return operand("0", "const")
	}
	a, b := s.expr(e.Args[0]), s.expr(e.Args[1])
	typ := wide(e, e.Args[0], e.Args[1])
	if narrow := sameType(a, b, e.Args[0], e.Args[1]); narrow != "" && fits(e, narrow) {
		typ = narrow
	}
	a, b = convert(a, typ), convert(b, typ)
	return val{a.at(op.prec) + " " + op.text + " " + b.at(op.prec+1), typ, op.prec}
}

// sameType is the plain integer type that both operands have or, being constants, may have.
func sameType(a, b val, ea, eb *gen.Expr) string {
	switch {
	case a.typ == b.typ && isInteger(a.typ):
		return a.typ
	case b.typ == "const" && isInteger(a.typ) && constFits(eb, a.typ):
		return a.typ
	case a.typ == "const" && isInteger(b.typ) && constFits(ea, b.typ):
		return b.typ
	}
	return ""
}

func isInteger(typ string) bool {
	return strings.HasPrefix(typ, "uint") || strings.HasPrefix(typ, "int")
}

func fits(e *gen.Expr, typ string) bool {
	if e.Min == nil || e.Max == nil || e.Min.Sign() < 0 || !strings.HasPrefix(typ, "u") {
		return false
	}
	return e.Max.BitLen() <= typeBits(typ)
}

func (s *scope) conditional(e *gen.Expr) val {
	yes, no := s.expr(e.Args[1]), s.expr(e.Args[2])
	typ := yes.typ
	if yes.typ != no.typ || typ == "const" {
		typ = wide(e, e.Args[1], e.Args[2])
	}
	return operand(fmt.Sprintf("pick[%s](%s, %s, %s)", typ, s.truth(e.Args[0]).code, convert(yes, typ).code, convert(no, typ).code), typ)
}

// within prints membership in a set of intervals.
func (s *scope) within(e *gen.Expr) val {
	v := s.expr(e.Args[0])
	if v.typ == "bool" {
		v = convert(v, "uint8")
	}
	top := maxOf(e.Args[0], v.typ)
	var terms []string
	for _, r := range e.Set {
		terms = append(terms, inRange(v, r, top))
	}
	switch {
	case len(terms) == 1 && !strings.Contains(terms[0], "&&"):
		return val{terms[0], "bool", 3}
	case len(terms) == 1:
		return val{terms[0], "bool", 2}
	}
	return val{strings.Join(terms, " || "), "bool", 1}
}

func maxOf(e *gen.Expr, typ string) uint64 {
	if isInteger(typ) {
		return ^uint64(0) >> (64 - typeBits(typ))
	}
	if e.Max != nil && e.Max.IsUint64() {
		return e.Max.Uint64()
	}
	return ^uint64(0)
}

func inRange(v val, r gen.Range, top uint64) string {
	x := v.at(4)
	switch {
	case r.First == r.Last:
		return fmt.Sprintf("%s == %d", x, r.First)
	case r.First == 0 && r.Last >= top:
		return "true"
	case r.First == 0:
		return fmt.Sprintf("%s <= %d", x, r.Last)
	case r.Last >= top:
		return fmt.Sprintf("%s >= %d", x, r.First)
	}
	return fmt.Sprintf("%s >= %d && %s <= %d", x, r.First, x, r.Last)
}

// negate prints !e without a "!" where a comparison can be turned round.
func (s *scope) negate(e *gen.Expr) val {
	switch e.Op {
	case gen.OpNot:
		return s.truth(e.Args[0])
	case gen.OpEq, gen.OpNe, gen.OpLt, gen.OpLe, gen.OpGt, gen.OpGe:
		return s.compare(inverse[comparisons[e.Op]], e.Args[0], e.Args[1])
	case gen.OpAndAnd:
		return val{s.negate(e.Args[0]).at(1) + " || " + s.negate(e.Args[1]).at(2), "bool", 1}
	case gen.OpOrOr:
		return val{s.negate(e.Args[0]).at(2) + " && " + s.negate(e.Args[1]).at(3), "bool", 2}
	case gen.OpIn:
		if len(e.Set) == 1 {
			return s.outside(e)
		}
	}
	return val{"!" + s.truth(e).at(6), "bool", 6}
}

// outside prints the negation of membership in one interval.
func (s *scope) outside(e *gen.Expr) val {
	v := s.expr(e.Args[0])
	if v.typ == "bool" {
		v = convert(v, "uint8")
	}
	r, x, top := e.Set[0], v.at(4), maxOf(e.Args[0], v.typ)
	switch {
	case r.First == r.Last:
		return val{fmt.Sprintf("%s != %d", x, r.First), "bool", 3}
	case r.First == 0 && r.Last >= top:
		return operand("false", "bool")
	case r.First == 0:
		return val{fmt.Sprintf("%s > %d", x, r.Last), "bool", 3}
	case r.Last >= top:
		return val{fmt.Sprintf("%s < %d", x, r.First), "bool", 3}
	}
	return val{fmt.Sprintf("%s < %d || %s > %d", x, r.First, x, r.Last), "bool", 1}
}

// call prints the built-in functions of the expression language.
func (s *scope) call(e *gen.Expr) val {
	it := e.Ref.Last()
	switch e.Op {
	case gen.OpAny:
		return operand(s.place(e.Ref)+".Any()", "bool")
	case gen.OpTest:
		return operand(s.place(e.Ref)+".Test("+s.number(e.Args[0], "int").code+")", "bool")
	case gen.OpCount:
		return operand("uint64(len("+s.place(e.Ref)+"))", "uint64")
	case gen.OpPresent:
		if it.When == nil {
			return operand("true", "bool")
		}
		return s.truth(it.When)
	}
	return s.sizeOf(e.Ref)
}

// sizeOf prints the size in bytes of the item behind a reference.
func (s *scope) sizeOf(r gen.Ref) val {
	it := r.Last()
	switch {
	case it.Kind == gen.KindSpan && it.Span.Fixed >= 0:
		return operand(fmt.Sprint(it.Span.Fixed), "const")
	case it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPad:
		return operand("uint64("+s.place(r)+")", "uint64")
	case it.Kind == gen.KindSpan:
		return operand("uint64(len("+s.place(r)+"))", "uint64")
	case it.Kind == gen.KindStruct && it.Struct.FixedSize:
		return operand(fmt.Sprint(it.Struct.Max), "const")
	case it.Kind == gen.KindArray && elementSize(it.Array) > 0:
		return val{fmt.Sprintf("uint64(len(%s)) * %d", s.place(r), elementSize(it.Array)), "uint64", 5}
	}
	s.g.fail(it, "an expression asks for the size of `%s`, which is neither bytes nor of elements of fixed size", pathOf(r))
	return operand("0", "const")
}

// elementSize is the size in bytes of an array's elements, or 0 when they differ.
func elementSize(a *gen.Array) int {
	switch {
	case a.Scalar != nil:
		return a.Scalar.Bits / 8
	case a.Struct.FixedSize:
		return a.Struct.Max
	}
	return 0
}

// linear prints (measure - B) / A, the value that the encoder gives to a solved item.
func linear(measure string, s *gen.Solve) string {
	switch {
	case s.A == 1:
		return less(measure, s.B)
	case s.B == 0:
		return fmt.Sprintf("%s / %d", measure, s.A)
	}
	return fmt.Sprintf("(%s) / %d", less(measure, s.B), s.A)
}

// less prints measure - n.
func less(measure string, n int64) string {
	switch {
	case n > 0:
		return fmt.Sprintf("%s - %d", measure, n)
	case n < 0:
		return fmt.Sprintf("%s + %d", measure, -n)
	}
	return measure
}

// smallConst tells whether an expression is a constant, and which.
func smallConst(e *gen.Expr) (*big.Int, bool) {
	if e != nil && e.Op == gen.OpConst {
		return e.Value, true
	}
	return nil, false
}
