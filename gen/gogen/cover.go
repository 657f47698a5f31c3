// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// plainCover tells whether a checksum covers what stands before it and nothing else, and is its struct's only one. Of several
// each may cover others, so that they are computed when all else is written.
func plainCover(it *gen.Item) bool {
	c := it.Scalar.Sum
	return c.Before && !c.ZeroNone && len(sumItems(it.Owner)) == 1
}

// coversParam tells whether a checksum needs bytes that only the caller has.
func coversParam(c *gen.Cover) bool {
	return slices.ContainsFunc(c.Parts, func(p *gen.CoverPart) bool { return p.Kind == gen.CoverParam })
}

// coverParts are the parts of a checksum's coverage; `before` is one of them.
func coverParts(c *gen.Cover) []*gen.CoverPart {
	if c.Before {
		return []*gen.CoverPart{{Kind: gen.CoverBefore}}
	}
	return c.Parts
}

// paramKinds are the headers that a parameter may be.
func paramKinds(p *gen.Param) []*gen.Struct {
	if p.Any != nil {
		return p.Any
	}
	return []*gen.Struct{p.Struct}
}

// outers lists the headers that some checksum covers although another packet holds them.
func (g *generator) outers() []*gen.Struct {
	var out []*gen.Struct
	for _, s := range g.all {
		for _, p := range s.Params {
			for _, k := range paramKinds(p) {
				if p.Cover && !slices.Contains(out, k) {
					out = append(out, k)
				}
			}
		}
	}
	return out
}

// outerTypes prints the type of the parameters that only checksums read.
func (g *generator) outerTypes(f *jen.File) {
	all := g.outers()
	if len(all) == 0 {
		return
	}
	doc(f, "OuterKind names a header around a packet.")
	f.Type().Id("OuterKind").Uint8()
	f.Line()
	doc(f, "The headers that checksums cover. OuterNone stands for a header that the caller does not have.")
	f.Const().DefsFunc(func(defs *jen.Group) {
		defs.Id("OuterNone").Id("OuterKind").Op("=").Iota()
		for _, s := range all {
			defs.Id("Outer" + s.Name.Go)
		}
	})
	f.Line()
	doc(f, "Outer is a header around a packet, for checksums that cover it: its bytes before its payload. With the zero value such",
		"checksums are neither compared nor computed.")
	f.Type().Id("Outer").Struct(jen.Id("Kind").Id("OuterKind"), jen.Id("Bytes").Index().Byte())
	f.Line()
}

// sumParams declares all parameters, those of checksums included.
func sumParams(s *gen.Struct) string {
	var out []string
	for _, p := range s.Params {
		if p.Cover {
			out = append(out, lowerCamel(p.Name)+" Outer")
		} else {
			out = append(out, params(&gen.Struct{Params: []*gen.Param{p}}))
		}
	}
	return strings.Join(out, ", ")
}

func sumParamNames(s *gen.Struct) string {
	var out []string
	for _, p := range s.Params {
		out = append(out, lowerCamel(p.Name))
	}
	return strings.Join(out, ", ")
}

// slots are the items whose places a checksum needs, and whose ends.
type slots struct{ from, to map[*gen.Item]bool }

func slotsOf(it *gen.Item) slots {
	s := slots{map[*gen.Item]bool{it: true}, map[*gen.Item]bool{}}
	for _, p := range coverParts(it.Scalar.Sum) {
		if p.Kind == gen.CoverItems {
			s.from[p.First], s.to[p.Last] = true, true
		}
	}
	return s
}

func fromName(it *gen.Item) string { return lowerCamel(it.Name) + "From" }
func toName(it *gen.Item) string   { return lowerCamel(it.Name) + "To" }

// declare prints the variables, in the order of the items.
func (s slots) declare(b *body, st *gen.Struct) {
	var names []string
	for _, it := range st.Items {
		if s.from[it] {
			names = append(names, fromName(it))
		}
		if s.to[it] {
			names = append(names, toName(it))
		}
	}
	b.line("var %s int", strings.Join(names, ", "))
}

// before prints what is known in front of a step; pos prints the place n bytes behind it. An item that is absent is empty.
func (s slots) before(b *body, st gen.Step, pos func(n int) string) {
	if r, ok := st.(*gen.Run); ok {
		for _, p := range r.Parts {
			if s.from[p.Item] {
				b.line("%s = %s", fromName(p.Item), pos(p.Bit/8))
			}
			if s.to[p.Item] {
				b.line("%s = %s", toName(p.Item), pos((p.Bit+partBits(p.Item))/8))
			}
		}
		return
	}
	for _, it := range stepItems([]gen.Step{st}) {
		if s.from[it] {
			b.line("%s = %s", fromName(it), pos(0))
		}
		if _, optional := st.(*gen.Branch); s.to[it] && optional {
			b.line("%s = %s", toName(it), pos(0))
		}
	}
}

// after prints what is known behind a step.
func (s slots) after(b *body, st gen.Step, pos func(n int) string) {
	switch st.(type) {
	case *gen.Run, *gen.Branch:
		return
	}
	for _, it := range stepItems([]gen.Step{st}) {
		if s.to[it] {
			b.line("%s = %s", toName(it), pos(0))
		}
	}
}

// partBits is the size of an item that lies in a run.
func partBits(it *gen.Item) int {
	switch it.Kind {
	case gen.KindBits:
		return it.Vector.Bits
	case gen.KindStruct:
		return it.Struct.Max * 8
	case gen.KindSpan:
		return it.Span.Fixed * 8
	}
	return it.Scalar.Bits
}

// locator prints the search for the places of items in a packet that is decoded into the variable whole and has size bytes.
type locator struct {
	g     *generator
	b     *body
	sc    *scope
	sl    slots
	depth int // of branches around the steps
}

func (l *locator) steps(steps []gen.Step) {
	pos := func(n int) string { return plus("off", n) }
	for i, st := range steps {
		l.sl.before(l.b, st, pos)
		switch st := st.(type) {
		case *gen.Limit, *gen.Verify:
			continue
		case *gen.Branch:
			l.depth++
			l.b.line("if %s {", l.sc.truth(st.Cond).code)
			l.steps(st.Then)
			if len(st.Else) > 0 {
				l.b.line("} else {")
				l.steps(st.Else)
			}
			l.b.line("}")
			l.depth--
			continue
		}
		if _, run := st.(*gen.Run); run && l.depth == 0 && i == len(steps)-1 {
			return // nothing is looked for behind it
		}
		if n, lines, ok := l.measure(st); ok {
			l.b.WriteString(lines)
			if n > 0 {
				l.b.line("off += %d", n)
			}
		} else if lines, ok := l.again(st); ok {
			l.b.WriteString(lines)
		} else {
			l.backward(steps[i+1:])
		}
		l.sl.after(l.b, st, pos)
	}
}

// measure prints the addition to off of what a step has decoded; false when the decoded values do not tell.
func (l *locator) measure(st gen.Step) (fixed int, lines string, ok bool) {
	switch st := st.(type) {
	case *gen.Run:
		return st.Size, "", true
	case *gen.Take:
		if n := st.Item.Span.Align; n > 0 {
			return 0, fmt.Sprintf("off += shortOf(off, %d)\n", n), true
		}
	case *gen.Window:
		return 0, fmt.Sprintf("off += int(%s)\n", l.sc.expr(st.Size).code), true
	case *gen.Call, *gen.Elements:
		return 0, "", false
	case *gen.Repeat:
		if elementSize(st.Item.Array) == 0 {
			return 0, "", false
		}
	case *gen.Choose:
		for _, a := range st.Item.Switch.Arms {
			if a.Struct != nil && !a.Struct.FixedSize {
				return 0, "", false
			}
		}
	}
	var b body
	m := &measurer{g: l.g, b: &b, sc: l.sc}
	fixed = m.steps([]gen.Step{st})
	lines = strings.ReplaceAll(b.String(), "size += ", "off += ")
	return fixed, strings.ReplaceAll(lines, "return 0, ", "return 0, 0, false, "), true
}

// again prints the decoding of an item for the sake of its size; false when it takes all it gets.
func (l *locator) again(st gen.Step) (lines string, ok bool) {
	const decode = "used, err := %s.Decode(%s)\nif err != nil {\nreturn 0, 0, false, err\n}\noff += used\n"
	switch st := st.(type) {
	case *gen.Call:
		it := st.Item
		return fmt.Sprintf("{\n"+decode+"}\n", l.sc.self+"."+it.Name.Go, commas("src[off:size]", l.sc.args(it.Struct, it.Args))), !st.Windowed
	case *gen.Repeat:
		if ar := st.Item.Array; ar.Count != nil && ar.Struct != nil {
			field := l.sc.self + "." + st.Item.Name.Go
			return fmt.Sprintf("for index := range %s {\n"+decode+"}\n", field, field+"[index]", commas("src[off:size]", l.sc.args(ar.Struct, ar.Args))), true
		}
	}
	return "", false
}

// backward prints the end of an item of unknown size, which is where the rest of the packet begins.
func (l *locator) backward(rest []gen.Step) {
	l.b.line("off = size")
	for _, st := range rest {
		n, lines, ok := l.measure(st)
		if t, padded := st.(*gen.Take); !ok || padded && t.Item.Span.Align > 0 {
			l.g.fail(l.sc.of, "the place of a checksum of `%s` lies between items of unknown size", l.sc.of.Name.Schema)
		}
		l.b.WriteString(strings.ReplaceAll(lines, "off += ", "off -= "))
		if n > 0 {
			l.b.line("off -= %d", n)
		}
	}
}
