// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// mixes tells whether the order of keys may mix the elements of several cases, so that the encoder must sort them.
func mixes(l *gen.List) bool {
	return l.Ascending && (l.Keys != nil || slices.ContainsFunc(l.Cases, func(c *gen.Case) bool { return c.Keys != nil }))
}

// listSort prints the function that sorts the elements of a written list. They are few: it moves each to its place.
func (g *generator) listSort(f *jen.File, l *gen.List) {
	if !mixes(l) {
		return
	}
	bits := 0
	for _, it := range keysOf(l) {
		bits += it.Scalar.Bits
	}
	if bits > 64 {
		g.fail("%s: order of keys of more than 64 bits", l.Name.Schema)
	}
	view := "view := (*" + viewName(l.Head) + ")(element)\n"
	sc := &scope{g: g, self: "view", getters: true}
	size := g.sizeConst(l.Head) + " + int(" + sc.expr(l.Length).code + ")"
	if l.ElementAlign > 1 {
		size = "size + shortOf(size, " + strconv.Itoa(l.ElementAlign) + ")"
		view += "size := " + g.sizeConst(l.Head) + " + int(" + sc.expr(l.Length).code + ")\n"
	}
	name := l.Name.Go
	g.add(f, function{
		doc: []string{"measure" + name + " is the size of an element."}, name: "measure" + name, params: "element []byte", results: "int",
		body: view + "return " + size,
	})
	g.add(f, function{
		doc: []string{"key" + name + " is the key of an element."}, name: "key" + name, params: "element []byte",
		results: listKey(l, "view").typ, body: "view := (*" + viewName(l.Head) + ")(element)\nreturn " + listKey(l, "view").code,
	})
	g.add(f, function{
		doc:  []string{"sort" + name + " puts the elements of a list in the order of their keys, and leaves those with equal keys as they are."},
		name: "sort" + name, params: "list []byte",
		body: `for at := 0; at < len(list); {
	size, to := measure` + name + `(list[at:]), 0
	for to < at && key` + name + `(list[to:]) <= key` + name + `(list[at:]) {
		to += measure` + name + `(list[to:])
	}
	rotate(list[to:at+size], size)
	at += size
}`,
	})
}
