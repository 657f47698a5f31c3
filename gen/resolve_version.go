// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"maps"
	"math/big"
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// versions says where the version of a packet comes from.
type versions struct {
	pos         syntax.Pos
	first, last uint64
	by          []*syntax.Ident // header and path; nil = a parameter called version
}

// versionsLine reads `versions 1..2 by Base.version;`.
func (c *compiler) versionsLine(d *syntax.Versions) {
	if c.version != nil {
		c.report("E0102", d.Pos, "`versions` stands twice").Label(c.f.At(c.version.pos), "first here")
		return
	}
	r, ok := c.constRange(d.Range, 1<<32-1)
	if !ok {
		return
	}
	c.version = &versions{pos: d.Pos, first: r.First, last: r.Last}
	parts := d.By.Parts
	if len(parts) == 1 && parts[0].Text == "caller" {
		return
	}
	if len(parts) < 2 || !isUpper(parts[0].Text) {
		c.report("E0110", parts[0].Pos, "the version is an item of a header, or comes from the caller").Help("write `by Header.item` or `by caller`")
		c.version = nil
		return
	}
	c.version.by = parts
}

// condition joins `if`, `since` and `until` of a field.
func (b *body) condition(cs *clauseSet) *Expr {
	var all []*Expr
	for _, s := range []*syntax.Since{cs.since, cs.until} {
		if s == nil {
			continue
		}
		x := b.versioned(s)
		if x == nil {
			return nil
		}
		all = append(all, x)
	}
	if cs.cond != nil {
		v := b.env()
		for _, x := range all {
			v.facts = append(slices.Clone(v.facts), factsOf(x)...)
		}
		x := v.truth(cs.cond)
		if x == nil {
			return nil
		}
		if x.Op == OpConst {
			b.c.fixAlways(b.c.reportExpr("E0411", cs.cond, "this condition is always the same"), x, b.c.f.ItemAt(cs.cond.Pos))
			return nil
		}
		all = append(all, x)
	}
	out := all[0]
	for _, x := range all[1:] {
		out = &Expr{Op: OpAndAnd, Args: []*Expr{out, x}, Bool: true}
	}
	return out
}

// versionNumber checks the number of `since n` or `until n`, which must split the versions.
func (c *compiler) versionNumber(s *syntax.Since) (*big.Int, bool) {
	if c.version == nil {
		c.report("E0110", s.Pos, "`%s` needs versions", s.Word).Help("add `versions 1..2 by Header.item;`")
		return nil, false
	}
	n, ok := syntax.ParseNumber(s.Number)
	first, last := new(big.Int).SetUint64(c.version.first), new(big.Int).SetUint64(c.version.last)
	if !ok || n.Cmp(first) <= 0 || n.Cmp(last) > 0 {
		c.report("E0307", s.Pos, "version %s splits nothing: there are %s to %s", s.Number, first, last)
		return nil, false
	}
	return n, true
}

// versioned is the condition of `since n` or `until n`.
func (b *body) versioned(s *syntax.Since) *Expr {
	n, ok := b.c.versionNumber(s)
	if !ok {
		return nil
	}
	v := b.knownVersion(s.Pos)
	if v == nil {
		return nil
	}
	op := OpGe
	if s.Word == "until" {
		op = OpLt
	}
	return &Expr{Op: op, Args: []*Expr{v, constExpr(n)}, Bool: true}
}

// knownVersion is the version where a field stands; its range holds all versions.
func (b *body) knownVersion(at syntax.Pos) *Expr {
	v := b.versionItem(at)
	if v == nil {
		return nil
	}
	first, last := new(big.Int).SetUint64(b.c.version.first), new(big.Int).SetUint64(b.c.version.last)
	if !v.interval().has(first) || !v.interval().has(last) {
		b.c.report("E0110", at, "`%s` cannot be %s to %s", v.Ref, first, last).Help("bound it with `in` and not with `=`")
		return nil
	}
	return v
}

// versionItem finds the version from where a field stands.
func (b *body) versionItem(at syntax.Pos) *Expr {
	by := b.c.version.by
	if by == nil {
		if b.params["version"] == nil && (b.parent == nil || !b.parent.knows("version")) {
			b.c.report("E0110", at, "`%s` has no parameter `version`", b.s.Name.Schema).Help("add the parameter `version : u8`")
			return nil
		}
		return b.env().integer(pathExpr(at, &syntax.Ident{Pos: at, Text: "version"}))
	}
	path := by[1:]
	if b.s.Name.Schema != by[0].Text || b.s.Owner != nil {
		name := b.holderOf(by[0].Text)
		if name == "" && len(b.broken) > 0 {
			return nil // it may be among the items whose faults are reported
		}
		if name == "" {
			b.c.report("E0110", at, "there is no `%s` before this, which holds the version", by[0].Text).
				Help("put it in front, or take it as a parameter")
			return nil
		}
		path = append([]*syntax.Ident{{Pos: at, Text: name}}, path...)
	} else if b.items[path[0].Text] == nil {
		b.c.report("E0110", at, "`%s` is not decoded yet", path[0].Text).Help("move it in front")
		return nil
	}
	return b.env().integer(pathExpr(at, path...))
}

// holderOf is the name of an item or parameter of a type, in this body or around it; "" = none.
func (b *body) holderOf(typ string) string {
	for _, it := range b.s.Items {
		if it.Kind == KindStruct && it.Struct.Name.Schema == typ && b.items[it.Name.Schema] == it {
			return it.Name.Schema
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.params)) {
		if p := b.params[name]; p.Struct != nil && p.Struct.Name.Schema == typ {
			return name
		}
	}
	if b.parent != nil {
		return b.parent.holderOf(typ)
	}
	return ""
}

func pathExpr(at syntax.Pos, names ...*syntax.Ident) *syntax.Expr {
	return &syntax.Expr{Pos: at, EndPos: at, Kind: syntax.ExprPath, Names: names}
}
