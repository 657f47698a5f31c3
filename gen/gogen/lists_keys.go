// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// listKey prints the key of an element: one number, or several side by side, the first one on top.
func listKey(l *gen.List, head string) val {
	sc := &scope{self: head, getters: head == "view"}
	at := func(it *gen.Item) val { return sc.resolve(gen.Ref{Path: []*gen.Item{it}}) }
	if l.Keys == nil && !l.Key.Scalar.Flag {
		return at(l.Key)
	}
	var terms []string
	shift := 0
	for _, it := range slices.Backward(l.KeyItems()) {
		term := convert(at(it), "uint64").at(5)
		if shift > 0 {
			term = fmt.Sprintf("%s<<%d", term, shift)
		}
		terms = append(terms, term)
		shift += it.Scalar.Bits
	}
	slices.Reverse(terms)
	return val{strings.Join(terms, " | "), "uint64", 4}
}

// hasElement tells whether a case has a Go value, and is not only counted.
func hasElement(c *gen.Case) bool { return c.Struct != nil || len(c.Head) > 0 }

// elementType is the Go type of a case's elements.
func elementType(l *gen.List, c *gen.Case) string {
	if len(c.Head) > 0 {
		return l.Name.Go + c.Name.Go + "Element"
	}
	return c.Struct.Name.Go
}

// elementValue prints the value within a printed element.
func elementValue(c *gen.Case, element string) string {
	if len(c.Head) > 0 {
		return element + "." + c.Struct.Name.Go
	}
	return element
}

// listedKeys prints the keys of a case as labels of a Go switch; false when only a condition can.
func listedKeys(l *gen.List, c *gen.Case) (string, bool) {
	if l.Keys != nil {
		return "", false
	}
	labels := []string{keyConst(l, c)}
	for _, t := range c.KeyRanges() {
		if t[0].Last-t[0].First >= listedLabels {
			return "", false
		}
		for n := t[0].First; n <= t[0].Last; n++ {
			if n != c.Key {
				labels = append(labels, fmt.Sprintf("0x%0*x", (l.Key.Scalar.Bits+3)/4, n))
			}
		}
	}
	return strings.Join(labels, ", "), true
}

// keySwitch prints the head of a switch over a list's cases and returns what prints each label.
func keySwitch(b *body, l *gen.List) func(*gen.Case) string {
	for _, c := range l.Cases {
		if _, ok := listedKeys(l, c); !ok {
			b.line("switch {")
			return func(c *gen.Case) string { return keyCondition(l, c) }
		}
	}
	b.line("switch head.%s {", l.Key.Name.Go)
	return func(c *gen.Case) string {
		labels, _ := listedKeys(l, c)
		return labels
	}
}

// keyCondition prints the test that an element's head names a case.
func keyCondition(l *gen.List, c *gen.Case) string {
	var any []string
	for _, t := range c.KeyRanges() {
		var all []string
		for i, it := range l.KeyItems() {
			if cond := keyTest(it, t[i]); cond != "true" {
				all = append(all, cond)
			}
		}
		if len(all) == 0 {
			all = []string{"true"}
		}
		any = append(any, strings.Join(all, " && "))
	}
	return strings.Join(any, " || ")
}

func keyTest(it *gen.Item, r gen.Range) string {
	field := "head." + it.Name.Go
	if !it.Scalar.Flag {
		return inRange(operand(field, scalarType(it.Scalar)), r, ^uint64(0)>>(64-it.Scalar.Bits))
	}
	switch r {
	case gen.Range{First: 1, Last: 1}:
		return field
	case gen.Range{}:
		return "!" + field
	}
	return "true"
}

// elementTypes prints the structs of elements that keep items of their head.
func (g *generator) elementTypes(f *jen.File, l *gen.List) {
	for _, c := range l.Cases {
		if len(c.Head) == 0 {
			continue
		}
		name := elementType(l, c)
		doc(f, fmt.Sprintf("%s is one %s with what its head says besides the length.", name, c.Name.Schema))
		f.Type().Id(name).StructFunc(func(fields *jen.Group) {
			for _, it := range c.Head {
				g.field(fields, structField{name: it.Name.Go, typ: fieldType(it), doc: itemDoc(it), unit: it.Unit})
			}
			if c.Struct != nil {
				fields.Id(c.Struct.Name.Go)
			}
		})
		f.Line()
	}
}

// keepHead prints the assignments of what an element keeps of its head.
func keepHead(b *body, c *gen.Case, element string) {
	for _, it := range c.Head {
		b.line("%s.%s = head.%s", element, it.Name.Go, it.Name.Go)
	}
}

// wholeHead tells whether the function that finishes an element takes the whole head, and not only the key.
func wholeHead(l *gen.List) bool {
	return l.Keys != nil || slices.ContainsFunc(l.Cases, func(c *gen.Case) bool { return len(c.Head) > 0 })
}

// headLiteral prints the head of an element but for its length.
func headLiteral(l *gen.List, c *gen.Case, element string) string {
	var out []string
	for _, it := range l.Head.Items {
		value := ""
		switch i := slices.Index(l.KeyItems(), it); {
		case !hasField(it) || it == l.LengthOf:
		case slices.Contains(c.Head, it):
			value = element + "." + it.Name.Go
		case i >= 0:
			value = scalarNumber(it.Scalar, c.KeyRanges()[0][i].First)
		case it.Scalar != nil && it.Scalar.Default != 0:
			value = scalarNumber(it.Scalar, it.Scalar.Default)
		}
		if value != "" {
			out = append(out, it.Name.Go+": "+value)
		}
	}
	return l.Head.Name.Go + "{" + strings.Join(out, ", ") + "}"
}

func scalarNumber(s *gen.Scalar, n uint64) string {
	if s.Flag {
		return fmt.Sprint(n != 0)
	}
	return fmt.Sprint(n)
}

// rawLength prints what the length item holds for the value that ends dst, into the variable length.
func rawLength(b *body, l *gen.List) {
	if l.Scale == nil {
		return
	}
	if n := l.Scale.B; n < 0 {
		b.line("length += %d", -n)
	} else if n > 0 {
		b.line("length -= %d", n)
	}
	if a := l.Scale.A; a != 1 {
		b.line("if length%%%d != 0 {\nreturn dst, fault(CodeNofit, \"\", 0, 0).values(0, uint64(length))\n}\nlength /= %d", a, a)
	}
	if l.Scale.B > 0 {
		b.line("if length < 0 {\nreturn dst, fault(CodeNofit, \"\", 0, 0)\n}")
	}
}

// bareTest prints the test that a byte is an element without length and value.
func bareTest(l *gen.List) string {
	var any []string
	for _, bare := range l.Bares {
		any = append(any, inRange(operand("src[off]", "uint8"), bare.Keys, 0xff))
	}
	return strings.Join(any, " || ")
}

// bareDecode prints the skipping of bare elements.
func bareDecode(b *body, l *gen.List) {
	if len(l.Bares) > 0 {
		b.line("if %s {\noff++\ncontinue\n}", bareTest(l))
	}
}

// fills tells whether the encoder brings a list to a multiple of its alignment.
func fills(l *gen.List) bool {
	return l.Fill != nil && l.Fill.Align > 1 && (l.End != nil || len(l.Bares) > 0)
}

// listFilling prints the end of a list whose size must be a multiple.
func (g *generator) listFilling(b *body, l *gen.List) {
	self := receiver(l.Name.Go)
	short := fmt.Sprintf("shortOf(len(out)-len(dst), %d)", l.Fill.Align)
	bare := ""
	if len(l.Bares) > 0 {
		bare = fmt.Sprintf("out = appendOctets(out, %s, %d)", short, l.Bares[0].Keys.First)
	}
	if l.End == nil {
		b.line("%s", bare)
		return
	}
	b.line("if %s.Padding < 0 {\nreturn dst, fault(CodeNofit, \"\", 0, 0)\n}", self)
	cond := self + ".Padding > 0"
	if bare == "" {
		cond += " || " + short + " > 0"
	}
	b.line("if %s {\nout = appendOctets(append(out, %d), max(%s.Padding, 1)-1, %d)", cond, *l.End, self, l.Fill.Byte)
	b.line("out = appendOctets(out, %s, %d)", short, l.Fill.Byte)
	if bare != "" {
		b.line("} else {\n%s", bare)
	}
	b.line("}")
}

// endDecode prints the end marker and what may follow it.
func endDecode(b *body, l *gen.List) {
	b.line("if src[off] == %d {", *l.End)
	switch {
	case l.Fill == nil || l.Fill.Byte == 0 && !l.Fill.Ignore:
		b.line("if !allZero(src[off+1:]) {\nreturn 0, fault(CodePadding, \"\", off, 0)\n}")
	case !l.Fill.Ignore:
		b.line("for _, octet := range src[off+1:] {\nif octet != %d {\nreturn 0, fault(CodePadding, \"\", off, 0)\n}\n}", l.Fill.Byte)
	}
	b.line("%s.Padding = len(src) - off\nbreak\n}", receiver(l.Name.Go))
}

// reuses tells whether the memory within an element is worth keeping: it has arrays.
func reuses(s *gen.Struct) bool {
	if s == nil {
		return false
	}
	for _, it := range s.Items {
		if it.Kind == gen.KindArray || it.Kind == gen.KindList || it.Kind == gen.KindStruct && reuses(it.Struct) {
			return true
		}
	}
	return false
}
