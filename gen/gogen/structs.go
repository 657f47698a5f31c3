// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// structs prints the Go structs, their sizes, the kinds of switches and the presence of optional items.
func (g *generator) structs(f *jen.File) {
	for _, s := range g.all {
		g.structType(f, s)
		for _, it := range s.Items {
			if it.Kind == gen.KindSwitch {
				g.kindType(f, it)
			}
		}
		g.presence(f, s)
	}
}

// intro is the doc comment of a struct: its own text, or what it belongs to.
func (g *generator) intro(s *gen.Struct) []string {
	name := s.Name.Go
	if l := g.headOf(s); l != nil {
		return []string{fmt.Sprintf("%s begins every element of %s.", name, l.Name.Go)}
	}
	if s.Owner != nil && len(s.Doc) == 0 {
		return []string{fmt.Sprintf("%s is one of the layouts within %s.", name, s.Owner.Name.Go)}
	}
	return titled(name, s.Doc)
}

func (g *generator) headOf(s *gen.Struct) *gen.List {
	for _, l := range g.p.Lists {
		if l.Head == s {
			return l
		}
	}
	return nil
}

// diagram draws a struct as a preformatted block of a doc comment.
func diagram(f *jen.File, s *gen.Struct) {
	if len(s.Steps) == 0 {
		return
	}
	if _, ok := s.Steps[0].(*gen.Run); !ok {
		return // nothing has a place of its own
	}
	rows := gen.Diagram(s)
	f.Comment("//")
	for _, r := range rows {
		f.Comment("//\t" + r)
	}
}

func (g *generator) structType(f *jen.File, s *gen.Struct) {
	name := s.Name.Go
	switch {
	case s.FixedSize:
		doc(f, fmt.Sprintf("%s is the size of %s in bytes.", g.sizeConst(s), article(name)))
		f.Const().Id(g.sizeConst(s)).Op("=").Lit(s.Max)
		f.Line()
	case s.Packet && s.Max >= 0:
		doc(f, fmt.Sprintf("%s is the size of the largest %s in bytes.", g.maxConst(s), name))
		f.Const().Id(g.maxConst(s)).Op("=").Lit(s.Max)
		f.Line()
	}
	doc(f, g.intro(s)...)
	diagram(f, s)
	seen := map[string]bool{}
	f.Type().Id(name).StructFunc(func(fields *jen.Group) {
		for _, it := range s.Items {
			for _, fl := range structFields(it) {
				if seen[fl.name] {
					g.fail(it, "two fields of `%s` are called `%s` in Go", s.Name.Schema, fl.name).Help("rename one of the two items")
				}
				seen[fl.name] = true
				g.field(fields, fl)
			}
		}
	})
	f.Line()
}

type structField struct {
	name, typ string
	doc       []string
	unit      string
}

// structFields are the Go fields of an item: none, one, or a switch's kind and arms.
func structFields(it *gen.Item) []structField {
	if !hasField(it) {
		return nil
	}
	first := structField{name: it.Name.Go, typ: fieldType(it), doc: itemDoc(it), unit: it.Unit}
	out := []structField{first}
	if it.Kind == gen.KindSwitch {
		for _, a := range it.Switch.Arms {
			if a.Struct != nil {
				out = append(out, structField{name: a.Name.Go, typ: a.Struct.Name.Go, doc: a.Doc})
			}
		}
	}
	return out
}

func itemDoc(it *gen.Item) []string {
	lines := append([]string(nil), it.Doc...)
	switch {
	case it.Kind == gen.KindSwitch && len(lines) == 0:
		lines = []string{"Tells which of the following layouts was decoded; only that one is valid."}
	case it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPad:
		lines = append(lines, "Length of the padding in bytes.")
	case it.Scalar != nil && it.Scalar.Fixed != nil:
		lines = append(lines, fmt.Sprintf("Append writes %d.", *it.Scalar.Fixed))
	case it.Scalar != nil && it.Scalar.Sum != nil && coversParam(it.Scalar.Sum):
		lines = append(lines, fmt.Sprintf("Resum%s computes it in the written packet.", it.Owner.Name.Go))
	case it.Scalar != nil && (it.Scalar.Derived != nil || it.Scalar.Solve != nil || it.Scalar.Sum != nil && !coversParam(it.Scalar.Sum)):
		lines = append(lines, "Append computes it.")
	}
	if it.When != nil {
		lines = append(lines, fmt.Sprintf("Valid only if %sPresent.", it.Name.Go))
	}
	return lines
}

func (g *generator) field(fields *jen.Group, fl structField) {
	for _, l := range fl.doc {
		fields.Comment(commentLine(l))
	}
	st := fields.Id(fl.name).Op(fl.typ)
	if fl.unit != "" {
		st.Op("// " + fl.unit)
	}
}

// kindType prints the type that tells which arm of a switch was decoded.
func (g *generator) kindType(f *jen.File, it *gen.Item) {
	typ := kindType(it)
	doc(f, fmt.Sprintf("%s tells which layout %s carries.", typ, article(it.Owner.Name.Go)))
	f.Type().Id(typ).Uint8()
	f.Line()
	doc(f, fmt.Sprintf("The layouts of %s. %sNone is the state before decoding.", it.Owner.Name.Go, typ))
	f.Const().DefsFunc(func(defs *jen.Group) {
		defs.Id(typ + "None").Id(typ).Op("=").Iota()
		for _, a := range it.Switch.Arms {
			if a.Reject == nil {
				defs.Id(armKind(it, a))
			}
		}
	})
	f.Line()
	var b body
	b.line("switch %s {", receiver(typ))
	for _, a := range it.Switch.Arms {
		if a.Reject == nil {
			b.line("case %s:\nreturn %q", armKind(it, a), snake(a.Name.Schema))
		}
	}
	b.line("}\nreturn \"none\"")
	g.add(f, function{
		doc:  []string{"String is the layout's name in item paths."},
		recv: receiver(typ) + " " + typ, name: "String", results: "string", body: b.String(),
	})
}

func armKind(it *gen.Item, a *gen.Arm) string { return kindType(it) + a.Name.Go }

// presence prints XPresent for each optional item.
func (g *generator) presence(f *jen.File, s *gen.Struct) {
	for _, it := range s.Items {
		if it.When == nil || !hasField(it) {
			continue
		}
		sc := g.fieldScope(s)
		g.add(f, function{
			doc:  []string{fmt.Sprintf("%sPresent tells whether the packet has %s.", it.Name.Go, it.Name.Schema)},
			recv: receiver(s.Name.Go) + " *" + s.Name.Go, name: it.Name.Go + "Present",
			params: params(s), results: "bool", body: "return " + sc.truth(it.When).code,
		})
	}
}

// fieldScope resolves references to the fields of a receiver of type s.
func (g *generator) fieldScope(s *gen.Struct) *scope {
	return &scope{g: g, of: s, self: receiver(s.Name.Go), known: map[string]val{}}
}
