// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// limit prints the end of the struct where its own size says: what follows sees a shorter src.
func (d *decoder) limit(l *gen.Limit) {
	d.settle()
	field, off, _ := d.checkPlace(&gen.Check{Item: l.Item, Bit: -1}, place{})
	d.b.line("size %s %s", d.assign("size"), wideSize(d.sc, l.Size))
	least := plus(d.off(), l.Rest)
	if d.dynamic {
		least = "uint64(" + least + ")"
	}
	d.b.line("if size < %s {\nreturn 0, fault(CodeSize, %q, %s, 0).values(0, size)\n}", least, field, off)
	d.b.line("if uint64(len(src)) < size {\nreturn 0, short(%q, %s, int(size))\n}", field, off)
	d.b.line("src = src[:size:size]")
}

// wideSize prints a size as a uint64.
func wideSize(sc *scope, e *gen.Expr) string {
	return operand("uint64("+sc.expr(e).code+")", "uint64").code
}

// inWindow prints the decoding of an item in a container of its own, in which src ends with the item.
func (d *decoder) inWindow(w *gen.Window) {
	d.float()
	path := w.Item.Name.Schema
	d.b.line("size %s %s", d.assign("size"), wideSize(d.sc, w.Size))
	if w.Least > 0 {
		d.b.line("if size < %d {\nreturn 0, fault(CodeSize, %q, off, 0).values(0, size)\n}", w.Least, path)
	}
	beyond := fmt.Sprintf("short(%q, off, int(size))", path)
	if w.Limited {
		beyond = fmt.Sprintf("fault(CodeSize, %q, off, 0).values(0, size)", path)
	}
	d.b.line("if uint64(len(src)-off) < size {\nreturn 0, %s\n}", beyond)
	d.b.line("{\nsrc := src[:off+int(size)]")
	d.block(func() {
		d.steps(w.Body)
		if d.remain != 0 {
			d.b.line("if off < len(src) {\nreturn 0, fault(CodeTrailing, %q, off, 0)\n}", path)
		}
		d.remain = -1
	})
	d.b.line("}")
}

// behind prints the end of what a greedy item may take when trailers of variable size follow.
func (d *decoder) behind(reserve int, tail *gen.Expr, it *gen.Item) string {
	path := it.Name.Schema
	if tail == nil {
		return d.window(reserve, path)
	}
	if tail.Max == nil || tail.Max.BitLen() > 62 {
		d.g.fail(it, "what follows `%s` may be as large as the memory", path).Help("bound the size of what follows with `in`")
	}
	size := wideSize(d.sc, tail)
	if reserve > 0 {
		size = fmt.Sprintf("%s + %d", size, reserve)
	}
	d.b.line("tail %s %s", d.assign("tail"), size)
	d.b.line("if uint64(%s) < tail {\nreturn 0, short(%q, %s, int(tail))\n}", d.left(), path, d.off())
	d.b.line("end %s len(src) - int(tail)", d.assign("end"))
	return "end"
}

// left prints how many bytes the container has from the current offset on.
func (d *decoder) left() string {
	if d.off() == "0" {
		return "len(src)"
	}
	return "len(src)-" + d.off()
}

// sizedBySolve tells whether the encoder settles the size of a `sized` item by a scalar.
func sizedBySolve(s *gen.Struct, it *gen.Item) bool {
	for _, so := range solvedBy(s) {
		if so.by.Of.Last() == it {
			return true
		}
	}
	return false
}

// inWindow prints the encoding of an item in a container of its own. Where no scalar takes the size, it must be right.
func (e *encoder) inWindow(w *gen.Window) {
	if e.form == stored || sizedBySolve(e.s, w.Item) {
		e.body(w.Body)
		return
	}
	e.b.line("{\nfrom := len(out)")
	e.body(w.Body)
	e.b.line("if size := uint64(len(out) - from); size != %s {\nreturn dst, fault(CodeNofit, %q, 0, 0).values(0, size)\n}\n}", wideSize(e.sc, w.Size), w.Item.Name.Schema)
}

// body prints the steps of a window, whose item has been noted.
func (e *encoder) body(steps []gen.Step) {
	for _, st := range steps {
		e.step(st)
	}
}

// sizeMethod names the method that measures a `sized` item.
func sizeMethod(it *gen.Item) string { return lowerCamel(it.Name) + "Len" }

// windows lists the windows of a decode program.
func windows(steps []gen.Step) []*gen.Window {
	var out []*gen.Window
	for _, st := range steps {
		switch st := st.(type) {
		case *gen.Window:
			out = append(out, st)
		case *gen.Branch:
			out = append(append(out, windows(st.Then)...), windows(st.Else)...)
		}
	}
	return out
}

// windowLen prints the method that measures a `sized` item whose size the encoder settles.
func (g *generator) windowLen(s *gen.Struct, w *gen.Window) function {
	var b body
	l := &measurer{g: g, b: &b, sc: g.fieldScope(s), part: true}
	fixed := l.steps(w.Body)
	return function{
		doc:  []string{sizeMethod(w.Item) + " is the size in bytes of what Append writes for " + w.Item.Name.Schema + "."},
		recv: method(s), name: sizeMethod(w.Item), params: params(s), results: "(int, error)",
		body: fmt.Sprintf("size := %d\n%sreturn size, nil", fixed, b.String()),
	}
}

// measure prints the lines that a solved item's measure needs, and the measure itself.
func (s *scope) measure(b *body, so solved, result string) val {
	sv := so.by
	if sv.Whole != nil {
		return s.measureCall(b, measuring{"Len", so.local() + "Bytes", "", result})
	}
	if it := sv.Of.Last(); it.Sized != nil {
		return s.measureCall(b, measuring{sizeMethod(it), so.local() + "Bytes", it.Name.Schema, result})
	}
	return s.measureOf(sv.Of)
}

// measuring is a call of a method that measures.
type measuring struct{ method, local, path, result string }

func (s *scope) measureCall(b *body, m measuring) val {
	b.line("%s, err := %s.%s(%s)\nif err != nil {\nreturn %serr\n}", m.local, s.self, m.method, paramNames(s.of), m.result)
	return operand("uint64("+m.local+")", "uint64")
}
