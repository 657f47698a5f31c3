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

// coverings lists the checksums of s whose parts its decode function must find: not those of all before them, and not those
// that cover what only a caller knows.
func coverings(s *gen.Struct) []*gen.Item {
	var out []*gen.Item
	for _, it := range s.Items {
		if it.Kind != gen.KindScalar || it.Scalar.Sum == nil || it.Scalar.Sum.Before {
			continue
		}
		outside := slices.ContainsFunc(it.Scalar.Sum.Parts, func(p *gen.CoverPart) bool { return p.Kind == gen.CoverParam })
		if !outside {
			out = append(out, it)
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
	for _, it := range coverings(s) {
		for _, p := range it.Scalar.Sum.Parts {
			for _, e := range []edge{edgeStart, edgeEnd} {
				if p.Kind != gen.CoverItems {
					break
				}
				for _, o := range area(s, p, e) {
					ref := gen.Ref{Path: []*gen.Item{o}}
					u.need(s, value{valueKind(e), ref})
					if o.When != nil {
						u.need(s, value{valPresent, ref})
					}
				}
			}
			for _, r := range p.Except {
				u.need(s, value{valAt, r})
			}
		}
	}
}

// coverSlot is the local with the place of a checksum in sum_id, 0 when it is absent.
func (f *function) coverSlot(it *gen.Item) string { return "sum_" + it.Name.Filter }

// coverSlots declares them.
func (f *function) coverSlots() {
	for _, it := range coverings(f.s) {
		f.g.line("local %s = 0", f.coverSlot(it))
	}
}

// coverParts prints what the checksums of the struct cover, at its end.
func (f *function) coverParts() error {
	for _, it := range coverings(f.s) {
		var parts []string
		for _, p := range it.Scalar.Sum.Parts {
			text, err := f.coverPart(it, p)
			if err != nil {
				return err
			}
			parts = append(parts, text)
		}
		slot := f.coverSlot(it)
		f.g.line("if %s > 0 then sum_cover[%s] = { %s } end", slot, slot, strings.Join(parts, ", "))
	}
	return nil
}

func (f *function) coverPart(sum *gen.Item, p *gen.CoverPart) (string, error) {
	from, to := "", ""
	switch p.Kind {
	case gen.CoverFill:
		return fmt.Sprintf("rep(\"\\%03d\", %d)", p.Fill, p.Count), nil
	case gen.CoverBefore:
		from, to = "0", fmt.Sprintf("sum_at[%s]", f.coverSlot(sum))
	case gen.CoverSelf:
		from, to = "at", "o"
	case gen.CoverItems:
		from, to = f.edgeText(p, edgeStart), f.edgeText(p, edgeEnd)
	default:
		return "", fmt.Errorf("luagen: %s.%s: %s: not supported", f.s.Name.Schema, sum.Name.Schema, gen.FeatureCover)
	}
	fields := []string{from, to}
	for _, r := range p.Except {
		at, width, ok := f.bitsOf(r)
		if !ok {
			return "", fmt.Errorf("luagen: %s.%s: a checksum without the optional or variable %s: not supported", f.s.Name.Schema, sum.Name.Schema, pathText(r.Path))
		}
		fields = append(fields, at, fmt.Sprintf("%s + %d", at, width), fmt.Sprint(p.Mask))
	}
	return "{ " + strings.Join(fields, ", ") + " }", nil
}

// edgeText is where a part begins or ends; zero when nothing of it is there.
func (f *function) edgeText(p *gen.CoverPart, e edge) string {
	var alts []string
	optional := true
	for _, it := range area(f.s, p, e) {
		ref := gen.Ref{Path: []*gen.Item{it}}
		at := f.local(value{valueKind(e), ref})
		if it.When != nil {
			at = f.local(value{valPresent, ref}) + " and " + at
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
