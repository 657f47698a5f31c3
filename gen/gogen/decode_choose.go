// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// choice is a switch that is being decoded.
type choice struct {
	it   *gen.Item
	sc   *scope // of the struct that has the switch
	path string // of that struct, with a dot behind it; empty where its own Decode is printed
	off  string // where the arms begin
	rest string // what arms read that end by themselves
	all  string // what those read that take all they get
	end  string // where that ends, if trailers follow
	fill bool   // arms must take all: what they leave is counted, else what they use
}

func (d *decoder) choose(c *gen.Choose) {
	if d.at != "" {
		d.float()
	}
	d.mark(c.Item, d.off())
	if dispatches(d.s) {
		d.arms(choice{it: c.Item, sc: d.sc, off: "0", rest: "src", all: "src", fill: true})
		d.b.line("if left > 0 {\nreturn 0, fault(CodeTrailing, \"\", len(src)-left, 0)\n}")
		d.reach("", 0, nil)
		return
	}
	ch := choice{it: c.Item, sc: d.sc, off: d.off(), rest: d.rest(""), all: d.rest("")}
	if c.Tail != nil {
		d.b.line("end %s len(src) - %d - int(%s)", d.assign("end"), c.Reserve, d.sc.expr(c.Tail).code)
		ch.end = "end"
	} else if c.Reserve > 0 {
		d.b.line("end %s len(src) - %d", d.assign("end"), c.Reserve)
		ch.end = "end"
	}
	if ch.end != "" {
		ch.all = d.rest(ch.end)
	}
	d.arms(ch)
	d.advance("used")
}

// dispatches tells whether a struct does nothing but choose a layout for all that it gets.
func dispatches(s *gen.Struct) bool {
	if len(s.Steps) != 1 || !s.Greedy || s.Sized != nil {
		return false
	}
	c, ok := s.Steps[0].(*gen.Choose)
	return ok && c.Reserve == 0 && c.Tail == nil
}

// dispatch prints the switch of a nested struct in place of a call of its Decode: packets pass here, and a call would cost
// as much as a header.
func (d *decoder) dispatch(c *gen.Call, end string) {
	st, name := c.Item.Struct, "inner"
	d.b.line("%s %s %s", name, d.assign(name), d.rest(end))
	if limited := d.s.Packet && d.s.Greedy && d.s.Max >= 0 && d.s.Max-d.s.Min+st.Min <= st.Max; st.Packet && st.Max >= 0 && !limited {
		d.b.line("if len(%s) > %s {\nreturn 0, fault(CodeSize, %q, %s, 0).values(%s, uint64(len(%s)))\n}",
			name, d.g.maxConst(st), c.Item.Name.Schema, d.off(), d.g.maxConst(st), name)
	}
	sc := &scope{g: d.g, of: st, self: d.sc.self + "." + c.Item.Name.Go, known: map[string]val{}, params: d.sc.arguments(st, c.Item.Args)}
	it := st.Steps[0].(*gen.Choose).Item
	if end == "" {
		end = "len(src)"
	}
	d.arms(choice{it: it, sc: sc, path: c.Item.Name.Schema + ".", off: d.off(), rest: name, all: name, fill: true})
	d.b.line("if left > 0 {\nreturn 0, fault(CodeTrailing, %q, %s-left, 0)\n}", c.Item.Name.Schema, end)
}

// arguments prints what stands for a struct's parameters.
func (s *scope) arguments(st *gen.Struct, args []*gen.Expr) map[string]string {
	out := map[string]string{}
	for i, e := range args {
		switch p := st.Params[i]; {
		case p.Cover:
		case p.Struct == nil:
			out[p.Name.Schema] = s.number(e, uintType(p.Bits)).at(6)
		case e.Ref.Param != nil && len(e.Ref.Path) == 0 && !s.given(e.Ref.Param):
			out[p.Name.Schema] = pointed + s.place(e.Ref)
		default:
			out[p.Name.Schema] = s.place(e.Ref)
		}
	}
	return out
}

// delimits tells whether some arm need not take all that it gets.
func delimits(sw *gen.Switch) bool {
	return slices.ContainsFunc(sw.Arms, func(a *gen.Arm) bool { return a.Struct != nil && !a.Struct.Greedy })
}

// arms prints the switch. It leaves the size of what an arm has read in the variable used, or what it has not in left.
func (d *decoder) arms(ch choice) {
	sel := ch.sc.resolve(ch.it.Switch.Selector)
	switch {
	case ch.fill && d.declared("used, err"):
		d.b.line("var left int")
	case ch.fill && delimits(ch.it.Switch):
		d.assign("used, err")
		d.b.line("var used, left int\nvar err error")
	case ch.fill:
		d.b.line("var left int\nvar err error")
	case d.assign("used, err") == ":=":
		d.b.line("var used int\nvar err error")
	default:
		d.b.line("used = 0")
	}
	printSwitch(d.b, selection{sw: ch.it.Switch, sel: sel}, func(a *gen.Arm) { d.arm(ch, a) },
		fmt.Sprintf("return 0, fault(CodeSwitch, %q, %s, 0).values(0, %s)", ch.path+ch.it.Name.Schema, ch.off, convert(sel, "uint64").code))
	kind := ch.sc.self + "." + ch.it.Name.Go + ".String()"
	if ch.path != "" {
		kind = fmt.Sprintf("%q+%s", ch.path, kind)
	}
	d.b.line("if err != nil {\nreturn 0, inside(err, %s, %s)\n}", kind, ch.off)
}

// arm prints one case of a decoding switch.
func (d *decoder) arm(ch choice, a *gen.Arm) {
	if a.Reject != nil {
		sel := convert(ch.sc.resolve(ch.it.Switch.Selector), "uint64").code
		d.b.line("return 0, fault(%s, %q, %s, 0).values(0, %s)", codeConst(a.Reject), ch.path+ch.it.Name.Schema, ch.off, sel)
		return
	}
	d.b.line("%s.%s = %s", ch.sc.self, ch.it.Name.Go, armKind(ch.it, a))
	if a.Struct == nil {
		if ch.fill {
			d.b.line("left = len(%s)", ch.rest)
		}
		return
	}
	window := ch.rest
	if a.Struct.Greedy {
		window = ch.all
		if ch.end != "" {
			d.b.line("if %s < %s {\nreturn 0, short(%q, %s, 0)\n}", ch.end, ch.off, ch.it.Name.Schema, ch.off)
		}
	}
	used := "used"
	if ch.fill && a.Struct.Greedy {
		used = "_"
	}
	d.b.line("%s, err = %s.%s.Decode(%s)", used, ch.sc.self, a.Name.Go, commas(window, ch.sc.args(a.Struct, a.Args)))
	if ch.fill && !a.Struct.Greedy {
		d.b.line("left = len(%s) - used", ch.rest)
	}
}
