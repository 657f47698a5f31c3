// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// general reports whether a list needs more than one plain number as its key and zeros at its end. One that does makes all
// lists of the dissector general.
func (g *generator) general() bool {
	return slices.ContainsFunc(g.lists, func(l *gen.List) bool {
		return len(l.Params) > 0 || l.Keys != nil || len(l.Bares) > 0 || l.Fill != nil || l.Strict || l.Unknown != nil ||
			slices.ContainsFunc(l.Cases, func(c *gen.Case) bool { return c.Keys != nil })
	})
}

// list prints L.x, the table that drives elements() in the runtime.
func (g *generator) list(l *gen.List) error {
	for _, it := range l.KeyItems() {
		if wide(it.Scalar) {
			return g.refusal(l, "the keys of `%s` have more than %d bits, which Lua cannot compare", l.Name.Schema, exactBits)
		}
	}
	abbr := g.p.Targets.LuaProto + "." + l.Name.Filter
	if err := g.claim(l, abbr); err != nil {
		return err
	}
	if err := g.bares(l); err != nil {
		return err
	}
	g.doc(l.Doc)
	g.open("L.%s = {", l.Name.Filter)
	g.line("max = %d, head = %d, align = %d, ascending = %t,", l.Max, l.Head.Max, max(l.ElementAlign, 1), l.Ascending)
	if l.End != nil {
		g.line("stop = %d,", *l.End)
	}
	g.line("field = field(ProtoField.none(%s, %s, %s)),", quote(abbr), quote(label(l.Name)), quote(firstDoc(l.Doc)))
	g.line("unknown = field(ProtoField.bytes(%s, \"Unknown element\")),", quote(abbr+".unknown"))
	g.line("padding = field(ProtoField.bytes(%s, \"Padding\")),", quote(abbr+".padding"))
	if err := g.listHead(l); err != nil {
		return err
	}
	if g.general() {
		g.listRules(l)
	}
	g.open("cases = {")
	for i, c := range l.Cases {
		if err := g.listCase(l, g.caseNumber(i, c), c); err != nil {
			return err
		}
	}
	g.shut("},")
	g.line("required = {%s},", g.requiredKeys(l))
	g.shut("}")
	if g.general() {
		g.line("list_fields(L.%s, F.%s)", l.Name.Filter, l.Head.Name.Filter)
	}
	g.line("")
	return nil
}

// listHead prints read(o): key, length and whether an unknown key may be skipped, or nil and a code; and tree(t, o).
func (g *generator) listHead(l *gen.List) error {
	f := &function{g: g, s: l.Head, names: map[string]string{}, taken: map[string]bool{}}
	run := runOf(l.Head)
	args := []string{"o"}
	for _, v := range params(g.use, l.Head) {
		args = append(args, f.local(v))
	}
	g.open("read = function(%s)", strings.Join(args, ", "))
	f.prologue()
	f.read(run)
	for _, c := range run.Checks {
		f.check(c, run)
	}
	skip := "true"
	if l.SkipIf != nil {
		skip = f.printer().truth(l.SkipIf)
	}
	g.line("return %s, %s, %s", g.keyText(f, l), f.printer().count(l.Length), skip)
	g.shut("end,")
	g.open("tree = function(t, o)")
	g.addRun(l.Head, run, "o")
	g.shut("end,")
	return nil
}

// keyText is the key that read returns: a number, or a table of numbers.
func (g *generator) keyText(f *function, l *gen.List) string {
	if !g.general() {
		return f.local(value{valNumber, gen.Ref{Path: []*gen.Item{l.Key}}})
	}
	var numbers []string
	for _, it := range l.KeyItems() {
		numbers = append(numbers, f.printer().count(&gen.Expr{Op: gen.OpRef, Ref: gen.Ref{Path: []*gen.Item{it}}}))
	}
	return "{ " + strings.Join(numbers, ", ") + " }"
}

// listRules prints what only general lists have: find(key), the number of the case; bare elements; what fills the list; and
// the error of unknown elements.
func (g *generator) listRules(l *gen.List) {
	refuse := gen.TLVUnknownNumber
	if l.Unknown != nil {
		refuse = l.Unknown.Number
	}
	var fill gen.Fill
	if l.Fill != nil {
		fill = *l.Fill
	}
	foreign := fmt.Sprintf("[^\\%03d]", fill.Byte)
	g.line("strict = %t, refuse = %d, ignore = %t, foreign = \"%s\",", l.Strict, refuse, fill.Ignore, foreign)
	g.open("find = function(key)")
	var names, values []string
	for i := range l.KeyItems() {
		names, values = append(names, fmt.Sprintf("k%d", i+1)), append(values, fmt.Sprintf("key[%d]", i+1))
	}
	g.line("local %s = %s", strings.Join(names, ", "), strings.Join(values, ", "))
	for i, c := range l.Cases {
		var alts []string
		for _, t := range c.KeyRanges() {
			alts = append(alts, tupleText(names, t))
		}
		g.line("if %s then return %d end", strings.Join(alts, " or "), i+1)
	}
	g.line("return 0")
	g.shut("end,")
	g.open("bare = {")
	for _, b := range l.Bares {
		for n := b.Keys.First; n <= min(b.Keys.Last, 255); n++ {
			g.line("[%d] = bare_%s_%s,", n, l.Name.Filter, b.Name.Filter)
		}
	}
	g.shut("},")
}

func tupleText(names []string, t []gen.Range) string {
	var all []string
	for i, r := range t {
		if r.First == r.Last {
			all = append(all, fmt.Sprintf("%s == %d", names[i], r.First))
		} else {
			all = append(all, fmt.Sprintf("%s >= %d and %s <= %d", names[i], r.First, names[i], r.Last))
		}
	}
	return strings.Join(all, " and ")
}

// bares prints the fields of a list's bare elements.
func (g *generator) bares(l *gen.List) error {
	for _, b := range l.Bares {
		if err := g.claim(l, g.p.Targets.LuaProto+"."+l.Name.Filter+"."+b.Name.Filter); err != nil {
			return err
		}
		g.line("local bare_%s_%s = field(ProtoField.none(%s, %s, %s))", l.Name.Filter, b.Name.Filter,
			quote(g.p.Targets.LuaProto+"."+l.Name.Filter+"."+b.Name.Filter), quote(label(b.Name)), quote(firstDoc(b.Doc)))
	}
	return nil
}

// caseNumber is what stands for a case in the tables: its key where keys are plain numbers, else its place.
func (g *generator) caseNumber(i int, c *gen.Case) uint64 {
	if g.general() {
		return uint64(i + 1)
	}
	return c.Key
}

// caseDecode is the function that decodes the value of an element: that of its struct, or one that hands on what the list was
// given.
func (g *generator) caseDecode(l *gen.List, c *gen.Case) string {
	of := "D." + c.Struct.Name.Filter
	if len(c.Args) == 0 {
		return of
	}
	f := &function{g: g, s: l.Head, names: map[string]string{}, taken: map[string]bool{}}
	takes, hands := "o, e, t", "o, e, t"
	for _, v := range params(g.use, l.Head) {
		takes += ", " + f.local(v)
	}
	for _, v := range params(g.use, c.Struct) {
		hands += ", " + f.handed(v, c.Struct.Params, c.Args)
	}
	return fmt.Sprintf("function(%s) return %s(%s) end", takes, of, hands)
}

// given reports whether elements of lists read what their list was given.
func (g *generator) given() bool {
	return slices.ContainsFunc(g.lists, func(l *gen.List) bool {
		return slices.ContainsFunc(l.Cases, func(c *gen.Case) bool { return len(c.Args) > 0 })
	})
}

func (g *generator) listCase(l *gen.List, number uint64, c *gen.Case) error {
	abbr := g.p.Targets.LuaProto + "." + l.Name.Filter
	field, decode := "", "nil"
	if c.Struct != nil {
		field = "H." + c.Struct.Name.Filter
		decode = g.caseDecode(l, c)
	} else {
		own := abbr + "." + c.Name.Filter
		if err := g.claim(c, own); err != nil {
			return err
		}
		field = fmt.Sprintf("field(ProtoField.none(%s, %s))", quote(own), quote(label(c.Name)))
	}
	g.line("[%d] = { name = %s, label = %s, single = %t, field = %s, decode = %s },", number, quote(c.Name.Schema), quote(label(c.Name)),
		c.Unique || c.Required, field, decode)
	return nil
}

func (g *generator) requiredKeys(l *gen.List) string {
	keys := ""
	for i, c := range l.Cases {
		if c.Required {
			keys += fmt.Sprintf(" %d,", g.caseNumber(i, c))
		}
	}
	return keys
}
