// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

func (f *function) steps(steps []gen.Step) error {
	for _, step := range steps {
		if err := f.step(step); err != nil {
			return err
		}
	}
	return nil
}

func (f *function) step(step gen.Step) error {
	switch st := step.(type) {
	case *gen.Run:
		f.run(st)
	case *gen.Verify:
		for _, c := range st.Checks {
			f.check(c, nil)
		}
	case *gen.Branch:
		return f.branch(st)
	case *gen.Call:
		f.call(st)
	case *gen.Repeat:
		f.repeat(st)
	case *gen.Take:
		f.take(st)
	case *gen.Elements:
		f.elements(st)
	case *gen.Choose:
		f.choose(st)
	case *gen.Limit:
		f.limit(st)
	case *gen.Window:
		return f.sized(st)
	default:
		return f.g.refusal(f.s, "a part of `%s` has no form in Lua", f.s.Name.Schema)
	}
	return nil
}

func (f *function) branch(b *gen.Branch) error {
	f.g.open("if %s then", f.printer().truth(b.Cond))
	if err := f.steps(b.Then); err != nil {
		return err
	}
	if len(b.Else) > 0 {
		f.g.middle("else")
		if err := f.steps(b.Else); err != nil {
			return err
		}
	}
	f.g.shut("end")
	return nil
}

// wants returns the local for a value when the struct needs it.
func (f *function) wants(kind valueKind, path ...*gen.Item) (string, bool) {
	v := value{kind, gen.Ref{Path: path}}
	if !f.g.use.needs[f.s].has[v.id()] {
		return "", false
	}
	return f.local(v), true
}

// arrive notes that an item is present and where it begins.
func (f *function) arrive(it *gen.Item) {
	if n, ok := f.wants(valPresent, it); ok {
		f.g.line("%s = true", n)
	}
	if n, ok := f.wants(valAt, it); ok {
		f.g.line("%s = o", n)
	}
}

// invocation is a call of another decode function in a window that begins at o.
type invocation struct {
	callee   *gen.Struct
	args     []*gen.Expr
	path     string // Lua expression: the item's path
	stop     string
	windowed bool // must fill the window
	tree     string
}

// invoke prints the call and what follows: errors get the path in front, o moves on.
func (f *function) invoke(in invocation) {
	g := f.g
	exports := g.use.exports[in.callee].list
	results := []string{"n"}
	for i := range max(3, len(exports)) {
		results = append(results, fmt.Sprintf("x%d", i+1))
	}
	args := []string{"o", in.stop, in.tree}
	for _, v := range params(g.use, in.callee) {
		args = append(args, f.argument(v, in))
	}
	deep := g.deep() && g.summed(in.callee)
	if deep {
		g.line("local k = sum_n")
	}
	g.line("local %s = D.%s(%s)", strings.Join(results, ", "), in.callee.Name.Filter, strings.Join(args, ", "))
	g.line("if not n then return nil, x1, inside(%s, x2), x3 end", in.path)
	if deep {
		g.prefix(in.path)
	}
	if in.windowed && !in.callee.Greedy {
		g.line("if n < %s then return nil, %d, %s, n end", in.stop, gen.TrailingNumber, in.path)
	}
}

// argument is what the caller passes for one value that the callee reads through a parameter.
func (f *function) argument(v value, in invocation) string {
	return f.handed(v, in.callee.Params, in.args)
}

func (f *function) handed(v value, params []*gen.Param, args []*gen.Expr) string {
	if len(v.ref.Path) > 0 {
		return f.local(value{v.kind, through(v.ref, params, args)})
	}
	for i, p := range params {
		if p == v.ref.Param && p.Bits == 1 {
			return f.printer().truth(args[i])
		} else if p == v.ref.Param {
			return f.printer().count(args[i])
		}
	}
	return "nil"
}

// flat reports whether a struct's items stand in the tree of what holds it.
func flat(s *gen.Struct) bool { return s.Packet || s.Owner != nil }

// subtree prints the local u, the tree of what begins at o, and returns the name to hand on.
func (f *function) subtree(s *gen.Struct, stop string) string {
	if flat(s) {
		return "t"
	}
	f.g.line("local u = t and W.%s and t:add(H.%s, range(o, %s)) or nil", s.Name.Filter, s.Name.Filter, stop)
	return "u"
}

func (f *function) call(c *gen.Call) {
	g, s := f.g, c.Item.Struct
	path := c.Item.Name.Schema
	f.arrive(c.Item)
	g.open("do")
	stop := "stop"
	if c.Windowed {
		stop = f.window(c.Reserve, c.Tail, path)
	}
	tree := f.subtree(s, stop)
	f.invoke(invocation{s, c.Item.Args, quote(path), stop, c.Windowed, tree})
	if tree == "u" {
		g.line("if u then u:set_len(min(n, cap) - o) end")
	}
	for i, v := range g.use.exports[s].list {
		if n, ok := f.wants(v.kind, append([]*gen.Item{c.Item}, v.ref.Path...)...); ok {
			g.line("%s = x%d", n, i+1)
		}
	}
	g.line("o = n")
	g.shut("end")
	f.leave(c.Item)
}

// window prints the end of a container with trailers behind it, and returns its name.
func (f *function) window(reserve int, tail *gen.Expr, path string) string {
	if reserve == 0 && tail == nil {
		return "stop"
	}
	f.g.line("local e = %s", f.end(reserve, tail))
	f.g.line("if e < o then %s end", failure(gen.ShortNumber, path, "o"))
	return "e"
}

func (f *function) repeat(r *gen.Repeat) {
	g, a := f.g, r.Item.Array
	path := r.Item.Name.Schema
	f.arrive(r.Item)
	g.open("do")
	stop := "stop"
	if a.Count == nil {
		stop = f.window(r.Reserve, r.Tail, path)
	}
	g.line("local i = 0")
	if a.Count == nil {
		g.open("while o < %s do", stop)
	} else {
		g.line("local count = %s", f.printer().count(a.Count))
		g.open("while i < count do")
	}
	if a.Struct != nil {
		f.element(a, stop, path)
	} else {
		f.scalarElement(r.Item, stop)
	}
	g.line("i = i + 1")
	g.shut("end")
	if n, ok := f.wants(valCount, r.Item); ok {
		g.line("%s = i", n)
	}
	g.shut("end")
	f.leave(r.Item)
}

// element prints the body of the loop over an array of structs. Elements without bytes end it, whatever the count says.
func (f *function) element(a *gen.Array, stop, path string) {
	g := f.g
	g.line("local u = t and W.%s and t:add(H.%s, range(o, %s)) or nil", a.Struct.Name.Filter, a.Struct.Name.Filter, stop)
	g.line("if u and visible then u:append_text(\" [\" .. i .. \"]\") end")
	f.invoke(invocation{a.Struct, a.Args, elementPath(path), stop, false, "u"})
	g.line("if u then u:set_len(min(n, cap) - o) end")
	if a.Struct.Min == 0 {
		g.line("if n == o then break end")
	}
	g.line("o = n")
}

// elementPath is the path of element i of an array.
func elementPath(array string) string { return quote(array+"[") + " .. i .. \"]\"" }

func (f *function) scalarElement(it *gen.Item, stop string) {
	g, s := f.g, it.Array.Scalar
	size := s.Bits / 8
	g.line("local e = o + %d", size)
	g.line("if e > %s or e > held and not fetch(e) then return short(e > %s, %s, o) end", stop, stop, elementPath(it.Name.Schema))
	add := addText(s, index("F."+f.s.Name.Filter, it.Name.Filter), fmt.Sprintf("tvb(o, %d)", size))
	g.line("if t and W.%s then %s end", f.s.Name.Filter, add)
	if s.Fixed != nil || s.In != nil || s.Enum != nil && s.Enum.Closed {
		f.scalarRules(it, size)
	}
	g.line("o = e")
}

// scalarRules prints what every element of an array of scalars must satisfy.
func (f *function) scalarRules(it *gen.Item, size int) {
	s := it.Array.Scalar
	elem := place{[]*gen.Item{{Kind: gen.KindScalar, Scalar: s}}, 0}
	if wide(s) {
		f.g.line("local v = %s", wideText(elem))
	} else {
		var names []string
		for i := range size {
			names = append(names, fmt.Sprintf("b%d", i))
		}
		f.g.line("local %s = byte(s, o + 1, e)", strings.Join(names, ", "))
		f.g.line("local v = %s", scalarText(elem))
	}
	v := &gen.Expr{Op: gen.OpRef, Ref: gen.Ref{Path: elem.path}}
	p := printer{func(value) string { return "v" }}
	rule := func(set []gen.Range, number int) {
		f.g.line("if %s then return nil, %d, %s, o end", p.unless(&gen.Expr{Op: gen.OpIn, Args: []*gen.Expr{v}, Set: set, Bool: true}), number, elementPath(it.Name.Schema))
	}
	if s.Fixed != nil {
		rule([]gen.Range{{First: *s.Fixed, Last: *s.Fixed}}, gen.FixedNumber)
	}
	if s.In != nil {
		rule(s.In, gen.RangeNumber)
	}
	if s.Enum != nil && s.Enum.Closed {
		rule(memberRanges(s.Enum), gen.EnumNumber)
	}
}

func memberRanges(e *gen.Enum) []gen.Range {
	var set []gen.Range
	for _, m := range e.Members {
		set = append(set, gen.Range{First: m.First, Last: m.Last})
	}
	return set
}

func (f *function) take(t *gen.Take) {
	g, sp := f.g, t.Item.Span
	path := t.Item.Name.Schema
	f.arrive(t.Item)
	g.open("do")
	switch {
	case sp.Size != nil:
		g.line("local e = o + %s", f.printer().num(sp.Size).within(bindAdd))
	case sp.Align > 0:
		g.line("local e = o + (at - o) %% %d", sp.Align)
	default:
		g.line("local e = %s", f.end(t.Reserve, t.Tail))
	}
	g.line("if e < o or e > stop then %s end", failure(gen.ShortNumber, path, "o"))
	if n, ok := f.wants(valSize, t.Item); ok {
		g.line("%s = e - o", n)
	}
	add := fmt.Sprintf("t:add(%s, range(o, e))", index("F."+f.s.Name.Filter, f.g.slot(f.s, t.Item)))
	if sp.Kind == gen.SpanString {
		add = fmt.Sprintf("t:add_packet_field(%s, range(o, e), ENC_UTF_8)", index("F."+f.s.Name.Filter, f.g.slot(f.s, t.Item)))
	}
	g.line("if t and e > o and o < cap and W.%s then %s end", f.s.Name.Filter, add)
	var outside []string
	if sp.Min > 0 {
		outside = append(outside, fmt.Sprintf("e - o < %d", sp.Min))
	}
	if sp.Max >= 0 {
		outside = append(outside, fmt.Sprintf("e - o > %d", sp.Max))
	}
	if len(outside) > 0 {
		g.line("if %s then %s end", strings.Join(outside, " or "), failure(gen.RangeNumber, path, "o"))
	}
	f.spanContent(t.Item, span{path, "o", "e"})
	f.handOn(t.Item)
	g.line("o = e")
	g.shut("end")
	f.leave(t.Item)
}

func (f *function) choose(c *gen.Choose) {
	g, sw := f.g, c.Item.Switch
	f.arrive(c.Item)
	sel := &gen.Expr{Op: gen.OpRef, Ref: sw.Selector}
	word, last := "if", gen.SwitchNumber
	var rest *gen.Arm
	for _, arm := range sw.Arms {
		if len(arm.Labels) == 0 {
			rest = arm
			continue
		}
		in := f.printer().in(&gen.Expr{Op: gen.OpIn, Args: []*gen.Expr{sel}, Set: arm.Labels})
		if word == "if" {
			g.open("if %s then", in.s)
		} else {
			g.middle("elseif %s then", in.s)
		}
		word = "elseif"
		f.arm(c, arm)
	}
	if word == "if" {
		g.open("do")
	} else {
		g.middle("else")
	}
	if rest != nil {
		f.arm(c, rest)
	} else {
		g.line("%s", failure(last, c.Item.Name.Schema, "o"))
	}
	g.shut("end")
	f.leave(c.Item)
}

func (f *function) arm(c *gen.Choose, arm *gen.Arm) {
	g, path := f.g, c.Item.Name.Schema
	switch {
	case arm.Reject != nil:
		g.line("%s", failure(arm.Reject.Number, path, "o"))
	case arm.Struct != nil:
		stop := "stop"
		if arm.Struct.Greedy {
			stop = f.window(c.Reserve, c.Tail, path)
		}
		tree := f.subtree(arm.Struct, stop)
		f.invoke(invocation{arm.Struct, arm.Args, quote(snake(arm.Name.Schema)), stop, arm.Struct.Greedy, tree})
		if tree == "u" {
			g.line("if u then u:set_len(min(n, cap) - o) end")
		}
		g.line("o = n")
	}
}

// snake is an arm's part of an item path, however the schema spells its label.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (f *function) elements(e *gen.Elements) {
	g, path, list := f.g, e.Item.Name.Schema, e.Item.List
	f.arrive(e.Item)
	g.open("do")
	args := ""
	for _, v := range params(g.use, list.Head) {
		args += ", " + f.handed(v, list.Params, e.Item.Args)
	}
	end := fmt.Sprintf("stop - %d", e.Reserve)
	if e.Tail != nil {
		end = f.end(e.Reserve, e.Tail)
	}
	tree := "t"
	if g.general() {
		tree = "t and W." + list.Head.Name.Filter + " and t"
	}
	deep := g.deep()
	if deep {
		g.line("local k = sum_n")
	}
	g.line("local n, x1, x2, x3 = elements(L.%s, o, %s, %s%s)", list.Name.Filter, end, tree, args)
	g.line("if not n then return nil, x1, inside(%s, x2), x3 end", quote(path))
	if deep {
		g.prefix(quote(path))
	}
	g.line("o = n")
	g.shut("end")
	f.leave(e.Item)
}
