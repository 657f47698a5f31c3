// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"sort"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// lists prints the type and the codec of each TLV list.
func (g *generator) lists(f *jen.File) {
	for _, l := range g.p.Lists {
		g.listType(f, l)
		g.elementTypes(f, l)
		g.listReset(f, l)
		g.listDecode(f, l)
		g.listElement(f, l)
		g.listAppend(f, l, settled)
		if g.listSettles(l) {
			g.listAppend(f, l, stored)
		}
		g.listSort(f, l)
		g.listCursor(f, l)
		g.listHead(f, l)
		g.listLen(f, l)
		g.listValidate(f, l)
	}
}

// single tells whether a case occurs at most once.
func single(c *gen.Case) bool { return c.Unique || c.Required }

// listOrder is the order in which the encoder writes the cases.
func listOrder(l *gen.List) []*gen.Case {
	out := append([]*gen.Case(nil), l.Cases...)
	if l.Ascending {
		sort.SliceStable(out, func(i, j int) bool { return out[i].Key < out[j].Key })
	}
	return out
}

func (g *generator) listMax(l *gen.List) string {
	if n := l.Name.Go + "Max"; !g.taken[n] {
		return n
	}
	return l.Name.Go + "MaxBytes"
}

func keyConst(l *gen.List, c *gen.Case) string { return l.Name.Go + "Key" + c.Name.Go }

func (g *generator) listType(f *jen.File, l *gen.List) {
	name := l.Name.Go
	doc(f, fmt.Sprintf("%s is the size of the largest %s in bytes.", g.listMax(l), name))
	f.Const().Id(g.listMax(l)).Op("=").Lit(l.Max)
	f.Line()
	doc(f, "Keys of the elements of "+name+".")
	f.Const().DefsFunc(func(defs *jen.Group) {
		for _, c := range l.Cases {
			defs.Id(keyConst(l, c)).Op("=").Op(fmt.Sprintf("0x%0*x", (l.Key.Scalar.Bits+3)/4, c.Key))
		}
	})
	f.Line()
	doc(f, titled(name, l.Doc)...)
	doc(f, "Unknown elements that may be skipped are not kept.")
	f.Type().Id(name).StructFunc(func(fields *jen.Group) {
		for _, c := range l.Cases {
			g.caseFields(fields, l, c)
		}
		if l.End != nil {
			fields.Comment("Bytes after the last element, the end marker included.")
			fields.Id("Padding").Int()
		}
	})
	f.Line()
}

func (g *generator) caseFields(fields *jen.Group, l *gen.List, c *gen.Case) {
	for _, line := range c.Doc {
		fields.Comment(commentLine(line))
	}
	name := c.Name.Go
	switch {
	case single(c) && hasElement(c):
		fields.Id(name).Id(elementType(l, c))
		fields.Id(name + "Present").Bool()
	case single(c):
		fields.Id(name + "Present").Bool()
	case hasElement(c):
		fields.Id(name).Index().Id(elementType(l, c))
	default:
		fields.Comment("How often it occurs.")
		fields.Id(name).Int()
	}
}

func (g *generator) listReset(f *jen.File, l *gen.List) {
	self := receiver(l.Name.Go)
	keep := ""
	for _, c := range l.Cases {
		switch {
		case !hasElement(c):
		case !single(c):
			keep += fmt.Sprintf("%s: %s.%s[:0],", c.Name.Go, self, c.Name.Go)
		case len(c.Head) == 0:
			keep += keepArrays(c, self)
		}
	}
	g.add(f, function{
		doc:  []string{"reset empties the list and keeps the memory of elements that repeat."},
		recv: self + " *" + l.Name.Go, name: "reset", body: fmt.Sprintf("*%s = %s{%s}", self, l.Name.Go, keep),
	})
}

// keepArrays prints the arrays of an element that occurs once, emptied.
func keepArrays(c *gen.Case, self string) string {
	var fields []string
	for _, it := range c.Struct.Items {
		if it.Kind == gen.KindArray {
			fields = append(fields, fmt.Sprintf("%s: %s.%s.%s[:0]", it.Name.Go, self, c.Name.Go, it.Name.Go))
		}
	}
	if fields == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s{%s},", c.Name.Go, c.Struct.Name.Go, strings.Join(fields, ", "))
}

func (g *generator) listDecode(f *jen.File, l *gen.List) {
	self := receiver(l.Name.Go)
	var b body
	b.line("if len(src) > %s {\nreturn 0, fault(CodeSize, \"\", 0, 0).values(%s, uint64(len(src)))\n}", g.listMax(l), g.listMax(l))
	b.line("%s.reset()", self)
	if l.Ascending {
		b.line("var last %s", listKey(l, "head").typ)
	}
	if l.Strict {
		b.line("begun := false")
	}
	b.line("off := 0\nfor off < len(src) {")
	bareDecode(&b, l)
	if l.End != nil {
		endDecode(&b, l)
	}
	g.listHeadDecode(&b, l)
	b.line("size, err := %s.element(%s)", self, commas("&head, src[off:]", paramNames(listScope(l))))
	b.line("if err != nil {\nreturn 0, inside(err, \"\", off)\n}\noff += size\n}")
	for _, c := range l.Cases {
		if c.Required {
			b.line("if !%s.%sPresent {\nreturn 0, fault(CodeTlvMissing, %q, len(src), 0)\n}", self, c.Name.Go, c.Name.Schema)
		}
	}
	b.line("return len(src), nil")
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Decode reads the %s, which must be all of src.", l.Name.Go)},
		recv: self + " *" + l.Name.Go, name: "Decode", params: commas("src []byte", params(listScope(l))), results: "(int, error)", body: b.String(),
	})
}

// listHeadDecode prints the head and the rules that need no more.
func (g *generator) listHeadDecode(b *body, l *gen.List) {
	head := l.Head
	b.line("if len(src)-off < %s {\nreturn 0, short(\"\", off, %s)\n}", g.sizeConst(head), g.sizeConst(head))
	b.line("view := (*%s)(src[off:])", viewName(head))
	b.line("if err := view.Check(); err != nil {\nreturn 0, headFault(err, off)\n}")
	b.line("var head %s", head.Name.Go)
	load := &loader{g: g, b: b, buf: buffer{"view", head.Max}}
	load.parts(runPlace{target: "head"}, fixedParts(head))
	if !l.Ascending {
		return
	}
	key, first := listKey(l, "head"), operand("head."+l.KeyItems()[0].Name.Go, scalarType(l.KeyItems()[0].Scalar))
	wrong, next := key.at(4)+" < last", "last = "+key.code
	if l.Strict {
		wrong, next = "begun && "+key.at(4)+" <= last", "last, begun = "+key.code+", true"
	}
	b.line("if %s {\nreturn 0, fault(CodeTlvOrder, \"\", off, 0).values(0, %s)\n}\n%s", wrong, convert(first, "uint64").code, next)
}

// listElement prints the decoding of the element whose head is read.
func (g *generator) listElement(f *jen.File, l *gen.List) {
	self := receiver(l.Name.Go)
	sc := &scope{g: g, self: "head"}
	var b body
	g.listKnown(&b, l, sc)
	size := g.sizeConst(l.Head)
	if v, ok := smallConst(l.Length); ok {
		b.line("length := uint64(%s)", v)
	} else {
		b.line("length := %s", convert(sc.expr(l.Length), "uint64").code)
	}
	end := size + " + length"
	if l.ElementAlign > 1 {
		b.line("end := (%s + length + %d) / %d * %d", size, l.ElementAlign-1, l.ElementAlign, l.ElementAlign)
		end = "end"
	} else {
		b.line("end := %s", end)
		end = "end"
	}
	b.line("if uint64(len(src)) < end {\nreturn 0, short(elementName(name, index), 0, int(end))\n}")
	b.line("value := src[%s : %s+length]", size, size)
	g.listCases(&b, l)
	if l.ElementAlign > 1 {
		b.line("if !allZero(src[%s+length:end]) {\nreturn 0, fault(CodePadding, elementName(name, index), 0, 0)\n}", size)
	}
	b.line("return int(%s), nil", end)
	g.add(f, function{
		doc:  []string{"element reads the element at the beginning of src, whose head is read already, and returns its size."},
		recv: self + " *" + l.Name.Go, name: "element", params: commas("head *"+l.Head.Name.Go+", src []byte", params(listScope(l))),
		results: "(int, error)", body: b.String(),
	})
}

// listKnown prints the switch that names the element and refuses unknown and repeated ones.
func (g *generator) listKnown(b *body, l *gen.List, sc *scope) {
	self := receiver(l.Name.Go)
	b.line("name, index := \"\", -1")
	label := keySwitch(b, l)
	for _, c := range l.Cases {
		b.line("case %s:", label(c))
		if !single(c) {
			count := fmt.Sprintf("len(%s.%s)", self, c.Name.Go)
			if !hasElement(c) {
				count = self + "." + c.Name.Go
			}
			b.line("name, index = %q, %s", c.Name.Schema, count)
			continue
		}
		b.line("name = %q\nif %s.%sPresent {\nreturn 0, fault(CodeTlvDuplicate, name, 0, 0)\n}", c.Name.Schema, self, c.Name.Go)
	}
	if l.SkipIf != nil {
		b.line("default:\nif %s {\nreturn 0, fault(%s, \"\", 0, 0).values(0, %s)\n}", sc.negate(l.SkipIf).code, unknownCode(l), convert(operand("head."+l.Key.Name.Go, scalarType(l.Key.Scalar)), "uint64").code)
	}
	b.line("}")
}

// unknownCode is the error of an unknown element that must be understood.
func unknownCode(l *gen.List) string {
	if l.Unknown != nil {
		return codeConst(l.Unknown)
	}
	return "CodeTlvUnknown"
}

// listScope stands for a list where only parameters matter.
func listScope(l *gen.List) *gen.Struct { return &gen.Struct{Params: l.Params} }

// caseValue prints the decoding of one case's value.
func (g *generator) caseValue(b *body, l *gen.List, c *gen.Case) {
	field := receiver(l.Name.Go) + "." + c.Name.Go
	if !hasElement(c) {
		if single(c) {
			b.line("%sPresent = true", field)
		} else {
			b.line("%s++", field)
		}
		return
	}
	at := field
	switch {
	case single(c):
		b.line("%sPresent = true", field)
	case reuses(c.Struct):
		b.line("%s = extend(%s)", field, field)
		at = fmt.Sprintf("%s[len(%s)-1]", field, field)
	default:
		b.line("%s = append(%s, %s{})", field, field, elementType(l, c))
		at = fmt.Sprintf("%s[len(%s)-1]", field, field)
	}
	keepHead(b, c, at)
	if c.Struct != nil {
		b.line("used, err = %s.Decode(%s)", elementValue(c, at), commas("value", g.caseArgs(c)))
	}
}

// listCases prints the switch that decodes the value.
func (g *generator) listCases(b *body, l *gen.List) {
	b.line("var used int\nvar err error")
	label := keySwitch(b, l)
	for _, c := range l.Cases {
		b.line("case %s:", label(c))
		g.caseValue(b, l, c)
	}
	b.line("default:\nused = len(value)\n}")
	b.line("if err != nil {\nreturn 0, insideElement(err, elementName(name, index), %s)\n}", g.sizeConst(l.Head))
	b.line("if used < len(value) {\nreturn 0, fault(CodeTlvLength, elementName(name, index), 0, 0).values(0, length)\n}")
}

// elementBytes prints the size of an element with a value of the given printed length.
func (g *generator) elementBytes(l *gen.List, length string) string {
	size := g.sizeConst(l.Head) + "+" + length
	if l.ElementAlign > 1 {
		return fmt.Sprintf("(%s+%d)/%d*%d", size, l.ElementAlign-1, l.ElementAlign, l.ElementAlign)
	}
	return size
}
