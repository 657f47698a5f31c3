// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"
)

// errors prints the error type, its codes and the functions that build and place errors.
func (g *generator) errors(f *jen.File) {
	doc(f, "ErrorCode is the kind of an error. The numbers are the same in every language; the schema's own begin at 64.")
	f.Type().Id("ErrorCode").Uint16()
	f.Line()
	doc(f, "The kinds of errors.")
	f.Const().DefsFunc(func(defs *jen.Group) {
		for _, c := range g.p.Codes {
			defs.Id(codeConst(c)).Id("ErrorCode").Op("=").Op(fmt.Sprintf("%d // %s", c.Number, c.Text))
		}
	})
	f.Line()
	doc(f, "One sentinel for each kind: errors.Is(err, ErrShort) holds for every *Error with CodeShort.")
	f.Var().DefsFunc(func(defs *jen.Group) {
		for _, c := range g.p.Codes {
			defs.Id("Err" + codeSuffix(c)).Error().Op("=").Id(codeConst(c))
		}
	})
	f.Line()
	g.codeNames(f)
	doc(f, "Error says what is wrong with a packet, and where.")
	f.Type().Id("Error").Struct(
		jen.Id("Code").Id("ErrorCode"),
		jen.Id("Field").String().Op("// path of the offending item, for example plain.write.message.offset; empty for the whole"),
		jen.Id("Off").Int().Op("// byte at which the item starts"),
		jen.Id("Bit").Int().Op("// and bit in that byte, counted from the most significant"),
		jen.Id("Want").Uint64().Op("// what would have been right, where that is one number; of CodeShort the bytes needed"),
		jen.Id("Got").Uint64().Op("// what was there instead"),
	)
	f.Line()
	for _, fn := range errorFunctions {
		g.add(f, fn)
	}
	if len(g.p.Lists) > 0 {
		for _, fn := range elementFunctions {
			g.add(f, fn)
		}
	}
}

func (g *generator) codeNames(f *jen.File) {
	var names, texts body
	names.line("switch c {")
	texts.line("switch c {")
	for _, c := range g.p.Codes {
		names.line("case %s:\nreturn %q", codeConst(c), c.Name)
		texts.line("case %s:\nreturn %q", codeConst(c), c.Text)
	}
	names.line("}\nreturn \"E_\" + strconv.Itoa(int(c))")
	texts.line("}\nreturn c.String()")
	g.add(f, function{
		doc:  []string{"String is the code's name in the schema language, for example E_SHORT."},
		recv: "c ErrorCode", name: "String", results: "string", body: names.String(),
	})
	g.add(f, function{
		doc:  []string{"Error makes the code a sentinel; its text is the rule that was broken."},
		recv: "c ErrorCode", name: "Error", results: "string", body: texts.String(),
	})
}

var errorFunctions = []function{
	{
		doc:  []string{"Error names the place, the code and the rule."},
		recv: "e *Error", name: "Error", results: "string",
		body: `place := "byte " + strconv.Itoa(e.Off)
if e.Bit != 0 {
	place += " bit " + strconv.Itoa(e.Bit)
}
if e.Field != "" {
	place = e.Field + " at " + place
}
msg := place + ": " + e.Code.String() + ": " + e.Code.Error()
switch {
case e.Code == CodeShort && e.Want != 0:
	return msg + " (" + strconv.FormatUint(e.Want, 10) + " bytes needed)"
case e.Want != 0:
	return msg + " (want " + strconv.FormatUint(e.Want, 10) + ", got " + strconv.FormatUint(e.Got, 10) + ")"
case e.Got != 0:
	return msg + " (got " + strconv.FormatUint(e.Got, 10) + ")"
}
return msg`,
	},
	{
		doc:  []string{"Unwrap is the sentinel of the error's kind."},
		recv: "e *Error", name: "Unwrap", results: "error",
		body: "return e.Code",
	},
	{
		doc: []string{"fault builds an error. It stays out of line, so that the paths without errors stay small.",
			"", "//go:noinline"},
		name: "fault", params: "code ErrorCode, field string, off, bitOff int", results: "*Error",
		body: "return &Error{Code: code, Field: field, Off: off, Bit: bitOff}",
	},
	{
		doc:  []string{"values adds what was wanted and what was there.", "", "//go:noinline"},
		recv: "e *Error", name: "values", params: "want, got uint64", results: "*Error",
		body: "e.Want, e.Got = want, got\nreturn e",
	},
	{
		doc:  []string{"short is the error of a packet that ends before size bytes from off.", "", "//go:noinline"},
		name: "short", params: "field string, off, size int", results: "*Error",
		body: "return &Error{Code: CodeShort, Field: field, Off: off, Want: uint64(off + size)}",
	},
	{
		doc: []string{"inside places the error of a part in the whole: field is the part's name, off where it starts.",
			"", "//go:noinline"},
		name: "inside", params: "err error, field string, off int", results: "error",
		body: `part, ok := err.(*Error)
if !ok {
	return err
}
switch {
case field == "":
case part.Field == "":
	part.Field = field
default:
	part.Field = field + "." + part.Field
}
part.Off += off
if part.Code == CodeShort {
	part.Want += uint64(off)
}
return part`,
	},
	{
		doc:  []string{"indexed is the name of an array's element.", "", "//go:noinline"},
		name: "indexed", params: "field string, index int", results: "string",
		body: `return field + "[" + strconv.Itoa(index) + "]"`,
	},
}

// elementFunctions are needed by TLV lists only.
var elementFunctions = []function{
	{
		doc: []string{"insideElement places the error of an element's value, which lies off bytes behind the element's start.",
			"A value that is shorter or longer than its layout has the wrong length.", "", "//go:noinline"},
		name: "insideElement", params: "err error, field string, off int", results: "error",
		body: `part, ok := err.(*Error)
if ok && (part.Code == CodeShort || part.Code == CodeTrailing) {
	return fault(CodeTlvLength, field, 0, 0)
}
return inside(err, field, off)`,
	},
	{
		doc:  []string{"elementName is the name of a list's element; those that cannot repeat have index -1.", "", "//go:noinline"},
		name: "elementName", params: "name string, index int", results: "string",
		body: "if index < 0 {\nreturn name\n}\nreturn indexed(name, index)",
	},
	{
		doc:  []string{"headFault places the error of an element's head at the element.", "", "//go:noinline"},
		name: "headFault", params: "err error, off int", results: "error",
		body: "if head, ok := err.(*Error); ok {\nhead.Field, head.Off, head.Bit = \"\", off, 0\n}\nreturn err",
	},
}
