// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// fixRun offers reserved bits behind the last item of a run that ends within a byte.
func (w *blockWriter) fixRun(r *syntax.Report, bits string) {
	c := w.b.c
	at := c.origin[w.run.Parts[len(w.run.Parts)-1].Item]
	if it := c.f.ItemAt(at); it != nil {
		text := "_ : rsvd " + bits + " zero;"
		r.Fix("add `"+text+"`", c.f.InsertBehind(it.Pos, it.EndPos, text))
	}
}

// fixClauses offers to put clauses in their order; there is none when one stands twice.
func (c *compiler) fixClauses(r *syntax.Report, list []*syntax.Clause) {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(x, y *syntax.Clause) int { return cmp.Compare(ranks[clauseWord(x)], ranks[clauseWord(y)]) })
	var texts []string
	for i, k := range sorted {
		rank := ranks[clauseWord(k)]
		if i > 0 && k.Attr == nil && rank == ranks[clauseWord(sorted[i-1])] {
			return
		}
		texts = append(texts, c.f.Verbatim(k.Pos, k.EndPos))
	}
	r.Fix("put the clauses in their order", syntax.Replace(list[0].Pos, list[len(list)-1].EndPos, strings.Join(texts, " ")))
}

// fixClause offers to remove a clause, which is known by its word.
func (c *compiler) fixClause(r *syntax.Report, list []*syntax.Clause, word string) {
	i := slices.IndexFunc(list, func(k *syntax.Clause) bool { return clauseWord(k) == word })
	if i >= 0 {
		r.Fix("remove it", c.f.Remove(list[i].Pos, list[i].EndPos))
	}
}

// fixLower offers `in least..most` for a field that has no bounds yet.
func (b *body) fixLower(r *syntax.Report, field *Item, bounds string) {
	c := b.c
	it := c.f.ItemAt(c.origin[field])
	if it == nil || it.Field == nil || len(it.Field.Names) != 1 || it.Field.Names[0].Text != field.Name.Schema {
		return
	}
	end := it.Field.Type.EndPos
	for _, k := range it.Field.Clauses {
		switch rank := ranks[clauseWord(k)]; {
		case rank == ranks["in"]:
			return
		case rank < ranks["in"]:
			end = k.EndPos
		}
	}
	r.Fix("add `in "+bounds+"`", syntax.Insert(end, " in "+bounds))
}

// fixOrder offers to swap the ends of a range.
func (c *compiler) fixOrder(r *syntax.Report, d *syntax.Range) {
	text := func(t *syntax.Term) string { return c.f.Verbatim(t.Pos, t.EndPos) }
	r.Fix("swap its ends", syntax.Replace(d.Pos, d.EndPos, text(d.Last)+".."+text(d.First)))
}

// fixSwitch offers an arm for all other values.
func (c *compiler) fixSwitch(r *syntax.Report, d *syntax.Switch) {
	const arm = "_ => reject E_SWITCH;"
	if n := len(d.Arms); n > 0 {
		r.Fix("add `"+arm+"`", c.f.InsertBehind(d.Arms[n-1].Pos, d.Arms[n-1].EndPos, arm))
	}
}

// fixEmpty offers `nothing` for the empty body of an arm or an element.
func (c *compiler) fixEmpty(r *syntax.Report, d *syntax.Body) {
	if strings.HasSuffix(strings.TrimRight(c.f.Source[:d.Pos.Offset], " \t\n"), "=>") {
		r.Fix("write `nothing`", syntax.Replace(d.Pos, d.EndPos, "nothing;"))
	}
}

// fixTruth offers to compare a number with zero.
func (c *compiler) fixTruth(r *syntax.Report, e *syntax.Expr) {
	text := c.f.Verbatim(e.Pos, e.EndPos) + " != 0"
	if strings.HasSuffix(c.f.Source[:e.Pos.Offset], "!") {
		text = "(" + text + ")"
	}
	r.Fix("compare it with 0", syntax.Replace(e.Pos, e.EndPos, text))
}

// fixNumber offers to make a truth value a number.
func (c *compiler) fixNumber(r *syntax.Report, e *syntax.Expr) {
	r.Fix("write `condition ? 1 : 0`", syntax.Replace(e.Pos, e.EndPos, "("+c.f.Verbatim(e.Pos, e.EndPos)+" ? 1 : 0)"))
}

// fixPreamble offers to put a first line where it belongs: the one that stands elsewhere, or a new one.
func (c *compiler) fixPreamble(r *syntax.Report, at *syntax.Decl, word string) {
	for _, d := range c.f.Decls {
		if preambleWord(d) == word {
			text := c.f.Verbatim(d.Pos, d.EndPos) + "\n"
			r.Fix("move the line here", syntax.Insert(at.Pos, text), c.f.RemoveLine(d.Pos, d.EndPos))
			return
		}
	}
	line := map[string]string{"edition": "edition 1;\n", "package": "package example;\n", "byteorder": "byteorder big;\n", "bitorder": "bitorder msb;\n"}[word]
	r.Fix("add `"+strings.TrimSpace(line)+"`", syntax.Insert(at.Pos, line))
}

// fixAlways offers to remove a rule or an `if` clause that always holds.
func (c *compiler) fixAlways(r *syntax.Report, x *Expr, it *syntax.Item) {
	switch {
	case it == nil || x.Value.Sign() == 0:
	case it.Where != nil:
		r.Fix("remove it", c.f.RemoveLine(it.Pos, it.EndPos))
	case it.Field != nil:
		c.fixClause(r, it.Field.Clauses, "if")
	case it.Nested != nil:
		c.fixClause(r, it.Nested.Clauses, "if")
	}
}
