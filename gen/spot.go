// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// Declared is a part of a protocol that has a place in a source: a declaration, or what stands in one.
type Declared interface {
	outer() Declared // what it stands in, when it has no place of its own; nil = nothing
}

func (*Const) outer() Declared  { return nil }
func (*Code) outer() Declared   { return nil }
func (*Enum) outer() Declared   { return nil }
func (*Member) outer() Declared { return nil }
func (*Sum) outer() Declared    { return nil }
func (*List) outer() Declared   { return nil }
func (*Case) outer() Declared   { return nil }
func (*Arm) outer() Declared    { return nil }
func (*Param) outer() Declared  { return nil }

func (s *Struct) outer() Declared {
	switch {
	case s == nil:
	case s.Owner != nil:
		return s.Owner
	case s.List != nil:
		return s.List
	}
	return nil
}

func (it *Item) outer() Declared {
	if it == nil || it.Owner == nil {
		return nil
	}
	return it.Owner
}

// spot is a place in the source of a schema.
type spot struct {
	syntax.Span
	file   string
	source string // the whole text
}

// spots says where the parts of a protocol stand. No hash knows of it.
type spots struct {
	head spot // for what stands nowhere
	at   map[Declared]spot
}

// spot is the place of a part or of what it stands in, else the first line.
func (p *Protocol) spot(d Declared) spot {
	for ; d != nil; d = d.outer() {
		if s, ok := p.spots.at[d]; ok {
			return s
		}
	}
	if p.spots.head.Line > 0 {
		return p.spots.head
	}
	return spot{Span: syntax.Span{Line: 1, Col: 1, EndCol: 2}, file: p.Source}
}

// spots lists the places of all parts. Those of an imported schema stand in its own file.
func (c *compiler) spots() spots {
	out := spots{at: map[Declared]spot{}}
	for _, sub := range append(slices.Clone(c.loader.order), c) {
		for x, pos := range sub.origin {
			d, ok := x.(Declared)
			if _, known := out.at[d]; ok && !known {
				out.at[d] = spot{sub.f.At(pos), sub.f.Name, sub.f.Source}
			}
		}
	}
	for _, d := range c.f.Decls {
		if d.Package != nil {
			out.head = spot{c.f.At(d.Pos), c.f.Name, c.f.Source}
		}
	}
	return out
}
