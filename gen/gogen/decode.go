// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// decoders prints Decode for each struct.
func (g *generator) decoders(f *jen.File) {
	for _, s := range g.all {
		if s.FixedSize && s.Max > 0 {
			g.add(f, g.decodeFixed(s))
			continue
		}
		g.decodeSteps(f, s)
	}
}

func method(s *gen.Struct) string { return receiver(s.Name.Go) + " *" + s.Name.Go }

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

func (g *generator) decodeSteps(f *jen.File, s *gen.Struct) {
	var b body
	d := &decoder{g: g, s: s, b: &b, sc: g.fieldScope(s), fail: "0, ", remain: -1, recorded: map[*gen.Item]string{}, scopes: []map[string]bool{{}}}
	if s.Packet && s.Greedy && s.Max >= 0 {
		if r, ok := s.Steps[0].(*gen.Run); ok && r.Size > 0 {
			d.most = g.maxConst(s)
		} else {
			b.line("if len(src) > %s {\nreturn 0, unfit(len(src), 0, %s, \"\")\n}", g.maxConst(s), g.maxConst(s))
		}
	}
	d.need = verifiedItems(s.Steps, map[*gen.Item]bool{})
	for it := range inOrder(s, d.need) {
		if it.When != nil {
			b.line("var %s int", d.record(it))
		}
	}
	d.steps(s.Steps)
	if (s.Greedy || s.Sized != nil) && d.remain != 0 {
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
	remain   int    // bytes that are known to be left behind the offset; -1 = not known
	most     string // the largest size that src may have, to be checked with the first run's; "" = checked or unlimited
	raws     int    // runs printed so far
	bytes    int    // and the sum of their sizes
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
	if d.declared(names) {
		return "="
	}
	d.scopes[len(d.scopes)-1][names] = true
	return ":="
}

// declared tells whether names are variables already.
func (d *decoder) declared(names string) bool {
	return slices.ContainsFunc(d.scopes, func(s map[string]bool) bool { return s[names] })
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
		before := d.remain
		d.remain = -1
		switch st := st.(type) {
		case *gen.Run:
			d.remain = before
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
			d.remain = before
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
			d.remain = before
		}
	}
}
