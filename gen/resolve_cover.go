// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// covering is a checksum whose coverage may name later items.
type covering struct {
	item *Item
	over *syntax.Cover
}

// maxFill bounds the bytes of `ones[n]` and `zeros[n]`.
const maxFill = 64

// coverage notes `over` for resolveCovers.
func (b *body) coverage(it *Item, cs *clauseSet) bool {
	if it.Scalar == nil || it.Scalar.Sum == nil {
		return true
	}
	if cs.over == nil {
		b.c.report("E0603", b.c.origin[it], "a checksum must say what it covers")
		return false
	}
	b.covers = append(b.covers, covering{it, cs.over})
	return true
}

// resolveCovers resolves what the body's checksums cover.
func (b *body) resolveCovers() {
	covered := map[*Param]bool{}
	for _, k := range b.covers {
		out := k.item.Scalar.Sum
		if z := k.over.ZeroMeans; z != nil {
			if out.ZeroNone = z.Text == "none"; !out.ZeroNone {
				b.c.report("E0012", z.Pos, "a zero can only mean `none`")
			}
		}
		if p := k.over.Parts[0]; len(k.over.Parts) == 1 && p.Word == "before" && p.Except == nil {
			out.Before = true
			continue
		}
		for _, p := range k.over.Parts {
			part := b.coverPart(p, k)
			if part == nil {
				break
			}
			if part.Param != nil {
				covered[part.Param] = true
			}
			out.Parts = append(out.Parts, part)
		}
	}
	for _, p := range b.s.Params {
		p.Cover = !b.used[p] && (p.Any != nil || covered[p])
	}
}

func (b *body) coverPart(d *syntax.CoverPart, k covering) *CoverPart {
	out := &CoverPart{}
	if d.As == "ones" {
		out.Mask = 0xff
	}
	switch {
	case d.Fill != "":
		n, ok := b.c.constUint(d.Count, maxFill)
		if d.Fill == "ones" {
			out.Fill = 0xff
		}
		if out.Count = int(n); !ok || d.Except != nil {
			b.c.report("E0603", k.over.Pos, "`%s` takes a number of bytes and no exception", d.Fill)
			return nil
		}
		return out
	case d.Word == "before":
		out.Kind = CoverBefore
	case d.Word == "self":
		out.Kind = CoverSelf
	case !b.coverNamed(out, d):
		return nil
	}
	for _, e := range d.Except {
		refs := b.excepted(out, e)
		if refs == nil {
			b.c.report("E0604", e.Parts[0].Pos, "there is no item `%s` at a fixed place in this part", dotted(e))
			return nil
		}
		out.Except = append(out.Except, refs...)
	}
	return out
}

func dotted(d *syntax.Dotted) string {
	text := d.Parts[0].Text
	for _, p := range d.Parts[1:] {
		text += "." + p.Text
	}
	return text
}

// coverNamed resolves a part that names a parameter, an item or a range of items.
func (b *body) coverNamed(out *CoverPart, d *syntax.CoverPart) bool {
	first := d.First.Parts[0]
	if p := b.params[first.Text]; p != nil && len(d.First.Parts) == 1 && d.Last == nil && (p.Struct != nil || p.Any != nil) {
		out.Kind, out.Param = CoverParam, p
		return true
	}
	last := d.First
	if d.Last != nil {
		last = d.Last
	}
	out.Kind, out.First, out.Last = CoverItems, b.coverItem(d.First), b.coverItem(last)
	if out.First == nil || out.Last == nil {
		return false
	}
	if b.index(out.Last) < b.index(out.First) {
		b.c.report("E0308", first.Pos, "the range ends before it begins")
		return false
	}
	return true
}

func (b *body) coverItem(d *syntax.Dotted) *Item {
	id := d.Parts[0]
	it := b.items[id.Text]
	if it == nil || len(d.Parts) > 1 {
		b.c.report("E0603", id.Pos, "`%s` is no item of this header and no parameter that is one", dotted(d)).Suggest(id.Text, b.known())
		return nil
	}
	return it
}

// excepted resolves a masked item: one reference for each type that a parameter may have.
func (b *body) excepted(p *CoverPart, d *syntax.Dotted) (refs []Ref) {
	switch {
	case p.Param != nil && p.Param.Any != nil:
		for _, s := range p.Param.Any {
			if r, ok := s.masked(Ref{Param: p.Param}, d); ok {
				refs = append(refs, r)
			}
		}
		return refs
	case p.Param != nil:
		if r, ok := p.Param.Struct.masked(Ref{Param: p.Param}, d); ok {
			return []Ref{r}
		}
		return nil
	case p.Kind == CoverItems && p.First == p.Last && p.First.Kind == KindStruct:
		if r, ok := p.First.Struct.masked(Ref{Path: []*Item{p.First}}, d); ok {
			return []Ref{r}
		}
		return nil
	}
	it := b.items[d.Parts[0].Text]
	if it == nil || p.Kind == CoverItems && (b.index(it) < b.index(p.First) || b.index(it) > b.index(p.Last)) {
		return nil
	}
	if bits, _ := fixedBits(it); bits < 0 {
		return nil
	}
	if len(d.Parts) == 1 {
		return []Ref{{Path: []*Item{it}}}
	}
	if it.Struct == nil {
		return nil
	}
	if r, ok := it.Struct.masked(Ref{Path: []*Item{it}}, &syntax.Dotted{Parts: d.Parts[1:]}); ok {
		return []Ref{r}
	}
	return nil
}

// masked extends a reference to an item at a fixed place of a struct.
func (s *Struct) masked(r Ref, d *syntax.Dotted) (Ref, bool) {
	for _, id := range d.Parts {
		if s == nil {
			return r, false
		}
		it := s.item(id.Text)
		if it == nil {
			return r, false
		}
		if _, ok := s.bitOffset(it); !ok {
			return r, false
		}
		if bits, _ := fixedBits(it); bits < 0 {
			return r, false
		}
		r = Ref{r.Param, append(slices.Clone(r.Path), it)}
		s = it.Struct
	}
	return r, true
}

// checkCovers looks at covers that depend on the layout.
func (b *body) checkCovers() {
	for _, k := range b.covers {
		sum := k.item.Scalar.Sum
		for i, p := range sum.Parts {
			if p.Kind == CoverItems && !b.wholeBytes(p) {
				b.c.report("E0603", k.over.Pos, "`%s` to `%s` are no whole bytes", p.First.Name.Schema, p.Last.Name.Schema)
			}
			if sum.Sum.Kind == SumOnes && i < len(sum.Parts)-1 && !b.evenPart(p) {
				b.c.report("E0605", k.over.Pos, "part %d may have an odd number of bytes", i+1)
			}
		}
	}
	for _, k := range b.covers {
		if b.reaches(k.item, k.item, len(b.covers)) {
			b.c.report("E0606", k.over.Pos, "`%s` covers a checksum that covers it", k.item.Name.Schema)
			return
		}
	}
}

// reaches tells whether a sum covers another one, also by way of others.
func (b *body) reaches(from, to *Item, steps int) bool {
	if steps == 0 {
		return false
	}
	for _, k := range b.covers {
		if k.item == from || !b.coversItem(from, k.item) {
			continue
		}
		if b.coversItem(k.item, to) || b.reaches(k.item, to, steps-1) {
			return true
		}
	}
	return false
}

func (b *body) coversItem(sum, it *Item) bool {
	k := sum.Scalar.Sum
	if k.Before {
		return b.index(it) < b.index(sum)
	}
	for _, p := range k.Parts {
		if slices.ContainsFunc(p.Except, func(r Ref) bool { return len(r.Path) == 1 && r.Path[0] == it }) {
			continue
		}
		switch {
		case p.Kind == CoverSelf,
			p.Kind == CoverBefore && b.index(it) < b.index(sum),
			p.Kind == CoverItems && b.index(p.First) <= b.index(it) && b.index(it) <= b.index(p.Last):
			return true
		}
	}
	return false
}

// wholeBytes tells whether a range begins and ends at a byte.
func (b *body) wholeBytes(p *CoverPart) bool {
	whole := true
	runs(b.s.Steps, func(r *Run) {
		for _, part := range r.Parts {
			bits, _ := fixedBits(part.Item)
			if part.Item == p.First && part.Bit%8 != 0 || part.Item == p.Last && (part.Bit+bits)%8 != 0 {
				whole = false
			}
		}
	})
	return whole
}

// runs visits every run of a program.
func runs(steps []Step, visit func(*Run)) {
	for _, s := range steps {
		switch s := s.(type) {
		case *Run:
			visit(s)
		case *Window:
			runs(s.Body, visit)
		case *Branch:
			runs(s.Then, visit)
			runs(s.Else, visit)
		}
	}
}

// evenPart tells whether a part surely has an even number of bytes.
func (b *body) evenPart(p *CoverPart) bool {
	switch p.Kind {
	case CoverFill:
		return p.Count%2 == 0
	case CoverParam:
		types := p.Param.Any
		if types == nil {
			types = []*Struct{p.Param.Struct}
		}
		return !slices.ContainsFunc(types, func(s *Struct) bool { return !s.FixedSize || s.Min%2 != 0 })
	case CoverItems:
		bits := 0
		for _, it := range b.s.Items[b.index(p.First) : b.index(p.Last)+1] {
			n, _ := fixedBits(it)
			if n < 0 || it.When != nil {
				return false
			}
			bits += n
		}
		return bits%16 == 0
	}
	return false
}
