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
		rows = append(rows, fmt.Sprintf("| %s | %s%s | %s |", numbers(e, m.First, m.Last), m.Name.Schema, versionsOf(m), cell(m.Doc)))
	}
	return rows
}

// versionsOf says which versions know a member.
func versionsOf(m *gen.Member) (text string) {
	if m.Since > 0 {
		text += fmt.Sprintf(", since version %d", m.Since)
	}
	if m.Until > 0 {
		text += fmt.Sprintf(", until version %d", m.Until)
	}
	return text
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
	text := it.TypeText()
	if s := it.Scalar; s != nil {
		for _, r := range s.In {
			text += " in " + s.RangeText(r)
		}
	}
	if it.Unit != "" {
		text += " " + it.Unit
	}
	return escape(text)
}
