// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// Generate prints p: include/PACKAGE/LAST.gen.h, src/LAST.gen.c and tests/dump.gen.c, LAST being the package's last part.
// What this backend cannot print is a *gen.Refused.
func Generate(p *gen.Protocol) ([]gen.File, error) {
	g := newGenerator(p)
	g.plan()
	if err := g.refused.Err(); err != nil {
		return nil, err
	}
	header, source, dump := g.header(), g.source(), g.dump()
	if err := g.refused.Err(); err != nil {
		return nil, err
	}
	return []gen.File{
		{Path: "include/" + g.include, Data: header},
		{Path: "src/" + g.base + ".gen.c", Data: source},
		{Path: "tests/dump.gen.c", Data: dump},
	}, nil
}

// known are the constructs beyond the basic ones that this backend prints.
var known = []gen.Feature{
	gen.FeatureSigned, gen.FeatureLittle, gen.FeatureVector, gen.FeatureLint,
	gen.FeatureListParam, gen.FeatureListKeys, gen.FeatureListHead, gen.FeatureListLength, gen.FeatureListBare,
	gen.FeatureListFill, gen.FeatureListStrict, gen.FeatureListUnknown, gen.FeatureDefault,
	gen.FeatureCover, gen.FeatureOnes, gen.FeatureUnion,
	gen.FeatureSized, gen.FeatureTail, gen.FeatureAlign, gen.FeatureSignedRange,
}

// generator holds what all three files share.
type generator struct {
	p       *gen.Protocol
	pfx     string // "mr_"
	upper   string // "MR_"
	base    string // file name without suffix
	include string // path of the header below include/
	structs []*gen.Struct
	lists   []*gen.List
	order   []any // *gen.Struct and *gen.List: definition before use
	late    bool  // checksums are computed at the end of their structs
	vectors []int // widths of bits<N>, ascending
	arrays  map[*gen.Struct]bool
	fields  []field
	ids     map[any]string    // *gen.Item, *gen.Arm, *gen.Case: its field constant
	names   map[string]string // C tag: what claimed it
	taken   map[string]bool   // field constants
	defined map[string]string // constant: what defines it
	refused *gen.Refusals
}

// field is one number of enum mr_field.
type field struct{ id, name string }

func newGenerator(p *gen.Protocol) *generator {
	parts := strings.Split(p.Package, ".")
	g := &generator{
		p: p, pfx: p.Targets.CPrefix + "_", upper: strings.ToUpper(p.Targets.CPrefix) + "_",
		base: parts[len(parts)-1], arrays: map[*gen.Struct]bool{}, ids: map[any]string{}, names: map[string]string{}, taken: map[string]bool{}, defined: map[string]string{},
	}
	g.refused = p.Refusals("E0802", "the C backend cannot print this")
	g.refused.Features(known...)
	g.include = path.Join(path.Join(parts[:len(parts)-1]...), g.base+".gen.h")
	if len(parts) == 1 {
		g.include = path.Join(g.base, g.base+".gen.h")
	}
	return g
}

// unsupported refuses a part of the schema.
func (g *generator) unsupported(at gen.Declared, format string, args ...any) gen.Refusal {
	return g.refused.Add(at, format, args...)
}

// plan orders the definitions and names every field, and reports names that C would confuse.
func (g *generator) plan() {
	done := map[any]bool{}
	g.late = g.lateSums()
	g.checkSums()
	for _, s := range g.p.Structs {
		g.visitStruct(s, done)
	}
	for _, l := range g.p.Lists {
		g.visitList(l, done)
	}
	slices.Sort(g.vectors)
	g.vectors = slices.Compact(g.vectors)
	for _, s := range g.structs {
		g.nameFields(s)
	}
	for _, l := range g.lists {
		for _, c := range l.Cases {
			g.nameField(c, l.Name.C, c.Name.C, c.Name.Schema)
		}
	}
	if len(g.fields) > 0xffff {
		g.unsupported(nil, "the schema has %d fields, which are more than 65535", len(g.fields))
	}
	for _, o := range g.order {
		switch o := o.(type) {
		case *gen.Struct:
			g.claim(o, o.Name.C, "struct "+o.Name.Schema)
		case *gen.List:
			g.claim(o, o.Name.C, "tlv "+o.Name.Schema)
		}
	}
	for _, e := range g.p.Enums {
		g.claim(e, e.Name.C, "enum "+e.Name.Schema)
	}
}

// claim reserves a tag; struct and enum tags share one name space in C, and with types in C++.
func (g *generator) claim(at gen.Declared, name, owner string) {
	if slices.Contains([]string{"err", "error", "bytes", "field"}, name) || name == "header" && g.covering() {
		g.unsupported(at, "the C name `%s%s` of `%s` is taken by the runtime", g.pfx, name, owner).Help("rename it")
	}
	if old, taken := g.names[name]; taken {
		g.unsupported(at, "`%s` and `%s` share the C name `%s%s`", old, owner, g.pfx, name).Help("rename one of the two")
	}
	g.names[name] = owner
}

func (g *generator) visitStruct(s *gen.Struct, done map[any]bool) {
	if s == nil || done[s] {
		return
	}
	done[s] = true
	g.checkParams(s)
	for _, q := range s.Params {
		g.visitStruct(q.Struct, done)
	}
	for _, it := range s.Items {
		switch it.Kind {
		case gen.KindBits:
			if it.Vector.Bits%8 != 0 {
				g.unsupported(it, "`%s` has %d bits, which are no whole number of bytes", it.Name.Schema, it.Vector.Bits)
			}
			g.vectors = append(g.vectors, it.Vector.Bits)
		case gen.KindStruct:
			g.visitStruct(it.Struct, done)
		case gen.KindArray:
			g.visitArray(it, done)
		case gen.KindList:
			g.visitList(it.List, done)
		case gen.KindSwitch:
			for _, a := range it.Switch.Arms {
				g.visitStruct(a.Struct, done)
			}
		}
	}
	g.structs = append(g.structs, s)
	g.order = append(g.order, s)
}

func (g *generator) visitArray(it *gen.Item, done map[any]bool) {
	if a := it.Array; a.Struct != nil {
		g.arrays[a.Struct] = true
		g.visitStruct(a.Struct, done)
	} else if a.Scalar.Bits%8 != 0 {
		g.unsupported(it, "the elements of `%s` have %d bits, which are no whole bytes", it.Name.Schema, a.Scalar.Bits)
	}
}

func (g *generator) visitList(l *gen.List, done map[any]bool) {
	if l == nil || done[l] {
		return
	}
	done[l] = true
	g.visitStruct(l.Head, done)
	for _, c := range l.Cases {
		g.visitStruct(c.Struct, done)
	}
	g.lists = append(g.lists, l)
	g.order = append(g.order, l)
}

// nameFields numbers the items and arms of s.
func (g *generator) nameFields(s *gen.Struct) {
	for i, it := range s.Items {
		c := it.Name.C
		if unnamed(it) {
			c = fmt.Sprintf("unnamed%d", i)
		}
		g.nameField(it, s.Name.C, c, it.Name.Schema)
		if it.Kind != gen.KindSwitch {
			continue
		}
		for _, a := range it.Switch.Arms {
			if a.Struct != nil {
				g.nameField(a, s.Name.C, it.Name.C+"_"+a.Name.C, snake(a.Name.Schema))
			}
		}
	}
}

func (g *generator) nameField(key any, owner, c, schema string) {
	if g.ids[key] != "" {
		return
	}
	id := g.upper + "FIELD_" + strings.ToUpper(owner+"_"+c)
	for n := 2; g.taken[id]; n++ {
		id = fmt.Sprintf("%sFIELD_%s_%d", g.upper, strings.ToUpper(owner+"_"+c), n)
	}
	g.ids[key], g.taken[id] = id, true
	g.fields = append(g.fields, field{id: id, name: owner + "." + schema})
}

// synthetic tells whether s is the body of a switch arm, or the head or value of a TLV: a type, but no unit to call.
func (g *generator) synthetic(s *gen.Struct) bool {
	return (s.Owner != nil || s.List != nil) && !g.arrays[s]
}

func unnamed(it *gen.Item) bool { return it.Name.Schema == "_" }

// stored tells whether an item has a member in the C struct.
func stored(it *gen.Item) bool {
	return !unnamed(it) && !(it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPad && it.Span.Fixed >= 0)
}

// snake turns the CamelCase label of an arm into its part of an item path.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
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
