// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// capture is a number or header of the body around this one that became a parameter.
type capture struct {
	param *Param
	arg   *Expr  // over the parent's names
	key   string // of a question about an item, for example `count(blocks)`; "" = an item's own value
}

// capture makes an outer name a parameter of this struct.
func (b *body) capture(id *syntax.Ident) (Ref, bool) {
	outer, ok := b.parent.find(id)
	if !ok {
		return Ref{}, false
	}
	e := &syntax.Expr{Pos: id.Pos, EndPos: id.Pos, Names: []*syntax.Ident{id}}
	if !b.parent.env().present(e, outer) {
		return Ref{}, false
	}
	p := &Param{Name: itemName(id.Text)}
	arg := &Expr{Op: OpRef, Ref: outer}
	it := outer.Last()
	switch {
	case it == nil:
		p.Struct, p.Bits, p.Signed = outer.Param.Struct, outer.Param.Bits, outer.Param.Signed
	case it.Kind == KindStruct:
		p.Struct = it.Struct
	case it.Scalar != nil && it.Kind != KindArray:
		p.Bits, p.Signed = it.Scalar.Bits, it.Scalar.Signed
	default:
		b.c.report("E0301", id.Pos, "`%s` is not a number", id.Text).Help("use size(), count(), any(), test() or present()")
		return Ref{}, false
	}
	if p.Struct == nil {
		iv := b.parent.env().bounds(outer)
		arg.Min, arg.Max = iv.lo, iv.hi
	}
	return Ref{Param: p}, b.take(id.Pos, id.Text, &capture{param: p, arg: arg})
}

// take adds a parameter, which the body calls name; backends call it after k.param.
func (b *body) take(at syntax.Pos, name string, k *capture) bool {
	for _, other := range b.s.Params {
		if other.Name.Schema == k.param.Name.Schema {
			b.c.report("E0102", at, "`%s` is a parameter already", other.Name.Schema)
			return false
		}
	}
	for _, other := range b.taken {
		if other.param.Name.Schema == k.param.Name.Schema {
			b.c.report("E0102", at, "an arm cannot read `%s` and ask for `%s`, which becomes a parameter of that name", other.param.Name.Schema, k.key+other.key)
			return false
		}
	}
	b.params[name] = k.param
	b.used[k.param] = true
	b.taken = append(b.taken, k)
	return true
}

// bounds is the interval of the number that a reference names.
func (v *env) bounds(r Ref) interval {
	if it := r.Last(); it != nil {
		return it.Scalar.interval()
	}
	for _, k := range v.b.taken {
		if k.param == r.Param && k.arg.Min != nil {
			return interval{k.arg.Min, k.arg.Max}
		}
	}
	return r.Param.interval()
}

// interval bounds a scalar parameter.
func (p *Param) interval() interval { return (&Scalar{Bits: p.Bits, Signed: p.Signed}).width() }

// outerCall answers a question about an item of the body around this one, such as count(blocks): the answer becomes a
// parameter. false when the item is this body's own or nobody's.
func (v *env) outerCall(e *syntax.Expr) (*Expr, bool) {
	b := v.b
	name := e.Args[0].Names[0].Text
	if b == nil || b.parent == nil || b.items[name] != nil || b.places[name].Line > 0 || b.params[name] != nil || !b.parent.knows(name) {
		return nil, false
	}
	if len(e.Args) > 1 && (&env{c: v.c}).constant(e.Args[1]) == nil {
		v.c.reportExpr("E0410", e.Args[1], "inside an arm the index of an outer vector is a constant")
		return nil, true
	}
	x := b.parent.env().call(e)
	if x == nil || x.Op == OpConst {
		return x, true
	}
	return b.ask(e, x), true
}

// constant is a constant integer; nil, without a fault, for all else.
func (v *env) constant(e *syntax.Expr) *Expr {
	if e.Kind == syntax.ExprNumber || e.Kind == syntax.ExprPath && isUpper(e.Names[0].Text) {
		return v.integer(e)
	}
	return nil
}

// ask makes the answer x to a question about the body around this one a parameter.
func (b *body) ask(e *syntax.Expr, x *Expr) *Expr {
	k := b.asked(key(x))
	if k == nil {
		name := strings.Trim(strings.Map(func(r rune) rune {
			if strings.ContainsRune("(). ,", r) {
				return '_'
			}
			return r
		}, strings.ReplaceAll(key(x), ", ", "_")), "_")
		p := &Param{Name: itemName(name), Bits: 1}
		if !x.Bool {
			p.Bits = max(1, x.Max.BitLen())
		}
		k = &capture{param: p, arg: x, key: key(x)}
		if !b.take(e.Pos, "?"+k.key, k) {
			return nil
		}
	}
	out := &Expr{Op: OpRef, Ref: Ref{Param: k.param}, Bool: x.Bool, Min: x.Min, Max: x.Max}
	return out
}

func (b *body) asked(question string) *capture {
	i := slices.IndexFunc(b.taken, func(k *capture) bool { return k.key == question })
	if i < 0 {
		return nil
	}
	return b.taken[i]
}

// argument resolves what is handed to a scalar parameter: any number that is not negative.
func (b *body) argument(p *Param, e *syntax.Expr) *Expr {
	x := b.env().any(e)
	if x == nil {
		return nil
	}
	if x.Bool && p.Bits > 1 {
		b.c.reportExpr("E0302", e, "this is a truth value where a number must stand")
		return nil
	}
	if !x.Bool && (x.Min.Sign() < 0 || x.Max.BitLen() > p.Bits) {
		b.c.reportExpr("E0301", e, "`%s` does not fit the parameter `%s`", b.c.f.Text(e.Pos, e.EndPos), p.Name.Schema)
		return nil
	}
	if p.Bits == 1 && !x.Bool && x.Op != OpRef {
		return &Expr{Op: OpNe, Args: []*Expr{x, constExpr(zero)}, Bool: true}
	}
	return x
}
