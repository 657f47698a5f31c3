// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// lengths prints Len for each struct.
func (g *generator) lengths(f *jen.File) {
	for _, s := range g.all {
		fn := function{
			doc:  []string{fmt.Sprintf("Len is the size in bytes of the %s that Append writes.", s.Name.Go)},
			recv: method(s), name: "Len", params: params(s), results: "(int, error)",
		}
		if s.FixedSize && s.Max > 0 {
			fn.body = fmt.Sprintf("return %s, nil", g.sizeConst(s))
		} else {
			fn.body = g.lengthBody(s)
		}
		g.add(f, fn)
		for _, w := range windows(s.Steps) {
			if sizedBySolve(s, w.Item) {
				g.add(f, g.windowLen(s, w))
			}
		}
	}
}

func (g *generator) lengthBody(s *gen.Struct) string {
	var b body
	l := &measurer{g: g, b: &b, sc: g.fieldScope(s)}
	g.settleFixed(l.sc.known, "", s)
	for _, it := range s.Items {
		if it.Scalar != nil && it.Scalar.Derived != nil && conditional(s, it) {
			v := l.sc.expr(it.Scalar.Derived)
			v.code, v.prec = "("+v.code+")", 6
			l.sc.known[it.Name.Schema] = v
		}
	}
	fixed := l.steps(s.Steps)
	out := b.String()
	if out == "" {
		return fmt.Sprintf("return %d, nil", fixed)
	}
	return fmt.Sprintf("size := %d\n%sreturn size, nil", fixed, out)
}

// conditional tells whether the presence of some item of s depends on it.
func conditional(s *gen.Struct, it *gen.Item) bool {
	for _, other := range s.Items {
		if other.When != nil && reads(other.When, it) {
			return true
		}
	}
	return false
}

func reads(e *gen.Expr, it *gen.Item) bool {
	if e.Ref.Last() == it {
		return true
	}
	for _, a := range e.Args {
		if reads(a, it) {
			return true
		}
	}
	return false
}

// measurer prints the length of one struct.
type measurer struct {
	g      *generator
	b      *body
	sc     *scope
	behind int  // bytes that the variable size holds already although they lie behind the current step
	part   bool // of the struct only: size does not begin at its start
}

// fixedSize is the sum of what does not vary.
func fixedSize(steps []gen.Step) int {
	size := 0
	for _, st := range steps {
		switch st := st.(type) {
		case *gen.Run:
			size += st.Size
		case *gen.Window:
			size += fixedSize(st.Body)
		}
	}
	return size
}

// steps prints the additions of what varies and returns the sum of what does not.
func (l *measurer) steps(steps []gen.Step) int {
	outer := l.behind
	fixed := fixedSize(steps)
	for i, st := range steps {
		l.behind = outer + fixedSize(steps[i+1:])
		switch st := st.(type) {
		case *gen.Call:
			l.nested(st.Item.Name, l.sc.args(st.Item.Struct, st.Item.Args))
		case *gen.Repeat:
			l.repeat(st.Item)
		case *gen.Take:
			l.take(st.Item)
		case *gen.Elements:
			l.nested(st.Item.Name, l.sc.handed(st.Item))
		case *gen.Branch:
			l.branch(st)
		case *gen.Choose:
			l.choose(st.Item)
		case *gen.Window:
			l.steps(st.Body)
		}
	}
	l.behind = outer
	return fixed
}

// block prints steps whose fixed part is added where they stand.
func (l *measurer) block(steps []gen.Step) {
	outer := l.b
	var inner body
	l.b = &inner
	fixed := l.steps(steps)
	l.b = outer
	if fixed > 0 {
		l.b.line("size += %d", fixed)
	}
	l.b.WriteString(inner.String())
}

func (l *measurer) branch(br *gen.Branch) {
	l.b.line("if %s {", l.sc.truth(br.Cond).code)
	l.block(br.Then)
	if len(br.Else) > 0 {
		l.b.line("} else {")
		l.block(br.Else)
	}
	l.b.line("}")
}

func (l *measurer) nested(name gen.Name, args string) {
	part := lowerCamel(name) + "Size"
	l.b.line("%s, err := %s.%s.Len(%s)\nif err != nil {\nreturn 0, inside(err, %q, 0)\n}\nsize += %s",
		part, l.sc.self, name.Go, args, name.Schema, part)
}

func (l *measurer) take(it *gen.Item) {
	switch n := it.Span.Align; {
	case n > 0 && l.part:
		l.g.fail(it, "`%s` pads to a multiple within a part that is measured alone", it.Name.Schema)
		return
	case n > 0:
		l.b.line("size += shortOf(%s, %d)", less("size", int64(l.behind)), n)
		return
	case !hasField(it) && it.Span.Size != nil:
		l.b.line("size += int(%s)", l.sc.expr(it.Span.Size).code)
		return
	}
	if it.Span.Kind == gen.SpanPad {
		l.b.line("size += %s.%s", l.sc.self, it.Name.Go)
		return
	}
	l.b.line("size += len(%s.%s)", l.sc.self, it.Name.Go)
}

func (l *measurer) repeat(it *gen.Item) {
	field := l.sc.self + "." + it.Name.Go
	if n := elementSize(it.Array); n > 0 {
		l.b.line("size += len(%s) * %d", field, n)
		return
	}
	st := it.Array.Struct
	l.b.line("for index := range %s {\nused, err := %s[index].Len(%s)\nif err != nil {\nreturn 0, inside(err, indexed(%q, index), 0)\n}\nsize += used\n}",
		field, field, l.sc.args(st, it.Array.Args), it.Name.Schema)
}

func (l *measurer) choose(it *gen.Item) {
	sel := l.sc.resolve(it.Switch.Selector)
	number := convert(sel, "uint64").code
	printSwitch(l.b, selection{sw: it.Switch, sel: sel}, func(a *gen.Arm) {
		switch {
		case a.Reject != nil:
			l.b.line("return 0, fault(%s, %q, 0, 0).values(0, %s)", codeConst(a.Reject), it.Name.Schema, number)
		case a.Struct != nil && a.Struct.FixedSize:
			l.b.line("size += %s", l.g.sizeConst(a.Struct))
		case a.Struct != nil:
			name := a.Name
			name.Schema = snake(name.Schema)
			l.nested(name, l.sc.args(a.Struct, a.Args))
		}
	}, fmt.Sprintf("return 0, fault(CodeSwitch, %q, 0, 0).values(0, %s)", it.Name.Schema, number))
}
