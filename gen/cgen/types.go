// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// tag is the C name of a struct or list, without the keyword.
func (g *generator) tag(n gen.Name) string { return g.pfx + n.C }

func (g *generator) macro(parts ...string) string {
	return g.upper + strings.ToUpper(strings.Join(parts, "_"))
}

// define is macro for a constant that is being defined; two definitions of one name are an error of the schema.
func (g *generator) define(at gen.Declared, owner string, parts ...string) string {
	name := g.macro(parts...)
	if old, taken := g.defined[name]; taken {
		g.unsupported(at, "`%s` and `%s` share the C constant `%s`", old, owner, name).Help("rename one of the two")
	}
	g.defined[name] = owner
	return name
}

// width is the number of bits of the C type that holds n bits.
func width(n int) int {
	switch {
	case n <= 8:
		return 8
	case n <= 16:
		return 16
	case n <= 32:
		return 32
	}
	return 64
}

// scalarType is the C type of a scalar.
func (g *generator) scalarType(s *gen.Scalar) string {
	switch {
	case s.Flag:
		return "bool"
	case s.Enum != nil && width(s.Enum.Bits) == width(s.Bits) && !s.Signed:
		return g.tag(s.Enum.Name) + "_t"
	case s.Signed:
		return fmt.Sprintf("int%d_t", width(s.Bits))
	}
	return fmt.Sprintf("uint%d_t", width(s.Bits))
}

// little tells whether the wire has the least significant byte first.
func little(s *gen.Scalar) bool {
	return s.Bits > 8 && s.Bits%8 == 0 && (s.Little || s.Sum != nil && s.Sum.Sum.Little)
}

func (g *generator) vectorType(bits int) string { return fmt.Sprintf("struct %sbits%d", g.pfx, bits) }

// listType is the C type of an array's view.
func (g *generator) listType(it *gen.Item) string {
	if it.Array.Struct != nil {
		return "struct " + g.tag(it.Array.Struct.Name) + "_list"
	}
	return "struct " + g.tag(it.Owner.Name) + "_" + it.Name.C + "_list"
}

// declare is the member declaration of a stored item, without the semicolon; switches are printed apart.
func (g *generator) declare(it *gen.Item) string {
	name := it.Name.C
	switch it.Kind {
	case gen.KindBits:
		return g.vectorType(it.Vector.Bits) + " " + name
	case gen.KindStruct:
		return "struct " + g.tag(it.Struct.Name) + " " + name
	case gen.KindArray:
		return g.listType(it) + " " + name
	case gen.KindList:
		return "struct " + g.tag(it.List.Name) + " " + name
	case gen.KindSpan:
		if it.Span.Kind == gen.SpanPad {
			return "size_t " + name
		}
		if it.Span.Fixed >= 0 {
			return fmt.Sprintf("uint8_t %s[%d]", name, max(it.Span.Fixed, 1))
		}
		return "struct " + g.pfx + "bytes " + name
	}
	return g.scalarType(it.Scalar) + " " + name
}

// unionName is the member that holds a switch's arms: u, or u_ITEM where a struct has several switches.
func unionName(it *gen.Item) string {
	for _, other := range it.Owner.Items {
		if other != it && (other.Kind == gen.KindSwitch || other.Name.C == "u") {
			return "u_" + it.Name.C
		}
	}
	return "u"
}

func (g *generator) kindType(it *gen.Item) string {
	return "enum " + g.tag(it.Owner.Name) + "_" + it.Name.C
}

func (g *generator) kindConst(it *gen.Item, arm string) string {
	return g.macro(it.Owner.Name.C, it.Name.C, arm)
}

// itemDoc is what the comment of a member says.
func itemDoc(it *gen.Item) []string {
	lines := append([]string{}, it.Doc...)
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if it.When != nil {
		add("Optional; zero when absent.")
	}
	if it.Unit != "" {
		add("Unit: %s.", it.Unit)
	}
	switch s := it.Scalar; {
	case it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPad:
		add("Bytes of padding.")
	case it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanString:
		add("%s", textDoc(it.Span))
	case it.Kind == gen.KindArray || it.Kind == gen.KindList:
		add("View; see its type.")
	case s == nil:
	case s.Fixed != nil:
		add("Always %d; pack writes it.", *s.Fixed)
	case s.Derived != nil:
		add("Derived; pack computes it.")
	case s.Solve != nil:
		add("Pack computes it from what it counts.")
	case s.Sum != nil:
		add("Checksum; pack computes it, verify compares it.")
	case s.Serial:
		add("Serial number: compare with the serial functions.")
	case s.Bits != width(s.Bits) && !s.Flag:
		add("%d bits.", s.Bits)
	}
	return lines
}

// textDoc says what the bytes of a string are.
func textDoc(s *gen.Span) string {
	text := "UTF-8"
	if s.ASCII {
		text = "ASCII"
	}
	if s.Padded {
		text += ", padded with NULs"
	}
	return text + "."
}

// structType prints the definition of s and, for a switch, of its enum.
func (g *generator) structType(p *printer, s *gen.Struct) {
	for _, it := range s.Items {
		switch {
		case it.Kind == gen.KindSwitch:
			g.kindEnum(p, it)
		case it.Kind == gen.KindArray && it.Array.Scalar != nil:
			g.scalarList(p, it)
		}
	}
	p.doc(g.structDoc(s)...)
	p.line("struct %s {", g.tag(s.Name))
	empty := true
	for _, it := range s.Items {
		if !stored(it) {
			continue
		}
		empty = false
		p.doc(itemDoc(it)...)
		if it.Kind != gen.KindSwitch {
			p.line("%s;", g.declare(it))
			continue
		}
		p.line("%s %s;", g.kindType(it), it.Name.C)
		g.union(p, it)
	}
	if empty {
		p.line("uint8_t nothing; /* C has no empty structs */")
	}
	p.line("};")
	p.line("")
}

func (g *generator) structDoc(s *gen.Struct) []string {
	lines := append([]string{}, s.Doc...)
	if len(lines) == 0 && s.Owner != nil {
		lines = append(lines, "Part of "+s.Owner.Name.Schema+".")
	}
	if rows := gen.Diagram(s); rows != nil && !openOnly(s) {
		lines = append(lines, "", "@verbatim")
		lines = append(lines, rows...)
		lines = append(lines, "@endverbatim")
	}
	return lines
}

// openOnly tells whether nothing in s has a place of its own, so that a diagram would show names only.
func openOnly(s *gen.Struct) bool {
	return len(s.Steps) == 0 || !isRun(s.Steps[0])
}

func isRun(step gen.Step) bool {
	_, ok := step.(*gen.Run)
	return ok
}

func (g *generator) kindEnum(p *printer, it *gen.Item) {
	p.doc(fmt.Sprintf("Which arm of %s.%s is set.", it.Owner.Name.Schema, it.Name.Schema))
	p.line("%s {", g.kindType(it))
	p.line("%s = 0, /* absent */", g.kindConst(it, "none"))
	n := 0
	for _, a := range it.Switch.Arms {
		if a.Reject == nil {
			n++
			p.doc(a.Doc...)
			p.line("%s = %d,", g.define(a, "switch "+it.Name.Schema, it.Owner.Name.C, it.Name.C, a.Name.C), n)
		}
	}
	p.trimComma()
	p.line("};")
	p.line("")
}

// union prints the arms that have a layout; nothing when none has.
func (g *generator) union(p *printer, it *gen.Item) {
	open := false
	for _, a := range it.Switch.Arms {
		if a.Struct == nil {
			continue
		}
		if !open {
			p.line("union {")
			open = true
		}
		p.line("struct %s %s;", g.tag(a.Struct.Name), a.Name.C)
	}
	if open {
		p.line("} %s;", unionName(it))
	}
}

// trimComma removes the comma behind the last enumerator.
func (p *printer) trimComma() {
	b := p.buf.Bytes()
	if n := len(b); n > 2 && b[n-2] == ',' {
		p.buf.Truncate(n - 2)
		p.buf.WriteByte('\n')
	}
}

// list prints the view and the iterator of an array of s.
func (g *generator) structList(p *printer, s *gen.Struct) {
	t := g.tag(s.Name)
	p.doc(
		"Several "+s.Name.Schema+", one after the other.",
		"",
		"After unpack, p and len are a window of the input and v is NULL. To pack, set v and n; or leave the view as unpack",
		"made it.",
	)
	p.line("struct %s_list {", t)
	p.line("const uint8_t *p; /* window of the input */")
	p.line("size_t len; /* its bytes */")
	p.line("size_t n; /* elements */")
	p.line("const struct %s *v; /* elements to pack; NULL = those in the window */", t)
	p.line("};")
	p.line("")
	p.doc("Where a walk over a " + t + "_list stands.")
	p.line("struct %s_iter {", t)
	p.line("struct %s_list list; /* what is left */", t)
	p.line("};")
	p.line("")
}

func (g *generator) scalarList(p *printer, it *gen.Item) {
	t := g.tag(it.Owner.Name) + "_" + it.Name.C
	p.doc("Numbers, one after the other: after unpack a window of the input; to pack, set v and n.")
	p.line("struct %s_list {", t)
	p.line("const uint8_t *p; /* window of the input */")
	p.line("size_t n; /* elements */")
	p.line("const %s *v; /* elements to pack; NULL = those in the window */", g.scalarType(it.Array.Scalar))
	p.line("};")
	p.line("")
}

// tlvType prints the view, the element and the iterator of a TLV list.
func (g *generator) tlvType(p *printer, l *gen.List) {
	t := g.tag(l.Name)
	p.doc("Elements of " + l.Name.Schema + " that this code knows.")
	p.line("enum %s_kind {", t)
	p.line("%s = 0, /* skipped: look at head, value and len */", g.macro(l.Name.C, "unknown"))
	for i, c := range l.Cases {
		p.doc(c.Doc...)
		p.line("%s = %d,", g.define(c, "tlv "+l.Name.Schema, l.Name.C, c.Name.C), i+1)
	}
	p.trimComma()
	p.line("};")
	p.line("")
	p.doc("One element of " + l.Name.Schema + ". Pack sets key and length in head.")
	p.line("struct %s_element {", t)
	p.line("enum %s_kind kind;", t)
	p.line("struct %s head;", g.tag(l.Head.Name))
	p.line("const uint8_t *value; /* bytes of the value; pack reads them for unknown elements only */")
	p.line("size_t len;")
	g.caseUnion(p, l)
	p.line("};")
	p.line("")
	p.doc(append(append([]string{}, l.Doc...), "",
		"After unpack, p and len are a window of the input and v is NULL. To pack, set v and n; or leave the view as unpack",
		"made it.")...)
	p.line("struct %s {", t)
	p.line("const uint8_t *p; /* window of the input, padding included */")
	p.line("size_t len; /* its bytes */")
	p.line("size_t padding; /* of them behind the last element */")
	p.line("const struct %s_element *v; /* elements to pack; NULL = those in the window */", t)
	p.line("size_t n; /* elements at v */")
	p.line("};")
	p.line("")
	p.doc("Where a walk over " + l.Name.Schema + " stands.")
	p.line("struct %s_iter {", t)
	p.line("struct %s list;", t)
	p.line("size_t off; /* next byte, or next element of v */")
	p.line("uint64_t key; /* of the element before */")
	if l.Strict {
		p.line("bool begun; /* there was one */")
	}
	p.line("uint32_t seen[%d];", seenWords(l))
	p.line("};")
	p.line("")
}

func seenWords(l *gen.List) int { return max(1, (len(l.Cases)+31)/32) }

func (g *generator) caseUnion(p *printer, l *gen.List) {
	open := false
	for _, c := range l.Cases {
		if c.Struct == nil {
			continue
		}
		if !open {
			p.line("union {")
			open = true
		}
		p.line("struct %s %s;", g.tag(c.Struct.Name), c.Name.C)
	}
	if open {
		p.line("} u;")
	}
}
