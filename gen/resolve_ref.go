// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// unboundedSize stands for the size of what only its container bounds: no container is larger.
const unboundedSize = 1<<31 - 1

// path resolves a name: a constant, an enum's member or an item.
func (v *env) path(e *syntax.Expr) *Expr {
	scope, names := importedName(e.Names)
	if scope != nil && (v.c.imports[scope.Text] == imported{} || v.b != nil && v.b.knows(scope.Text)) {
		scope, names = nil, e.Names
	}
	first := names[0]
	if !isUpper(first.Text) {
		if x, known := v.shorthand(e); known {
			return x
		}
		r, ok := v.ref(e)
		if !ok {
			return nil
		}
		return v.value(e, r)
	}
	n := v.c.scoped(scope, first.Text, first.Pos)
	switch {
	case n == nil:
		return nil
	case n.value != nil && len(names) == 1 && !n.missing:
		return constExpr(n.value)
	case n.enum != nil && len(names) == 2:
		return v.enumMember(e, n.enum)
	case n.missing:
		return nil
	}
	v.c.reportExpr("E0301", e, "`%s` is no value", v.c.f.Text(e.Pos, e.EndPos))
	return nil
}

func (v *env) enumMember(e *syntax.Expr, en *Enum) *Expr {
	name := e.Names[len(e.Names)-1]
	m := en.member(name.Text)
	if m == nil {
		v.c.report("E0101", name.Pos, "`%s` has no member `%s`", en.Name.Schema, name.Text).Suggest(name.Text, en.memberNames())
		return nil
	}
	if m.First != m.Last {
		v.c.reportExpr("E0306", e, "`%s` names a range and not one number", name.Text)
		return nil
	}
	x := constExpr(new(big.Int).SetUint64(m.First))
	x.Enum = en
	return x
}

// ref resolves a dotted item.
func (v *env) ref(e *syntax.Expr) (Ref, bool) {
	first := e.Names[0]
	if v.b == nil {
		v.c.reportExpr("E0410", e, "an item cannot be named here").Help("use numbers, constants, minsize(), maxsize() and offset()")
		return Ref{}, false
	}
	r, ok := v.b.find(first)
	if !ok {
		return Ref{}, false
	}
	if r.Param != nil && r.Param.Any != nil && len(e.Names) > 1 {
		v.c.reportExpr("E0408", e, "`%s` has several types", first.Text)
		return Ref{}, false
	}
	for _, id := range e.Names[1:] {
		st := r.structure()
		if st == nil {
			v.c.report("E0101", id.Pos, "`%s` has no items of its own", r.String())
			return Ref{}, false
		}
		it := st.item(id.Text)
		if it == nil {
			v.c.report("E0101", id.Pos, "`%s` has no item `%s`", st.Name.Schema, id.Text).Suggest(id.Text, st.itemNames())
			return Ref{}, false
		}
		r = Ref{r.Param, append(slices.Clone(r.Path), it)}
	}
	return r, v.present(e, r)
}

// structure returns the struct that a reference names; nil for all else.
func (r Ref) structure() *Struct {
	if it := r.Last(); it != nil {
		if it.Kind == KindStruct {
			return it.Struct
		}
		return nil
	}
	return r.Param.Struct
}

// String prints a reference as in the schema.
func (r Ref) String() string {
	var parts []string
	if r.Param != nil {
		parts = append(parts, r.Param.Name.Schema)
	}
	for _, it := range r.Path {
		parts = append(parts, it.Name.Schema)
	}
	return strings.Join(parts, ".")
}

func (s *Struct) item(name string) *Item {
	for _, it := range s.Items {
		if it.Name.Schema == name && name != "_" {
			return it
		}
	}
	return nil
}

func (s *Struct) itemNames() (names []string) {
	for _, it := range s.Items {
		if it.Name.Schema != "_" {
			names = append(names, it.Name.Schema)
		}
	}
	return names
}

// value makes an item's value an operand.
func (v *env) value(e *syntax.Expr, r Ref) *Expr {
	if r.Last() == nil && r.Param.Struct == nil {
		iv := v.bounds(r)
		return &Expr{Op: OpRef, Ref: r, Min: iv.lo, Max: iv.hi}
	}
	it := r.Last()
	if it == nil || it.Scalar == nil || it.Kind != KindScalar && it.Kind != KindReserved {
		v.c.reportExpr("E0301", e, "`%s` is not a number", r).Help("use size(), count(), any(), test() or present()")
		return nil
	}
	iv := it.Scalar.interval()
	return &Expr{Op: OpRef, Ref: r, Min: iv.lo, Max: iv.hi}
}

// interval bounds a scalar that has passed its own checks.
func (s *Scalar) interval() interval {
	switch {
	case s.Fixed != nil:
		return point(s.number(*s.Fixed))
	case len(s.In) > 0:
		return interval{s.end(s.In[0].First), s.end(s.In[len(s.In)-1].Last)}
	case s.Enum != nil && s.Enum.Closed:
		return s.Enum.interval()
	}
	return s.width()
}

// width bounds whatever the bits of a scalar can be.
func (s *Scalar) width() interval {
	if s.Signed {
		half := pow2(uint(s.Bits - 1))
		return interval{new(big.Int).Neg(half), new(big.Int).Sub(half, one)}
	}
	return unsigned(s.Bits)
}

// number is the value of raw bits.
func (s *Scalar) number(raw uint64) *big.Int {
	if s.Signed {
		return big.NewInt(signExtend(raw, s.Bits))
	}
	return new(big.Int).SetUint64(raw)
}

// end is one end of a range of In.
func (s *Scalar) end(n uint64) *big.Int {
	if s.Signed {
		return big.NewInt(int64(n))
	}
	return new(big.Int).SetUint64(n)
}

// present reports the use of an item that may be absent.
func (v *env) present(e *syntax.Expr, r Ref) bool {
	if v.derived {
		return true
	}
	for i, it := range r.Path {
		if it.When == nil {
			continue
		}
		for _, fact := range factsOf(rebase(it.When, r.Param, r.Path[:i])) {
			if !slices.Contains(v.facts, fact) {
				v.c.reportExpr("E0407", e, "`%s` may be absent here", r).
					Help("use it where `%s` holds, for example `!(%s) || …`", fact, fact)
				return false
			}
		}
	}
	return true
}

// rebase moves an expression of a nested struct into the struct that reaches it through param and path.
func rebase(x *Expr, param *Param, path []*Item) *Expr {
	if x == nil || param == nil && len(path) == 0 {
		return x
	}
	y := *x
	switch x.Op {
	case OpRef, OpSize, OpCount, OpPresent, OpAny, OpTest:
		if x.Ref.Param == nil {
			y.Ref = Ref{param, append(slices.Clone(path), x.Ref.Path...)}
		}
	}
	y.Args = make([]*Expr, len(x.Args))
	for i, a := range x.Args {
		y.Args[i] = rebase(a, param, path)
	}
	return &y
}

// opposites are the comparisons that hold when others do not.
var opposites = map[Op]Op{OpEq: OpNe, OpNe: OpEq, OpLt: OpGe, OpGe: OpLt, OpGt: OpLe, OpLe: OpGt}

// factsOf returns the keys of what holds when a condition holds.
func factsOf(x *Expr) []string {
	switch {
	case x.Op == OpAndAnd:
		return append(factsOf(x.Args[0]), factsOf(x.Args[1])...)
	case x.Op == OpNot && x.Args[0].Op == OpOrOr:
		or := x.Args[0]
		return append(factsOf(negate(or.Args[0])), factsOf(negate(or.Args[1]))...)
	case x.Op == OpNot && opposites[x.Args[0].Op] != OpConst:
		opposite := *x.Args[0]
		opposite.Op = opposites[opposite.Op]
		return []string{key(&opposite)}
	case x.Op == OpPresent:
		if w := x.Ref.Last().When; w != nil {
			return append(factsOf(rebase(w, x.Ref.Param, x.Ref.Path[:len(x.Ref.Path)-1])), key(x))
		}
	}
	return []string{key(x)}
}

var signs = map[Op]string{
	OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpMod: "%", OpAnd: "&", OpOr: "|", OpXor: "^", OpShl: "<<", OpShr: ">>",
	OpEq: "==", OpNe: "!=", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=", OpAndAnd: "&&", OpOrOr: "||",
}

// key prints an expression canonically: two expressions with one key are the same.
func key(x *Expr) string {
	var args []string
	for _, a := range x.Args {
		args = append(args, key(a))
	}
	switch x.Op {
	case OpConst:
		return x.Value.String()
	case OpRef:
		return x.Ref.String()
	case OpNot:
		return "!" + args[0]
	case OpNeg:
		return "-" + args[0]
	case OpCond:
		return fmt.Sprintf("(%s ? %s : %s)", args[0], args[1], args[2])
	case OpIn:
		var set []string
		for _, r := range x.Set {
			set = append(set, fmt.Sprintf("%d..%d", r.First, r.Last))
		}
		return fmt.Sprintf("(%s in {%s})", args[0], strings.Join(set, ", "))
	case OpSize, OpCount, OpPresent, OpAny, OpTest:
		name := map[Op]string{OpSize: "size", OpCount: "count", OpPresent: "present", OpAny: "any", OpTest: "test"}[x.Op]
		return name + "(" + strings.Join(append([]string{x.Ref.String()}, args...), ", ") + ")"
	}
	return "(" + args[0] + " " + signs[x.Op] + " " + args[1] + ")"
}
