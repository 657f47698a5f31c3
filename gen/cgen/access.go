// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// accessors prints getters and setters of a struct of fixed size, which work on its bytes.
func (g *generator) accessors(p *printer, s *gen.Struct) {
	if !s.FixedSize || len(s.Steps) == 0 {
		return
	}
	for _, part := range s.Steps[0].(*gen.Run).Parts {
		it := part.Item
		if !stored(it) {
			continue
		}
		name := fmt.Sprintf("%s_get_%s", g.tag(s.Name), it.Name.C)
		at := plus("p", part.Bit/8)
		switch it.Kind {
		case gen.KindScalar, gen.KindReserved:
			g.getter(p, g.scalarType(it.Scalar)+" "+name, g.get(it.Scalar, "p", part.Bit))
			g.setter(p, s, part)
		case gen.KindBits:
			g.getter(p, g.vectorType(it.Vector.Bits)+" "+name, fmt.Sprintf("%sbits%d_load(%s)", g.pfx, it.Vector.Bits, at))
			p.line("static inline void %s_set_%s(uint8_t *p, const %s *v)", g.tag(s.Name), it.Name.C, g.vectorType(it.Vector.Bits))
			p.line("{")
			p.line("%sbits%d_store(%s, v);", g.pfx, it.Vector.Bits, at)
			p.line("}")
			p.line("")
		case gen.KindStruct, gen.KindSpan:
			g.getter(p, "const uint8_t *"+name, at)
		}
	}
}

func (g *generator) getter(p *printer, head, value string) {
	p.line("static inline %s(const uint8_t *p)", head)
	p.line("{")
	p.line("return %s;", value)
	p.line("}")
	p.line("")
}

// setter prints the store of one scalar among its neighbours; bits of v beyond the field are dropped.
func (g *generator) setter(p *printer, s *gen.Struct, part gen.Part) {
	sc := part.Item.Scalar
	w := windowOf(part.Bit, sc.Bits)
	typ := g.scalarType(sc)
	if w.n > 8 {
		return
	}
	p.line("static inline void %s_set_%s(uint8_t *p, %s v)", g.tag(s.Name), part.Item.Name.C, typ)
	p.line("{")
	size := width(w.n * 8)
	value := "v"
	if !w.whole() {
		word := "uint32_t"
		if w.n > 4 {
			word = "uint64_t"
		}
		mask := ones(sc.Bits) << uint(w.shift)
		value = fmt.Sprintf("(%s)v", word)
		if w.shift > 0 {
			value = fmt.Sprintf("(%s << %d)", value, w.shift)
		}
		value = fmt.Sprintf("(uint%d_t)((%s & %s) | (%s & %s))", size, g.load("p", w.byte, w.n, ""), hexText(ones(w.n*8)&^mask),
			value, hexText(mask))
	} else if sc.Signed || sc.Flag || w.n*8 != size {
		value = fmt.Sprintf("(uint%d_t)%s", size, value)
	}
	if w.n == 1 {
		p.line("p[%d] = %s;", w.byte, value)
	} else {
		p.line("%s%s);", g.store("p", w.byte, w.n, order(sc)), value)
	}
	p.line("}")
	p.line("")
}

// presents prints, for every optional item, the condition of its presence.
func (g *generator) presents(p *printer, s *gen.Struct) {
	for _, it := range s.Items {
		if it.When == nil || !stored(it) {
			continue
		}
		cond := scope{g: g, self: "in->"}.cond(it.When)
		p.doc(fmt.Sprintf("Whether %s is there: its condition in the schema, on the members of in.", it.Name.Schema))
		p.line("static inline bool %s_%s_present(const struct %s *in%s)", g.tag(s.Name), it.Name.C, g.tag(s.Name), g.params(s))
		p.line("{")
		for _, q := range plainParams(s.Params) {
			if !uses(cond, argument(q)) {
				p.line("(void)%s;", argument(q))
			}
		}
		if !uses(cond, "in") {
			p.line("(void)in;")
		}
		p.line("return %s;", cond)
		p.line("}")
		p.line("")
	}
}

// enum prints an enum, the type that fields of it have, and the predicates of its ranges.
func (g *generator) enum(p *printer, e *gen.Enum) {
	t := g.tag(e.Name)
	kind := "Open: other numbers are legal."
	if e.Closed {
		kind = "Closed: other numbers are MR_E_ENUM."
		kind = strings.ReplaceAll(kind, "MR_", g.upper)
	}
	p.doc(append(append([]string{}, e.Doc...), kind)...)
	if g.small(e) {
		p.line("enum %s {", t)
	}
	for _, m := range e.Members {
		p.doc(m.Doc...)
		g.member(p, e, m)
	}
	if g.small(e) {
		p.trimComma()
		p.line("};")
	}
	p.line("typedef uint%d_t %s_t;", width(e.Bits), t)
	p.line("")
	for _, m := range e.Members {
		if m.First != m.Last {
			sc := scope{g: g}
			v := &gen.Expr{Op: gen.OpRef, Ref: gen.Ref{Path: []*gen.Item{{
				Name: gen.Name{Schema: "v", C: "v"}, Scalar: &gen.Scalar{Bits: width(e.Bits)}}}}}
			in := sc.in(&gen.Expr{Op: gen.OpIn, Args: []*gen.Expr{v}, Set: []gen.Range{{First: m.First, Last: m.Last}}})
			p.line("static inline bool %s_is_%s(%s_t v)", t, m.Name.C, t)
			p.line("{")
			p.line("return %s;", in)
			p.line("}")
			p.line("")
		}
	}
}

// small tells whether the enum's numbers fit C's enumeration constants.
func (g *generator) small(e *gen.Enum) bool {
	for _, m := range e.Members {
		if m.Last > 0x7fffffff {
			return false
		}
	}
	return len(e.Members) > 0
}

func (g *generator) member(p *printer, e *gen.Enum, m *gen.Member) {
	emit := func(name string, n uint64) {
		if g.small(e) {
			p.line("%s = 0x%02x,", name, n)
		} else {
			p.line("#define %s %s", name, hexText(n))
		}
	}
	name := g.define(m, "enum "+e.Name.Schema, e.Name.C, m.Name.C)
	if m.First == m.Last {
		emit(name, m.First)
		return
	}
	emit(name+"_MIN", m.First)
	emit(name+"_MAX", m.Last)
}

// memberConst is the constant of the member that is exactly n, or "".
func (g *generator) memberConst(e *gen.Enum, n uint64) string {
	for _, m := range e.Members {
		if m.First == n && m.Last == n {
			return g.macro(e.Name.C, m.Name.C)
		}
	}
	return ""
}
