// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// caseUse is one use of a case that a list holds: the printed value, and its printed name in errors.
type caseUse struct {
	c           *gen.Case
	value, path string
}

// eachCase prints lines for each case: inside an if for single ones, inside a loop for others.
func eachCase(b *body, l *gen.List, print func(*body, caseUse)) {
	self := receiver(l.Name.Go)
	for _, c := range listOrder(l) {
		field := self + "." + c.Name.Go
		use := caseUse{c, field, fmt.Sprintf("%q", c.Name.Schema)}
		head := fmt.Sprintf("if %sPresent {", field)
		if !single(c) {
			use = caseUse{c, field + "[index]", fmt.Sprintf("indexed(%q, index)", c.Name.Schema)}
			head = fmt.Sprintf("for index := range %s {", field)
		}
		var inner body
		print(&inner, use)
		if inner.Len() > 0 {
			b.line("%s\n%s}", head, inner.String())
		}
	}
}

func (g *generator) listAppend(f *jen.File, l *gen.List, fm form) {
	self := receiver(l.Name.Go)
	var b body
	eachCase(&b, l, func(b *body, use caseUse) {
		c, value, path := use.c, use.value, use.path
		b.line("start := len(out)\nout = grow(out, %s)", g.sizeConst(l.Head))
		if c.Struct != nil {
			suffix := ""
			if g.settles(c.Struct) {
				suffix = fm.suffix()
			}
			b.line("if out, err = %s.Append%s(%s); err != nil {\nreturn dst, inside(err, %s, 0)\n}", elementValue(c, value), suffix, commas("out", g.caseArgs(c)), path)
		}
		head := keyConst(l, c)
		if wholeHead(l) {
			head = headLiteral(l, c, value)
		}
		b.line("if out, err = %s(out, start, %s); err != nil {\nreturn dst, inside(err, %s, 0)\n}", headFunc(l), head, path)
	})
	if mixes(l) {
		b.line("sort%s(out[len(dst):])", l.Name.Go)
	}
	if fills(l) {
		g.listFilling(&b, l)
	} else if l.End != nil {
		g.listPadding(&b, l)
	}
	b.line("if len(out)-len(dst) > %s {\nreturn dst, fault(CodeSize, \"\", 0, 0).values(%s, uint64(len(out)-len(dst)))\n}", g.listMax(l), g.listMax(l))
	b.line("return out, nil")
	head := "out := dst\n"
	if strings.Contains(b.String(), "err =") {
		head += "var err error\n"
	}
	lines := []string{fmt.Sprintf("Append writes the %s behind dst, in the order that Decode demands.", l.Name.Go)}
	if fm == stored {
		lines = []string{"AppendRaw is Append with fixed and computed fields of the values as they are stored."}
	}
	g.add(f, function{
		doc: lines, recv: self + " *" + l.Name.Go, name: "Append" + fm.suffix(), params: commas("dst []byte", listParams(l)),
		results: "([]byte, error)", body: head + b.String(),
	})
}

func (g *generator) listPadding(b *body, l *gen.List) {
	self := receiver(l.Name.Go)
	b.line("if %s.Padding < 0 {\nreturn dst, fault(CodeNofit, \"\", 0, 0)\n}", self)
	if *l.End == 0 {
		b.line("out = appendZeros(out, %s.Padding)", self)
		return
	}
	b.line("if %s.Padding > 0 {\nout = appendZeros(append(out, %d), %s.Padding-1)\n}", self, *l.End, self)
}

func headFunc(l *gen.List) string { return "finish" + l.Name.Go }

// listHead prints the function that completes an element whose value has been written.
func (g *generator) listHead(f *jen.File, l *gen.List) {
	h := l.Head
	var b body
	b.line("length := len(dst) - start - %s", g.sizeConst(h))
	rawLength(&b, l)
	length := l.LengthOf.Scalar
	if length.Bits < 64 {
		b.line("if length > %s {\nreturn dst, fault(CodeNofit, \"\", 0, 0).values(0, uint64(length))\n}", mask(length.Bits))
	}
	key := "key " + scalarType(l.Key.Scalar)
	if wholeHead(l) {
		key = "head " + h.Name.Go
		if g.narrow(h) {
			b.line("if err := head.fits(); err != nil {\nreturn dst, err\n}")
		}
		b.line("head.%s = %s(length)", l.LengthOf.Name.Go, scalarType(length))
	} else {
		b.line("head := %s{%s: key, %s: %s(length)}", h.Name.Go, l.Key.Name.Go, l.LengthOf.Name.Go, scalarType(length))
	}
	b.line("head.put((*%s)(dst[start:]))", viewName(h))
	if l.ElementAlign > 1 {
		b.line("return appendZeros(dst, -(len(dst)-start)&%d), nil", l.ElementAlign-1)
	} else {
		b.line("return dst, nil")
	}
	g.add(f, function{
		doc:  []string{"finish" + l.Name.Go + " writes the head of the element that begins at start, and the padding behind its value."},
		name: headFunc(l), params: "dst []byte, start int, " + key, results: "([]byte, error)", body: b.String(),
	})
}

func (g *generator) listLen(f *jen.File, l *gen.List) {
	self := receiver(l.Name.Go)
	var b body
	b.line("size := 0")
	for _, c := range listOrder(l) {
		g.caseLen(&b, l, c)
	}
	if fills(l) {
		padding := ""
		if l.End != nil {
			padding = "size += max(" + self + ".Padding, 0)\n"
		}
		b.line("%sreturn size + shortOf(size, %d), nil", padding, l.Fill.Align)
	} else if l.End != nil {
		b.line("return size + %s.Padding, nil", self)
	} else {
		b.line("return size, nil")
	}
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Len is the size in bytes of the %s that Append writes.", l.Name.Go)},
		recv: self + " *" + l.Name.Go, name: "Len", params: listParams(l), results: "(int, error)", body: b.String(),
	})
}

func (g *generator) listValidate(f *jen.File, l *gen.List) {
	self := receiver(l.Name.Go)
	var b body
	eachCase(&b, l, func(b *body, use caseUse) {
		if use.c.Struct != nil {
			b.line("if err := %s.Validate(%s); err != nil {\nreturn inside(err, %s, 0)\n}", elementValue(use.c, use.value), g.caseArgs(use.c), use.path)
		}
	})
	for _, c := range l.Cases {
		if c.Required {
			b.line("if !%s.%sPresent {\nreturn fault(CodeTlvMissing, %q, 0, 0)\n}", self, c.Name.Go, c.Name.Schema)
		}
	}
	if l.End != nil {
		b.line("if %s.Padding < 0 {\nreturn fault(CodeNofit, \"\", 0, 0)\n}", self)
	}
	b.line("size, err := %s.Len(%s)\nif err != nil {\nreturn err\n}", self, listPassed(l))
	b.line("if size > %s {\nreturn fault(CodeSize, \"\", 0, 0).values(%s, uint64(size))\n}\nreturn nil", g.listMax(l), g.listMax(l))
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Validate tells whether Append writes %s that Decode accepts.", l.Name.Go)},
		recv: self + " *" + l.Name.Go, name: "Validate", params: listParams(l), results: "error", body: b.String(),
	})
}

// caseLen adds the elements of one case.
func (g *generator) caseLen(b *body, l *gen.List, c *gen.Case) {
	field := receiver(l.Name.Go) + "." + c.Name.Go
	bytes := ""
	switch {
	case c.Struct == nil:
		bytes = g.elementBytes(l, "0")
	case c.Struct.FixedSize && c.Struct.Max > 0:
		bytes = g.elementBytes(l, g.sizeConst(c.Struct))
	}
	switch {
	case bytes != "" && single(c):
		b.line("if %sPresent {\nsize += %s\n}", field, bytes)
	case bytes != "" && !hasElement(c):
		b.line("size += %s * (%s)", field, bytes)
	case bytes != "":
		b.line("size += len(%s) * (%s)", field, bytes)
	case single(c):
		b.line("if %sPresent {\nused, err := %s.Len(%s)\nif err != nil {\nreturn 0, inside(err, %q, 0)\n}\nsize += %s\n}",
			field, field, g.caseArgs(c), c.Name.Schema, g.elementBytes(l, "used"))
	default:
		b.line("for index := range %s {\nused, err := %s[index].Len(%s)\nif err != nil {\nreturn 0, inside(err, indexed(%q, index), 0)\n}\nsize += %s\n}",
			field, field, g.caseArgs(c), c.Name.Schema, g.elementBytes(l, "used"))
	}
}
