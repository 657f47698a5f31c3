// SPDX-License-Identifier: Apache-2.0

package docgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

const (
	enumTitles = "| number | name | meaning |"
	listTitles = "| type | name | value | meaning |"
)

// number writes a number of an enum: in hex when it has eight bits, as opcodes do.
func number(e *gen.Enum, n uint64) string {
	if e.Bits == 8 {
		return fmt.Sprintf("0x%02x", n)
	}
	return fmt.Sprint(n)
}

func numbers(e *gen.Enum, first, last uint64) string {
	if first == last {
		return number(e, first)
	}
	return number(e, first) + " to " + number(e, last)
}

func enumRows(e *gen.Enum) []string {
	var rows []string
	for _, m := range e.Members {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |", numbers(e, m.First, m.Last), m.Name.Schema, cell(m.Doc)))
	}
	return rows
}

func reservedRows(e *gen.Enum) []string {
	var rows []string
	for _, r := range e.Reserved {
		rows = append(rows, fmt.Sprintf("| %s | | reserved |", numbers(e, r.First, r.Last)))
	}
	return rows
}

func listRows(l *gen.List) []string {
	var rows []string
	if l.End != nil {
		rows = append(rows, fmt.Sprintf("| 0x%02x | end | no length, no value | Only filling follows. |", *l.End))
	}
	for _, b := range l.Bares {
		rows = append(rows, fmt.Sprintf("| %s | %s | no length, no value | %s |", keyText([]gen.Range{b.Keys}), b.Name.Schema, cell(b.Doc)))
	}
	for _, c := range l.Cases {
		note := ""
		switch {
		case c.Required:
			note = "; must occur"
		case !c.Unique:
			note = "; may repeat"
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s%s | %s |", keys(c), c.Name.Schema, valueOf(c), note, cell(c.Doc)))
	}
	return rows
}

// keys writes the keys of a case: one, several, or several items each.
func keys(c *gen.Case) string {
	if len(c.Keys) == 0 {
		return fmt.Sprintf("0x%02x", c.Key)
	}
	var all []string
	for _, k := range c.Keys {
		all = append(all, keyText(k))
	}
	return strings.Join(all, ", ")
}

func keyText(items []gen.Range) string {
	var parts []string
	for _, r := range items {
		if r.First == r.Last {
			parts = append(parts, fmt.Sprintf("0x%02x", r.First))
		} else {
			parts = append(parts, fmt.Sprintf("0x%02x to 0x%02x", r.First, r.Last))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// valueOf describes the value of an element by its items.
func valueOf(c *gen.Case) string {
	if c.Struct == nil {
		return "empty"
	}
	var parts []string
	for _, it := range c.Struct.Items {
		parts = append(parts, strings.TrimPrefix(it.Name.Schema+" ", "value ")+shortType(it))
	}
	return strings.Join(parts, ", ")
}

// shortType is the type of an item with its range and unit.
func shortType(it *gen.Item) string {
	text := typeText(it)
	if s := it.Scalar; s != nil {
		for _, r := range s.In {
			text += " in " + rangeText(s, r)
		}
	}
	if it.Unit != "" {
		text += " " + it.Unit
	}
	return escape(text)
}

// rangeText writes a range of a scalar; those of signed numbers hold sign-extended ends.
func rangeText(s *gen.Scalar, r gen.Range) string {
	if s.Signed {
		return fmt.Sprintf("%d … %d", int64(r.First), int64(r.Last))
	}
	if r.First == r.Last {
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d … %d", r.First, r.Last)
}

// typeText is the type of an item in the words of the schema, where these are short.
func typeText(it *gen.Item) string {
	switch it.Kind {
	case gen.KindScalar:
		return scalarText(it.Scalar)
	case gen.KindReserved:
		return "reserved"
	case gen.KindBits:
		return fmt.Sprintf("%d bits", it.Vector.Bits)
	case gen.KindStruct:
		return it.Struct.Name.Schema
	case gen.KindArray:
		return arrayText(it.Array)
	case gen.KindSpan:
		return spanText(it.Span)
	case gen.KindList:
		return it.List.Name.Schema
	}
	return "switch"
}

func scalarText(s *gen.Scalar) string {
	switch {
	case s.Sum != nil:
		return s.Sum.Sum.Name.Schema
	case s.Enum != nil:
		return s.Enum.Name.Schema
	case s.Flag:
		return "bit"
	}
	text := "u"
	if s.Signed {
		text = "i"
	}
	text += fmt.Sprint(s.Bits)
	if s.Little {
		text += " little"
	}
	return text
}

func arrayText(a *gen.Array) string {
	element := ""
	if a.Struct != nil {
		element = a.Struct.Name.Schema
	} else {
		element = scalarText(a.Scalar)
	}
	if a.Count == nil {
		return element + "[..]"
	}
	return element + "[" + a.Count.Text() + "]"
}

func spanText(s *gen.Span) string {
	word := map[gen.SpanKind]string{gen.SpanBytes: "bytes", gen.SpanString: "text", gen.SpanPayload: "payload", gen.SpanPad: "padding"}[s.Kind]
	switch {
	case s.Align > 0:
		return fmt.Sprintf("%s up to a multiple of %d", word, s.Align)
	case s.Fixed >= 0:
		return fmt.Sprintf("%d %s", s.Fixed, word)
	case s.Size != nil:
		return word + "[" + s.Size.Text() + "]"
	case s.Max >= 0:
		return fmt.Sprintf("%s, %d … %d B", word, s.Min, s.Max)
	}
	return word
}
