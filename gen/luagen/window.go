// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// end prints the end of a container with trailers behind it.
func (f *function) end(reserve int, tail *gen.Expr) string {
	text := "stop"
	if reserve > 0 {
		text = fmt.Sprintf("stop - %d", reserve)
	}
	if tail != nil {
		text += " - " + f.printer().num(tail).within(bindMul)
	}
	return text
}

// limit prints where the struct's own size ends it.
func (f *function) limit(l *gen.Limit) {
	g := f.g
	path, at := "", "at"
	if l.Item.Param == nil && len(l.Item.Path) > 0 {
		path, at = pathText(l.Item.Path), f.local(value{valAt, l.Item})
	}
	g.open("do")
	g.line("local e = at + %s", f.printer().num(l.Size).within(bindAdd))
	g.line("if e < %s then %s end", plus("o", l.Rest), failure(gen.SizeNumber, path, at))
	g.line("if e > stop then %s end", failure(gen.ShortNumber, path, at))
	g.line("stop = e")
	g.shut("end")
}

// sized prints an item that has a container of its own.
func (f *function) sized(w *gen.Window) error {
	g, path := f.g, w.Item.Name.Schema
	g.open("do")
	g.line("local e = o + %s", f.printer().num(w.Size).within(bindAdd))
	if w.Least > 0 {
		g.line("if e < o + %d then %s end", w.Least, failure(gen.SizeNumber, path, "o"))
	}
	number := gen.ShortNumber
	if w.Limited {
		number = gen.SizeNumber
	}
	g.line("if e > stop then %s end", failure(number, path, "o"))
	g.line("local stop = e")
	if err := f.steps(w.Body); err != nil {
		return err
	}
	g.line("if o < stop then %s end", failure(gen.TrailingNumber, path, "o"))
	g.shut("end")
	return nil
}

// leave notes where an item ends, and its size when it is no span.
func (f *function) leave(it *gen.Item) {
	if n, ok := f.wants(valEnd, it); ok {
		f.g.line("%s = o", n)
	}
	if n, ok := f.wants(valSize, it); ok && it.Kind != gen.KindSpan {
		f.g.line("%s = o - %s", n, f.local(value{valAt, gen.Ref{Path: []*gen.Item{it}}}))
	}
}

// lint is a rule that packets may break, seen from a struct in which its own one lies at path.
type lint struct {
	check *gen.Check
	path  []*gen.Item
}

// lintsOf lists the rules of a struct and of the headers inside its runs.
func lintsOf(s *gen.Struct) []lint {
	var all []lint
	for _, c := range s.Lints {
		all = append(all, lint{c, nil})
	}
	eachRun(s.Steps, func(r *gen.Run) {
		for _, n := range nestedIn(r) {
			for _, c := range n.last().Struct.Lints {
				all = append(all, lint{c, n.path})
			}
		}
	})
	return all
}

// at is the place that a broken rule names; false = that of the struct.
func (l lint) at() (value, bool) {
	if l.check.Item.Param != nil || len(l.check.Item.Path)+len(l.path) == 0 {
		return value{}, false
	}
	return under(l.path, value{valAt, gen.Ref{Path: l.check.Item.Path}}), true
}

// lints makes s read what its rules speak of.
func (u *usage) lints(s *gen.Struct) {
	for _, l := range lintsOf(s) {
		u.lint(s, l, l.check.Hold)
		if v, ok := l.at(); ok {
			u.need(s, v)
		}
	}
}

func (u *usage) lint(s *gen.Struct, l lint, e *gen.Expr) {
	if v, ok := valueOf(e); ok {
		u.need(s, l.seen(v))
	}
	for _, a := range e.Args {
		u.lint(s, l, a)
	}
}

// seen is a value that the rule reads, seen from the struct that prints it.
func (l lint) seen(v value) value {
	if v.ref.Param != nil {
		return v
	}
	return under(l.path, v)
}

// lints prints the rules that a packet may break.
func (f *function) lints() {
	for _, l := range lintsOf(f.s) {
		at := "at"
		if v, ok := l.at(); ok {
			at = f.local(v)
		}
		p := printer{func(v value) string { return f.local(l.seen(v)) }}
		f.g.line("if %s then lint(%s, %s) end", p.unless(l.check.Hold), quote(l.check.Text), at)
	}
}
