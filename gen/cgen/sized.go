// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// limit narrows the container to the struct's own size.
func (d *decoder) limit(l *gen.Limit) {
	at, id := d.spot(&gen.Check{Item: l.Item}, nil)
	refuse := func(test, code string) {
		d.p.line("if (%s) {", test)
		d.p.line("return fail(in, %s%s, %s, %s);", d.g.upper, code, at, id)
		d.p.line("}")
	}
	d.p.line("n = %s;", d.scope().num(l.Size))
	used := "in->off - start"
	if l.Rest > 0 {
		used += fmt.Sprintf(" + %du", l.Rest)
	}
	refuse("n < "+used, "E_SIZE")
	refuse("n > in->end - start", "E_SHORT")
	d.p.line("stop = in->end;")
	d.p.line("in->end = start + (size_t)n;")
}

// unlimit ends what limit began: the struct must have filled its size.
func (d *decoder) unlimit() {
	if d.s.Sized == nil || !limited(d.s) {
		return
	}
	d.trailing(d.g.upper + "FIELD_NONE")
	d.p.line("in->end = stop;")
}

// limited tells whether a struct reads its own size.
func limited(s *gen.Struct) bool {
	return slices.ContainsFunc(s.Steps, func(s gen.Step) bool { _, ok := s.(*gen.Limit); return ok })
}

// window decodes an item in a container of its own, which it must fill.
func (d *decoder) window(w *gen.Window) {
	it := w.Item
	id := d.field(it)
	d.mark(it)
	d.p.line("n = %s;", d.scope().num(w.Size))
	tests := ""
	if w.Least > 0 {
		tests = fmt.Sprintf("n < %du", w.Least)
	}
	if w.Limited {
		if tests != "" {
			tests += " || "
		}
		tests += "n > in->end - in->off"
	}
	if tests != "" {
		d.p.line("if (%s) {", tests)
		d.p.line("return fail(in, %sE_SIZE, in->off, %s);", d.g.upper, id)
		d.p.line("}")
	}
	if !w.Limited {
		d.need("n", id)
	}
	d.p.line("stop_%s = in->end;", it.Name.C)
	d.p.line("in->end = in->off + (size_t)n;")
	d.steps(w.Body)
	d.trailing(id)
	d.p.line("in->end = stop_%s;", it.Name.C)
}

// stops declares the ends of containers that windows of s interrupt.
func (d *decoder) stops(p *printer) {
	for _, it := range d.s.Items {
		if it.Sized != nil {
			p.line("size_t stop_%s;", it.Name.C)
		}
	}
}

// late is a scalar that pack knows when the bytes that it measures have been written: its run is written before.
type late struct {
	path []*gen.Item
	run  *gen.Run
	item *gen.Item // with `sized`; nil = the struct itself
}

func (l late) scalar() *gen.Item { return l.path[len(l.path)-1] }

// lateOf lists the scalars of s that measure what has `sized`.
func (g *generator) lateOf(s *gen.Struct) []late {
	var out []late
	add := func(size *gen.Expr, item *gen.Item) {
		for _, r := range exprRefs(size) {
			it := r.Last()
			if it == nil || it.Scalar == nil || it.Scalar.Solve == nil || !measures(it.Scalar.Solve, s, item) {
				continue
			}
			l := late{path: r.Path, item: item}
			for _, run := range runs(s.Steps) {
				if r.Param == nil && bitOf(run.Parts, r.Path) >= 0 {
					l.run = run
				}
			}
			if l.run == nil {
				g.unsupported(it, "`%s` is computed from a size behind it and has no fixed place in `%s`", it.Name.Schema, s.Name.Schema)
				continue
			}
			out = append(out, l)
		}
	}
	for _, it := range s.Items {
		add(it.Sized, it)
	}
	add(s.Sized, nil)
	for _, l := range out {
		g.checkLate(s, l)
	}
	return out
}

func measures(so *gen.Solve, s *gen.Struct, item *gen.Item) bool {
	if item == nil {
		return so.Whole == s
	}
	return so.Whole == nil && so.Of.Last() == item
}

// checkLate reports what pack would have to know before it can: only items behind the measured one may depend on the scalar.
func (g *generator) checkLate(s *gen.Struct, l late) {
	known := l.item == nil
	for _, it := range s.Items {
		for _, r := range itemRefs(it) {
			uses := r.Param == nil && len(r.Path) <= len(l.path) && slices.Equal(r.Path, l.path[:len(r.Path)])
			early := !known || l.item == nil || it.Scalar != nil && it.Scalar.Derived != nil
			if uses && early {
				g.unsupported(it, "`%s` is computed from a size, and `%s` depends on it", l.scalar().Name.Schema, it.Name.Schema).
					Help("move `%s` behind what is measured", it.Name.Schema)
			}
		}
		known = known || it == l.item
	}
}

// checkForeign reports sizes that a nested struct computes after s has read them.
func (g *generator) checkForeign(s *gen.Struct, own []late) {
	for _, r := range refsOf(s) {
		it := r.Last()
		if r.Param != nil || it == nil || len(r.Path) < 2 || it.Scalar == nil || it.Scalar.Solve == nil {
			continue
		}
		mine := slices.ContainsFunc(own, func(l late) bool { return l.scalar() == it })
		if so := it.Scalar.Solve; !mine && (so.Whole != nil || so.Of.Last().Sized != nil) {
			g.unsupported(r.Path[0], "items of `%s` depend on `%s`, which is computed from a size", s.Name.Schema, it.Name.Schema)
		}
	}
}

// begin prints what pack notes before it writes: where late scalars lie, and zeros in their place.
func (e *encoder) begin() {
	for _, it := range e.s.Items {
		if it.Sized != nil {
			e.marks.at[it] = true
		}
	}
	for _, l := range e.late {
		e.marks.at[l.path[0]] = true
		if !l.optional() {
			zero := "0"
			if l.scalar().Scalar.Flag {
				zero = "false"
			}
			e.p.line("%s = %s;", e.scope().path(gen.Ref{Path: l.path}), zero)
		}
	}
}

// optional tells whether the scalar stays as it is when what it measures is absent.
func (l late) optional() bool { return l.item != nil && l.item.When != nil }

// measured prints the setting of the scalars that measure the bytes from a place to the cursor.
func (e *encoder) measured(item *gen.Item, from string, size *gen.Expr) {
	any := false
	for _, l := range e.late {
		if l.item != item {
			continue
		}
		any = true
		sv := l.scalar().Scalar.Solve
		if sv.A <= 0 {
			e.g.unsupported(l.scalar(), "`%s` falls as the item that it measures grows", l.scalar().Name.Schema)
			continue
		}
		to := e.scope().path(gen.Ref{Path: l.path})
		e.assign(to, l.scalar(), e.linear("(uint64_t)(o->off - "+from+")", sv.A, sv.B))
		first := bitOf(l.run.Parts, l.path[:1]) / 8
		e.restore(l.scalar().Scalar, atLocal(e.s, l.path[0]), bitOf(l.run.Parts, l.path)-8*first, to)
	}
	if any {
		return
	}
	e.p.line("if (o->off - %s != %s) {", from, e.scope().num(size))
	e.p.line("return -%sE_SIZE;", e.g.upper)
	e.p.line("}")
}

// restore prints the storing of a scalar among bytes that have been written already. bit counts from the byte at the place.
func (e *encoder) restore(sc *gen.Scalar, at string, bit int, from string) {
	w := windowOf(bit, sc.Bits)
	if w.n > 8 {
		e.g.unsupported(e.s, "`%s` has a computed size of more than 57 bits that begins within a byte", e.s.Name.Schema)
		return
	}
	e.p.line("p = o->buf + %s;", at)
	typ := fmt.Sprintf("uint%d_t", width(w.n*8))
	value := fmt.Sprintf("(%s)%s", typ, from)
	if !w.whole() {
		word := "uint32_t"
		if w.n > 4 {
			word = "uint64_t"
		}
		mask := ones(sc.Bits) << uint(w.shift)
		moved := fmt.Sprintf("(%s)%s", word, from)
		if w.shift > 0 {
			moved = fmt.Sprintf("(%s << %d)", moved, w.shift)
		}
		value = fmt.Sprintf("(%s)((%s & %s) | %s)", typ, e.g.load("p", w.byte, w.n, ""), hexText(ones(w.n*8)&^mask), moved)
	}
	if w.n == 1 {
		e.p.line("p[%d] = %s;", w.byte, value)
	} else {
		e.p.line("%s%s);", e.g.store("p", w.byte, w.n, order(sc)), value)
	}
}

// window prints the writing of an item with `sized`.
func (e *encoder) window(w *gen.Window) {
	from := "at_" + w.Item.Name.C
	e.steps(w.Body)
	e.measured(w.Item, from, w.Size)
}
