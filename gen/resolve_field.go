// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// fieldDecl is one field as the schema declares it.
type fieldDecl struct {
	name    string
	pos     syntax.Pos
	typ     *syntax.Type
	clauses []*syntax.Clause
	doc     []string
}

// field resolves one field. The result has no node after a fault, one for a plain field and a conditional one after `if`.
func (b *body) field(d fieldDecl) []node {
	out := b.fieldNodes(d)
	if out == nil {
		b.broken[d.name] = true
	}
	return out
}

func (b *body) fieldNodes(d fieldDecl) []node {
	cs, ok := b.c.sortClauses(d.clauses)
	if !ok {
		return nil
	}
	if cs.cond == nil && cs.since == nil && cs.until == nil {
		if it := b.item(d, cs); it != nil {
			return b.itemNodes(it, cs)
		}
		return nil
	}
	cond := b.condition(cs)
	if cond == nil {
		return nil
	}
	var inner []node
	b.under(cond, func() {
		if it := b.item(d, cs); it != nil {
			inner = b.itemNodes(it, cs)
		}
	})
	if inner == nil {
		return nil
	}
	return []node{{cond: cond, then: inner}}
}

// itemNodes registers an item and returns its node, followed by the rule of a derived field.
func (b *body) itemNodes(it *Item, cs *clauseSet) []node {
	b.s.Items = append(b.s.Items, it)
	if it.Name.Schema != "_" {
		b.items[it.Name.Schema] = it
	}
	out := append(b.ahead, node{item: it})
	b.ahead = nil
	if cs.equals != nil && it.Scalar != nil && it.Scalar.Fixed == nil {
		b.rules++
		r := &rule{check: &Check{Kind: CheckDerived, Code: b.c.builtin(DerivedNumber), Bit: -1}, order: b.rules}
		b.derived = append(b.derived, pending{it, cs.equals, r})
		out = append(out, node{rule: r})
	}
	return append(out, b.memberRules(it)...)
}

// item resolves a field's type and clauses; nil when a fault is reported.
func (b *body) item(d fieldDecl, cs *clauseSet) *Item {
	it := &Item{Name: itemName(d.name), Doc: d.doc, Owner: b.s, When: b.when, Format: cs.format, Unit: cs.unit}
	b.c.origin[it] = d.pos
	b.c.rename(&it.Name, cs.names)
	t := d.typ
	ok := true
	switch {
	case t.Scalar != nil:
		ok = b.scalarType(it, t.Scalar)
	case t.Rsvd != nil:
		ok = b.reserved(it, t)
	case t.Bits != nil:
		ok = b.vector(it, t)
	case t.Span != nil:
		ok = b.span(it, t.Span)
	case t.Pad != nil:
		ok = b.pad(it, t)
	case t.Payload != nil:
		ok = b.payload(it, t.Payload)
	case t.Named != nil:
		ok = b.namedType(it, t.Named)
	case t.Switch != nil:
		ok = b.switchType(it, t.Switch)
	case t.Body != nil:
		ok = b.group(it, t)
	default:
		b.c.report("E0301", t.Pos, "`nothing` can only be the type of an arm or of a TLV")
		ok = false
	}
	if it.Name.Schema == "_" && ok && it.Kind != KindReserved && !(it.Kind == KindSpan && it.Span.Kind == SpanPad) {
		b.c.report("E0106", d.pos, "only reserved bits and padding may be called `_`")
		ok = false
	}
	if it.Name.Schema == "_" && ok && it.Kind == KindSpan && it.Span.Fixed < 0 && it.Span.Size == nil && it.Span.Align == 0 {
		b.c.report("E0106", d.pos, "padding that takes the rest needs a name: nothing else says how long it is")
		ok = false
	}
	if !ok || !b.applyClauses(it, cs) {
		return nil
	}
	return it
}

func (b *body) scalarType(it *Item, t *syntax.Scalar) bool {
	s, ok := b.c.scalar(t.Name, t.Pos)
	if !ok {
		return false
	}
	if t.Order != "" && s.Bits%8 != 0 {
		b.c.report("E0209", t.Pos, "%d bits have no byte order", s.Bits).
			Fix("remove `"+t.Order+"`", syntax.Replace(t.Pos, t.EndPos, strings.Replace(b.c.f.Verbatim(t.Pos, t.EndPos), " "+t.Order, "", 1)))
		return false
	}
	s.Little = b.c.littleEndian(s.Bits, t.Order)
	if t.As != nil {
		n := b.c.scoped(t.As.Scope, t.As.Text, t.As.Pos)
		if n == nil || n.missing {
			return false
		}
		if n.enum == nil || n.enum.Bits > s.Bits || s.Signed {
			b.c.report("E0301", t.As.Pos, "`%s` is no enum of at most %d bits", t.As.Text, s.Bits)
			return false
		}
		s.Enum = n.enum
		n.enum.Held = max(n.enum.Held, s.Bits)
	}
	return b.numbers(it, s, t.Array)
}

// numbers makes an item a scalar, or an array of scalars.
func (b *body) numbers(it *Item, s *Scalar, a *syntax.Array) bool {
	if a == nil {
		it.Kind, it.Scalar = KindScalar, s
		return true
	}
	if s.Bits%8 != 0 {
		b.c.report("E0507", a.Pos, "elements of an array must be whole bytes")
		return false
	}
	if s.Enum != nil && s.Enum.varies() {
		b.c.unsupported(a.Pos, "an array of a closed enum with `since` or `until`")
		return false
	}
	return b.array(it, a, &Array{Scalar: s})
}

// littleEndian tells the byte order of a number; order is what stands behind its type.
func (c *compiler) littleEndian(bits int, order string) bool {
	return bits > 8 && bits%8 == 0 && (order == "little" || order == "" && c.little)
}

// scalar reads uN, iN or bit.
func (c *compiler) scalar(text string, at syntax.Pos) (*Scalar, bool) {
	if bits, ok := scalarBits(text, 'i'); ok {
		return &Scalar{Bits: bits, Signed: true}, true
	}
	if _, ok := scalarBits(text, 'f'); ok {
		c.report("E0310", at, "there are no floating-point numbers")
		return nil, false
	}
	if text == "bit" {
		return &Scalar{Bits: 1, Flag: true}, true
	}
	bits, ok := scalarBits(text, 'u')
	if !ok {
		c.report("E0201", at, "`%s` is not a type", text).Suggest(text, []string{"bit", "bits", "bytes", "string", "payload", "pad", "rsvd", "nothing", "switch"})
		return nil, false
	}
	return &Scalar{Bits: bits}, true
}

func (b *body) reserved(it *Item, t *syntax.Type) bool {
	policies := map[string]Reserve{"zero": ReservedZero, "ones": ReservedOnes, "ignore": ReservedIgnore}
	p, ok := policies[t.Rsvd.Policy.Text]
	if !ok {
		b.c.report("E0012", t.Rsvd.Policy.Pos, "reserved bits are zero, ones or ignore, not `%s`", t.Rsvd.Policy.Text)
		return false
	}
	bits, ok := smallNumber(t.Rsvd.Bits, 64)
	if !ok {
		b.c.report("E0201", t.Pos, "reserved bits come 1 to 64 at a time")
		return false
	}
	it.Kind, it.Scalar = KindReserved, &Scalar{Bits: bits, Reserved: p}
	if p == ReservedOnes {
		it.Scalar.Default = maxOfBits(bits)
	}
	return true
}

func smallNumber(text string, most int64) (int, bool) {
	v, ok := syntax.ParseNumber(text)
	if !ok || !v.IsInt64() || v.Int64() < 1 || v.Int64() > most {
		return 0, false
	}
	return int(v.Int64()), true
}

// maxVector is the longest bit vector.
const maxVector = 4096

func (b *body) vector(it *Item, t *syntax.Type) bool {
	bits, ok := smallNumber(t.Bits.Count, maxVector)
	if !ok {
		b.c.report("E0201", t.Pos, "a bit vector has 1 to %d bits", maxVector)
		return false
	}
	if bits%8 != 0 {
		b.c.report("E0201", t.Pos, "a bit vector has whole bytes and not %d bits", bits)
		return false
	}
	it.Kind, it.Vector = KindBits, &Vector{Bits: bits}
	if t.Bits.Index == nil {
		return true
	}
	b.c.fieldCase(t.Bits.Index)
	it.Vector.Index = t.Bits.Index.Text
	it.Vector.Means = b.c.f.Text(t.Bits.Means.Pos, t.Bits.Means.EndPos)
	inner := b.c.newBody(b.s, nil)
	inner.items, inner.places, inner.facts, inner.lets = b.items, b.places, b.facts, b.lets
	inner.params = map[string]*Param{it.Vector.Index: {Name: itemName(it.Vector.Index), Bits: 16}}
	for name, p := range b.params {
		inner.params[name] = p
	}
	// The meaning is a label: arithmetic on serial numbers wraps, so only its names matter.
	return inner.meaning(t.Bits.Means)
}

// meaning checks the names in a bit vector's meaning.
func (b *body) meaning(e *syntax.Expr) bool {
	if e.Kind == syntax.ExprPath {
		return b.env().any(e) != nil
	}
	for _, a := range e.Args {
		if !b.meaning(a) {
			return false
		}
	}
	return true
}

// maxSpan is the largest constant size of a span in bytes.
const maxSpan = 65535

func (b *body) span(it *Item, t *syntax.SpanType) bool {
	kind := SpanBytes
	if t.Kind == "string" {
		kind = SpanString
	}
	it.Kind, it.Span = KindSpan, &Span{Kind: kind, Fixed: -1, Max: -1}
	if !b.spanSize(it, t.Array) {
		return false
	}
	if it.Span.Padded = t.NulPadded; t.NulPadded && (kind != SpanString || it.Span.Fixed < 0) {
		b.c.report("E0312", t.Array.Pos, "`nul_padded` needs a string of constant size")
		return false
	}
	return true
}

func (b *body) spanSize(it *Item, a *syntax.Array) bool {
	if a.Greedy {
		return true
	}
	x := b.size(a.Count)
	if x == nil {
		return false
	}
	it.Span.Size = x
	if x.Op != OpConst {
		b.arrays = append(b.arrays, solvable{it, a.Count, x})
		return true
	}
	if x.Value.Cmp(big.NewInt(maxSpan)) > 0 || x.Value.Sign() == 0 {
		b.c.reportExpr("E0213", a.Count, "%s bytes: a fixed size lies in 1..%d", x.Value, maxSpan)
		return false
	}
	it.Span.Fixed = int(x.Value.Int64())
	it.Span.Min = it.Span.Fixed
	return true
}

// size resolves an expression that must not be negative.
func (b *body) size(e *syntax.Expr) *Expr {
	x := b.env().integer(e)
	if x == nil {
		return nil
	}
	if x.Min.Sign() < 0 {
		b.lowerBound(b.c.reportExpr("E0403", e, "this may be negative").Mark("%s to %s", brief(x.Min), brief(x.Max)), x)
		return nil
	}
	return x
}

// lowerBound advises how a size can be kept from being negative.
func (b *body) lowerBound(r *syntax.Report, x *Expr) {
	if l, ok := linearOf(x); ok && l.a.Sign() > 0 && l.b.Sign() < 0 {
		least := new(big.Int).Neg(l.b)
		least.Add(least, new(big.Int).Sub(l.a, one)).Quo(least, l.a)
		bounds := least.String() + ".." + l.f.Max.String()
		r.Help("add `in %s` to `%s`", bounds, l.f.Ref)
		if it := l.f.Ref.Last(); it != nil {
			b.fixLower(r, it, bounds)
		}
	}
}

func (b *body) pad(it *Item, t *syntax.Type) bool {
	p := t.Pad
	if p.Policy.Text != "zero" && p.Policy.Text != "ignore" {
		b.c.report("E0012", p.Policy.Pos, "padding is zero or ignore, not `%s`", p.Policy.Text)
		return false
	}
	it.Kind, it.Span = KindSpan, &Span{Kind: SpanPad, Fixed: -1, Max: -1, Ignore: p.Policy.Text == "ignore"}
	if p.Array != nil {
		return b.spanSize(it, p.Array)
	}
	n, ok := smallNumber(p.Align, maxAlign)
	if !ok || n == 1 {
		b.c.report("E0201", t.Pos, "padding aligns to 2 to %d bytes", maxAlign)
		return false
	}
	it.Span.Align = n
	return true
}

// maxAlign is the largest number of bytes that padding leads to a multiple of.
const maxAlign = 256

// payload resolves `payload by f, g`.
func (b *body) payload(it *Item, t *syntax.Payload) bool {
	it.Kind, it.Span = KindSpan, &Span{Kind: SpanPayload, Fixed: -1, Max: -1}
	for _, d := range t.By {
		first, last := d.Parts[0].Pos, d.Parts[len(d.Parts)-1].Pos
		e := &syntax.Expr{Pos: first, EndPos: last, Kind: syntax.ExprPath, Names: d.Parts}
		x := b.env().integer(e)
		if x == nil {
			return false
		}
		if x.Op != OpRef {
			b.c.reportExpr("E0301", e, "the next protocol is named by an item")
			return false
		}
		it.Span.By = append(it.Span.By, x.Ref)
	}
	return true
}

// group resolves a body in the place of a type.
func (b *body) group(it *Item, t *syntax.Type) bool {
	faults := len(b.c.f.Diags)
	s, args := b.inner(camel(it.Name.Schema), t, t.Body.Body)
	if len(b.c.f.Diags) > faults {
		return false
	}
	if t.Body.Array != nil {
		return b.array(it, t.Body.Array, &Array{Struct: s, Args: args})
	}
	it.Kind, it.Struct, it.Args = KindStruct, s, args
	return true
}

// namedType resolves a field of a declared type.
func (b *body) namedType(it *Item, t *syntax.Named) bool {
	n := b.c.scoped(t.Scope, t.Name, t.Pos)
	if n == nil || n.missing {
		return false
	}
	switch {
	case n.str != nil && t.Array != nil:
		args, ok := b.args(n.str.Params, t)
		return ok && b.array(it, t.Array, &Array{Struct: n.str, Args: args})
	case n.str != nil:
		var ok bool
		it.Kind, it.Struct = KindStruct, n.str
		it.Args, ok = b.args(n.str.Params, t)
		return ok
	case n.list != nil && t.Array == nil:
		var ok bool
		it.Kind, it.List = KindList, n.list
		it.Args, ok = b.args(n.list.Params, t)
		return ok
	case n.enum != nil && t.Args == nil:
		return b.enumType(it, n.enum, t)
	case n.sum != nil && t.Array == nil && t.Args == nil:
		it.Kind, it.Scalar = KindScalar, &Scalar{Bits: n.sum.Width, Little: n.sum.Little, Sum: &Cover{Sum: n.sum}}
		return true
	}
	b.c.report("E0301", t.Pos, "`%s` cannot be the type of an item here", t.Name)
	return false
}

// args resolves the arguments of a type with parameters.
func (b *body) args(params []*Param, t *syntax.Named) ([]*Expr, bool) {
	if len(t.Args) != len(params) {
		b.c.report("E0309", t.Pos, "`%s` takes %s and not %d", t.Name, plural(len(params), "argument"), len(t.Args))
		return nil, false
	}
	var out []*Expr
	for i, e := range t.Args {
		p := params[i]
		if p.Bits > 0 {
			x := b.argument(p, e)
			if x == nil {
				return nil, false
			}
			out = append(out, x)
			continue
		}
		if e.Kind != syntax.ExprPath || isUpper(e.Names[0].Text) {
			b.c.reportExpr("E0309", e, "the argument must be an item")
			return nil, false
		}
		r, ok := b.env().ref(e)
		if !ok {
			return nil, false
		}
		if !p.takes(r) {
			b.c.reportExpr("E0301", e, "`%s` does not fit the parameter `%s`", r, p.Name.Schema)
			return nil, false
		}
		out = append(out, &Expr{Op: OpRef, Ref: r})
	}
	return out, true
}

// takes tells whether the parameter of a header accepts what a reference names.
func (p *Param) takes(r Ref) bool {
	s := r.structure()
	if p.Any != nil {
		return slices.Contains(p.Any, s)
	}
	return s != nil && s == p.Struct
}

func (b *body) array(it *Item, d *syntax.Array, a *Array) bool {
	it.Kind, it.Array = KindArray, a
	a.MaxCount = -1
	if a.Struct != nil && a.Struct.Min == 0 {
		b.c.report("E0507", d.Pos, "an element of `%s` may be empty", a.Struct.Name.Schema)
		return false
	}
	if a.Struct != nil && a.Struct.Greedy {
		b.c.report("E0511", d.Pos, "each element of `%s` would take all that is left", a.Struct.Name.Schema)
		return false
	}
	if d.Greedy {
		return true
	}
	if a.Count = b.size(d.Count); a.Count == nil {
		return false
	}
	if a.Count.Max.Cmp(big.NewInt(unboundedSize)) > 0 {
		b.c.reportExpr("E0213", d.Count, "up to %s elements are too many", brief(a.Count.Max))
		return false
	}
	a.MaxCount = int(a.Count.Max.Int64())
	if a.Count.Op != OpConst {
		b.arrays = append(b.arrays, solvable{it, d.Count, a.Count})
	}
	return true
}

// enumType resolves a field whose type is an enum.
func (b *body) enumType(it *Item, e *Enum, t *syntax.Named) bool {
	return b.numbers(it, &Scalar{Bits: e.Bits, Enum: e, Little: b.c.littleEndian(e.Bits, "")}, t.Array)
}
