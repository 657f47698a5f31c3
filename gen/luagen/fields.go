// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// filter is the display filter of an item of s.
func (g *generator) filter(s *gen.Struct, it *gen.Item) string {
	return g.p.Targets.LuaProto + "." + s.Name.Filter + "." + it.Name.Filter
}

// declare prints the fields of every struct that is decoded: H.x names the header's own item, F.x those of its parts.
func (g *generator) declare(s *gen.Struct) error {
	own := g.p.Targets.LuaProto + "." + s.Name.Filter
	if g.roles[s]&roleTitled != 0 {
		if err := g.claim(s, own); err != nil {
			return err
		}
		g.line("H.%s = field(ProtoField.none(%s, %s, %s))", s.Name.Filter, quote(own), quote(label(s.Name)), quote(firstDoc(s.Doc)))
	}
	g.open("F.%s = {", s.Name.Filter)
	masks := masksOf(s)
	for _, it := range s.Items {
		def, ok := g.fieldOf(it, masks[it])
		if !ok {
			continue
		}
		abbr := g.p.Targets.LuaProto + "." + s.Name.Filter + "." + g.slot(s, it)
		if err := g.claim(it, abbr); err != nil {
			return err
		}
		g.line("%s = field(ProtoField.%s(%s, %s%s)),", key(g.slot(s, it)), def.kind, quote(abbr), quote(def.label), def.rest)
	}
	g.shut("}")
	return g.declareExtras(s)
}

// claim makes sure that no two things have one filter.
func (g *generator) claim(at gen.Declared, abbr string) error {
	if g.filters[abbr] {
		return g.refusal(at, "the display filter `%s` is taken by another item", abbr)
	}
	g.filters[abbr] = true
	return nil
}

// slot is the key of an item in its struct's table F.x.
func (g *generator) slot(s *gen.Struct, it *gen.Item) string {
	if it.Name.Schema == "_" {
		kind := "padding"
		if it.Kind == gen.KindReserved {
			kind = "reserved"
		}
		for i, o := range s.Items {
			if o == it {
				return fmt.Sprintf("%s%d", kind, i)
			}
		}
	}
	return it.Name.Filter
}

// fieldDef is the constructor of one ProtoField and what follows filter and label.
type fieldDef struct{ kind, label, rest string }

// mask is the window that a numeric field reads its bits from; zero size means the item fills whole bytes.
type mask struct {
	size int // bytes
	bits uint64
}

// masksOf finds the windows of the sub-byte items of s. An item lies in one run only.
func masksOf(s *gen.Struct) map[*gen.Item]mask {
	m := map[*gen.Item]mask{}
	eachRun(s.Steps, func(r *gen.Run) {
		for _, gr := range groupsOf(ownLeaves(r)) {
			for _, p := range gr.leaves {
				if p.last().Scalar != nil && masked(gr, p) {
					shift := 8*(gr.first+gr.size) - p.bit - p.width()
					m[p.last()] = mask{gr.size, (1<<uint(p.width()) - 1) << uint(shift)}
				}
			}
		}
	})
	return m
}

// masked reports whether the item shares its window with others and the window is small enough for a mask.
func masked(gr group, p place) bool { return gr.size <= maxWindow && p.width() != 8*gr.size }

// ownLeaves are the items of a run that its struct names itself.
func ownLeaves(r *gen.Run) []place {
	var own []place
	for _, part := range r.Parts {
		own = append(own, place{[]*gen.Item{part.Item}, part.Bit})
	}
	return own
}

func (g *generator) fieldOf(it *gen.Item, m mask) (fieldDef, bool) {
	d := fieldDef{label: label(it.Name)}
	if it.Name.Schema == "_" {
		d.label = "Padding"
	}
	desc := quote(firstDoc(it.Doc))
	switch it.Kind {
	case gen.KindScalar:
		return g.scalarField(d, it, it.Scalar, m), true
	case gen.KindReserved:
		d.label = reservedLabel(it)
		return g.scalarField(d, it, it.Scalar, m), true
	case gen.KindArray:
		if it.Array.Scalar == nil {
			return d, false
		}
		return g.scalarField(d, it, it.Array.Scalar, mask{}), true
	case gen.KindBits:
		d.kind, d.rest = "bytes", ", base.NONE, "+desc
	case gen.KindSpan:
		d.kind, d.rest = spanField(it), ", base.NONE, "+desc
		if d.kind != "bytes" {
			d.rest = ", " + desc
		}
		if it.Span.Kind == gen.SpanString {
			d.kind, d.rest = "string", ", base.UNICODE, "+desc
		}
		if it.Span.Opaque {
			d.label += " (encrypted)"
		}
	default:
		return d, false
	}
	return d, true
}

func spanField(it *gen.Item) string {
	switch {
	case it.Format == "ipv6" && it.Span.Fixed == 16:
		return "ipv6"
	case it.Format == "ipv4" && it.Span.Fixed == 4:
		return "ipv4"
	case it.Format == "eui48" && it.Span.Fixed == 6:
		return "ether"
	case it.Format == "eui64" && it.Span.Fixed == 8:
		return "eui64"
	}
	return "bytes"
}

func (g *generator) scalarField(d fieldDef, it *gen.Item, s *gen.Scalar, m mask) fieldDef {
	desc := quote(firstDoc(it.Doc))
	bits, maskText := s.Bits, "nil"
	if m.size > 0 {
		bits, maskText = 8*m.size, fmt.Sprintf("0x%x", m.bits)
	}
	switch {
	case s.Flag:
		width := bits
		if m.size == 0 {
			width, maskText = 8, "1"
		}
		d.kind, d.rest = "bool", fmt.Sprintf(", %d, nil, %s, %s", width, maskText, desc)
		return d
	case it.Format == "ipv4" && s.Bits == 32 && m.size == 0:
		d.kind, d.rest = "ipv4", ", "+desc
		return d
	}
	d.kind = numberType(bits, s)
	base, values := "base.DEC", "nil"
	if it.Format == "hex" && !s.Signed {
		base = "base.HEX"
	}
	switch {
	case s.Enum != nil:
		values = "values." + s.Enum.Name.Filter
		if ranged(s.Enum) {
			base = "base.RANGE_STRING + " + base
		}
	case it.Unit != "" && base == "base.DEC":
		base, values = "base.UNIT_STRING + base.DEC", "{ "+quote(" "+it.Unit)+" }"
	}
	d.rest = fmt.Sprintf(", %s, %s, %s, %s", base, values, maskText, desc)
	return d
}

// numberType is the kind of field that holds so many bits of a scalar.
func numberType(bits int, s *gen.Scalar) string {
	kind := "uint"
	if s.Signed {
		kind = "int"
	}
	for _, n := range []int{8, 16, 24, 32} {
		if bits <= n {
			return fmt.Sprint(kind, n)
		}
	}
	return kind + "64"
}

// declareExtras prints the fields that show what a bit vector means.
func (g *generator) declareExtras(s *gen.Struct) error {
	for _, it := range s.Items {
		if it.Kind != gen.KindBits {
			continue
		}
		name := g.p.Targets.LuaProto + "." + it.Name.Filter
		if baseOf(s, it) == nil {
			continue
		}
		slot := fmt.Sprintf("F.%s.%s", s.Name.Filter, it.Name.Filter)
		if first, ok := g.vectors[name]; ok {
			g.line("%s_missing, %s_gaps = %s_missing, %s_gaps", slot, slot, first, first)
			continue
		}
		g.vectors[name] = slot
		for _, part := range []string{"missing", "gaps"} {
			if err := g.claim(it, name+"."+part); err != nil {
				return err
			}
			g.line("%s_%s = field(ProtoField.uint32(%s, %s, base.DEC))", slot, part, quote(name+"."+part), quote(strings.ToUpper(part[:1])+part[1:]))
		}
	}
	return nil
}

// baseOf is the scalar to which a vector's bits count, when the schema says `bit i means scalar + i`; else nil.
func baseOf(s *gen.Struct, vector *gen.Item) *gen.Item {
	v := vector.Vector
	name, index, ok := strings.Cut(v.Means, "+")
	if !ok || strings.Trim(index, " ()") != v.Index || v.Index == "" {
		return nil
	}
	for _, it := range s.Items {
		if it.Name.Schema == strings.Trim(name, " ()") && it.Kind == gen.KindScalar && it.Scalar.Bits <= 32 {
			return it
		}
	}
	return nil
}

// ranged reports whether a member names so many numbers that a plain table of names will not do.
func ranged(e *gen.Enum) bool {
	for _, m := range e.Members {
		if m.First != m.Last {
			return true
		}
	}
	return e.Held > 32
}

// enumTables prints the names of every enum's numbers, for fields and for the analysis.
func (g *generator) enumTables() {
	for _, e := range g.p.Enums {
		g.doc(e.Doc)
		g.open("values.%s = {", e.Name.Filter)
		for _, m := range e.Members {
			if ranged(e) {
				g.line("{ %d, %d, %s },", m.First, m.Last, quote(m.Name.Schema))
			} else {
				g.line("[%d] = %s,", m.First, quote(m.Name.Schema))
			}
		}
		g.shut("}")
	}
	for _, c := range g.p.Consts {
		g.line("%s = %d", index("const", c.Name.Go), c.Value)
	}
	for _, e := range g.p.Enums {
		g.open("enum.%s = {", e.Name.Go)
		for _, m := range e.Members {
			g.line("%s = %d,", key(m.Name.Go), m.First)
		}
		g.shut("}")
	}
}

func reservedLabel(it *gen.Item) string {
	if it.Name.Schema == "_" {
		return "Reserved"
	}
	return label(it.Name)
}
