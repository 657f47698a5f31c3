// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// list prints L.x, the table that drives elements() in the runtime.
func (g *generator) list(l *gen.List) error {
	if wide(l.Key.Scalar) {
		return fmt.Errorf("luagen: list %s: keys of more than %d bits cannot be compared", l.Name.Schema, exactBits)
	}
	abbr := g.p.Targets.LuaProto + "." + l.Name.Filter
	if err := g.claim(abbr); err != nil {
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
	g.open("cases = {")
	for _, c := range l.Cases {
		if err := g.listCase(abbr, c); err != nil {
			return err
		}
	}
	g.shut("},")
	g.line("required = {%s},", requiredKeys(l))
	g.shut("}")
	g.line("")
	return nil
}

// listHead prints read(o): key, length and whether an unknown key may be skipped, or nil and a code; and tree(t, o).
func (g *generator) listHead(l *gen.List) error {
	f := &function{g: g, s: l.Head, names: map[string]string{}, taken: map[string]bool{}}
	run := runOf(l.Head)
	g.open("read = function(o)")
	f.prologue()
	f.read(run)
	for _, c := range run.Checks {
		f.check(c, run)
	}
	skip := "true"
	if l.SkipIf != nil {
		skip = f.printer().truth(l.SkipIf)
	}
	key := f.local(value{valNumber, gen.Ref{Path: []*gen.Item{l.Key}}})
	g.line("return %s, %s, %s", key, f.printer().count(l.Length), skip)
	g.shut("end,")
	g.open("tree = function(t, o)")
	g.addRun(l.Head, run, "o")
	g.shut("end,")
	return nil
}

func (g *generator) listCase(abbr string, c *gen.Case) error {
	field, decode := "", "nil"
	if c.Struct != nil {
		field = "H." + c.Struct.Name.Filter
		decode = "D." + c.Struct.Name.Filter
	} else {
		own := abbr + "." + c.Name.Filter
		if err := g.claim(own); err != nil {
			return err
		}
		field = fmt.Sprintf("field(ProtoField.none(%s, %s))", quote(own), quote(label(c.Name)))
	}
	g.line("[%d] = { name = %s, label = %s, single = %t, field = %s, decode = %s },", c.Key, quote(c.Name.Schema), quote(label(c.Name)),
		c.Unique || c.Required, field, decode)
	return nil
}

func requiredKeys(l *gen.List) string {
	keys := ""
	for _, c := range l.Cases {
		if c.Required {
			keys += fmt.Sprintf(" %d,", c.Key)
		}
	}
	return keys
}
