// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"fmt"
	"strings"
)

// kind is what a field can do in an expression.
type kind int

const (
	number kind = iota
	truth
	span
	array
	vector
)

// field is something that an expression may name.
type field struct {
	path   string
	kind   kind
	bits   int // of a number or a vector; 0 = it has a purpose already
	signed bool
	lo, hi int64 // of a number; hi = -1: too wide for arithmetic
	enum   *enum
}

// value is an expression with its bounds.
type value struct {
	text   string
	lo, hi int64
	fixed  bool // no field is in it
}

// most bounds all that is computed, far below 64 bits.
const most = int64(1) << 40

// leaf draws a field or a constant.
func (b *body) leaf() value {
	var usable []field
	for _, f := range b.fields {
		if f.kind == number && f.hi >= f.lo && f.hi < 1<<33 {
			usable = append(usable, f)
		}
	}
	if len(usable) == 0 || b.d.rarely(4) {
		if len(b.d.consts) > 0 && b.d.rarely(2) {
			c := pick(b.d, b.d.consts)
			return value{c.path, c.lo, c.hi, true}
		}
		n := b.d.between(0, 300)
		return value{literal(b.d, n), n, n, true}
	}
	f := pick(b.d, usable)
	return value{f.path, f.lo, f.hi, false}
}

// number draws an expression.
func (b *body) number(depth int) value {
	if depth == 0 || !b.d.rarely(3) {
		return b.leaf()
	}
	x, y := b.number(depth-1), b.number(depth-1)
	out := value{}
	op := pick(b.d, []string{"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "?"})
	corners := func(f func(a, b int64) int64) {
		a, b, c, d := f(x.lo, y.lo), f(x.lo, y.hi), f(x.hi, y.lo), f(x.hi, y.hi)
		out.lo, out.hi = min(a, b, c, d), max(a, b, c, d)
	}
	switch op {
	case "+":
		out.lo, out.hi = x.lo+y.lo, x.hi+y.hi
	case "-":
		out.lo, out.hi = x.lo-y.hi, x.hi-y.lo
	case "*":
		if max(x.hi, -x.lo) > 1<<20 || max(y.hi, -y.lo) > 1<<19 {
			return x
		}
		corners(func(a, b int64) int64 { return a * b })
	case "/", "%":
		if y.lo <= 0 || x.lo < 0 {
			n := b.d.between(1, 9)
			y = value{fmt.Sprint(n), n, n, true}
		}
		if out.lo, out.hi = min(x.lo, 0), max(x.hi, 0); op == "%" {
			out.lo, out.hi = max(out.lo, 1-y.hi), min(out.hi, y.hi-1)
		}
	case "&", "|", "^":
		if x.lo < 0 || y.lo < 0 {
			return x
		}
		if out.hi = 1; true {
			for out.hi <= max(x.hi, y.hi) {
				out.hi *= 2
			}
			out.hi--
		}
	case "<<", ">>":
		n := b.d.between(0, 5)
		y = value{fmt.Sprint(n), n, n, true}
		if out.lo, out.hi = x.lo>>n, x.hi>>n; op == "<<" {
			out.lo, out.hi = x.lo<<n, x.hi<<n
		}
	case "?":
		c, ok := b.cond(depth - 1)
		if !ok {
			return x
		}
		return value{fmt.Sprintf("(%s ? %s : %s)", c, x.text, y.text), min(x.lo, y.lo), max(x.hi, y.hi), false}
	}
	out.fixed = x.fixed && y.fixed
	if out.lo < -most || out.hi > most {
		return x
	}
	out.text = fmt.Sprintf("(%s %s %s)", x.text, op, y.text)
	return out
}

// cond draws a condition that can be both true and false; ok is false when there is nothing to decide on.
func (b *body) cond(depth int) (text string, ok bool) {
	if depth > 0 && b.d.rarely(3) {
		x, okX := b.cond(depth - 1)
		y, okY := b.cond(depth - 1)
		if okX && okY {
			if b.d.rarely(4) {
				return fmt.Sprintf("!(%s) %s (%s)", x, pick(b.d, []string{"||", "&&"}), y), true
			}
			return fmt.Sprintf("(%s) %s (%s)", x, pick(b.d, []string{"||", "&&"}), y), true
		}
	}
	if f, found := b.pickOf(truth, vector, span, array); found && b.d.rarely(3) {
		return b.about(f), true
	}
	for _, f := range b.fields {
		if f.enum != nil && b.d.rarely(3) {
			op := pick(b.d, []string{"==", "!="})
			return fmt.Sprintf("%s %s %s.%s", f.path, op, f.enum.name, pick(b.d, f.enum.members)), true
		}
	}
	x := b.number(depth)
	if x.fixed || x.lo >= x.hi {
		return "", false
	}
	c := b.d.between(x.lo, x.hi)
	switch pick(b.d, []string{"!=", "<=", ">=", "in", "==", "set", "<", ">"}) {
	case "<=":
		c = min(c, x.hi-1)
		return fmt.Sprintf("%s <= %s", x.text, literal(b.d, c)), true
	case ">":
		c = min(c, x.hi-1)
		return fmt.Sprintf("%s > %s", x.text, literal(b.d, c)), true
	case ">=":
		c = max(c, x.lo+1)
		return fmt.Sprintf("%s >= %s", x.text, literal(b.d, c)), true
	case "<":
		c = max(c, x.lo+1)
		return fmt.Sprintf("%s < %s", x.text, literal(b.d, c)), true
	case "in":
		if c = max(c, 0); c < x.hi {
			return fmt.Sprintf("%s in 0..%d", x.text, c), true
		}
	case "set":
		if c = max(c, 0); c < x.hi {
			return fmt.Sprintf("%s in {%d, %d..%d}", x.text, c, c+1, c+3), true
		}
	case "==":
		return fmt.Sprintf("%s == %s", x.text, literal(b.d, c)), true
	}
	return fmt.Sprintf("%s != %s", x.text, literal(b.d, c)), true
}

func (b *body) pickOf(kinds ...kind) (field, bool) {
	var fit []field
	for _, f := range b.fields {
		for _, k := range kinds {
			if f.kind == k {
				fit = append(fit, f)
			}
		}
	}
	if len(fit) == 0 {
		return field{}, false
	}
	return pick(b.d, fit), true
}

// about draws a condition on something that is no number.
func (b *body) about(f field) string {
	switch f.kind {
	case truth:
		return strings.Repeat("!", b.d.upTo(1)) + f.path
	case vector:
		if b.d.rarely(2) {
			return fmt.Sprintf("any(%s)", f.path)
		}
		return fmt.Sprintf("test(%s, %d)", f.path, b.d.upTo(f.bits-1))
	case span:
		return fmt.Sprintf("size(%s) %s %d", f.path, pick(b.d, []string{"!=", "<=", ">="}), 1+b.d.upTo(5))
	}
	return fmt.Sprintf("count(%s) %s %d", f.path, pick(b.d, []string{"!=", "<=", ">="}), 1+b.d.upTo(5))
}
