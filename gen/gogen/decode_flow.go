// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"github.com/openmetaroce/metaroce/gen"
)

func (d *decoder) branch(br *gen.Branch) {
	d.float()
	before := d.remain
	thenZero, elseZero := d.zeros(br.Else), d.zeros(br.Then)
	d.b.line("if %s {", d.sc.truth(br.Cond).code)
	d.block(func() {
		d.steps(br.Then)
		d.b.WriteString(thenZero)
	})
	thenRemain := d.remain
	d.remain = before
	if len(br.Else) > 0 || elseZero != "" {
		d.b.line("} else {")
		d.block(func() {
			d.steps(br.Else)
			d.b.WriteString(elseZero)
		})
	}
	d.b.line("}")
	if d.remain != thenRemain {
		d.remain = -1
	}
}

// zeros prints the statements that clear the fields of items that are absent.
func (d *decoder) zeros(steps []gen.Step) string {
	var b body
	for _, it := range stepItems(steps) {
		if !hasField(it) {
			continue
		}
		for _, line := range zeroLines(d.sc.self+"."+it.Name.Go, it) {
			b.line("%s", line)
		}
	}
	return b.String()
}

// stepItems lists the items that steps decode.
func stepItems(steps []gen.Step) []*gen.Item {
	var out []*gen.Item
	for _, st := range steps {
		switch st := st.(type) {
		case *gen.Run:
			for _, p := range st.Parts {
				out = append(out, p.Item)
			}
		case *gen.Call:
			out = append(out, st.Item)
		case *gen.Repeat:
			out = append(out, st.Item)
		case *gen.Take:
			out = append(out, st.Item)
		case *gen.Elements:
			out = append(out, st.Item)
		case *gen.Choose:
			out = append(out, st.Item)
		case *gen.Window:
			out = append(out, stepItems(st.Body)...)
		case *gen.Branch:
			out = append(out, stepItems(st.Then)...)
			out = append(out, stepItems(st.Else)...)
		}
	}
	return out
}

// zeroLines clears a field. Of a struct with a switch only the kind is cleared: the arms are large, and keep their capacity.
func zeroLines(field string, it *gen.Item) []string {
	switch it.Kind {
	case gen.KindBits:
		return []string{field + " = " + vectorType(it.Vector) + "{}"}
	case gen.KindArray:
		return []string{field + " = " + field + "[:0]"}
	case gen.KindList:
		return []string{field + " = " + it.List.Name.Go + "{}"}
	case gen.KindSwitch:
		return []string{field + " = " + kindType(it) + "None"}
	case gen.KindStruct:
		return zeroStruct(field, it.Struct)
	case gen.KindSpan:
		return []string{field + " = " + zeroSpan(it.Span)}
	}
	if it.Scalar.Flag {
		return []string{field + " = false"}
	}
	return []string{field + " = 0"}
}

func zeroStruct(field string, s *gen.Struct) []string {
	var lines []string
	for _, it := range s.Items {
		if it.Kind == gen.KindSwitch {
			lines = append(lines, field+"."+it.Name.Go+" = "+kindType(it)+"None")
		}
	}
	if lines == nil {
		lines = []string{field + " = " + s.Name.Go + "{}"}
	}
	return lines
}

func zeroSpan(s *gen.Span) string {
	switch {
	case s.Kind == gen.SpanPad:
		return "0"
	case s.Kind == gen.SpanString:
		return `""`
	case s.Fixed >= 0:
		return spanType(s) + "{}"
	}
	return "nil"
}

func (d *decoder) repeat(r *gen.Repeat) {
	it, ar := r.Item, r.Item.Array
	field := d.sc.self + "." + it.Name.Go
	d.mark(it, d.off())
	d.float()
	if ar.Count == nil {
		end := d.behind(r.Reserve, r.Tail, it)
		if end == "" {
			end = "len(src)"
		}
		d.b.line("%s = %s[:0]\nfor index := 0; off < %s; index++ {", field, field, end)
		d.block(func() { d.element(it, "src[off:"+end+"]") })
		d.b.line("}")
		if r.Tail == nil {
			d.remain = r.Reserve
		}
		return
	}
	d.b.line("count %s int(%s)", d.assign("count"), d.sc.expr(ar.Count).code)
	least := elementMin(ar)
	d.b.line("%s = slices.Grow(%s[:0], min(count, (len(src)-off)/%d))\nfor index := range count {", field, field, max(least, 1))
	d.block(func() { d.element(it, "src[off:]") })
	d.b.line("}")
}

func elementMin(a *gen.Array) int {
	if a.Scalar != nil {
		return a.Scalar.Bits / 8
	}
	return a.Struct.Min
}

// element prints the decoding of one element from a window, in a loop with the variable index.
func (d *decoder) element(it *gen.Item, window string) {
	ar := it.Array
	field := d.sc.self + "." + it.Name.Go
	path := it.Name.Schema
	if ar.Struct != nil {
		d.b.line("%s = append(%s, %s{})", field, field, ar.Struct.Name.Go)
		d.b.line("used, err := %s[index].Decode(%s)", field, commas(window, d.sc.args(ar.Struct, ar.Args)))
		d.b.line("if err != nil {\nreturn 0, inside(err, indexed(%q, index), off)\n}\noff += used", path)
		return
	}
	n := ar.Scalar.Bits / 8
	if ar.Scalar.Bits%8 != 0 {
		d.g.fail(it, "the elements of `%s` have %d bits, which are no whole bytes", path, ar.Scalar.Bits)
		return
	}
	d.b.line("item := %s\nif len(item) < %d {\nreturn 0, short(indexed(%q, index), off, %d)\n}", window, n, path, n)
	v := d.g.loadScalar(buffer{code: "item"}, 0, ar.Scalar)
	d.b.line("value := %s", v.code)
	if cond := scalarOutside(operand("value", v.typ), ar.Scalar); cond != "" {
		code := "CodeRange"
		if ar.Scalar.In == nil {
			code = "CodeEnum"
		}
		d.b.line("if %s {\nreturn 0, fault(%s, indexed(%q, index), off, 0).values(0, uint64(value))\n}", cond, code, path)
	}
	d.b.line("%s = append(%s, value)\noff += %d", field, field, n)
}

// scalarOutside prints the test that an array's element breaks its range or is no member of its closed enum.
func scalarOutside(v val, s *gen.Scalar) string {
	ranges := s.In
	if ranges == nil && s.Enum != nil && s.Enum.Closed {
		for _, m := range s.Enum.Members {
			ranges = append(ranges, gen.Range{First: m.First, Last: m.Last})
		}
	}
	if ranges == nil {
		return ""
	}
	cond := ""
	for i, r := range ranges {
		if i > 0 {
			cond += " || "
		}
		cond += inRange(v, r, ^uint64(0)>>(64-s.Bits))
	}
	return "!(" + cond + ")"
}
