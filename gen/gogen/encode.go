// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// encoders prints Append, AppendRaw and Put for each struct.
func (g *generator) encoders(f *jen.File) {
	for _, s := range g.all {
		g.fits(f, s)
		if s.FixedSize && s.Max > 0 {
			g.putFixed(f, s, settled)
			if g.settles(s) {
				g.putFixed(f, s, stored)
			}
			g.appendFixed(f, s, settled)
			g.put(f, s)
		} else {
			g.appendSteps(f, s, settled)
		}
		g.raw(f, s)
	}
}

// form tells which values an encoder writes into fields that have only one right value.
type form int

const (
	settled form = iota // the right ones, whatever the struct holds
	stored              // what the struct holds
)

func (fm form) suffix() string { return [...]string{"", "Raw"}[fm] }

// settlesScalar tells whether Append writes another value than the stored one.
func settlesScalar(s *gen.Scalar) bool {
	return s.Fixed != nil || s.Derived != nil || s.Solve != nil || s.Sum != nil && !coversParam(s.Sum) || s.Reserved != gen.NotReserved
}

// settles tells whether Append and AppendRaw of a struct may differ.
func (g *generator) settles(s *gen.Struct) bool {
	if s == nil {
		return false
	}
	for _, it := range s.Items {
		switch {
		case it.Scalar != nil && hasField(it) && settlesScalar(it.Scalar):
			return true
		case it.Struct != nil && g.settles(it.Struct):
			return true
		case it.Array != nil && g.settles(it.Array.Struct):
			return true
		case it.Switch != nil && g.anyArmSettles(it.Switch), it.List != nil && g.listSettles(it.List):
			return true
		}
	}
	return false
}

func (g *generator) anyArmSettles(sw *gen.Switch) bool {
	for _, a := range sw.Arms {
		if g.settles(a.Struct) {
			return true
		}
	}
	return false
}

func (g *generator) listSettles(l *gen.List) bool {
	for _, c := range l.Cases {
		if g.settles(c.Struct) {
			return true
		}
	}
	return false
}

// putFixed prints the method that writes a struct of fixed size over a view.
func (g *generator) putFixed(f *jen.File, s *gen.Struct, fm form) {
	var b body
	e := g.encoder(s, &b, fm)
	e.storeParts("view", fixedParts(s))
	e.patchSum(fixedParts(s), "view", func(at int) string { return fmt.Sprintf("view[:%d]", at) })
	e.coverView()
	lines := []string{fmt.Sprintf("put%s writes the fields over a view.", fm.suffix())}
	if fm == stored {
		lines = []string{"putRaw is put with fixed and computed fields as they are stored."}
	}
	g.add(f, function{doc: lines, recv: method(s), name: "put" + fm.suffix(), params: "view *" + viewName(s), body: b.String()})
}

func (g *generator) appendFixed(f *jen.File, s *gen.Struct, fm form) {
	recv, size := receiver(s.Name.Go), g.sizeConst(s)
	var b body
	if g.narrow(s) {
		b.line("if err := %s.fits(); err != nil {\nreturn dst, err\n}", recv)
	}
	suffix := fm.suffix()
	if !g.settles(s) {
		suffix = ""
	}
	b.line("out := grow(dst, %s)", size)
	b.line("%s.put%s((*%s)(out[len(dst):]))", recv, suffix, viewName(s))
	b.line("return out, nil")
	g.add(f, function{
		doc: g.appendDoc(s, fm), recv: method(s), name: "Append" + fm.suffix(),
		params: commas("dst []byte", params(s)), results: "([]byte, error)", body: b.String(),
	})
}

func (g *generator) appendDoc(s *gen.Struct, fm form) []string {
	if fm == stored {
		return []string{"AppendRaw is Append with fixed and computed fields as they are stored; for building wrong packets."}
	}
	if g.settles(s) {
		return []string{fmt.Sprintf("Append writes the %s behind dst, with fixed and computed fields as they must be.", s.Name.Go),
			"It refuses values that do not fit their fields; Validate asks for the rest."}
	}
	return []string{fmt.Sprintf("Append writes the %s behind dst. It refuses values that do not fit their fields; Validate asks for the rest.", s.Name.Go)}
}

func (g *generator) put(f *jen.File, s *gen.Struct) {
	recv, size := receiver(s.Name.Go), g.sizeConst(s)
	var b body
	b.line("if len(dst) < %s {\nreturn 0, fault(CodeCapacity, \"\", 0, 0).values(%s, uint64(len(dst)))\n}", size, size)
	if g.narrow(s) {
		b.line("if err := %s.fits(); err != nil {\nreturn 0, err\n}", recv)
	}
	b.line("%s.put((*%s)(dst))\nreturn %s, nil", recv, viewName(s), size)
	g.add(f, function{
		doc:  []string{"Put is Append into memory that exists; it returns the size."},
		recv: method(s), name: "Put", params: commas("dst []byte", params(s)), results: "(int, error)", body: b.String(),
	})
}

// raw prints AppendRaw: a second encoder, or a call of Append where both write the same.
func (g *generator) raw(f *jen.File, s *gen.Struct) {
	switch {
	case !g.settles(s):
		g.add(f, function{
			doc:  []string{"AppendRaw is Append: nothing here is fixed or computed."},
			recv: method(s), name: "AppendRaw", params: commas("dst []byte", params(s)), results: "([]byte, error)",
			body: fmt.Sprintf("return %s.Append(%s)", receiver(s.Name.Go), commas("dst", paramNames(s))),
		})
	case s.FixedSize && s.Max > 0:
		g.appendFixed(f, s, stored)
	default:
		g.appendSteps(f, s, stored)
	}
}

func (g *generator) appendSteps(f *jen.File, s *gen.Struct, fm form) {
	var b body
	e := g.encoder(s, &b, fm)
	e.guards()
	if fm == settled {
		e.solve()
	}
	g.fitPresent(&b, s, e.sc, guard{self: e.sc.self, result: "dst, "})
	if e.sl = e.slots(); len(e.sl.from) > 0 {
		e.sl.declare(&b, s)
	}
	e.steps(s.Steps)
	if s.Packet && s.Greedy && s.Max >= 0 {
		b.line("if len(out)-len(dst) > %s {\nreturn dst, fault(CodeSize, \"\", 0, 0).values(%s, uint64(len(out)-len(dst)))\n}", g.maxConst(s), g.maxConst(s))
	}
	e.coverSum()
	head := "out := dst\n"
	if strings.Contains(b.String(), "out, err =") {
		head += "var err error\n"
	}
	head += b.String() + "return out, nil"
	if b.String() == "" {
		head = "return dst, nil"
	}
	g.add(f, function{
		doc: g.appendDoc(s, fm), recv: method(s), name: "Append" + fm.suffix(),
		params: commas("dst []byte", params(s)), results: "([]byte, error)", body: head,
	})
}

// encoder prints the encoder of one struct.
type encoder struct {
	g    *generator
	s    *gen.Struct
	b    *body
	sc   *scope
	form form
	sl   slots
}

func (g *generator) encoder(s *gen.Struct, b *body, fm form) *encoder {
	e := &encoder{g: g, s: s, b: b, sc: g.fieldScope(s), form: fm}
	if fm == settled {
		g.settleFixed(e.sc.known, "", s)
	}
	return e
}

// settleFixed makes expressions read the constants that fixed fields will have, in nested headers too.
func (g *generator) settleFixed(known map[string]val, path string, s *gen.Struct) {
	for _, it := range s.Items {
		p := joinPath(path, it.Name.Schema)
		switch {
		case !hasField(it):
		case it.Scalar != nil && it.Scalar.Fixed != nil:
			known[p] = fixedValue(it.Scalar)
		case it.Kind == gen.KindStruct && it.Struct.FixedSize:
			g.settleFixed(known, p, it.Struct)
		}
	}
}

func fixedValue(s *gen.Scalar) val {
	if s.Flag {
		return operand(fmt.Sprint(*s.Fixed != 0), "bool")
	}
	return operand(fmt.Sprint(*s.Fixed), "const")
}

// solved is a scalar that the encoder computes from the measure of an item, both reached from the struct that holds the item.
type solved struct {
	path []*gen.Item
	by   *gen.Solve
}

func (so solved) item() *gen.Item { return so.path[len(so.path)-1] }

// local is the name of the printed variable with the computed value.
func (so solved) local() string { return localName(so.path) }

func (so solved) key() string { return pathOf(gen.Ref{Path: so.path}) }

func localName(path []*gen.Item) string {
	name := "new"
	for _, it := range path {
		name += it.Name.Go
	}
	return name
}

// solvedBy collects the scalars of s and of its headers whose measure is an item of s.
func solvedBy(s *gen.Struct) []solved {
	var out []solved
	var walk func(items []*gen.Item, path []*gen.Item)
	walk = func(items, path []*gen.Item) {
		for _, it := range items {
			here := append(append([]*gen.Item(nil), path...), it)
			switch {
			case it.Scalar != nil:
				if so := it.Scalar.SolveFor(func(so *gen.Solve) bool { return so.Whole == s || ownedBy(so.Of, s) && hasField(so.Of.Last()) }); so != nil {
					out = append(out, solved{here, so})
				}
			case it.Kind == gen.KindStruct && it.Struct.FixedSize:
				walk(it.Struct.Items, here)
			}
		}
	}
	walk(s.Items, nil)
	return settleOrder(out)
}

func ownedBy(r gen.Ref, s *gen.Struct) bool {
	return r.Param == nil && len(r.Path) > 0 && slices.Contains(s.Items, r.Path[0])
}

// solve prints the value that the encoder gives to a solved item, with the test that there is one; result is what stands
// before an error in a return statement. Expressions read the new value from then on.
func (s *scope) solve(b *body, so solved, result string) {
	it := so.item()
	measure := s.measure(b, so, result)
	sv, name, set := so.by, so.local(), ":="
	when := so.optional()
	if when != nil {
		b.line("%s := %s", name, s.number(&gen.Expr{Op: gen.OpRef, Ref: gen.Ref{Path: so.path}}, "uint64").code)
		b.line("if %s {", s.truth(when).code)
		set = "="
	}
	if sv.A != 1 {
		b.line("if (%s)%%%d != 0 {\nreturn %sfault(CodeNofit, %q, 0, 0)\n}", less(measure.at(5), sv.B), sv.A, result, so.key())
	}
	b.line("%s %s %s", name, set, linear(measure.at(5), sv))
	if when != nil {
		b.line("}")
	}
	s.fitLocal(b, localFit{name, so.key(), result, it.Scalar.Bits})
	s.known[so.key()] = operand(name, "uint64")
}

// measureOf prints the number of an array's elements, or the size of a span.
func (s *scope) measureOf(r gen.Ref) val {
	if r.Last().Kind == gen.KindArray {
		return operand("uint64(len("+s.place(r)+"))", "uint64")
	}
	return s.sizeOf(r)
}

// localFit is a computed number and the field that must hold it.
type localFit struct {
	name, key, result string
	bits              int
}

func (s *scope) fitLocal(b *body, f localFit) {
	if f.bits < 64 {
		b.line("if %s > %s {\nreturn %sfault(CodeNofit, %q, 0, 0).values(0, %s)\n}", f.name, mask(f.bits), f.result, f.key, f.name)
	}
}

// solve prints the values of solved and derived fields as locals.
func (e *encoder) solve() {
	for _, so := range solvedBy(e.s) {
		e.sc.solve(e.b, so, "dst, ")
	}
	for _, it := range e.s.Items {
		if it.Scalar != nil && it.Scalar.Derived != nil {
			e.derive(it)
		}
	}
}

// derive prints the value of one derived field.
func (e *encoder) derive(it *gen.Item) {
	v := e.sc.expr(it.Scalar.Derived)
	name := localName([]*gen.Item{it})
	if it.Scalar.Flag && v.typ == "bool" {
		e.b.line("%s := %s", name, v.code)
		e.sc.known[it.Name.Schema] = operand(name, "bool")
		return
	}
	e.b.line("%s := %s", name, convert(v, "uint64").code)
	e.sc.fitLocal(e.b, localFit{name, it.Name.Schema, "dst, ", it.Scalar.Bits})
	e.sc.known[it.Name.Schema] = operand(name, "uint64")
}

// storeParts prints the statements that write a run's parts into buf, an array pointer.
func (e *encoder) storeParts(buf string, parts []gen.Part) {
	scalars, others := groups(parts)
	for _, p := range others {
		e.storeOther(buf, p)
	}
	for _, gr := range scalars {
		e.b.WriteString(gr.store(buf, gr.word(e.value)))
	}
}

// value is what a scalar is written as.
func (e *encoder) value(p gen.Part) val {
	it := p.Item
	s := it.Scalar
	typ := scalarType(s)
	field := operand(e.sc.self+"."+it.Name.Go, typ)
	switch {
	case s.Reserved == gen.ReservedOnes && (e.form == settled || !hasField(it)):
		return operand(mask(s.Bits), "const")
	case s.Reserved != gen.NotReserved && (e.form == settled || !hasField(it)):
		return operand("0", "const")
	case e.form == stored:
		return field
	case s.Sum != nil && !coversParam(s.Sum):
		return operand("0", "const") // patched when all before it is written
	}
	if v, ok := e.sc.known[it.Name.Schema]; ok {
		return convert(v, uintTypeOf(v, s))
	}
	return field
}

func uintTypeOf(v val, s *gen.Scalar) string {
	if v.typ == "bool" {
		return "bool"
	}
	return uintType(s.Bits)
}

func (e *encoder) storeOther(buf string, p gen.Part) {
	it, at := p.Item, p.Bit/8
	src := e.sc.self + "." + it.Name.Go
	switch it.Kind {
	case gen.KindStruct:
		suffix := e.form.suffix()
		if !e.g.settles(it.Struct) {
			suffix = ""
		}
		view := fmt.Sprintf("(*%s)(%s[%d:%d])", viewName(it.Struct), buf, at, at+it.Struct.Max)
		e.b.line("%s.put%s(%s)", src, suffix, view)
		e.patchSolved(it, view)
	case gen.KindBits:
		n := it.Vector.Bits / 8
		e.b.line("%s.store((*[%d]byte)(%s[%d:%d]))", src, n, buf, at, at+n)
	case gen.KindSpan:
		e.storeSpan(it, fmt.Sprintf("%s[%d:%d]", buf, at, at+it.Span.Fixed))
	}
}

func (e *encoder) storeSpan(it *gen.Item, dst string) {
	src := e.sc.self + "." + it.Name.Go
	switch it.Span.Kind {
	case gen.SpanPad:
		e.b.line("clear(%s)", dst)
	case gen.SpanString:
		if it.Span.Padded {
			e.b.line("clear(%s[copy(%s, %s):])", dst, dst, src)
			break
		}
		e.b.line("copy(%s, %s)", dst, src)
	default:
		e.b.line("copy(%s, %s[:])", dst, src)
	}
}

// patchSolved writes solved items of a nested header over what its put has written.
func (e *encoder) patchSolved(header *gen.Item, view string) {
	if e.form == stored {
		return
	}
	for _, so := range solvedBy(e.s) {
		if so.path[0] != header || len(so.path) < 2 {
			continue
		}
		call := view
		for _, it := range so.path[1 : len(so.path)-1] {
			call += "." + it.Name.Go + "()"
		}
		v := convert(e.sc.known[so.key()], scalarType(so.item().Scalar))
		e.b.line("%s.Set%s(%s)", call, so.item().Name.Go, v.code)
	}
}
