// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// texts are strings at the edges of UTF-8, valid ones first.
var texts = []struct {
	name string
	b    string
}{
	{"ascii", "plain"}, {"nul", "a\x00b"}, {"two", "\u0080\u07ff"}, {"three", "\u0800\ud7ff\ue000\uffff"},
	{"four", "\U00010000\U0010ffff"}, {"bom", "\ufeff"}, {"lone", "\x80"}, {"cut2", "\xc3"}, {"cut3", "\xe2\x82"},
	{"cut4", "\xf0\x9f\x98"}, {"long2", "\xc0\x80"}, {"long2top", "\xc1\xbf"}, {"long3", "\xe0\x9f\xbf"}, {"long4", "\xf0\x8f\xbf\xbf"},
	{"surrogate", "\xed\xa0\x80"}, {"surrogate-end", "\xed\xbf\xbf"}, {"beyond", "\xf4\x90\x80\x80"}, {"five", "\xf8\x88\x80\x80\x80"},
	{"fe", "\xfe"}, {"ff", "\xff"}, {"mixed", "ok\xe2\x28\xa1"},
}

// spans gives every span whose length is free other lengths, and strings other texts.
func (g *generator) spans(s *seed) {
	for _, f := range gen.Fields(s.tree) {
		item := f.Node.Item
		if item != nil && item.Kind == gen.KindSpan && item.Span.Kind == gen.SpanString && item.Span.Fixed >= 0 && !g.items[item] {
			g.fixedTexts(s, f)
			g.items[item] = true
		}
		if item == nil || item.Kind != gen.KindSpan || item.Span.Fixed >= 0 || item.Span.Align > 0 || s.decoded.Lookup(f.Path) == nil {
			continue
		}
		for _, n := range lengths(item.Span, g.depth(item)) {
			g.length(s, f.Path, n)
		}
		if item.Span.Kind == gen.SpanString && !g.items[item] {
			for _, t := range texts {
				g.text(s, f.Path, t.name, []byte(t.b))
			}
		}
		g.items[item] = true
	}
}

// fixedTexts records s with other texts in a string of constant size, cut or followed by NULs.
func (g *generator) fixedTexts(s *seed, f gen.Field) {
	at := s.decoded.Lookup(f.Path)
	if at == nil {
		return
	}
	for _, t := range texts {
		b := slices.Clone(s.bytes)
		field := b[at.Off : at.Off+at.Item.Span.Fixed]
		clear(field)
		copy(field, t.b)
		g.add(s, fmt.Sprintf("%s:%s", f.Path, t.name), b)
	}
}

func lengths(s *gen.Span, d depth) []int {
	ns := []int{0, 1, 5}
	if d == many {
		ns = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 63, 64, 65, 255, 256}
	}
	if s.Min > 0 {
		ns = append(ns, s.Min-1, s.Min)
	}
	if s.Max >= 0 && s.Max < 1024 {
		ns = append(ns, s.Max-1, s.Max, s.Max+1)
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// length records s with n bytes in one span. Constraints are met again if they can be.
func (g *generator) length(s *seed, path string, n int) {
	t := &seed{id: fmt.Sprintf("%s/%s:len=%d", s.id, path, n), of: s.of, tree: s.tree.Clone()}
	(&maker{}).resize(t.tree.Lookup(path), n)
	g.encoded(t)
}

func (g *generator) text(s *seed, path, name string, b []byte) {
	t := &seed{id: fmt.Sprintf("%s/%s:%s", s.id, path, name), of: s.of, tree: s.tree.Clone()}
	t.tree.Lookup(path).Bytes = b
	g.encoded(t)
}

// encoded records what the tree of t encodes to, valid or not.
func (g *generator) encoded(t *seed) {
	if made, err := settle(g.p, t); err == nil {
		g.addRaw(made, "", made.bytes)
		return
	}
	if b, err := gen.Encode(g.p, t.tree, t.of.params...); err == nil {
		g.addRaw(t, "", b)
	}
}
