// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// A document may hold parts that are printed from the schema:
//
//	```diagram NAME            the layout of a header
//	<!-- schema: enum NAME --> a table of numbers, up to <!-- end -->
//	<!-- schema: tlv NAME -->  a table of parameters, up to <!-- end -->
var (
	diagramBlock = regexp.MustCompile("(?s)```diagram (\\w+)\n.*?```")
	tableBlock   = regexp.MustCompile(`(?s)<!-- schema: (enum|tlv) (\w+) -->\n.*?<!-- end -->`)
)

// Print returns a document with all its printed parts renewed from a protocol.
func Print(doc []byte, p *gen.Protocol) ([]byte, error) {
	var unknown error
	renew := func(block *regexp.Regexp, doc []byte, print func(m []string) string) []byte {
		return block.ReplaceAllFunc(doc, func(part []byte) []byte {
			m := block.FindStringSubmatch(string(part))
			text := print(m)
			if text == "" {
				unknown = fmt.Errorf("tidy: the schema has no %s", strings.Join(m[1:], " "))
			}
			return []byte(text)
		})
	}
	doc = renew(diagramBlock, doc, func(m []string) string { return printDiagram(p, m[1]) })
	doc = renew(tableBlock, doc, func(m []string) string {
		rows := enumRows(p, m[2])
		if m[1] == "tlv" {
			rows = listRows(p, m[2])
		}
		if len(rows) == 0 {
			return ""
		}
		return fmt.Sprintf("<!-- schema: %s %s -->\n%s<!-- end -->", m[1], m[2], strings.Join(rows, ""))
	})
	return doc, unknown
}

func printDiagram(p *gen.Protocol, name string) string {
	for _, s := range p.Structs {
		if s.Name.Schema == name {
			return "```diagram " + name + "\n" + strings.Join(gen.Diagram(s), "\n") + "\n```"
		}
	}
	return ""
}

func enumRows(p *gen.Protocol, name string) []string {
	for _, e := range p.Enums {
		if e.Name.Schema != name {
			continue
		}
		rows := []string{"| number | name | meaning |\n", "|---|---|---|\n"}
		for _, m := range e.Members {
			number := fmt.Sprint(m.First)
			if e.Bits == 8 {
				number = fmt.Sprintf("0x%02x", m.First)
			}
			if m.Last != m.First {
				number += fmt.Sprintf(" to 0x%02x", m.Last)
			}
			rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", number, m.Name.Schema, strings.Join(m.Doc, " ")))
		}
		return rows
	}
	return nil
}

func listRows(p *gen.Protocol, name string) []string {
	for _, l := range p.Lists {
		if l.Name.Schema != name {
			continue
		}
		rows := []string{"| type | name | value | meaning |\n", "|---|---|---|---|\n"}
		for _, c := range l.Cases {
			repeat := ""
			if !c.Unique {
				repeat = "; may repeat"
			}
			rows = append(rows, fmt.Sprintf("| 0x%02x | %s | %s%s | %s |\n", c.Key, c.Name.Schema, valueOf(c), repeat, strings.Join(c.Doc, " ")))
		}
		return rows
	}
	return nil
}

// valueOf describes the value of a parameter by its fields.
func valueOf(c *gen.Case) string {
	if c.Struct == nil {
		return "empty"
	}
	var parts []string
	for _, it := range c.Struct.Items {
		parts = append(parts, strings.TrimPrefix(it.Name.Schema+" ", "value ")+typeOf(it))
	}
	return strings.Join(parts, ", ")
}

func typeOf(it *gen.Item) string {
	unit := ""
	if it.Unit != "" {
		unit = " " + it.Unit
	}
	switch it.Kind {
	case gen.KindScalar:
		text := fmt.Sprintf("u%d", it.Scalar.Bits)
		if it.Scalar.Enum != nil {
			text = it.Scalar.Enum.Name.Schema
		}
		for _, r := range it.Scalar.In {
			text += fmt.Sprintf(" in %d … %d", r.First, r.Last)
		}
		return text + unit
	case gen.KindSpan:
		kind := "bytes"
		if it.Span.Kind == gen.SpanString {
			kind = "text"
		}
		switch {
		case it.Span.Fixed >= 0:
			return fmt.Sprintf("%d %s", it.Span.Fixed, kind)
		case it.Span.Max >= 0:
			return fmt.Sprintf("%s, %d … %d B", kind, it.Span.Min, it.Span.Max)
		}
		return kind
	}
	return "?"
}
