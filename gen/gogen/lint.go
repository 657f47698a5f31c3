// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// lints prints Lint for each struct that has rules which decoders do not enforce, or holds such a struct.
func (g *generator) lints(f *jen.File) {
	for _, s := range g.all {
		if !linted(s) {
			continue
		}
		var b body
		d := &decoder{g: g, s: s, b: &b, sc: g.fieldScope(s)}
		for _, c := range s.Lints {
			d.check(c, place{})
		}
		for _, it := range s.Items {
			g.lintItem(&b, d.sc, it)
		}
		b.line("return nil")
		g.add(f, function{
			doc: []string{fmt.Sprintf("Lint is the first rule that %s ought to obey and does not; nil when there is none. Decode accepts it, and Append writes it.", article(s.Name.Go)),
				"Errors name the field, without an offset."},
			recv: method(s), name: "Lint", params: params(s), results: "error", body: b.String(),
		})
	}
	for _, l := range g.p.Lists {
		if !listLinted(l) {
			continue
		}
		var b body
		eachCase(&b, l, func(b *body, use caseUse) {
			if linted(use.c.Struct) {
				b.line("if err := %s.Lint(%s); err != nil {\nreturn inside(err, %s, 0)\n}", elementValue(use.c, use.value), g.caseArgs(use.c), use.path)
			}
		})
		b.line("return nil")
		g.add(f, function{
			doc:  []string{"Lint is Lint of the first element that has something to say."},
			recv: receiver(l.Name.Go) + " *" + l.Name.Go, name: "Lint", params: listParams(l), results: "error", body: b.String(),
		})
	}
}

// linted tells whether a struct has Lint.
func linted(s *gen.Struct) bool {
	if s == nil {
		return false
	}
	if len(s.Lints) > 0 {
		return true
	}
	for _, it := range s.Items {
		if linted(it.Struct) || it.Array != nil && linted(it.Array.Struct) || it.List != nil && listLinted(it.List) {
			return true
		}
		if it.Switch == nil {
			continue
		}
		for _, a := range it.Switch.Arms {
			if linted(a.Struct) {
				return true
			}
		}
	}
	return false
}

func listLinted(l *gen.List) bool {
	for _, c := range l.Cases {
		if linted(c.Struct) {
			return true
		}
	}
	return false
}

// lintItem prints the calls of Lint within one item.
func (g *generator) lintItem(b *body, sc *scope, it *gen.Item) {
	var inner body
	field, name := sc.self+"."+it.Name.Go, it.Name.Schema
	call := func(value, args, path string) string {
		return fmt.Sprintf("if err := %s.Lint(%s); err != nil {\nreturn inside(err, %s, 0)\n}\n", value, args, path)
	}
	switch {
	case linted(it.Struct):
		inner.WriteString(call(field, sc.args(it.Struct, it.Args), fmt.Sprintf("%q", name)))
	case it.List != nil && listLinted(it.List):
		inner.WriteString(call(field, sc.handed(it), fmt.Sprintf("%q", name)))
	case it.Array != nil && linted(it.Array.Struct):
		inner.line("for index := range %s {\n%s}", field, call(field+"[index]", sc.args(it.Array.Struct, it.Array.Args), fmt.Sprintf("indexed(%q, index)", name)))
	case it.Switch != nil:
		var arms body
		used := false
		printSwitch(&arms, selection{sw: it.Switch, sel: sc.resolve(it.Switch.Selector)}, func(a *gen.Arm) {
			if linted(a.Struct) {
				used = true
				arms.WriteString(call(sc.self+"."+a.Name.Go, sc.args(a.Struct, a.Args), fmt.Sprintf("%q", snake(a.Name.Schema))))
			}
		}, "")
		if used {
			inner.WriteString(arms.String())
		}
	}
	switch {
	case inner.Len() == 0:
	case it.When != nil:
		b.line("if %s {\n%s}", sc.truth(it.When).code, inner.String())
	default:
		b.WriteString(inner.String())
	}
}
