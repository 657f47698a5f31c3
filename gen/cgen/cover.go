// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// Where every checksum covers what stands before it and nothing else, and no size waits for its content, it is computed and
// compared where it stands. Else all of them wait for the end of their struct: each has a function sum_STRUCT_ITEM that gets
// the places it needs, which read and write keep in locals.

// lateSums tells whether some checksum must wait for what follows it.
func (g *generator) lateSums() bool {
	sized := slices.ContainsFunc(g.p.Structs, func(s *gen.Struct) bool { return g.waits(s) })
	for _, s := range g.p.Structs {
		for _, it := range s.Items {
			if c := coverOf(it); c != nil && (sized || !c.Before || c.ZeroNone || c.Sum.Kind != gen.SumCRC) {
				return true
			}
		}
	}
	return false
}

// waits tells whether pack writes a size of s, or of an item in it, behind what has that size.
func (g *generator) waits(s *gen.Struct) bool {
	for _, holder := range g.p.Structs {
		for _, it := range holder.Items {
			if it.Scalar == nil || it.Scalar.Solve == nil {
				continue
			}
			so := it.Scalar.Solve
			if so.Whole == s || so.Whole == nil && so.Of.Last().Sized != nil && so.Of.Last().Owner == s {
				return true
			}
		}
	}
	return false
}

func coverOf(it *gen.Item) *gen.Cover {
	if it.Scalar == nil {
		return nil
	}
	return it.Scalar.Sum
}

func partsOf(c *gen.Cover) []*gen.CoverPart {
	if c.Before {
		return []*gen.CoverPart{{Kind: gen.CoverBefore}}
	}
	return c.Parts
}

// site is one checksum that a struct computes and compares: its own, or that of a fixed struct in one of its runs.
type site struct {
	s      *gen.Struct // that has the run
	run    *gen.Run
	path   []*gen.Item // from s
	holder *gen.Struct // that declares it
}

func (t site) item() *gen.Item   { return t.path[len(t.path)-1] }
func (t site) cover() *gen.Cover { return t.item().Scalar.Sum }
func (t site) own() bool         { return t.holder == t.s }

// sites lists the checksums of s in wire order.
func sites(s *gen.Struct, steps []gen.Step) []site {
	var out []site
	for _, step := range steps {
		switch step := step.(type) {
		case *gen.Run:
			out = append(out, runSites(site{s: s, run: step, holder: s}, step.Parts)...)
		case *gen.Branch:
			out = append(append(out, sites(s, step.Then)...), sites(s, step.Else)...)
		case *gen.Window:
			out = append(out, sites(s, step.Body)...)
		}
	}
	return out
}

func runSites(at site, parts []gen.Part) []site {
	var out []site
	for _, p := range parts {
		t := at
		t.path = append(slices.Clone(at.path), p.Item)
		switch {
		case p.Item.Kind == gen.KindStruct:
			t.holder = p.Item.Struct
			out = append(out, runSites(t, p.Item.Struct.Steps[0].(*gen.Run).Parts)...)
		case coverOf(p.Item) != nil && stored(p.Item):
			out = append(out, t)
		}
	}
	return out
}

// place is where something lies: a local plus a number of bytes.
type place struct {
	local string
	bytes int
}

func (p place) text() string { return plus(p.local, p.bytes) }

// base is the place of the struct that holds the checksum, when that is part of a run.
func (t site) base() place {
	first := bitOf(t.run.Parts, t.path[:1]) / 8
	return place{atLocal(t.s, t.path[0]), bitOf(t.run.Parts, t.path[:len(t.path)-1])/8 - first}
}

// at is where the checksum lies.
func (t site) at() place {
	first := bitOf(t.run.Parts, t.path[:1]) / 8
	return place{atLocal(t.s, t.path[0]), bitOf(t.run.Parts, t.path)/8 - first}
}

// from is where a part begins, to where it ends.
func (t site) from(c *gen.CoverPart) place {
	switch {
	case c.Kind == gen.CoverBefore:
		return place{local: "0u"}
	case c.Kind == gen.CoverSelf && t.own():
		return place{local: "start"}
	case c.Kind == gen.CoverSelf:
		return t.base()
	case t.own():
		return place{local: atLocal(t.s, c.First)}
	}
	b := t.base()
	return place{b.local, b.bytes + t.inner(c.First).Bit/8}
}

func (t site) to(c *gen.CoverPart, cursor string) place {
	switch {
	case c.Kind == gen.CoverBefore:
		return t.at()
	case c.Kind == gen.CoverSelf && t.own():
		return place{local: cursor + "->off"}
	case c.Kind == gen.CoverSelf:
		b := t.base()
		return place{b.local, b.bytes + t.holder.Min}
	case t.own():
		return place{local: t.toLocal(c)}
	}
	b, last := t.base(), t.inner(c.Last)
	return place{b.local, b.bytes + (last.Bit+partBits(last.Item))/8}
}

// inner is a part of the only run of the struct that holds the checksum.
func (t site) inner(it *gen.Item) gen.Part {
	for _, p := range t.holder.Steps[0].(*gen.Run).Parts {
		if p.Item == it {
			return p
		}
	}
	return gen.Part{Item: it}
}

// toLocal remembers where the last covered item that is present ends.
func (t site) toLocal(c *gen.CoverPart) string {
	return fmt.Sprintf("to_%s_%d", t.item().Name.C, slices.Index(t.cover().Parts, c))
}

// partBits is the size of an item of a run.
func partBits(it *gen.Item) int {
	switch it.Kind {
	case gen.KindBits:
		return it.Vector.Bits
	case gen.KindStruct:
		return it.Struct.Min * 8
	case gen.KindSpan:
		return it.Span.Fixed * 8
	}
	return it.Scalar.Bits
}

// atLocal is the local that holds where an item of s starts.
func atLocal(s *gen.Struct, it *gen.Item) string {
	for i, other := range s.Items {
		if other == it && unnamed(it) {
			return fmt.Sprintf("at_unnamed%d", i)
		}
	}
	return "at_" + it.Name.C
}

// covers tells whether a part lies over an item of the holder, or over another checksum.
func (t site) covers(c *gen.CoverPart, other site) bool {
	if slices.ContainsFunc(c.Except, func(r gen.Ref) bool { return r.Param == nil && r.Last() == other.item() }) {
		return false
	}
	all := t.s.Items
	mine, its := t.path[0], other.path[0]
	if !t.own() {
		if other.holder != t.holder || other.path[0] != t.path[0] {
			return c.Kind == gen.CoverBefore && slices.Index(all, its) < slices.Index(all, mine)
		}
		all, mine, its = t.holder.Items, t.item(), other.item()
	}
	i := slices.Index(all, its)
	switch c.Kind {
	case gen.CoverBefore:
		return i < slices.Index(all, mine)
	case gen.CoverSelf:
		return true
	case gen.CoverItems:
		return slices.Index(all, c.First) <= i && i <= slices.Index(all, c.Last)
	}
	return false
}

// waits tells whether t must be computed after other.
func (t site) waits(other site) bool {
	return slices.ContainsFunc(partsOf(t.cover()), func(c *gen.CoverPart) bool { return t.covers(c, other) })
}

// inOrder sorts checksums so that one that covers another comes later.
func inOrder(all []site) []site {
	var out []site
	for len(all) > 0 {
		next := max(0, slices.IndexFunc(all, func(t site) bool {
			return !slices.ContainsFunc(all, func(o site) bool { return o.item() != t.item() && t.waits(o) })
		}))
		out = append(out, all[next])
		all = slices.Delete(slices.Clone(all), next, next+1)
	}
	return out
}

// marks are the places that read and write of one struct keep in locals.
type marks struct {
	at   map[*gen.Item]bool     // where an item starts
	ends map[*gen.Item][]string // locals that its end is put into
	to   []string               // these locals
}

// note collects the places that the checksums of s need.
func (m *marks) note(g *generator, s *gen.Struct) {
	for _, t := range sites(s, s.Steps) {
		m.at[t.path[0]] = true
		for _, gr := range t.patches(g) {
			m.at[gr.run.Parts[0].Item] = true
		}
		for _, c := range partsOf(t.cover()) {
			if c.Kind == gen.CoverItems && t.own() {
				m.items(g, t, c)
			}
		}
	}
}

func (m *marks) items(g *generator, t site, c *gen.CoverPart) {
	if c.First.When != nil {
		g.unsupported(t.item(), "the checksum `%s` covers items of which the first is optional", t.item().Name.Schema).Help("begin the coverage at an item that is always there")
	}
	m.at[c.First] = true
	local := t.toLocal(c)
	m.to = append(m.to, local)
	first, last := slices.Index(t.s.Items, c.First), slices.Index(t.s.Items, c.Last)
	for i := last; i >= first; i-- {
		m.ends[t.s.Items[i]] = append(m.ends[t.s.Items[i]], local)
		if t.s.Items[i].When == nil {
			break
		}
	}
}

// finish prints that an item which is no part of a run ends at the cursor.
func (m *marks) finish(p *printer, it *gen.Item, cursor string) {
	for _, local := range m.ends[it] {
		p.line("%s = %s->off;", local, cursor)
	}
}

// partEnds prints where parts of a run end that begins at the cursor.
func (m *marks) partEnds(p *printer, r *gen.Run, cursor string) {
	for _, part := range r.Parts {
		for _, local := range m.ends[part.Item] {
			p.line("%s = %s;", local, plus(cursor+"->off", (part.Bit+partBits(part.Item))/8))
		}
	}
}

// checkSums reports an order of checksums that pack does not follow: inner structs come first, and know no size of an outer one.
func (g *generator) checkSums() {
	for _, s := range g.p.Structs {
		sums := slices.ContainsFunc(s.Items, func(it *gen.Item) bool { return coverOf(it) != nil })
		if !g.late || !sums && !g.waits(s) {
			continue
		}
		reached := map[*gen.Struct]bool{}
		for _, it := range s.Items {
			if sums || it.Struct == nil || !it.Struct.FixedSize { // else they are computed here, as the last ones
				reach(&gen.Struct{Items: []*gen.Item{it}}, reached)
			}
		}
		for inner := range reached {
			for _, it := range inner.Items {
				if c := coverOf(it); c != nil && it.Owner != s && slices.ContainsFunc(partsOf(c), func(p *gen.CoverPart) bool { return p.Kind == gen.CoverBefore }) {
					g.unsupported(it, "the checksum `%s` covers `before` inside `%s`, which has checksums or sizes itself", it.Name.Schema, s.Name.Schema)
				}
			}
		}
	}
}

// reach collects s and all that lies in it.
func reach(s *gen.Struct, seen map[*gen.Struct]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	for _, it := range s.Items {
		reach(it.Struct, seen)
		switch {
		case it.Array != nil:
			reach(it.Array.Struct, seen)
		case it.Switch != nil:
			for _, a := range it.Switch.Arms {
				reach(a.Struct, seen)
			}
		case it.List != nil:
			for _, c := range it.List.Cases {
				reach(c.Struct, seen)
			}
		}
	}
}
