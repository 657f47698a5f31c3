// SPDX-License-Identifier: Apache-2.0

package docgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

func (w *page) structs() {
	if len(w.p.Structs) > 0 {
		w.line("## Packets and headers\n")
	}
	for _, s := range w.p.Structs {
		if s.List == nil {
			w.structure(s)
		}
	}
}

// structure writes the section of one struct.
func (w *page) structure(s *gen.Struct) {
	w.line("### %s\n", s.Name.Schema)
	w.prose(s.Doc)
	intro := fmt.Sprintf("A %s of %s bytes", kind(s), bytesText(s.Min, s.Max))
	if s.Owner != nil {
		intro += " in " + link(s.Owner)
	}
	if s.Import != "" {
		intro += " of `" + s.Import + "`"
	}
	if names := params(s); names != "" {
		intro += "; takes " + names
	}
	w.line("%s.\n", intro)
	if rows := gen.Diagram(s); rows != nil {
		if drawn(w.p, s) {
			w.line("![%s](%s)\n", s.Name.Schema, drawing(s))
		}
		w.line("```text\n%s\n```\n", strings.Join(rows, "\n"))
	}
	var rows []string
	for _, x := range gen.Places(s) {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |", offsetText(x.Off), widthText(x.Width), x.Item.Name.Schema, w.typ(x.Item), meaning(x.Item)))
	}
	w.table("| byte | width | name | type | meaning |", rows)
	for _, it := range s.Items {
		if it.Switch != nil {
			w.arms(it)
		}
	}
	w.rules(s)
}

func params(s *gen.Struct) string {
	var names []string
	for _, p := range s.Params {
		names = append(names, "`"+p.Name.Schema+"`")
	}
	return strings.Join(names, ", ")
}

// offsetText writes where an item begins, in bytes, with the bit behind a point.
func offsetText(b gen.Bound) string {
	at := func(n int) string {
		if n%8 == 0 {
			return fmt.Sprint(n / 8)
		}
		return fmt.Sprintf("%d.%d", n/8, n%8)
	}
	switch {
	case b.Exact():
		return at(b.Min)
	case b.Max < 0:
		return at(b.Min) + " or later"
	}
	return at(b.Min) + " to " + at(b.Max)
}

func widthText(b gen.Bound) string {
	if b.Exact() && b.Min%8 != 0 {
		if b.Min == 1 {
			return "1 bit"
		}
		return fmt.Sprintf("%d bits", b.Min)
	}
	if b.Max < 0 {
		return fmt.Sprintf("%d B or more", b.Min/8)
	}
	return bytesText(b.Min/8, b.Max/8) + " B"
}

// typ is the type of an item, with a link where a section describes it.
func (w *page) typ(it *gen.Item) string {
	switch {
	case it.Kind == gen.KindStruct:
		return link(it.Struct)
	case it.Kind == gen.KindList:
		return fmt.Sprintf("[%s](#%s)", it.List.Name.Schema, strings.ToLower(it.List.Name.Schema))
	case it.Scalar != nil && it.Scalar.Enum != nil:
		name := it.Scalar.Enum.Name.Schema
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case it.Kind == gen.KindArray:
		return code(it.TypeText())
	}
	return escape(it.TypeText())
}

// meaning is the documentation of an item and what else the schema says of it.
func meaning(it *gen.Item) string {
	var notes []string
	if it.When != nil {
		notes = append(notes, "present if "+code(it.When.Text()))
	}
	if s := it.Scalar; s != nil {
		notes = append(notes, scalarNotes(s)...)
	}
	if it.Unit != "" {
		notes = append(notes, "unit: "+escape(it.Unit))
	}
	if v := it.Vector; v != nil && v.Means != "" {
		notes = append(notes, fmt.Sprintf("bit `%s` means %s", v.Index, code(v.Means)))
	}
	if s := it.Span; s != nil && s.Opaque {
		notes = append(notes, "ciphertext")
	}
	if s := it.Span; s != nil && s.Kind == gen.SpanPad && !s.Ignore {
		notes = append(notes, "zeros")
	}
	text := cell(it.Doc)
	if len(notes) > 0 {
		if text != "" {
			text += " "
		}
		text += "(" + strings.Join(notes, "; ") + ")"
	}
	return text
}

func scalarNotes(s *gen.Scalar) []string {
	var notes []string
	switch s.Reserved {
	case gen.ReservedZero:
		notes = append(notes, "zeros")
	case gen.ReservedOnes:
		notes = append(notes, "ones")
	case gen.ReservedIgnore:
		notes = append(notes, "sent as zeros, not looked at")
	}
	if s.Fixed != nil {
		notes = append(notes, "always "+s.ValueText(*s.Fixed))
	}
	for _, r := range s.In {
		notes = append(notes, s.RangeText(r))
	}
	if s.Derived != nil {
		notes = append(notes, "is "+code(s.Derived.Text()))
	}
	if s.Default != 0 && s.Fixed == nil {
		notes = append(notes, "default "+s.ValueText(s.Default))
	}
	if s.Serial {
		notes = append(notes, "serial")
	}
	if s.Sum != nil {
		if s.Sum.Before {
			notes = append(notes, "over all bytes before it")
		} else {
			notes = append(notes, "over "+code(s.Sum.Text()))
		}
	}
	return notes
}

// arms writes the table of a switch.
func (w *page) arms(it *gen.Item) {
	sw := it.Switch
	var rows []string
	for _, a := range sw.Arms {
		what := "nothing"
		switch {
		case a.Reject != nil:
			what = "refused with " + a.Reject.Name
		case a.Struct != nil:
			what = link(a.Struct)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s |", labels(sw, a), a.Name.Schema, what, cell(a.Doc)))
	}
	w.line("`%s` depends on `%s`:\n", it.Name.Schema, sw.Selector)
	w.table("| number | arm | layout | meaning |", rows)
}

func labels(sw *gen.Switch, a *gen.Arm) string {
	if len(a.Labels) == 0 {
		return "others"
	}
	var enum *gen.Enum
	if it := sw.Selector.Last(); it != nil && it.Scalar != nil {
		enum = it.Scalar.Enum
	}
	var all []string
	for _, r := range a.Labels {
		if enum != nil {
			all = append(all, numbers(enum, r.First, r.Last))
		} else {
			all = append(all, (&gen.Scalar{}).RangeText(r))
		}
	}
	return strings.Join(all, ", ")
}

// rules lists the constraints that a struct itself states.
func (w *page) rules(s *gen.Struct) {
	inner := map[string]bool{}
	for _, it := range s.Items {
		if it.Struct != nil {
			for _, c := range wheres(it.Struct) {
				inner[c.Text+c.Code.Name] = true
			}
		}
	}
	var rows []string
	for _, c := range slices.Concat(wheres(s), s.Lints) {
		row := fmt.Sprintf("- %s, else %s", "`"+c.Text+"`", c.Code.Name)
		if slices.Contains(s.Lints, c) {
			row = fmt.Sprintf("- `%s`; a packet that breaks this is taken nevertheless", c.Text)
		}
		if !inner[c.Text+c.Code.Name] {
			rows = append(rows, row)
		}
	}
	if rows == nil {
		return
	}
	w.line("These must hold:\n")
	for _, r := range rows {
		w.line("%s", r)
	}
	w.line("")
}

// wheres lists the constraints that decoding a struct checks, without those of the structs that it calls.
func wheres(s *gen.Struct) []*gen.Check {
	var out []*gen.Check
	var visit func([]gen.Step)
	visit = func(steps []gen.Step) {
		for _, x := range steps {
			switch x := x.(type) {
			case *gen.Run:
				out = append(out, x.Checks...)
			case *gen.Verify:
				out = append(out, x.Checks...)
			case *gen.Branch:
				visit(x.Then)
				visit(x.Else)
			case *gen.Window:
				visit(x.Body)
			}
		}
	}
	visit(s.Steps)
	return slices.DeleteFunc(out, func(c *gen.Check) bool { return c.Kind != gen.CheckWhere })
}

func (w *page) lists() {
	if len(w.p.Lists) > 0 {
		w.line("## TLV lists\n")
	}
	for _, l := range w.p.Lists {
		w.line("### %s\n", l.Name.Schema)
		w.prose(l.Doc)
		w.line("At most %d bytes. An element begins with:\n", l.Max)
		w.line("![%s](%s)\n", l.Head.Name.Schema, drawing(l.Head))
		if rows := gen.Diagram(l.Head); rows != nil {
			w.line("```text\n%s\n```\n", strings.Join(rows, "\n"))
		}
		for _, r := range listRules(l) {
			w.line("- %s", r)
		}
		w.line("")
		w.table(listTitles, listRows(l))
	}
}

// listRules says how the elements of a list are laid out and ordered.
func listRules(l *gen.List) []string {
	key := []string{}
	for _, k := range l.Keys {
		key = append(key, "`"+k.Name.Schema+"`")
	}
	if len(key) == 0 {
		key = append(key, "`"+l.Key.Name.Schema+"`")
	}
	out := []string{
		"key: " + strings.Join(key, ", "),
		"bytes of the value: " + "`" + l.Length.Text() + "`",
	}
	if l.ElementAlign > 1 {
		out = append(out, fmt.Sprintf("zeros follow each value up to a multiple of %d bytes", l.ElementAlign))
	}
	switch {
	case l.Strict:
		out = append(out, "keys increase")
	case l.Ascending:
		out = append(out, "keys do not decrease")
	}
	unknown := "unknown elements are skipped"
	if l.SkipIf != nil {
		code := "E_TLV_UNKNOWN"
		if l.Unknown != nil {
			code = l.Unknown.Name
		}
		unknown += fmt.Sprintf(" if `%s`, else refused with %s", l.SkipIf.Text(), code)
	}
	return append(out, unknown)
}
