// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// call reads a nested struct, in a window of its own where the program says so.
func (d *decoder) call(c *gen.Call) {
	it := c.Item
	d.mark(it)
	if c.Windowed {
		d.enter(c.Reserve, c.Tail, d.field(it))
	}
	d.p.line("rc = read_%s(&out->%s, in%s);", it.Struct.Name.C, it.Name.C, d.scope().args(it.Args))
	d.blame(d.field(it))
	if c.Windowed {
		if !it.Struct.Greedy { // a greedy one has checked it
			d.trailing(d.field(it))
		}
		d.leave(c.Reserve, c.Tail)
	}
}

// enter narrows the container by reserve bytes, and by those of tail.
func (d *decoder) enter(reserve int, tail *gen.Expr, id string) {
	switch {
	case tail != nil:
		d.trailer(reserve, tail)
		d.need("n", id)
		d.p.line("end = in->end;")
		d.p.line("in->end = end - (size_t)n;")
	case reserve > 0:
		d.need(fmt.Sprintf("%du", reserve), id)
		d.p.line("end = in->end;")
		d.p.line("in->end = end - %du;", reserve)
	}
}

// trailer prints the size of what stands behind an item into n.
func (d *decoder) trailer(reserve int, tail *gen.Expr) {
	text := d.scope().num(tail)
	if reserve > 0 {
		text += fmt.Sprintf(" + %du", reserve)
	}
	d.p.line("n = %s;", text)
}

// leave ends the window that enter began.
func (d *decoder) leave(reserve int, tail *gen.Expr) {
	if reserve > 0 || tail != nil {
		d.p.line("in->end = end;")
	}
}

func (d *decoder) choose(c *gen.Choose) {
	d.mark(c.Item)
	d.g.chooser(d.p, d.scope(), c.Item.Switch, func(a *gen.Arm) { d.arm(c, a) })
}

// chooser prints the switch statement of a switch item. arm prints what one arm does; nil stands for numbers without one.
func (g *generator) chooser(p *printer, sc scope, sw *gen.Switch, arm func(*gen.Arm)) {
	selector := &gen.Expr{Op: gen.OpRef, Ref: sw.Selector}
	var ranges []*gen.Arm
	p.line("switch (%s) {", selectorText(sw, sc.leaf(selector)))
	for _, a := range sw.Arms {
		labels, ok := caseLabels(a)
		switch {
		case len(a.Labels) == 0:
		case !ok:
			ranges = append(ranges, a)
		default:
			for _, n := range labels {
				p.line("case %s:", g.label(sw, n))
			}
			arm(a)
		}
	}
	p.line("default:")
	for _, a := range ranges {
		p.line("if (%s) {", sc.in(&gen.Expr{Op: gen.OpIn, Args: []*gen.Expr{selector}, Set: a.Labels}))
		arm(a)
		p.line("}")
	}
	var other *gen.Arm
	for _, a := range sw.Arms {
		if len(a.Labels) == 0 {
			other = a
		}
	}
	arm(other)
	p.line("}")
}

// selectorText is what the switch statement looks at; C warns about a bool there.
func selectorText(sw *gen.Switch, path string) string {
	if it := sw.Selector.Last(); it != nil && it.Scalar != nil && it.Scalar.Flag {
		return "(unsigned)" + path
	}
	return path
}

// caseLabels lists the numbers of an arm; false when they are too many for case labels.
func caseLabels(a *gen.Arm) ([]uint64, bool) {
	var out []uint64
	for _, r := range a.Labels {
		if r.Last-r.First >= 8 {
			return nil, false
		}
		for n := r.First; ; n++ {
			out = append(out, n)
			if n == r.Last {
				break
			}
		}
	}
	return out, len(out) > 0
}

// label prints a selector's number by its enum member's name if it has one.
func (g *generator) label(sw *gen.Switch, n uint64) string {
	if it := sw.Selector.Last(); it != nil && it.Scalar != nil && it.Scalar.Enum != nil {
		if name := g.memberConst(it.Scalar.Enum, n); name != "" {
			return name
		}
	}
	return hexText(n)
}

// arm prints what one arm does; a is nil for a number without one.
func (d *decoder) arm(c *gen.Choose, a *gen.Arm) {
	it := c.Item
	if a == nil {
		d.p.line("return fail(in, %sE_SWITCH, in->off, %s);", d.g.upper, d.field(it))
		return
	}
	if a.Reject != nil {
		d.p.line("return fail(in, %s, in->off, %s);", d.g.upper+a.Reject.Name, d.field(it))
		return
	}
	d.p.line("out->%s = %s;", it.Name.C, d.g.kindConst(it, a.Name.C))
	if a.Struct == nil {
		d.p.line("break;")
		return
	}
	if a.Struct.Greedy {
		d.enter(c.Reserve, c.Tail, d.field(it))
	}
	d.p.line("rc = read_%s(&out->%s.%s, in%s);", a.Struct.Name.C, unionName(it), a.Name.C, d.scope().args(a.Args))
	d.blame(d.field(a))
	if a.Struct.Greedy {
		d.leave(c.Reserve, c.Tail)
	}
	d.p.line("break;")
}

func (d *decoder) branch(b *gen.Branch) {
	d.p.line("if (%s) {", d.scope().cond(b.Cond))
	d.zero(b.Else)
	d.steps(b.Then)
	if d.absent(b.Then) || len(b.Else) > 0 {
		d.p.line("} else {")
		d.zero(b.Then)
		d.steps(b.Else)
	}
	d.p.line("}")
}

// absent tells whether steps decode items that need zeroing when they do not run.
func (d *decoder) absent(steps []gen.Step) bool { return len(itemsOf(steps)) > 0 }

// zero prints the resetting of the items that steps would have read.
func (d *decoder) zero(steps []gen.Step) {
	for _, it := range itemsOf(steps) {
		to := "out->" + it.Name.C
		switch {
		case it.Kind == gen.KindScalar || it.Kind == gen.KindReserved:
			value := "0u"
			if it.Scalar.Flag {
				value = "false"
			}
			d.p.line("%s = %s;", to, value)
		case it.Kind == gen.KindSwitch:
			d.p.line("%s = %s;", to, d.g.kindConst(it, "none"))
		case it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPad:
			d.p.line("%s = 0;", to)
		default:
			d.p.line("%sMEMZERO(&%s, sizeof %s);", d.g.upper, to, to)
		}
	}
}

// itemsOf lists the stored items that steps decode.
func itemsOf(steps []gen.Step) []*gen.Item {
	var out []*gen.Item
	add := func(it *gen.Item) {
		if stored(it) {
			out = append(out, it)
		}
	}
	for _, s := range steps {
		switch s := s.(type) {
		case *gen.Run:
			for _, p := range s.Parts {
				add(p.Item)
			}
		case *gen.Call:
			add(s.Item)
		case *gen.Repeat:
			add(s.Item)
		case *gen.Take:
			add(s.Item)
		case *gen.Elements:
			add(s.Item)
		case *gen.Choose:
			add(s.Item)
		case *gen.Window:
			out = append(out, itemsOf(s.Body)...)
		case *gen.Branch:
			out = append(append(out, itemsOf(s.Then)...), itemsOf(s.Else)...)
		}
	}
	return out
}

func (d *decoder) take(t *gen.Take) {
	it, sp := t.Item, t.Item.Span
	d.mark(it)
	switch {
	case sp.Size != nil:
		d.p.line("n = %s;", d.scope().num(sp.Size))
		d.need("n", d.field(it))
	case sp.Align > 0:
		d.p.line("n = (%du - (in->off - start) %% %du) %% %du;", sp.Align, sp.Align, sp.Align)
		d.need("n", d.field(it))
	case t.Tail != nil:
		d.trailer(t.Reserve, t.Tail)
		d.need("n", d.field(it))
		d.p.line("n = in->end - in->off - n;")
	default:
		if t.Reserve > 0 {
			d.need(fmt.Sprintf("%du", t.Reserve), d.field(it))
		}
		left := "in->end - in->off"
		if t.Reserve > 0 {
			left += fmt.Sprintf(" - %du", t.Reserve)
		}
		d.p.line("n = %s;", left)
	}
	var out []string
	if sp.Min > 0 {
		out = append(out, fmt.Sprintf("n < %du", sp.Min))
	}
	if sp.Max >= 0 {
		out = append(out, fmt.Sprintf("n > %du", sp.Max))
	}
	for i, test := range out {
		if i > 0 {
			out[0] += " || " + test
		}
	}
	if len(out) > 0 {
		d.p.line("if (%s) {", out[0])
		d.p.line("return fail(in, %sE_RANGE, in->off, %s);", d.g.upper, d.field(it))
		d.p.line("}")
	}
	d.spanContent(it, "in->buf + in->off", "in->off", "(size_t)n")
	switch {
	case !stored(it):
	case sp.Kind == gen.SpanPad:
		d.p.line("out->%s = (size_t)n;", it.Name.C)
	default:
		d.p.line("out->%s.p = in->buf + in->off;", it.Name.C)
		d.p.line("out->%s.len = (size_t)n;", it.Name.C)
	}
	d.p.line("in->off += (size_t)n;")
}

func (d *decoder) elements(e *gen.Elements) {
	it := e.Item
	d.mark(it)
	d.enter(e.Reserve, e.Tail, d.field(it))
	d.p.line("rc = read_%s(&out->%s, in%s);", it.List.Name.C, it.Name.C, d.scope().args(it.Args))
	d.blame(d.field(it))
	d.leave(e.Reserve, e.Tail)
}

// repeat reads all elements once, to check them; the member keeps their window.
func (d *decoder) repeat(r *gen.Repeat) {
	it, a := r.Item, r.Item.Array
	to := "out->" + it.Name.C
	d.mark(it)
	if a.Count == nil {
		d.enter(r.Reserve, r.Tail, d.field(it))
	}
	if a.Count != nil {
		d.p.line("n = %s;", d.scope().num(a.Count))
	}
	d.p.line("%s.p = in->buf + in->off;", to)
	d.p.line("%s.v = NULL;", to)
	if a.Count != nil {
		d.p.line("for (i = 0; i < n; i++) {")
	} else {
		d.p.line("for (i = 0; in->off != in->end; i++) {")
	}
	if a.Struct != nil {
		d.p.line("struct %s element;", d.g.tag(a.Struct.Name))
		d.p.line("rc = read_%s(&element, in%s);", a.Struct.Name.C, d.scope().args(a.Args))
		d.blame(d.field(it))
	} else {
		d.scalarElement(it)
	}
	d.p.line("}")
	d.p.line("%s.n = i;", to)
	if a.Struct != nil {
		d.p.line("%s.len = (size_t)(in->buf + in->off - %s.p);", to, to)
	}
	if a.Count == nil {
		d.leave(r.Reserve, r.Tail)
	}
}

// scalarElement reads and checks one number of an array.
func (d *decoder) scalarElement(it *gen.Item) {
	s := it.Array.Scalar
	bytes := s.Bits / 8
	d.need(fmt.Sprintf("%du", bytes), d.field(it))
	value := d.g.get(s, "(in->buf + in->off)", 0)
	rule := func(hold, code string) {
		d.p.line("if (!(%s)) {", hold)
		d.p.line("return fail(in, %s%s, in->off, %s);", d.g.upper, code, d.field(it))
		d.p.line("}")
	}
	checked := s.Fixed != nil || s.In != nil || s.Enum != nil && s.Enum.Closed
	if checked {
		d.p.line("const %s element = %s;", d.g.scalarType(s), value)
	}
	probe := *s
	probe.Fixed = nil
	name := gen.Name{Schema: "element", C: "element"}
	element := &gen.Expr{Op: gen.OpRef, Ref: gen.Ref{Path: []*gen.Item{{Name: name, Scalar: &probe}}}}
	sc := scope{g: d.g}
	in := func(set []gen.Range) string {
		return sc.in(&gen.Expr{Op: gen.OpIn, Args: []*gen.Expr{element}, Set: set})
	}
	if s.Fixed != nil {
		rule(in([]gen.Range{{First: *s.Fixed, Last: *s.Fixed}}), "E_FIXED")
	}
	if s.In != nil {
		rule(in(s.In), "E_RANGE")
	}
	if s.Enum != nil && s.Enum.Closed {
		var set []gen.Range
		for _, m := range s.Enum.Members {
			set = append(set, gen.Range{First: m.First, Last: m.Last})
		}
		rule(in(set), "E_ENUM")
	}
	d.p.line("in->off += %du;", bytes)
}
