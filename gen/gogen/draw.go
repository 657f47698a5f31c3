// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// few is how many elements and bytes beyond the least random values have, where the schema leaves it open.
const few = 5

// drawer prints the drawing of one struct's random values. What the encoder computes is not drawn.
type drawer struct {
	g      *generator
	b      *body
	s      *gen.Struct
	sc     *scope
	solved map[*gen.Item]bool // items whose size or count the encoder writes into a field
	drew   bool               // something is drawn whatever was drawn before, as rapid wants it
}

// drawStruct prints GenX.
func (g *generator) drawStruct(b *body, s *gen.Struct) {
	name := s.Name.Go
	d := &drawer{g: g, b: b, s: s, sc: g.fieldScope(s), solved: map[*gen.Item]bool{}}
	d.sc.self = "out"
	for _, so := range solvedBy(s) {
		d.solved[so.by.Of.Last()] = true
	}
	b.line("// Gen%s draws %s whose fields hold what they may hold. Rules over several fields it may break.", name, article(name))
	b.line("func Gen%s(%s) *rapid.Generator[%s] {\nreturn rapid.Custom(func(t *rapid.T) %s {\nvar out %s", name, params(s), name, name, name)
	for _, it := range s.Items {
		if hasField(it) {
			d.item(it)
		}
	}
	if !d.drew {
		b.line("rapid.Bool().Draw(t, \"nothing\")")
	}
	b.line("return out\n})\n}\n")
}

func (d *drawer) item(it *gen.Item) {
	field, label := "out."+it.Name.Go, it.Name.Schema
	d.drew = d.drew || it.Kind != gen.KindSwitch && it.Scalar == nil && it.Span == nil
	switch it.Kind {
	case gen.KindBits:
		d.b.line("for i := range %d {\nif rapid.Bool().Draw(t, %q) {\n%s.Set(i)\n}\n}", it.Vector.Bits, label, field)
	case gen.KindStruct:
		d.b.line("%s = Gen%s(%s).Draw(t, %q)", field, it.Struct.Name.Go, d.sc.args(it.Struct, it.Args), label)
	case gen.KindList:
		d.b.line("%s = Gen%s().Draw(t, %q)", field, it.List.Name.Go, label)
	case gen.KindArray:
		d.array(it)
	case gen.KindSpan:
		d.span(it)
	case gen.KindSwitch:
		printSwitch(d.b, selection{sw: it.Switch, sel: d.sc.resolve(it.Switch.Selector)}, func(a *gen.Arm) {
			if a.Struct != nil {
				d.b.line("out.%s = Gen%s(%s).Draw(t, %q)", a.Name.Go, a.Struct.Name.Go, d.sc.args(a.Struct, a.Args), snake(a.Name.Schema))
			}
		}, "")
	default:
		if sc := it.Scalar; sc.Derived == nil && sc.Solve == nil && sc.Sum == nil && sc.Reserved == gen.NotReserved {
			d.b.line("%s = %s", field, drawScalar(sc, label))
			d.drew = d.drew || sc.Fixed == nil
		}
	}
}

// drawScalar prints a random value of a scalar.
func drawScalar(s *gen.Scalar, label string) string {
	typ := scalarType(s)
	top := ^uint64(0) >> (64 - s.Bits)
	switch {
	case s.Fixed != nil:
		return scalarNumber(s, *s.Fixed)
	case s.Flag:
		return fmt.Sprintf("rapid.Bool().Draw(t, %q)", label)
	case s.Signed && s.In == nil:
		return fmt.Sprintf("%s(rapid.Int64Range(%d, %d).Draw(t, %q))", typ, -1<<(s.Bits-1), int64(top>>1), label)
	}
	ranges := s.In
	if s.Enum != nil && ranges == nil {
		for _, m := range s.Enum.Members {
			ranges = append(ranges, gen.Range{First: m.First, Last: m.Last})
		}
		if !s.Enum.Closed {
			ranges = append(ranges, gen.Range{Last: top})
		}
	}
	if ranges == nil {
		ranges = []gen.Range{{Last: top}}
	}
	var bounds []string
	for _, r := range ranges {
		bounds = append(bounds, fmt.Sprintf("%#x, %#x", r.First, r.Last))
	}
	return fmt.Sprintf("%s(drawRange(t, %q, %s))", typ, label, strings.Join(bounds, ", "))
}

// size prints the least and the most of a size or count, which an expression gives unless the encoder settles it.
func (d *drawer) size(it *gen.Item, e *gen.Expr, least int) (from, to string) {
	if e == nil || d.solved[it] {
		if e != nil && e.Min != nil && e.Min.IsInt64() {
			least = max(least, int(e.Min.Int64()))
		}
		return fmt.Sprint(least), fmt.Sprint(least + few)
	}
	size := "int(" + d.sc.expr(e).code + ")"
	return size, size
}

func (d *drawer) array(it *gen.Item) {
	field, label, ar := "out."+it.Name.Go, it.Name.Schema, it.Array
	from, to := d.size(it, ar.Count, 0)
	element := ""
	if ar.Struct != nil {
		element = fmt.Sprintf("Gen%s(%s).Draw(t, %q)", ar.Struct.Name.Go, d.sc.args(ar.Struct, ar.Args), label)
	} else {
		element = drawScalar(ar.Scalar, label)
	}
	d.b.line("for range rapid.IntRange(%s, %s).Draw(t, %q) {\n%s = append(%s, %s)\n}", from, to, label, field, field, element)
}

func (d *drawer) span(it *gen.Item) {
	field, label, sp := "out."+it.Name.Go, it.Name.Schema, it.Span
	if sp.Align > 0 {
		return
	}
	from, to := d.size(it, sp.Size, sp.Min)
	if sp.Size == nil && sp.Max >= 0 {
		to = fmt.Sprint(min(sp.Max, sp.Min+few))
	}
	if sp.Fixed >= 0 {
		from, to = fmt.Sprint(sp.Fixed), fmt.Sprint(sp.Fixed)
	}
	switch {
	case sp.Kind == gen.SpanPad:
		d.b.line("%s = rapid.IntRange(%s, %s).Draw(t, %q)", field, from, to, label)
	case sp.Kind == gen.SpanString:
		d.b.line("%s = drawText(t, %q, %s, %s)", field, label, from, to)
	case sp.Fixed >= 0:
		d.b.line("%s = %s(drawBytes(t, %q, %s, %s))", field, spanType(sp), label, from, to)
	default:
		d.b.line("%s = drawBytes(t, %q, %s, %s)", field, label, from, to)
	}
}

// drawList prints GenX of a TLV list.
func (g *generator) drawList(b *body, l *gen.List) {
	name := l.Name.Go
	b.line("// Gen%s draws a %s.\nfunc Gen%s() *rapid.Generator[%s] {\nreturn rapid.Custom(func(t *rapid.T) %s {\nvar out %s", name, name, name, name, name, name)
	for _, c := range l.Cases {
		field, label := "out."+c.Name.Go, c.Name.Schema
		switch {
		case single(c):
			present := fmt.Sprintf("rapid.Bool().Draw(t, %q)", label)
			if c.Required {
				present = "true"
			}
			b.line("%sPresent = %s", field, present)
			if hasElement(c) {
				b.line("if %sPresent {\n%s = %s\n}", field, field, drawElement(l, c))
			}
		case hasElement(c):
			b.line("for range rapid.IntRange(0, 2).Draw(t, %q) {\n%s = append(%s, %s)\n}", label, field, field, drawElement(l, c))
		default:
			b.line("%s = rapid.IntRange(0, 2).Draw(t, %q)", field, label)
		}
	}
	b.line("return out\n})\n}\n")
}

// drawElement prints a random element: its value, and what it keeps of its head.
func drawElement(l *gen.List, c *gen.Case) string {
	value := ""
	if c.Struct != nil {
		value = fmt.Sprintf("Gen%s().Draw(t, %q)", c.Struct.Name.Go, c.Name.Schema)
	}
	if len(c.Head) == 0 {
		return value
	}
	var fields []string
	for _, it := range c.Head {
		s := *it.Scalar
		for i, key := range l.KeyItems() {
			if key == it {
				s.In = []gen.Range{c.KeyRanges()[0][i]}
			}
		}
		fields = append(fields, it.Name.Go+": "+drawScalar(&s, it.Name.Schema))
	}
	if value != "" {
		fields = append(fields, c.Struct.Name.Go+": "+value)
	}
	return elementType(l, c) + "{" + strings.Join(fields, ", ") + "}"
}
