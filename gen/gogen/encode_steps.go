// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// narrowScalar tells whether a field's Go type holds values that its bits do not, and the field is the caller's to set.
func narrowScalar(it *gen.Item) bool {
	s := it.Scalar
	return s != nil && hasField(it) && !s.Flag && s.Bits < storageBits(s) && !settlesScalar(s)
}

// narrow tells whether a struct of fixed size has fields that may overflow.
func (g *generator) narrow(s *gen.Struct) bool {
	for _, it := range s.Items {
		if narrowScalar(it) || it.Kind == gen.KindStruct && it.Struct.FixedSize && g.narrow(it.Struct) || fixedString(it) {
			return true
		}
	}
	return false
}

func fixedString(it *gen.Item) bool {
	return it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanString && it.Span.Fixed >= 0
}

// fits prints the test of a struct's narrow fields.
func (g *generator) fits(f *jen.File, s *gen.Struct) {
	if !s.FixedSize || s.Max == 0 || !g.narrow(s) {
		return
	}
	var b body
	for _, it := range s.Items {
		g.fit(&b, it, guard{self: receiver(s.Name.Go)})
	}
	b.line("return nil")
	g.add(f, function{
		doc:  []string{"fits tells whether every value fits its field."},
		recv: method(s), name: "fits", results: "error", body: b.String(),
	})
}

// guard says how a failing test returns.
type guard struct {
	self   string
	result string // what stands before the error
}

// fit prints the test of one item, if it needs one.
func (g *generator) fit(b *body, it *gen.Item, gd guard) {
	field := gd.self + "." + it.Name.Go
	name := it.Name.Schema
	switch {
	case it.Kind == gen.KindStruct && it.Struct.FixedSize && it.Struct.Max > 0 && g.narrow(it.Struct):
		b.line("if err := %s.fits(); err != nil {\nreturn %sinside(err, %q, 0)\n}", field, gd.result, name)
	case fixedString(it):
		b.line("if %s {\nreturn %sfault(CodeNofit, %q, 0, 0)\n}", misfit(it.Span, field), gd.result, name)
	case narrowScalar(it) && it.Scalar.Signed:
		limit := uint64(1) << (it.Scalar.Bits - 1)
		b.line("if %s < -%d || %s > %d {\nreturn %sfault(CodeNofit, %q, 0, 0).values(0, uint64(%s))\n}", field, limit, field, limit-1, gd.result, name, field)
	case narrowScalar(it):
		b.line("if %s > %s {\nreturn %sfault(CodeNofit, %q, 0, 0).values(0, uint64(%s))\n}", field, mask(it.Scalar.Bits), gd.result, name, field)
	}
}

// guards prints the tests of the struct's own fields and nested headers in front of the steps.
func (e *encoder) guards() {
	for _, it := range e.s.Items {
		if !asked(it) {
			e.g.fit(e.b, it, guard{self: e.sc.self, result: "dst, "})
		}
		if it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPad && it.Span.Fixed < 0 && hasField(it) {
			e.b.line("if %s.%s < 0 {\nreturn dst, fault(CodeNofit, %q, 0, 0)\n}", e.sc.self, it.Name.Go, it.Name.Schema)
		}
	}
}

// asked tells whether the test of an item must know that the item is there: an absent text has not the right length.
func asked(it *gen.Item) bool {
	return it.When != nil && (fixedString(it) || it.Kind == gen.KindStruct)
}

// fitPresent prints the tests of such items, when all that decides about them is known.
func (g *generator) fitPresent(b *body, s *gen.Struct, sc *scope, gd guard) {
	for _, it := range s.Items {
		var test body
		if asked(it) {
			g.fit(&test, it, gd)
		}
		if test.Len() > 0 {
			b.line("if %s {\n%s}", sc.truth(it.When).code, test.String())
		}
	}
}

func (e *encoder) steps(steps []gen.Step) {
	pos := func(n int) string { return plus("len(out) - len(dst)", n) }
	for _, st := range steps {
		e.sl.before(e.b, st, pos)
		e.step(st)
		e.sl.after(e.b, st, pos)
	}
}

func (e *encoder) step(st gen.Step) {
	switch st := st.(type) {
	case *gen.Run:
		e.run(st)
	case *gen.Call:
		e.nested(st.Item.Name, e.sc.args(st.Item.Struct, st.Item.Args), e.suffix(st.Item.Struct))
	case *gen.Repeat:
		e.repeat(st.Item)
	case *gen.Take:
		e.take(st.Item)
	case *gen.Elements:
		e.nested(st.Item.Name, e.sc.handed(st.Item), e.listSuffix(st.Item.List))
	case *gen.Branch:
		e.branch(st)
	case *gen.Choose:
		e.choose(st.Item)
	case *gen.Window:
		e.inWindow(st)
	}
}

// nested prints the encoding of a part with an encoder of its own, Append or AppendRaw.
func (e *encoder) nested(name gen.Name, args, suffix string) {
	e.b.line("if out, err = %s.%s.Append%s(%s); err != nil {\nreturn dst, inside(err, %q, 0)\n}",
		e.sc.self, name.Go, suffix, commas("out", args), name.Schema)
}

// suffix names the encoder of a nested struct: AppendRaw only where that differs.
func (e *encoder) suffix(s *gen.Struct) string {
	if !e.g.settles(s) {
		return ""
	}
	return e.form.suffix()
}

func (e *encoder) listSuffix(l *gen.List) string {
	if !e.g.listSettles(l) {
		return ""
	}
	return e.form.suffix()
}

func (e *encoder) branch(br *gen.Branch) {
	e.b.line("if %s {", e.sc.truth(br.Cond).code)
	e.steps(br.Then)
	if len(br.Else) > 0 {
		e.b.line("} else {")
		e.steps(br.Else)
	}
	e.b.line("}")
}

func (e *encoder) choose(it *gen.Item) {
	sel := e.sc.resolve(it.Switch.Selector)
	number := convert(sel, "uint64").code
	printSwitch(e.b, selection{sw: it.Switch, sel: sel}, func(a *gen.Arm) {
		switch {
		case a.Reject != nil:
			e.b.line("return dst, fault(%s, %q, 0, 0).values(0, %s)", codeConst(a.Reject), it.Name.Schema, number)
		case a.Struct != nil:
			name := a.Name
			name.Schema = snake(name.Schema)
			e.nested(name, e.sc.args(a.Struct, a.Args), e.suffix(a.Struct))
		}
	}, fmt.Sprintf("return dst, fault(CodeSwitch, %q, 0, 0).values(0, %s)", it.Name.Schema, number))
}

func (e *encoder) take(it *gen.Item) {
	if n := it.Span.Align; n > 0 {
		e.b.line("out = appendZeros(out, shortOf(len(out)-len(dst), %d))", n)
		return
	}
	if !hasField(it) && it.Span.Size != nil {
		e.b.line("out = appendZeros(out, int(%s))", e.sc.expr(it.Span.Size).code)
		return
	}
	if !hasField(it) {
		e.g.fail(it, "padding has neither a name nor a size").Help("give it a name: its length is then a field")
		return
	}
	field := e.sc.self + "." + it.Name.Go
	if it.Span.Kind == gen.SpanPad {
		e.b.line("out = appendZeros(out, %s)", field)
		return
	}
	e.b.line("out = append(out, %s...)", field)
}

func (e *encoder) repeat(it *gen.Item) {
	field := e.sc.self + "." + it.Name.Go
	if st := it.Array.Struct; st != nil {
		e.b.line("for index := range %s {", field)
		e.b.line("if out, err = %s[index].Append%s(%s); err != nil {\nreturn dst, inside(err, indexed(%q, index), 0)\n}\n}",
			field, e.suffix(st), commas("out", e.sc.args(st, it.Array.Args)), it.Name.Schema)
		return
	}
	sc := it.Array.Scalar
	n := sc.Bits / 8
	e.b.line("for _, value := range %s {\nout = grow(out, %d)\nitem := (*[%d]byte)(out[len(out)-%d:])", field, n, n, n)
	v := wireValue(operand("value", scalarType(sc)), uintType(sc.Bits), sc)
	if little(sc) {
		e.b.WriteString(littleStore("item", 0, n, v))
	} else {
		e.b.WriteString(storeWord("item", 0, n, v))
	}
	e.b.line("}")
}

func (e *encoder) run(r *gen.Run) {
	if r.Size == 0 {
		return
	}
	if e.sumRun(r) {
		return
	}
	outer := e.b
	var inner body
	e.b = &inner
	e.storeParts("raw", r.Parts)
	e.patchSum(r.Parts, "raw", func(at int) string { return fmt.Sprintf("out[len(dst):len(out)-%d]", r.Size-at) })
	e.b = outer
	lines := inner.String()
	tail := fmt.Sprintf("out[len(out)-%d:]", r.Size)
	whole := fmt.Sprintf("raw[0:%d]", r.Size)
	e.b.line("out = grow(out, %d)", r.Size)
	for _, all := range []string{whole, "raw[0:]"} {
		if strings.Count(lines, "raw") == 1 && strings.Contains(lines, all) {
			e.b.WriteString(strings.Replace(lines, all, tail, 1))
			return
		}
	}
	if e.b.declared("raw :=") {
		e.b.line("{\nraw := (*[%d]byte)(%s)\n%s}", r.Size, tail, lines)
		return
	}
	e.b.line("raw := (*[%d]byte)(%s)", r.Size, tail)
	e.b.WriteString(lines)
}

// declared tells whether a declaration was printed before.
func (b *body) declared(decl string) bool { return strings.Contains(b.String(), decl) }

// sumRun prints a run that is a checksum and nothing else.
func (e *encoder) sumRun(r *gen.Run) bool {
	p, ok := sumPart(r.Parts)
	if !ok || e.form == stored || len(r.Parts) > 1 || r.Size == 1 || r.Size == 3 {
		return false
	}
	order, sum := "BigEndian", p.Item.Scalar.Sum.Sum
	if little(p.Item.Scalar) {
		order = "LittleEndian"
	}
	e.b.line("out = binary.%s.AppendUint%d(out, %s(out[len(dst):]))", order, p.Item.Scalar.Bits, sumFunc(sum))
	return true
}

// sumPart finds the checksum in a run.
func sumPart(parts []gen.Part) (gen.Part, bool) {
	for _, p := range parts {
		if p.Item.Scalar != nil && p.Item.Scalar.Sum != nil && plainCover(p.Item) {
			return p, true
		}
	}
	return gen.Part{}, false
}

// patchSum prints the checksum of a run that is written already: buf is the run, covered its packet up to the checksum.
func (e *encoder) patchSum(parts []gen.Part, buf string, covered func(at int) string) {
	p, ok := sumPart(parts)
	if !ok || e.form == stored {
		return
	}
	sc := p.Item.Scalar
	at, size := p.Bit/8, sc.Bits/8
	e.b.line("sum := %s(%s)", sumFunc(sc.Sum.Sum), covered(at))
	v := operand("sum", uintType(sc.Bits))
	if little(sc) {
		e.b.WriteString(littleStore(buf, at, size, v))
	} else {
		e.b.WriteString(storeWord(buf, at, size, v))
	}
}
