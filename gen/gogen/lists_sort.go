// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"slices"

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
	for _, it := range l.KeyItems() {
		bits += it.Scalar.Bits
	}
	if bits > 64 {
		g.fail(l, "the elements of `%s` are ordered by keys of more than 64 bits", l.Name.Schema)
	}
	name := l.Name.Go
	g.add(f, function{
		doc: []string{"key" + name + " is the key of an element."}, name: "key" + name, params: "view *" + viewName(l.Head),
		results: listKey(l, "view").typ, body: "return " + listKey(l, "view").code,
	})
	g.add(f, function{
		doc:  []string{"sort" + name + " puts the elements of a list in the order of their keys, and leaves those with equal keys as they are."},
		name: "sort" + name, params: "list []byte",
		body: `for at := 0; at < len(list); {
	view := (*` + viewName(l.Head) + `)(list[at:])
	size, _ := measure` + name + `(view)
	to := 0
	for to < at {
		other := (*` + viewName(l.Head) + `)(list[to:])
		if key` + name + `(other) > key` + name + `(view) {
			break
		}
		step, _ := measure` + name + `(other)
		to += step
	}
	rotate(list[to:at+size], size)
	at += size
}`,
	})
}
