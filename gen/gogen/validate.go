// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// validators prints Validate for each struct.
func (g *generator) validators(f *jen.File) {
	for _, s := range g.all {
		g.add(f, function{
			doc: []string{
				fmt.Sprintf("Validate tells whether Append writes %s that Decode accepts; fixed and computed fields may hold anything.", article(s.Name.Go)),
				"Errors name the field, without an offset.",
			},
			recv: method(s), name: "Validate", params: params(s), results: "error", body: g.validateBody(s),
		})
	}
}

func (g *generator) validateBody(s *gen.Struct) string {
	var b body
	v := &validator{g: g, s: s, b: &b, sc: g.fieldScope(s)}
	g.settleFixed(v.sc.known, "", s)
	fits := ""
	if s.FixedSize && s.Max > 0 && g.narrow(s) {
		fits = fmt.Sprintf("if err := %s.fits(); err != nil {\nreturn err\n}\n", v.sc.self)
	} else {
		for _, it := range s.Items {
			if !asked(it) {
				g.fit(&b, it, guard{self: v.sc.self})
			}
		}
	}
	v.solve()
	g.fitPresent(&b, s, v.sc, guard{self: v.sc.self})
	v.steps(s.Steps)
	if s.Packet && s.Greedy && s.Max >= 0 {
		b.line("size, err := %s.Len(%s)\nif err != nil {\nreturn err\n}", v.sc.self, paramNames(s))
		b.line("if size > %s {\nreturn fault(CodeSize, \"\", 0, 0).values(%s, uint64(size))\n}", g.maxConst(s), g.maxConst(s))
	}
	if fits != "" && b.Len() == 0 {
		return fmt.Sprintf("return %s.fits()", v.sc.self)
	}
	b.line("return nil")
	return fits + b.String()
}

// validator prints the checks of one struct on its fields.
type validator struct {
	g  *generator
	s  *gen.Struct
	b  *body
	sc *scope
}

// solve lets checks read what the encoder will write.
func (v *validator) solve() {
	for _, so := range solvedBy(v.s) {
		v.sc.solve(v.b, so, "")
	}
	for _, it := range v.s.Items {
		if it.Scalar != nil && it.Scalar.Derived != nil {
			d := v.sc.expr(it.Scalar.Derived)
			d.code, d.prec = "("+d.code+")", 6
			v.sc.known[it.Name.Schema] = d
		}
	}
}

func (v *validator) steps(steps []gen.Step) {
	for _, st := range steps {
		switch st := st.(type) {
		case *gen.Run:
			v.strings(st.Parts)
			v.checks(st.Checks)
		case *gen.Call:
			v.nested(st.Item.Name, v.sc.args(st.Item.Struct, st.Item.Args))
		case *gen.Repeat:
			v.repeat(st.Item)
		case *gen.Take:
			v.take(st.Item)
		case *gen.Elements:
			v.nested(st.Item.Name, v.sc.handed(st.Item))
		case *gen.Branch:
			v.branch(st)
		case *gen.Choose:
			v.choose(st.Item)
		case *gen.Window:
			v.steps(st.Body)
		case *gen.Verify:
			v.checks(st.Checks)
		}
	}
}

func (v *validator) checks(checks []*gen.Check) {
	d := &decoder{g: v.g, s: v.s, b: v.b, sc: v.sc}
	for _, c := range checks {
		if c.Kind == gen.CheckFixed || c.Kind == gen.CheckReserved || c.Kind == gen.CheckDerived {
			continue
		}
		d.check(c, place{})
	}
}

func (v *validator) strings(parts []gen.Part) {
	for _, p := range parts {
		if fixedString(p.Item) {
			v.text(p.Item)
		}
	}
}

func (v *validator) nested(name gen.Name, args string) {
	v.b.line("if err := %s.%s.Validate(%s); err != nil {\nreturn inside(err, %q, 0)\n}", v.sc.self, name.Go, args, name.Schema)
}

func (v *validator) take(it *gen.Item) {
	if it.Span.Align > 0 || !hasField(it) {
		return // the encoder needs nothing from the struct
	}
	field := v.sc.self + "." + it.Name.Go
	length := "len(" + field + ")"
	if it.Span.Kind == gen.SpanPad {
		length = field
		v.b.line("if %s < 0 {\nreturn fault(CodeNofit, %q, 0, 0)\n}", field, it.Name.Schema)
	}
	if cond := lengthOutside(length, it.Span); cond != "" {
		v.b.line("if %s {\nreturn fault(CodeRange, %q, 0, 0).values(0, uint64(%s))\n}", cond, it.Name.Schema, length)
	}
	if it.Span.Kind == gen.SpanString {
		v.text(it)
	}
	if it.Span.Size != nil {
		v.b.line("if uint64(%s) != uint64(%s) {\nreturn fault(CodeSize, %q, 0, 0)\n}", length, v.sc.expr(it.Span.Size).code, it.Name.Schema)
	}
}

func (v *validator) repeat(it *gen.Item) {
	field := v.sc.self + "." + it.Name.Go
	if it.Array.Count != nil {
		if count := v.sc.expr(it.Array.Count); !v.solvedCount(it) {
			v.b.line("if uint64(len(%s)) != uint64(%s) {\nreturn fault(CodeSize, %q, 0, 0)\n}", field, count.code, it.Name.Schema)
		}
	}
	if st := it.Array.Struct; st != nil {
		v.b.line("for index := range %s {\nif err := %s[index].Validate(%s); err != nil {\nreturn inside(err, indexed(%q, index), 0)\n}\n}",
			field, field, v.sc.args(st, it.Array.Args), it.Name.Schema)
		return
	}
	sc := it.Array.Scalar
	cond := scalarOutside(operand("value", scalarType(sc)), sc)
	if cond == "" {
		return
	}
	code := "CodeRange"
	if sc.In == nil {
		code = "CodeEnum"
	}
	v.b.line("for index, value := range %s {\nif %s {\nreturn fault(%s, indexed(%q, index), 0, 0).values(0, uint64(value))\n}\n}", field, cond, code, it.Name.Schema)
}

func (v *validator) solvedCount(it *gen.Item) bool {
	for _, so := range solvedBy(v.s) {
		if so.by.Of.Last() == it {
			return true
		}
	}
	return false
}

func (v *validator) branch(br *gen.Branch) {
	then, other := v.capture(br.Then), v.capture(br.Else)
	switch {
	case then != "" && other != "":
		v.b.line("if %s {\n%s} else {\n%s}", v.sc.truth(br.Cond).code, then, other)
	case then != "":
		v.b.line("if %s {\n%s}", v.sc.truth(br.Cond).code, then)
	case other != "":
		v.b.line("if %s {\n%s}", v.sc.negate(br.Cond).code, other)
	}
}

// capture returns the lines of steps instead of printing them.
func (v *validator) capture(steps []gen.Step) string {
	outer := v.b
	var inner body
	v.b = &inner
	v.steps(steps)
	v.b = outer
	return inner.String()
}

func (v *validator) choose(it *gen.Item) {
	sel := v.sc.resolve(it.Switch.Selector)
	number := convert(sel, "uint64").code
	printSwitch(v.b, selection{sw: it.Switch, sel: sel}, func(a *gen.Arm) {
		switch {
		case a.Reject != nil:
			v.b.line("return fault(%s, %q, 0, 0).values(0, %s)", codeConst(a.Reject), it.Name.Schema, number)
		case a.Struct != nil:
			name := a.Name
			name.Schema = snake(name.Schema)
			v.nested(name, v.sc.args(a.Struct, a.Args))
		}
	}, fmt.Sprintf("return fault(CodeSwitch, %q, 0, 0).values(0, %s)", it.Name.Schema, number))
}
