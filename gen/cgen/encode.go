// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// encoder prints the functions that write one struct.
type encoder struct {
	g     *generator
	p     *printer
	s     *gen.Struct
	self  string // "in->", or "v." when members are computed first
	marks marks  // places that checksums and sizes need
	late  []late // scalars that wait for sizes
	// inPlace tells that there is no copy with computed members, so that derived ones are computed where they are stored.
	inPlace bool
}

// settle is a member that pack computes before it writes: a solved or derived scalar, own or nested.
type settle struct {
	path  []*gen.Item
	value *gen.Expr // derived: over the items of the struct at path's end less one
	solve *gen.Solve
}

func (e *encoder) scope() scope { return scope{g: e.g, self: e.self, packing: true} }

// settles lists what pack computes in s. Members that a nested struct computes are among it when s itself looks at them;
// else their own writer does it.
func settles(s *gen.Struct) []settle {
	var out []settle
	for _, it := range s.Items {
		out = append(out, solvedBy(s, []*gen.Item{it})...)
	}
	for _, r := range refsOf(s) {
		it := r.Last()
		if r.Param != nil || it == nil {
			continue
		}
		if it.Kind == gen.KindStruct {
			for _, sub := range it.Struct.Items {
				out = append(out, computedAt(append(slices.Clone(r.Path), sub))...)
			}
		} else if len(r.Path) > 1 {
			out = append(out, computedAt(r.Path)...)
		}
	}
	for _, it := range s.Items {
		out = append(out, derivedAt([]*gen.Item{it})...)
	}
	return slices.CompactFunc(out, func(a, b settle) bool { return slices.Equal(a.path, b.path) })
}

// computedAt is the settling of a nested member that its own struct computes.
func computedAt(path []*gen.Item) []settle {
	it := path[len(path)-1]
	if out := solvedBy(it.Owner, []*gen.Item{it}); len(out) == 1 && it.Kind != gen.KindStruct {
		return []settle{{path: path, solve: out[0].solve}}
	}
	return derivedAt(path)
}

func derivedAt(path []*gen.Item) []settle {
	it := path[len(path)-1]
	if it.Scalar == nil || it.Scalar.Derived == nil || !stored(it) {
		return nil
	}
	return []settle{{path: path, value: it.Scalar.Derived}}
}

// solvedBy lists the scalars at or below path that s solves.
func solvedBy(s *gen.Struct, path []*gen.Item) []settle {
	it := path[len(path)-1]
	if it.Kind == gen.KindStruct {
		var out []settle
		for _, sub := range it.Struct.Items {
			out = append(out, solvedBy(s, append(slices.Clone(path), sub))...)
		}
		return out
	}
	if it.Scalar == nil || !stored(it) {
		return nil
	}
	so := it.Scalar.SolveFor(func(so *gen.Solve) bool {
		of := so.Of
		return so.Whole == nil && of.Param == nil && len(of.Path) > 0 && of.Path[0].Owner == s
	})
	if so == nil || so.Of.Last().Sized != nil {
		return nil
	}
	return []settle{{path: path, solve: so}}
}

// refsOf lists every reference in s outside of checks.
func refsOf(s *gen.Struct) []gen.Ref {
	var out []gen.Ref
	for _, it := range s.Items {
		out = append(out, itemRefs(it)...)
	}
	return out
}

// itemRefs lists the references of one item.
func itemRefs(it *gen.Item) []gen.Ref {
	var out []gen.Ref
	walk := func(exprs ...*gen.Expr) {
		for _, e := range exprs {
			out = append(out, exprRefs(e)...)
		}
	}
	walk(it.When)
	walk(it.Args...)
	switch {
	case it.Scalar != nil:
		walk(it.Scalar.Derived)
	case it.Array != nil:
		walk(it.Array.Count)
		walk(it.Array.Args...)
	case it.Span != nil:
		walk(it.Span.Size)
	case it.Switch != nil:
		out = append(out, it.Switch.Selector)
		for _, a := range it.Switch.Arms {
			walk(a.Args...)
		}
	}
	return out
}

func exprRefs(e *gen.Expr) []gen.Ref {
	if e == nil {
		return nil
	}
	var out []gen.Ref
	if e.Op >= gen.OpSize || e.Op == gen.OpRef {
		out = append(out, e.Ref)
	}
	for _, a := range e.Args {
		out = append(out, exprRefs(a)...)
	}
	return out
}

// stores prints store_STRUCT for a struct of fixed size: all bytes from members that are known to fit.
func (g *generator) stores(p *printer, s *gen.Struct) {
	p.line("static void store_%s(const struct %s *in, uint8_t *p)", s.Name.C, g.tag(s.Name))
	p.line("{")
	e := &encoder{g: g, p: p, s: s, self: "in->", inPlace: true}
	before := p.buf.Len()
	e.parts(s.Steps[0].(*gen.Run).Parts)
	text := p.buf.String()[before:]
	for _, name := range []string{"in", "p"} {
		if !uses(text, name) {
			p.line("(void)%s;", name)
		}
	}
	p.line("}")
	p.line("")
}

// write prints write_STRUCT, which follows the decode program and checks only what the bytes cannot hold.
func (g *generator) write(p *printer, s *gen.Struct) {
	body := &printer{depth: 1}
	e := &encoder{g: g, p: body, s: s, self: "in->", marks: marks{at: map[*gen.Item]bool{}, ends: map[*gen.Item][]string{}}}
	if g.late {
		e.marks.note(g, s)
	}
	sets := settles(s)
	if s.FixedSize {
		sets = nil
	}
	e.late = g.lateOf(s)
	g.checkForeign(s, e.late)
	if len(sets)+len(e.late) > 0 {
		e.self = "v."
		body.line("v = *in;")
		e.settle(sets)
	}
	e.begin()
	e.steps(s.Steps)
	if limited(s) {
		e.measured(nil, "start", s.Sized)
	}
	if g.late {
		e.writeSums()
	}
	text := body.buf.String()
	p.line("static int32_t write_%s(const struct %s *in, struct out *o%s)", s.Name.C, g.tag(s.Name), g.allParams(s))
	p.line("{")
	before := p.buf.Len()
	if len(sets)+len(e.late) > 0 {
		p.line("struct %s v;", g.tag(s.Name))
	}
	for _, l := range []struct{ use, decl string }{
		{"start", "const size_t start = o->off;"}, {"p", "uint8_t *p;"}, {"n", "uint64_t n;"}, {"i", "size_t i;"}, {"rc", "int32_t rc;"},
	} {
		if uses(text, l.use) {
			p.line("%s", l.decl)
		}
	}
	e.places(p)
	if p.buf.Len() > before {
		p.line("")
	}
	for _, name := range append(paramNames(s), "in", "o") {
		if !uses(text, name) {
			p.line("(void)%s;", name)
		}
	}
	p.buf.WriteString(text)
	p.line("return 0;")
	p.line("}")
	p.line("")
}

// places declares the locals that hold where items lie.
func (e *encoder) places(p *printer) {
	for _, it := range e.s.Items {
		if e.marks.at[it] {
			p.line("size_t %s = o->off;", atLocal(e.s, it))
		}
	}
	for _, local := range e.marks.to {
		p.line("size_t %s = o->off;", local)
	}
}

// settle prints the computation of solved and derived members into v.
func (e *encoder) settle(sets []settle) {
	for _, st := range sets {
		it := st.path[len(st.path)-1]
		to := e.scope().path(gen.Ref{Path: st.path})
		sc := e.scope()
		if it.Owner != e.s {
			sc = sc.inner(gen.Ref{Path: st.path})
		}
		if st.solve != nil {
			if st.solve.Of.Path[0].Owner == e.s {
				sc = e.scope()
			}
			e.solve(sc, to, it, st.solve)
			continue
		}
		if it.Scalar.Flag {
			e.p.line("%s = %s;", to, sc.cond(st.value))
			continue
		}
		if signed(st.value) {
			e.g.unsupported(it, "`%s` is derived by an expression that may be negative", it.Name.Schema)
		}
		e.assign(to, it, sc.num(st.value))
	}
}

// assign prints the narrowing of a computed number to its field.
func (e *encoder) assign(to string, it *gen.Item, value string) {
	s := it.Scalar
	limit := maskText(s.Bits)
	if s.Signed {
		e.g.unsupported(it, "`%s` is signed and derived", it.Name.Schema).Help("make it unsigned")
	}
	e.p.line("n = %s;", value)
	if s.Bits < 64 {
		e.p.line("if (n > %s) {", limit)
		e.p.line("return -%sE_NOFIT;", e.g.upper)
		e.p.line("}")
	}
	if s.Flag {
		e.p.line("%s = n != 0u;", to)
		return
	}
	e.p.line("%s = (%s)n;", to, e.g.scalarType(s))
}

// solve prints (measure - B) / A, which must divide evenly. A member whose measure is absent keeps its value: it may
// itself be what decides about the presence.
func (e *encoder) solve(sc scope, to string, it *gen.Item, sv *gen.Solve) {
	if when := sv.Of.Last().When; when != nil {
		e.p.line("if (%s) {", sc.inner(sv.Of).cond(when))
		defer e.p.line("}")
	}
	op := gen.OpSize
	if sv.Of.Last().Kind == gen.KindArray && sv.Of.Last().Array.Count != nil {
		op = gen.OpCount
	}
	text, ok := sc.measure(&gen.Expr{Op: op, Ref: sv.Of})
	if !ok || sv.A <= 0 {
		e.g.unsupported(it, "`%s` is computed from `%s` in a way that pack cannot follow", it.Name.Schema, sv.Of.Last().Name.Schema)
		return
	}
	value := castConst(text)
	if sv.B > 0 {
		e.p.line("if (%s < %du) {", text, sv.B)
		e.p.line("return -%sE_NOFIT;", e.g.upper)
		e.p.line("}")
		value = fmt.Sprintf("%s - %du", value, sv.B)
	} else if sv.B < 0 {
		value = fmt.Sprintf("%s + %du", value, -sv.B)
	}
	if sv.A > 1 {
		e.p.line("if ((%s) %% %du != 0u) {", value, sv.A)
		e.p.line("return -%sE_NOFIT;", e.g.upper)
		e.p.line("}")
		value = fmt.Sprintf("(%s) / %du", value, sv.A)
	}
	e.assign(to, it, value)
}

func (e *encoder) steps(steps []gen.Step) {
	for _, s := range steps {
		if it := itemOf(s); it != nil && e.marks.at[it] {
			e.p.line("%s = o->off;", atLocal(e.s, it))
		}
		e.step(s)
		if it := itemOf(s); it != nil {
			e.marks.finish(e.p, it, "o")
		}
	}
}

func (e *encoder) step(s gen.Step) {
	switch s := s.(type) {
	case *gen.Run:
		e.run(s)
	case *gen.Call:
		e.nested(fmt.Sprintf("write_%s(&%s%s, o%s)", s.Item.Struct.Name.C, e.self, s.Item.Name.C, e.scope().args(s.Item.Args)))
	case *gen.Repeat:
		e.repeat(s)
	case *gen.Take:
		e.take(s)
	case *gen.Elements:
		e.nested(fmt.Sprintf("write_%s(&%s%s, o%s)", s.Item.List.Name.C, e.self, s.Item.Name.C, e.scope().args(givenArgs(s.Item))))
	case *gen.Branch:
		e.p.line("if (%s) {", e.scope().cond(s.Cond))
		e.steps(s.Then)
		if len(s.Else) > 0 {
			e.p.line("} else {")
			e.steps(s.Else)
		}
		e.p.line("}")
	case *gen.Choose:
		e.choose(s)
	case *gen.Window:
		e.window(s)
	}
}

func (e *encoder) nested(call string) {
	e.p.line("rc = %s;", call)
	e.p.line("if (rc < 0) {")
	e.p.line("return rc;")
	e.p.line("}")
}

// room prints the claim of n bytes of the caller's memory at p.
func (e *encoder) room(n string) {
	e.p.line("if (o->cap - o->off < %s) {", n)
	e.p.line("return -%sE_CAPACITY;", e.g.upper)
	e.p.line("}")
	e.p.line("p = o->buf + o->off;")
}

func (e *encoder) run(r *gen.Run) {
	if r.Size == 0 {
		return
	}
	if tests := e.misfits(r.Parts, e.self); len(tests) > 0 {
		e.p.line("if (%s) {", strings.Join(tests, " || "))
		e.p.line("return -%sE_NOFIT;", e.g.upper)
		e.p.line("}")
	}
	e.room(fmt.Sprintf("%du", r.Size))
	if e.s.FixedSize {
		e.p.line("store_%s(in, p);", e.s.Name.C)
	} else {
		e.parts(r.Parts)
	}
	for _, part := range r.Parts {
		if e.marks.at[part.Item] {
			e.p.line("%s = %s;", atLocal(e.s, part.Item), plus("o->off", part.Bit/8))
		}
	}
	e.marks.partEnds(e.p, r, "o")
	if !e.g.late {
		e.sums(r.Parts, 0)
	}
	e.p.line("o->off += %du;", r.Size)
}

// misfits lists the conditions under which members of a run exceed their fields.
func (e *encoder) misfits(parts []gen.Part, self string) []string {
	var out []string
	for _, part := range parts {
		it := part.Item
		if it.Kind == gen.KindStruct {
			out = append(out, e.misfits(it.Struct.Steps[0].(*gen.Run).Parts, self+it.Name.C+".")...)
			continue
		}
		s := it.Scalar
		if s == nil || !stored(it) || s.Flag || s.Fixed != nil || s.Bits == width(s.Bits) || always(s.Sum) {
			continue
		}
		name := self + it.Name.C
		switch {
		case s.Derived != nil && (self != e.self || e.s.FixedSize):
			sc := scope{g: e.g, self: self, packing: true}
			if s.Derived.Max == nil || s.Derived.Max.Cmp(new(big.Int).SetUint64(1<<uint(s.Bits)-1)) > 0 {
				out = append(out, fmt.Sprintf("%s > %s", sc.num(s.Derived), maskText(s.Bits)))
			}
		case s.Signed:
			half := int64(1) << uint(s.Bits-1)
			out = append(out, fmt.Sprintf("%s < -%d", name, half), fmt.Sprintf("%s > %d", name, half-1))
		default:
			out = append(out, fmt.Sprintf("%s > %s", name, maskText(s.Bits)))
		}
	}
	return out
}
