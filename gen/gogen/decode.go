// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// decoders prints load and Decode for each struct.
func (g *generator) decoders(f *jen.File) {
	for _, s := range g.all {
		if s.FixedSize && s.Max > 0 {
			g.loadFixed(f, s)
			g.decodeFixed(f, s)
			continue
		}
		g.decodeSteps(f, s)
	}
}

func method(s *gen.Struct) string { return receiver(s.Name.Go) + " *" + s.Name.Go }

func (g *generator) loadFixed(f *jen.File, s *gen.Struct) {
	var b body
	g.loadParts(&b, buffer{code: "view", target: receiver(s.Name.Go)}, fixedParts(s))
	g.add(f, function{
		doc:  []string{"load takes the fields from a view without checks."},
		recv: method(s), name: "load", params: "view *" + viewName(s), body: b.String(),
	})
}

func (g *generator) decodeFixed(f *jen.File, s *gen.Struct) {
	recv := receiver(s.Name.Go)
	var b body
	b.line("view, ok := As%s(src)", viewName(s))
	b.line("if !ok {\nreturn 0, short(%q, 0, %s)\n}", firstLeaf(fixedRun(s)), g.sizeConst(s))
	if len(fixedRun(s).Checks) > 0 {
		b.line("if !view.Valid() {\nreturn 0, view.broken()\n}")
	}
	b.line("%s.load(view)", recv)
	b.line("return %s, nil", g.sizeConst(s))
	g.add(f, function{
		doc:  []string{fmt.Sprintf("Decode reads %s from the beginning of src and returns its size.", article(s.Name.Go))},
		recv: method(s), name: "Decode", params: commas("src []byte", params(s)), results: "(int, error)", body: b.String(),
	})
}

// firstLeaf is the path of the first item of a run that is not a nested struct.
func firstLeaf(r *gen.Run) string {
	var names []string
	for r != nil && len(r.Parts) > 0 {
		it := r.Parts[0].Item
		names = append(names, it.Name.Schema)
		if it.Kind != gen.KindStruct {
			break
		}
		r = fixedRun(it.Struct)
	}
	return strings.Join(names, ".")
}

// buffer is where printed loads read and what they fill.
type buffer struct {
	code   string // an array pointer
	target string // a struct
	words  string // what the names of loaded words end with, so that two runs of a function differ
}

// loadParts prints the statements that fill a struct's fields from a run.
func (g *generator) loadParts(b *body, buf buffer, parts []gen.Part) {
	scalars, others := groups(parts)
	next := 0
	flush := func(bit int) {
		for ; next < len(others) && others[next].Bit < bit; next++ {
			g.loadOther(b, buf, others[next])
		}
	}
	for _, gr := range scalars {
		flush(gr.bit)
		g.loadGroup(b, buf, gr)
	}
	flush(1 << 30)
}

func (g *generator) loadGroup(b *body, buf buffer, gr group) {
	named := 0
	for _, p := range gr.parts {
		if hasField(p.Item) {
			named++
		}
	}
	if named < 2 || gr.bits > 64 {
		for _, p := range gr.parts {
			if hasField(p.Item) {
				b.line("%s.%s = %s", buf.target, p.Item.Name.Go, g.loadScalar(buf.code, p.Bit, p.Item.Scalar).code)
			}
		}
		return
	}
	name := fmt.Sprintf("word%d%s", gr.bit/8, buf.words)
	word := loadWord(buf.code, gr.bit/8, gr.bits/8)
	b.line("%s := %s", name, word.code)
	for _, p := range gr.parts {
		if hasField(p.Item) {
			shift := gr.bit + gr.bits - p.Bit - p.Item.Scalar.Bits
			typ := val{name, word.typ, 6}
			b.line("%s.%s = %s", buf.target, p.Item.Name.Go, fromWord(typ, gr.bits/8, shift, p.Item.Scalar).code)
		}
	}
}

func (g *generator) loadOther(b *body, buf buffer, p gen.Part) {
	it, at := p.Item, p.Bit/8
	if !hasField(it) {
		return
	}
	dst := buf.target + "." + it.Name.Go
	switch it.Kind {
	case gen.KindStruct:
		b.line("%s.load((*%s)(%s[%d:%d]))", dst, viewName(it.Struct), buf.code, at, at+it.Struct.Max)
	case gen.KindBits:
		n := it.Vector.Bits / 8
		b.line("%s = load%s((*[%d]byte)(%s[%d:%d]))", dst, vectorType(it.Vector), n, buf.code, at, at+n)
	case gen.KindSpan:
		b.line("%s = %s(%s[%d:%d])", dst, spanType(it.Span), buf.code, at, at+it.Span.Fixed)
	default:
		g.fail("%s cannot lie in a run", it.Name.Schema)
	}
}

func (g *generator) decodeSteps(f *jen.File, s *gen.Struct) {
	var b body
	d := &decoder{g: g, s: s, b: &b, sc: g.fieldScope(s), fail: "0, ", recorded: map[*gen.Item]string{}, scopes: []map[string]bool{{}}}
	if s.Packet && s.Greedy && s.Max >= 0 {
		b.line("if len(src) > %s {\nreturn 0, fault(CodeSize, \"\", 0, 0).values(%s, uint64(len(src)))\n}", g.maxConst(s), g.maxConst(s))
	}
	d.need = verifiedItems(s.Steps, map[*gen.Item]bool{})
	for it := range inOrder(s, d.need) {
		if it.When != nil {
			b.line("var %s int", d.record(it))
		}
	}
	d.steps(s.Steps)
	if (s.Greedy || s.Sized != nil) && !endsAtEnd(s.Steps) {
		d.settle()
		b.line("if %s < len(src) {\nreturn 0, fault(CodeTrailing, \"\", %s, 0)\n}", d.off(), d.off())
	}
	b.line("return %s, nil", d.off())
	lines := []string{fmt.Sprintf("Decode reads %s from the beginning of src and returns its size.", article(s.Name.Go))}
	if s.Greedy {
		lines = []string{fmt.Sprintf("Decode reads %s, which must be all of src.", article(s.Name.Go))}
	}
	g.add(f, function{
		doc: lines, recv: method(s), name: "Decode", params: commas("src []byte", params(s)), results: "(int, error)", body: b.String(),
	})
}

// endsAtEnd tells whether the last step takes everything, so that nothing can be left.
func endsAtEnd(steps []gen.Step) bool {
	for i := len(steps) - 1; i >= 0; i-- {
		switch st := steps[i].(type) {
		case *gen.Verify:
			continue
		case *gen.Take:
			return st.Item.Span.Size == nil && st.Item.Span.Align == 0 && st.Reserve == 0 && st.Tail == nil
		case *gen.Elements:
			return st.Reserve == 0 && st.Tail == nil
		}
		return false
	}
	return false
}

// verifiedItems collects the items whose places errors of Verify and Limit steps name.
func verifiedItems(steps []gen.Step, need map[*gen.Item]bool) map[*gen.Item]bool {
	for _, st := range steps {
		switch st := st.(type) {
		case *gen.Verify:
			for _, c := range st.Checks {
				if c.Item.Param == nil && len(c.Item.Path) > 0 {
					need[c.Item.Path[0]] = true
				}
			}
		case *gen.Limit:
			if st.Item.Param == nil && len(st.Item.Path) > 0 {
				need[st.Item.Path[0]] = true
			}
		case *gen.Window:
			verifiedItems(st.Body, need)
		case *gen.Branch:
			verifiedItems(st.Then, need)
			verifiedItems(st.Else, need)
		}
	}
	return need
}

// inOrder yields the members of a set in the struct's order.
func inOrder(s *gen.Struct, set map[*gen.Item]bool) func(func(*gen.Item) bool) {
	return func(yield func(*gen.Item) bool) {
		for _, it := range s.Items {
			if set[it] && !yield(it) {
				return
			}
		}
	}
}

// decoder prints the decode program of one struct.
type decoder struct {
	g        *generator
	s        *gen.Struct
	b        *body
	sc       *scope
	fail     string // what stands before an error in a return statement
	fixed    int    // offset while it is a constant
	at       string // offset while it is an expression; "" = fixed
	dynamic  bool   // it lies in the variable off
	raws     int    // runs printed so far
	need     map[*gen.Item]bool
	recorded map[*gen.Item]string
	scopes   []map[string]bool // names declared in the blocks around the current line
}

// off prints the current offset.
func (d *decoder) off() string {
	switch {
	case d.dynamic:
		return "off"
	case d.at != "":
		return d.at
	}
	return strconv.Itoa(d.fixed)
}

// plus prints an offset n bytes after base.
func plus(base string, n int) string {
	if c, err := strconv.Atoi(base); err == nil {
		return strconv.Itoa(c + n)
	}
	if n == 0 {
		return base
	}
	return fmt.Sprintf("%s+%d", base, n)
}

// rest prints the input from the current offset to end; "" = all of it.
func (d *decoder) rest(end string) string {
	if d.off() == "0" && (end == "" || end == "len(src)") {
		return "src"
	}
	if end == "len(src)" {
		end = ""
	}
	if d.off() == "0" {
		return "src[:" + end + "]"
	}
	return "src[" + d.off() + ":" + end + "]"
}

// float moves the offset into a variable.
func (d *decoder) float() {
	if !d.dynamic {
		d.b.line("off := %s", d.off())
		d.dynamic = true
	}
}

// advance moves the offset by a printed amount.
func (d *decoder) advance(by string) {
	switch {
	case d.dynamic:
		d.b.line("off += %s", by)
		return
	case d.off() == "0":
		d.at = by
	default:
		d.at = d.off() + " + " + by
	}
}

// jump sets the offset to a printed place.
func (d *decoder) jump(to string) {
	if d.dynamic {
		d.b.line("off = %s", to)
		return
	}
	d.at = to
}

// settle gives an offset that is a compound expression a name.
func (d *decoder) settle() {
	if !d.dynamic && d.at != "" && d.at != "used" {
		d.float()
	}
}

// assign is ":=" for the first use of names in the blocks around, "=" afterwards.
func (d *decoder) assign(names string) string {
	for _, s := range d.scopes {
		if s[names] {
			return "="
		}
	}
	d.scopes[len(d.scopes)-1][names] = true
	return ":="
}

// block prints what stands between braces.
func (d *decoder) block(print func()) {
	d.scopes = append(d.scopes, map[string]bool{})
	print()
	d.scopes = d.scopes[:len(d.scopes)-1]
}

func (d *decoder) record(it *gen.Item) string {
	return lowerCamel(it.Name) + "At"
}

// mark keeps the place of an item that later errors may name.
func (d *decoder) mark(it *gen.Item, at string) {
	if !d.need[it] {
		return
	}
	if !d.dynamic {
		d.recorded[it] = at
		if it.When != nil {
			d.b.line("%s = %s", d.record(it), at)
		}
		return
	}
	op := ":="
	if it.When != nil {
		op = "="
	}
	d.recorded[it] = d.record(it)
	d.b.line("%s %s %s", d.record(it), op, at)
}

func (d *decoder) steps(steps []gen.Step) {
	for _, st := range steps {
		switch st := st.(type) {
		case *gen.Run:
			d.run(st)
		case *gen.Call:
			d.call(st)
		case *gen.Repeat:
			d.repeat(st)
		case *gen.Take:
			d.take(st)
		case *gen.Elements:
			d.elements(st)
		case *gen.Branch:
			d.branch(st)
		case *gen.Choose:
			d.choose(st)
		case *gen.Limit:
			d.limit(st)
		case *gen.Window:
			d.inWindow(st)
		case *gen.Verify:
			for _, c := range st.Checks {
				d.check(c, place{})
			}
		}
	}
}
