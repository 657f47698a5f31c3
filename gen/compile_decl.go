// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// constInt evaluates an expression that must be a constant integer.
func (c *compiler) constInt(e *syntax.Expr) (*big.Int, bool) {
	x := (&env{c: c}).integer(e)
	if x == nil {
		return nil, false
	}
	if x.Op != OpConst {
		c.reportExpr("E0410", e, "this must be a constant")
		return nil, false
	}
	return x.Value, true
}

// constUint evaluates a constant that must lie in 0 to most.
func (c *compiler) constUint(e *syntax.Expr, most uint64) (uint64, bool) {
	v, ok := c.constInt(e)
	if !ok {
		return 0, false
	}
	if v.Sign() < 0 || !v.IsUint64() || v.Uint64() > most {
		c.reportExpr("E0307", e, "%s does not lie in 0..%d", v, most)
		return 0, false
	}
	return v.Uint64(), true
}

// constRange evaluates `a` or `a..b` within 0 to most.
func (c *compiler) constRange(r *syntax.Range, most uint64) (Range, bool) {
	first, ok := c.constUint(&r.First.Expr, most)
	last := first
	if r.Last != nil {
		var ok2 bool
		last, ok2 = c.constUint(&r.Last.Expr, most)
		ok = ok && ok2
	}
	if ok && last < first {
		c.fixOrder(c.f.Report("E0308", c.f.Range(r.Pos, r.EndPos), "the range ends before it begins"), r)
		ok = false
	}
	return Range{first, last}, ok
}

func maxOfBits(bits int) uint64 { return 1<<bits - 1 }

func (c *compiler) constant(n *named, d *syntax.Const) {
	v, ok := c.constUint(d.Value, 1<<64-1)
	n.missing = !ok
	n.value = new(big.Int).SetUint64(v)
	k := &Const{Name: typeName(n.name), Doc: c.f.Doc(n.decl.Pos), Value: v}
	c.origin[k] = n.pos
	c.p.Consts = append(c.p.Consts, k)
}

// First number of a schema's own error codes, and the last one.
const (
	firstOwnCode = 64
	lastOwnCode  = 32767
)

func (c *compiler) errorCode(n *named, d *syntax.Error) {
	if n.missing = c.tooMany(len(c.p.Codes), n.pos, "error codes"); n.missing {
		return
	}
	v, ok := c.constUint(d.Number, lastOwnCode)
	if n.missing = !ok; !ok {
		return
	}
	n.code = &Code{Number: int(v), Name: n.name, Text: syntax.Unquote(d.Text)}
	if v < firstOwnCode {
		c.reportExpr("E0311", d.Number, "error codes below %d are built in", firstOwnCode)
	}
	for _, other := range c.p.Codes {
		if other.Number == int(v) && v >= firstOwnCode {
			c.reportExpr("E0311", d.Number, "number %d is %s already", v, other.Name)
		}
		if other.Name == n.name {
			c.report("E0102", n.pos, "`%s` is built in", n.name)
		}
	}
	c.p.Codes = append(c.p.Codes, n.code)
	slices.SortFunc(c.p.Codes, func(a, b *Code) int { return a.Number - b.Number })
}

// width reads u1 to u64 or bit; 0 when the fault is reported.
func (c *compiler) width(id *syntax.Ident) int {
	if id.Text == "bit" {
		return 1
	}
	if bits, ok := scalarBits(id.Text, 'u'); ok {
		return bits
	}
	c.report("E0201", id.Pos, "`%s` is not an unsigned integer of 1 to 64 bits", id.Text)
	return 0
}

func scalarBits(text string, sign byte) (int, bool) {
	if len(text) < 2 || len(text) > 3 || text[0] != sign || text[1] == '0' {
		return 0, false
	}
	bits, err := strconv.Atoi(text[1:])
	return bits, err == nil && 1 <= bits && bits <= 64
}

func (c *compiler) enumeration(n *named, d *syntax.Enum) {
	bits := c.width(d.Width)
	members := 0
	for _, m := range d.Members {
		members += 1 + len(m.Reserved)
	}
	if n.missing = c.tooMany(members, n.pos, "members"); n.missing {
		return
	}
	n.enum = &Enum{Name: typeName(n.name), Doc: c.f.Doc(n.decl.Pos), Bits: max(bits, 1), Held: max(bits, 1), Closed: d.Policy.Text == "closed"}
	c.origin[n.enum] = n.pos
	if d.Policy.Text != "closed" && d.Policy.Text != "open" {
		c.report("E0303", d.Policy.Pos, "`%s` is neither open nor closed", d.Policy.Text)
	}
	c.nameAttrs(&n.enum.Name, d.Attrs)
	var names []string
	for _, m := range d.Members {
		if m.Reserved != nil {
			names = append(names, c.reserve(n.enum, m)...)
			continue
		}
		if bits > 0 {
			c.member(n.enum, m)
		}
	}
	c.checkEnum(n.enum, names)
	if len(d.Members) == 0 || !slices.ContainsFunc(d.Members, func(m *syntax.Member) bool { return m.Name != nil }) {
		c.report("E0303", n.pos, "`%s` has no members", n.name)
	}
	c.p.Enums = append(c.p.Enums, n.enum)
}

func (c *compiler) reserve(e *Enum, m *syntax.Member) (names []string) {
	for _, r := range m.Reserved {
		if r.Range == nil {
			names = append(names, syntax.Unquote(r.Name))
			continue
		}
		if v, ok := c.constRange(r.Range, maxOfBits(e.Bits)); ok {
			e.Reserved = append(e.Reserved, v)
		}
	}
	return names
}

func (c *compiler) member(e *Enum, m *syntax.Member) {
	c.typeCase(m.Name)
	r, ok := c.constRange(m.Range, maxOfBits(e.Bits))
	if !ok {
		return
	}
	out := &Member{Name: typeName(m.Name.Text), Doc: c.f.Doc(m.Pos), First: r.First, Last: r.Last}
	c.origin[out] = m.Name.Pos
	for _, s := range m.Since {
		c.memberVersion(out, s)
	}
	c.nameAttrs(&out.Name, m.Attrs)
	for _, other := range e.Members {
		if other.Name.Schema == m.Name.Text {
			c.report("E0102", m.Name.Pos, "`%s` is a member already", m.Name.Text).Label(c.f.At(c.origin[other]), "first here")
			return
		}
	}
	e.Members = append(e.Members, out)
}

// checkEnum reports numbers and names that are used twice or although they are reserved.
func (c *compiler) checkEnum(e *Enum, reserved []string) {
	byNumber := slices.Clone(e.Members)
	slices.SortStableFunc(byNumber, func(a, b *Member) int {
		if a.First < b.First {
			return -1
		}
		return int(min(a.First-b.First, 1))
	})
	for i, m := range byNumber {
		if i > 0 && m.First <= byNumber[i-1].Last {
			c.report("E0304", c.origin[m], "`%s` and `%s` share numbers", byNumber[i-1].Name.Schema, m.Name.Schema).
				Label(c.f.At(c.origin[byNumber[i-1]]), "also here")
		}
		if slices.Contains(reserved, m.Name.Schema) {
			c.report("E0304", c.origin[m], "the name `%s` is reserved", m.Name.Schema)
		}
		for _, r := range e.Reserved {
			if m.First <= r.Last && r.First <= m.Last {
				c.report("E0304", c.origin[m], "`%s` uses reserved numbers", m.Name.Schema)
			}
		}
	}
}

// member finds a member by name; nil when there is none.
func (e *Enum) member(name string) *Member {
	for _, m := range e.Members {
		if m.Name.Schema == name {
			return m
		}
	}
	return nil
}

// interval bounds the numbers of the members.
func (e *Enum) interval() interval {
	if len(e.Members) == 0 {
		return unsigned(e.Bits)
	}
	out := point(new(big.Int).SetUint64(e.Members[0].First))
	for _, m := range e.Members {
		out = out.join(interval{new(big.Int).SetUint64(m.First), new(big.Int).SetUint64(m.Last)})
	}
	return out
}

// assert evaluates a compile-time assertion.
func (c *compiler) assert(d *syntax.Assert) {
	x := (&env{c: c}).truth(d.Cond)
	switch {
	case x == nil:
	case x.Op != OpConst:
		c.reportExpr("E0410", d.Cond, "this must be a constant")
	case x.Value.Sign() == 0:
		r := c.reportExpr("E0409", d.Cond, "the assertion does not hold")
		if len(d.Cond.Args) == 2 && d.Cond.Kind == syntax.ExprBinary {
			c.explainAssert(r, d.Cond)
		}
	}
}

// explainAssert says what both sides of a failed comparison are.
func (c *compiler) explainAssert(r *syntax.Report, e *syntax.Expr) {
	left := (&env{c: c}).any(e.Args[0])
	right := (&env{c: c}).any(e.Args[1])
	if left != nil && right != nil && left.Op == OpConst && right.Op == OpConst && !left.Bool && !right.Bool {
		r.Mark("left is %s, right is %s", left.Value, right.Value)
	}
}
