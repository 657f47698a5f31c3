// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/syntax"
)

// documentation finds declarations, fields and members that nobody has described.
func (l *linter) documentation() {
	for _, d := range l.f.Decls {
		if word, id := documented(d); id != nil && l.f.Doc(d.Pos) == nil {
			l.warn("W1005", id.Pos, "the %s `%s` has no documentation", word, id.Text)
		}
		if d.Enum == nil {
			continue
		}
		for _, m := range d.Enum.Members {
			if m.Name != nil && l.f.Doc(m.Pos) == nil {
				l.warn("W1006", m.Name.Pos, "the member `%s` has no documentation", m.Name.Text)
			}
		}
	}
	syntax.Visitor{
		Item: l.fieldDoc,
		Case: func(c *syntax.Case) {
			if l.f.Doc(c.Pos) == nil {
				l.warn("W1006", c.Pos, "the element `%s` has no documentation", c.Keys[0].Name.Text)
			}
		},
	}.Visit(l.f)
}

// documented names the declarations that need documentation.
func documented(d *syntax.Decl) (string, *syntax.Ident) {
	switch {
	case d.Const != nil:
		return "constant", d.Const.Name
	case d.Enum != nil:
		return "enum", d.Enum.Name
	case d.Sum != nil:
		return "checksum", d.Sum.Name
	case d.Struct != nil:
		return d.Struct.Kind, d.Struct.Name
	case d.List != nil:
		return "list", d.List.Name
	}
	return "", nil
}

// fieldDoc looks at fields that carry a number or bytes of their own. A field that is named after its type, or whose type
// is an enum, a sum or a payload, is described there; so is the only field of an element of a list.
func (l *linter) fieldDoc(it *syntax.Item) {
	if it.Field == nil || l.f.Doc(it.Pos) != nil {
		return
	}
	t := it.Field.Type
	if t.Rsvd != nil || t.Pad != nil || t.Payload != nil || t.Switch != nil || t.Named != nil || t.Body != nil {
		return
	}
	for _, id := range it.Field.Names {
		if id.Text != "_" && id.Text != "value" {
			l.warn("W1004", id.Pos, "the field `%s` has no documentation", id.Text)
		}
	}
}

// arms finds arms of a switch that could be one.
func (l *linter) arms() {
	syntax.Visitor{Switch: func(s *syntax.Switch) {
		first := map[string]*syntax.Arm{}
		for _, a := range s.Arms {
			text := l.armText(a)
			old := first[text]
			switch {
			case text == "":
			case old == nil:
				first[text] = a
			default:
				if r := l.warn("W1001", a.Pos, "this arm has the layout of another one"); r != nil {
					r.Label(l.f.At(old.Pos), "the other one")
				}
			}
		}
	}}.Visit(l.f)
}

// armText is the layout of an arm as it is written; empty for the arm of all other values.
func (l *linter) armText(a *syntax.Arm) string {
	if len(a.Labels) == 1 && l.f.Text(a.Labels[0].Pos, a.Labels[0].EndPos) == "_" {
		return ""
	}
	if a.Reject != nil {
		return "reject " + a.Reject.Text
	}
	text := l.f.Text(a.Type.Pos, a.Type.EndPos)
	for _, c := range a.Clauses {
		text += " " + l.f.Text(c.Pos, c.EndPos)
	}
	return text
}

// enums finds open enums that leave open what becomes of the numbers without a name.
func (l *linter) enums() {
	stated := map[string]bool{}
	syntax.Visitor{Switch: func(s *syntax.Switch) {
		for _, a := range s.Arms {
			if l.armText(a) == "" {
				stated[l.selectorEnum(s)] = true
			}
		}
	}}.Visit(l.f)
	for _, d := range l.f.Decls {
		if d.Enum == nil || d.Enum.Policy.Text != "open" || stated[d.Enum.Name.Text] {
			continue
		}
		said := false
		for _, m := range d.Enum.Members {
			said = said || m.Name == nil || m.Range.Last != nil
		}
		if !said {
			l.warn("W1002", d.Enum.Name.Pos, "`%s` is open and does not say what its other numbers are for", d.Enum.Name.Text)
		}
	}
}

// selectorEnum is the enum that a switch is over; empty when it is over a plain number.
func (l *linter) selectorEnum(s *syntax.Switch) string {
	for _, st := range l.p.Structs {
		for _, it := range st.Items {
			if it.Switch == nil {
				continue
			}
			last := it.Switch.Selector.Last()
			if last == nil || last.Scalar == nil || last.Scalar.Enum == nil {
				continue
			}
			if n := s.Selector.Names; len(n) > 0 && n[len(n)-1].Text == last.Name.Schema {
				return last.Scalar.Enum.Name.Schema
			}
		}
	}
	return ""
}

// flags finds bits that are called after the presence of something and decide nothing.
func (l *linter) flags() {
	declared := map[string]int{}
	fields := func(visit func(*syntax.Ident, *syntax.Field)) {
		syntax.Visitor{Item: func(it *syntax.Item) {
			if it.Field == nil || it.Field.Type.Scalar == nil || it.Field.Type.Scalar.Name != "bit" {
				return
			}
			for _, id := range it.Field.Names {
				if strings.HasPrefix(id.Text, "has_") || strings.HasSuffix(id.Text, "_present") {
					visit(id, it.Field)
				}
			}
		}}.Visit(l.f)
	}
	fields(func(id *syntax.Ident, _ *syntax.Field) { declared[id.Text]++ })
	fields(func(id *syntax.Ident, f *syntax.Field) {
		for _, c := range f.Clauses {
			if c.Equals != nil {
				return
			}
		}
		if l.uses[id.Text] == declared[id.Text] {
			l.warn("W1003", id.Pos, "nothing depends on `%s`", id.Text)
		}
	})
}

// unused finds types and errors that are declared and never named again. Constants and packets are outputs of their own.
func (l *linter) unused() {
	if !slices.ContainsFunc(l.p.Structs, func(s *gen.Struct) bool { return s.Packet }) {
		return // a collection for others
	}
	for _, d := range l.f.Decls {
		var id *syntax.Ident
		switch {
		case d.Error != nil:
			id = d.Error.Name
		case d.Enum != nil:
			id = d.Enum.Name
		case d.Sum != nil:
			id = d.Sum.Name
		case d.List != nil:
			id = d.List.Name
		case d.Struct != nil && d.Struct.Kind == "header":
			id = d.Struct.Name
		}
		if id != nil && l.uses[id.Text] == 1 {
			l.warn("W1007", id.Pos, "nothing uses `%s`", id.Text)
		}
	}
}

// examples finds packets of which the schema shows none.
func (l *linter) examples() {
	shown := map[string]bool{}
	for _, e := range l.p.Examples {
		shown[e.Struct.Name.Schema] = shown[e.Struct.Name.Schema] || e.Code == nil
	}
	for _, d := range l.f.Decls {
		if s := d.Struct; s != nil && s.Kind == "packet" && len(s.Params) == 0 && !shown[s.Name.Text] {
			l.warn("W1008", s.Name.Pos, "the packet `%s` has no example", s.Name.Text)
		}
	}
}
