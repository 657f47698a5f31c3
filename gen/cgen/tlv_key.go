// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// manyKeys tells whether the keys of a list are more than one number for each case.
func manyKeys(l *gen.List) bool {
	return l.Keys != nil || slices.ContainsFunc(l.Cases, func(c *gen.Case) bool { return c.Keys != nil })
}

// keyTest is the C condition that the head at self has a key of case c.
func (g *generator) keyTest(l *gen.List, c *gen.Case, self string) string {
	sc := scope{g: g, self: self}
	var either []string
	for _, t := range c.KeyRanges() {
		var all []string
		for i, r := range t {
			ref := &gen.Expr{Op: gen.OpRef, Ref: gen.Ref{Path: []*gen.Item{l.KeyItems()[i]}}}
			if l.KeyItems()[i].Scalar.Flag {
				all = append(all, flagTest(sc.leaf(ref), r)...)
				continue
			}
			if in := sc.in(&gen.Expr{Op: gen.OpIn, Args: []*gen.Expr{ref}, Set: []gen.Range{r}}); in != "true" {
				all = append(all, in)
			}
		}
		if len(all) == 0 {
			return "true"
		}
		either = append(either, strings.Join(all, " && "))
	}
	for i, e := range either {
		if len(either) > 1 && strings.Contains(e, "&&") {
			either[i] = "(" + e + ")"
		}
	}
	return strings.Join(either, " || ")
}

// flagTest is what a range of 0 and 1 asks of a bit; nothing when both will do.
func flagTest(path string, r gen.Range) []string {
	switch {
	case r.First != r.Last:
		return nil
	case r.First == 0:
		return []string{"!" + path}
	}
	return []string{path}
}

// tlvKeys prints the choice of the case among keys of several items, ranges and alternatives.
func (g *generator) tlvKeys(p *printer, l *gen.List) {
	for i, c := range l.Cases {
		head := "} else if (%s) {"
		if i == 0 {
			head = "if (%s) {"
		}
		p.line(head, g.keyTest(l, c, "out->head."))
		p.line("out->kind = %s;", g.macro(l.Name.C, c.Name.C))
		p.line("field = %s;", g.ids[c])
		if c.Unique || c.Required {
			p.line("if ((it->seen[%d] & %s) != 0u) {", i/32, hexText(1<<uint(i%32)))
			p.line("return fail(in, %sE_TLV_DUPLICATE, at, field);", g.upper)
			p.line("}")
			p.line("it->seen[%d] |= %s;", i/32, hexText(1<<uint(i%32)))
		}
	}
	if len(l.Cases) > 0 {
		p.line("} else {")
		defer p.line("}")
	}
	if l.SkipIf != nil {
		p.line("if (%s) {", scope{g: g, self: "out->head."}.not(l.SkipIf))
		p.line("return fail(in, %s, at, %sFIELD_NONE);", g.unknownCode(l), g.upper)
		p.line("}")
	}
	p.line("out->kind = %s;", g.macro(l.Name.C, "unknown"))
}

func (g *generator) unknownCode(l *gen.List) string {
	if l.Unknown != nil {
		return g.upper + l.Unknown.Name
	}
	return g.upper + "E_TLV_UNKNOWN"
}

// tlvOrder prints the comparison of a key with the one before. Items of a key are compared as one number.
func (g *generator) tlvOrder(p *printer, l *gen.List) {
	key := "out->head." + l.Key.Name.C
	if l.Keys != nil {
		if !l.Ascending {
			return
		}
		key = g.wholeKey(l)
	}
	if l.Ascending {
		test := fmt.Sprintf("%s < it->key", key)
		if l.Strict {
			test = fmt.Sprintf("it->begun && %s <= it->key", key)
		}
		p.line("if (%s) {", test)
		p.line("return fail(in, %sE_TLV_ORDER, at, %sFIELD_NONE);", g.upper, g.upper)
		p.line("}")
	}
	p.line("it->key = %s;", key)
	if l.Strict {
		p.line("it->begun = true;")
	}
}

// wholeKey is the items of a key side by side, the first one on top.
func (g *generator) wholeKey(l *gen.List) string {
	bits := 0
	var terms []string
	for _, it := range slices.Backward(l.Keys) {
		term := "(uint64_t)out->head." + it.Name.C
		if bits > 0 {
			term = fmt.Sprintf("(%s << %d)", term, bits)
		}
		terms = append(terms, term)
		bits += it.Scalar.Bits
	}
	if bits > 64 {
		g.unsupported(l, "the elements of `%s` are ordered by keys of %d bits, which are more than 64", l.Name.Schema, bits)
	}
	slices.Reverse(terms)
	return "(" + strings.Join(terms, " | ") + ")"
}

// tlvBares prints the skipping of elements that are a key and nothing else.
func (g *generator) tlvBares(p *printer, l *gen.List) {
	if len(l.Bares) == 0 {
		return
	}
	var tests []string
	for _, b := range l.Bares {
		test := fmt.Sprintf("p[0] == %s", hexText(b.Keys.First))
		switch {
		case b.Keys.First == b.Keys.Last:
		case b.Keys.First == 0:
			test = fmt.Sprintf("p[0] <= %s", hexText(b.Keys.Last))
		case b.Keys.Last == 0xff:
			test = fmt.Sprintf("p[0] >= %s", hexText(b.Keys.First))
		default:
			test = fmt.Sprintf("(p[0] >= %s && p[0] <= %s)", hexText(b.Keys.First), hexText(b.Keys.Last))
		}
		tests = append(tests, test)
	}
	test := strings.Join(tests, " || ")
	if len(tests) > 1 {
		test = "(" + test + ")"
	}
	p.line("while (at != end && %s) {", test)
	p.line("at++;")
	p.line("p++;")
	p.line("}")
	p.line("in->off = at;")
}

// allFill is the C condition that n bytes at p are what follows the end marker.
func allFill(l *gen.List, p, n string) string {
	if l.Fill == nil || l.Fill.Byte == 0 {
		return fmt.Sprintf("is_zero(%s, %s)", p, n)
	}
	return fmt.Sprintf("is_all(%s, %s, %s)", p, hexText(uint64(l.Fill.Byte)), n)
}

// caseArgs are all that a list hands to the values of its elements.
func caseArgs(l *gen.List) (out []*gen.Expr) {
	for _, c := range l.Cases {
		out = append(out, c.Args...)
	}
	return out
}

func anyReads(q *gen.Param, exprs []*gen.Expr) bool {
	return slices.ContainsFunc(exprs, func(e *gen.Expr) bool {
		return slices.ContainsFunc(exprRefs(e), func(r gen.Ref) bool { return r.Param == q })
	})
}

// givenParams are the parameters of a list that its elements read, also when they are packed.
func givenParams(l *gen.List) (out []*gen.Param) {
	for _, q := range l.Params {
		if anyReads(q, caseArgs(l)) {
			out = append(out, q)
		}
	}
	return out
}

// unusedParams silences what the rules of a list do not read.
func (g *generator) unusedParams(p *printer, l *gen.List) {
	counted := slices.ContainsFunc(l.Cases, func(c *gen.Case) bool { return c.Unique || c.Required })
	if l.Keys != nil && !l.Ascending && l.End == nil && !counted {
		p.line("(void)it;")
	}
	for _, q := range l.Params {
		if !anyReads(q, append(caseArgs(l), l.SkipIf)) {
			p.line("(void)%s;", argument(q))
		}
	}
}

// givenArgs are the arguments of an item's list that its elements read.
func givenArgs(it *gen.Item) (out []*gen.Expr) {
	given := givenParams(it.List)
	for i, q := range it.List.Params {
		if slices.Contains(given, q) {
			out = append(out, it.Args[i])
		}
	}
	return out
}
