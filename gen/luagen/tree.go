// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// adder prints A.x(t, o): the tree of a header of fixed size that begins at offset o.
func (g *generator) adder(s *gen.Struct) {
	g.open("function A.%s(t, o)", s.Name.Filter)
	g.line("local w = W.%s", s.Name.Filter)
	g.line("if not w then return end")
	g.line("t = t:add(H.%s, tvb(o, %d))", s.Name.Filter, s.Max)
	if g.simple(s) {
		g.line("if w ~= true then return some(t, o, w) end")
	}
	g.addRun(s, runOf(s), "o")
	g.shut("end")
	g.line("")
}

// addRun prints the tree items of a run of s that begins at the offset start; the tree is the local t.
func (g *generator) addRun(s *gen.Struct, r *gen.Run, start string) {
	own := namesItems(r)
	if own {
		g.line("local f = F.%s", s.Name.Filter)
	}
	for _, gr := range groupsOf(ownLeaves(r)) {
		g.addGroup(s, gr, start)
	}
}

func (g *generator) addGroup(s *gen.Struct, gr group, start string) {
	if it := gr.leaves[0].last(); it.Kind == gen.KindStruct {
		g.line("A.%s(t, %s)", it.Struct.Name.Filter, plus(start, gr.first))
		return
	}
	if len(gr.leaves) > 1 {
		g.line("local r = %s", rangeText(start, gr))
	}
	for _, p := range gr.leaves {
		g.addLeaf(s, p, gr, start)
	}
}

func rangeText(start string, gr group) string {
	return fmt.Sprintf("tvb(%s, %d)", plus(start, gr.first), gr.size)
}

// plus prints start + n.
func plus(start string, n int) string {
	if n == 0 {
		return start
	}
	return fmt.Sprintf("%s + %d", start, n)
}

// addLeaf prints one item of a group; several share the range r.
func (g *generator) addLeaf(s *gen.Struct, p place, gr group, start string) {
	it, at := p.last(), rangeText(start, gr)
	if len(gr.leaves) > 1 {
		at = "r"
	}
	f := index("f", g.slot(s, it))
	switch {
	case it.Kind == gen.KindReserved && g.bigWindow(gr, p):
		g.line("if reserved then t:add(%s, %s, %s:bitfield(%d, %d)) end", f, at, at, p.bit-8*gr.first, p.width())
	case it.Kind == gen.KindReserved:
		g.line("if reserved then t:add(%s, %s) end", f, at)
	case it.Kind == gen.KindBits && baseOf(s, it) != nil:
		base := baseOf(s, it)
		g.line("vector(t:add(%s, %s), %s, %d, %s, %d, %s_missing, %s_gaps)", f, at, plus(start, gr.first), gr.size, g.baseText(s, base, start),
			uint64(1)<<uint(base.Scalar.Bits), f, f)
	case it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanString:
		g.line("t:add_packet_field(%s, %s, ENC_UTF_8)", f, at)
	case it.Kind == gen.KindSpan && it.Span.Fixed == 0:
	case it.Kind == gen.KindScalar && it.Scalar.Sum != nil:
		g.line("sum_item[%s] = %s", plus(start, gr.first), addText(it.Scalar, f, at))
	case it.Kind == gen.KindScalar && g.bigWindow(gr, p):
		g.line("t:add(%s, %s, %s:bitfield(%d, %d))", f, at, at, p.bit-8*gr.first, p.width())
	case it.Kind == gen.KindScalar:
		g.line("%s", addText(it.Scalar, f, at))
	default:
		g.line("t:add(%s, %s)", f, at)
	}
}

// bigWindow reports whether the item needs an explicit value, its window being too wide for a mask.
func (g *generator) bigWindow(gr group, p place) bool {
	return p.last().Scalar != nil && gr.size > maxWindow && p.width() != 8*gr.size
}

// addText adds a scalar that the field decodes itself.
func addText(s *gen.Scalar, f, at string) string {
	if little(s) {
		return fmt.Sprintf("t:add_le(%s, %s)", f, at)
	}
	return fmt.Sprintf("t:add(%s, %s)", f, at)
}

// little reports whether the least significant byte comes first.
func little(s *gen.Scalar) bool {
	return s.Bits > 8 && s.Bits%8 == 0 && (s.Little || s.Sum != nil && s.Sum.Sum.Little)
}

// labelScalars are the items that tell one element of an array or list from another: the first number, and the first
// serial one. At most one when they are the same.
func labelScalars(s *gen.Struct) []*gen.Item {
	var first, serial *gen.Item
	for _, it := range s.Items {
		if it.Kind != gen.KindScalar || it.Scalar.Flag || it.When != nil || wide(it.Scalar) || it.Scalar.Enum != nil {
			continue
		}
		if first == nil {
			first = it
		}
		if serial == nil && it.Scalar.Serial {
			serial = it
		}
	}
	switch {
	case first == nil:
		return nil
	case serial == nil || serial == first:
		return []*gen.Item{first}
	}
	return []*gen.Item{first, serial}
}

// baseText is the number to which a vector's bits count.
func (g *generator) baseText(s *gen.Struct, base *gen.Item, start string) string {
	ref := gen.Ref{Path: []*gen.Item{base}}
	if g.fn != nil {
		return g.fn.local(value{valNumber, ref})
	}
	p, _ := placeIn(runOf(s), ref)
	first, size := p.window()
	return fmt.Sprintf("tvb(%s, %d):bitfield(%d, %d)", plus(start, first), size, p.bit-8*first, p.width())
}

// namesItems reports whether a run has items of its own beside nested structs.
func namesItems(r *gen.Run) bool {
	for _, part := range r.Parts {
		if part.Item.Kind != gen.KindStruct {
			return true
		}
	}
	return false
}

// insides prints which structs can stand below which in the tree, so that a header is added when any of them is wanted.
func (g *generator) insides() {
	g.open("local INSIDE = {")
	for _, s := range g.structs {
		var names []string
		seen := map[*gen.Struct]bool{s: true}
		g.eachInside(s, seen, func(o *gen.Struct) { names = append(names, quote(o.Name.Filter)) })
		g.line("%s = { %s },", key(s.Name.Filter), strings.Join(names, ", "))
	}
	g.shut("}")
	g.line("")
}

// eachInside visits the structs that s contains at any depth, each once. A list is there by its head when it is general;
// other lists are not gated and left out.
func (g *generator) eachInside(s *gen.Struct, seen map[*gen.Struct]bool, visit func(*gen.Struct)) {
	inner := func(o *gen.Struct) {
		if o != nil && !seen[o] {
			seen[o] = true
			visit(o)
			g.eachInside(o, seen, visit)
		}
	}
	if g.general() && s.List != nil && s.List.Head == s {
		for _, c := range s.List.Cases {
			inner(c.Struct)
		}
	}
	for _, it := range s.Items {
		switch it.Kind {
		case gen.KindStruct:
			inner(it.Struct)
		case gen.KindArray:
			inner(it.Array.Struct)
		case gen.KindSwitch:
			for _, arm := range it.Switch.Arms {
				inner(arm.Struct)
			}
		case gen.KindList:
			if g.general() {
				inner(it.List.Head)
			}
		}
	}
}

// simple reports whether a header consists of items that their fields decode alone, so that any of them can be left out.
func (g *generator) simple(s *gen.Struct) bool {
	for _, gr := range groupsOf(ownLeaves(runOf(s))) {
		for _, p := range gr.leaves {
			it := p.last()
			plain := it.Kind == gen.KindScalar && it.Scalar.Sum == nil && !little(it.Scalar) && !g.bigWindow(gr, p) ||
				it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanBytes && it.Span.Fixed > 0
			if it.Kind != gen.KindReserved && !plain {
				return false
			}
		}
	}
	return true
}

// parts prints P.x, where the items of simple headers lie: field, first byte and number of bytes.
func (g *generator) parts() {
	for _, s := range g.structs {
		if g.roles[s]&rolePart == 0 || !g.simple(s) {
			continue
		}
		g.open("P.%s = {", s.Name.Filter)
		for _, gr := range groupsOf(ownLeaves(runOf(s))) {
			for _, p := range gr.leaves {
				if it := p.last(); it.Kind != gen.KindReserved {
					g.line("{ %s, %d, %d },", index("F."+s.Name.Filter, g.slot(s, it)), gr.first, gr.size)
				}
			}
		}
		g.shut("}")
	}
	g.line("")
}
