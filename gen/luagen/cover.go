// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// covers reports whether a checksum is more than a CRC of all that stands before it.
func (g *generator) covers() bool {
	return slices.ContainsFunc(g.structs, func(s *gen.Struct) bool {
		return slices.ContainsFunc(s.Items, func(it *gen.Item) bool {
			return it.Kind == gen.KindScalar && it.Scalar.Sum != nil &&
				(!it.Scalar.Sum.Before || it.Scalar.Sum.ZeroNone || it.Scalar.Sum.Sum.Kind != gen.SumCRC)
		})
	})
}

// deep reports whether a checksum lies in a struct that others call, so that its path is known to the callers only.
func (g *generator) deep() bool {
	return slices.ContainsFunc(g.structs, func(s *gen.Struct) bool {
		return g.roles[s]&roleCalled != 0 && !slices.Contains(g.roots, s) && len(sumsIn(s)) > 0
	})
}

// sumsIn lists the checksum fields in the runs of s.
func sumsIn(s *gen.Struct) []place {
	var out []place
	eachRun(s.Steps, func(r *gen.Run) {
		for _, p := range leavesOf(r) {
			if p.last().Kind == gen.KindScalar && p.last().Scalar.Sum != nil {
				out = append(out, p)
			}
		}
	})
	return out
}

// summed reports whether s or anything that it calls has a checksum.
func (g *generator) summed(s *gen.Struct) bool {
	if len(sumsIn(s)) > 0 {
		return true
	}
	return slices.ContainsFunc(s.Items, func(it *gen.Item) bool {
		switch it.Kind {
		case gen.KindStruct:
			return !it.Struct.FixedSize && g.summed(it.Struct)
		case gen.KindArray:
			return it.Array.Struct != nil && g.summed(it.Array.Struct)
		case gen.KindSwitch:
			return slices.ContainsFunc(it.Switch.Arms, func(a *gen.Arm) bool { return a.Struct != nil && g.summed(a.Struct) })
		case gen.KindList:
			return slices.ContainsFunc(it.List.Cases, func(c *gen.Case) bool { return c.Struct != nil && g.summed(c.Struct) })
		}
		return false
	})
}

// prefix prints what puts path, a Lua expression, in front of the checksums that were met since k.
func (g *generator) prefix(path string) {
	g.line("for met = k + 1, sum_n do sum_path[met] = inside(%s, sum_path[met]) end", path)
}

// covering is a checksum whose parts a decode function must find; the header that holds it lies at holder in the struct.
type covering struct {
	item   *gen.Item
	holder []*gen.Item
}

// within is an item of the header that holds the checksum, seen from the struct.
func (c covering) within(kind valueKind, path []*gen.Item) value {
	return value{kind, gen.Ref{Path: slices.Concat(c.holder, path)}}
}

// owner is the header that holds the checksum.
func (c covering) owner(s *gen.Struct) *gen.Struct {
	if len(c.holder) == 0 {
		return s
	}
	return c.holder[len(c.holder)-1].Struct
}

// slot is the local with the place of the checksum in sum_id, 0 when it is absent.
func (c covering) slot() string {
	name := "sum"
	for _, it := range c.holder {
		name += "_" + it.Name.Filter
	}
	return name + "_" + c.item.Name.Filter
}

// coverings lists the checksums of s whose parts its decode function must find: not those of all before them, and not those
// that cover what only a caller knows.
func coverings(s *gen.Struct) []covering {
	var out []covering
	for _, p := range sumsIn(s) {
		sum := p.last().Scalar.Sum
		outside := slices.ContainsFunc(sum.Parts, func(p *gen.CoverPart) bool { return p.Kind == gen.CoverParam })
		if !sum.Before && !outside {
			out = append(out, covering{p.last(), p.path[:len(p.path)-1]})
		}
	}
	return out
}

// area is the item where a covered part begins or ends, and those that do when others are absent: all but the last one can be.
func area(s *gen.Struct, p *gen.CoverPart, from edge) []*gen.Item {
	i, j := slices.Index(s.Items, p.First), slices.Index(s.Items, p.Last)
	items := slices.Clone(s.Items[i : j+1])
	if from == edgeEnd {
		slices.Reverse(items)
	}
	for n, it := range items {
		if it.When == nil {
			return items[:n+1]
		}
	}
	return items
}

// edge is one of the two ends of a covered part.
type edge valueKind

const (
	edgeStart = edge(valAt)
	edgeEnd   = edge(valEnd)
)

// cover makes s find what its checksums cover.
func (u *usage) cover(s *gen.Struct) {
	for _, c := range coverings(s) {
		if len(c.holder) > 0 {
			u.need(s, c.within(valAt, nil))
			u.need(s, c.within(valEnd, nil))
		}
		for _, p := range c.item.Scalar.Sum.Parts {
			for _, e := range []edge{edgeStart, edgeEnd} {
				if p.Kind != gen.CoverItems {
					break
				}
				for _, o := range area(c.owner(s), p, e) {
					u.need(s, c.within(valueKind(e), []*gen.Item{o}))
					if o.When != nil {
						u.need(s, c.within(valPresent, []*gen.Item{o}))
					}
				}
			}
			for _, r := range p.Except {
				u.need(s, c.within(valAt, r.Path))
			}
		}
	}
}

// coverSlots declares where the checksums stand in sum_id.
func (f *function) coverSlots() {
	for _, c := range coverings(f.s) {
		f.g.line("local %s = 0", c.slot())
	}
}

// coverParts prints what the checksums of the struct cover, at its end.
func (f *function) coverParts() error {
	for _, c := range coverings(f.s) {
		var parts []string
		for _, p := range c.item.Scalar.Sum.Parts {
			text, err := f.coverPart(c, p)
			if err != nil {
				return err
			}
			parts = append(parts, text)
		}
		f.g.line("if %s > 0 then sum_cover[%s] = { %s } end", c.slot(), c.slot(), strings.Join(parts, ", "))
	}
	return nil
}

func (f *function) coverPart(c covering, p *gen.CoverPart) (string, error) {
	from, to := "", ""
	switch p.Kind {
	case gen.CoverFill:
		return fmt.Sprintf("rep(\"\\%03d\", %d)", p.Fill, p.Count), nil
	case gen.CoverBefore:
		from, to = "0", fmt.Sprintf("sum_at[%s]", c.slot())
	case gen.CoverSelf:
		from, to = "at", "o"
		if len(c.holder) > 0 {
			from, to = f.local(c.within(valAt, nil)), f.local(c.within(valEnd, nil))
		}
	case gen.CoverItems:
		from, to = f.edgeText(c, p, edgeStart), f.edgeText(c, p, edgeEnd)
	default:
		return "", f.g.refusal(c.item, "the checksum `%s` covers what a dissector does not have", c.item.Name.Schema)
	}
	fields := []string{from, to}
	for _, r := range p.Except {
		at, width, ok := f.bitsOf(gen.Ref{Path: slices.Concat(c.holder, r.Path)})
		if !ok {
			return "", f.g.refusal(c.item, "the checksum `%s` leaves `%s` out, which is optional or has no fixed place", c.item.Name.Schema, pathText(r.Path))
		}
		fields = append(fields, at, fmt.Sprintf("%s + %d", at, width), fmt.Sprint(p.Mask))
	}
	return "{ " + strings.Join(fields, ", ") + " }", nil
}

// edgeText is where a part begins or ends; zero when nothing of it is there.
func (f *function) edgeText(c covering, p *gen.CoverPart, e edge) string {
	var alts []string
	optional := true
	for _, it := range area(c.owner(f.s), p, e) {
		at := f.local(c.within(valueKind(e), []*gen.Item{it}))
		if it.When != nil {
			at = f.local(c.within(valPresent, []*gen.Item{it})) + " and " + at
		} else {
			optional = false
		}
		alts = append(alts, at)
	}
	if optional {
		alts = append(alts, "0")
	}
	return strings.Join(alts, " or ")
}

// bitsOf is the first bit of an item, from the start of the packet, and its width; false when it may be absent or its width
// varies.
func (f *function) bitsOf(r gen.Ref) (at string, width int, ok bool) {
	s, path := f.s, r.Path
	for i, it := range path {
		if it.When != nil {
			return "", 0, false
		}
		if it.Kind == gen.KindStruct && !it.Struct.FixedSize && i < len(path)-1 {
			s, path = it.Struct, r.Path[i+1:]
		}
	}
	eachRun(s.Steps, func(run *gen.Run) {
		if p, found := placeIn(run, gen.Ref{Path: path}); found {
			at, width, ok = fmt.Sprintf("8 * %s + %d", f.local(value{valAt, r}), p.bit%8), p.width(), true
		}
	})
	return at, width, ok
}
