// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// shorthand is what `let` names: an expression, which stands in the place of the name wherever that is used.
type shorthand struct {
	value *Expr
	facts []string // conditions of the if-blocks around the line
}

// maxShorthand bounds the nodes of an expression that has a name, which may stand for others.
const maxShorthand = 256

// let resolves `let name = expression;`.
func (b *body) let(d *syntax.Let) {
	if b.lets[d.Name.Text] != nil {
		return // the second one is reported
	}
	b.c.fieldCase(d.Name)
	x := b.env().any(d.Value)
	if x == nil {
		b.broken[d.Name.Text] = true
		return
	}
	if exprNodes(x) > maxShorthand {
		b.c.reportExpr("E0006", d.Value, "with all that its names stand for, the expression has more than %d parts", maxShorthand)
		b.broken[d.Name.Text] = true
		return
	}
	b.lets[d.Name.Text] = &shorthand{x, slices.Clone(b.facts)}
}

// shorthand is the value of a name that `let` has given; false when the name is something else.
func (v *env) shorthand(e *syntax.Expr) (*Expr, bool) {
	if v.b == nil || len(e.Names) > 1 {
		return nil, false
	}
	facts := v.facts
	if s := v.b.lets[e.Names[0].Text]; s != nil && v.derived {
		facts = s.facts // what is absent reads as zero
	}
	return v.b.shorthand(e, facts)
}

// shorthand resolves the name of a `let` of this body or of one around it; nil, true when a fault is reported, false when the
// name is something else.
func (b *body) shorthand(e *syntax.Expr, facts []string) (*Expr, bool) {
	name := e.Names[0].Text
	if s := b.lets[name]; s != nil {
		for _, fact := range s.facts {
			if !slices.Contains(facts, fact) {
				b.c.reportExpr("E0407", e, "`%s` is only known where `%s` holds", name, fact)
				return nil, true
			}
		}
		return s.value, true
	}
	if b.parent == nil || b.items[name] != nil || b.params[name] != nil || b.places[name].Line > 0 {
		return nil, false
	}
	x, known := b.parent.shorthand(e, b.parent.facts)
	if x == nil {
		return nil, known
	}
	return b.adopt(e, x), true
}

// adopt moves an expression of the body around this one into it: what it reads becomes parameters.
func (b *body) adopt(e *syntax.Expr, x *Expr) *Expr {
	if x.Op >= OpSize && (x.Op != OpTest || x.Args[0].Op == OpConst) {
		return b.ask(e, x)
	}
	y := *x
	if x.Ref.Param != nil || len(x.Ref.Path) > 0 {
		root, path := x.Ref.Param, x.Ref.Path
		name := ""
		if root != nil {
			name = root.Name.Schema
		} else {
			name, path = path[0].Name.Schema, path[1:]
		}
		id := &syntax.Ident{Pos: e.Pos, Text: name}
		if b.items[name] != nil || b.places[name].Line > 0 {
			b.c.reportExpr("E0102", e, "`%s` reads `%s` of the body around this one, which has another `%s`", e.Names[0].Text, name, name)
			return nil
		}
		r, ok := b.find(id)
		if !ok {
			return nil
		}
		y.Ref = Ref{r.Param, append(slices.Clone(r.Path), path...)}
	}
	y.Args = nil
	for _, a := range x.Args {
		if a = b.adopt(e, a); a == nil {
			return nil
		}
		y.Args = append(y.Args, a)
	}
	return &y
}
