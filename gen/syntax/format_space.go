// SPDX-License-Identifier: Apache-2.0

package syntax

// run is a part of a statement without groups.
type run []piece

// spaced tells whether a space stands before the i-th piece of a run.
func (r run) spaced(i int) bool {
	if i == 0 {
		return false
	}
	before, t := r[i-1], r[i]
	switch {
	case t.is(";", ",", ")", "]", "[", ".", ".."), before.is("(", "[", ".", "..", "@"):
		return false
	case r.unary(i - 1):
		return false
	case r.inSet(i):
		return !before.is("{") && !t.is("}")
	case r.angle(i):
		return false
	case t.is("("):
		return !r.called(i - 1)
	}
	return true
}

// operand tells whether the i-th piece may end an operand.
func (r run) operand(i int) bool {
	if i < 0 {
		return false
	}
	t := r[i]
	switch t.typ {
	case tokNumber, tokName, tokType, tokString:
		return true
	case tokKeyword:
		return t.is("true", "false", "self")
	}
	return t.is(")", "]", "}")
}

// unary tells whether the i-th piece is an operator without left operand.
func (r run) unary(i int) bool {
	switch {
	case r[i].is("!"):
		return true
	case !r[i].is("-"):
		return false
	case i > 0 && r[i-1].is("default") && r.operand(i-2):
		return true // the clause, not a field of this name
	}
	return !r.operand(i - 1)
}

// angle tells whether the i-th piece stands at the brackets of bits<N> where no space is.
func (r run) angle(i int) bool {
	for k := i - 3; k < i; k++ {
		if k >= 0 && k+3 < len(r) && r[k].is("bits") && r[k+1].is("<") && r[k+3].is(">") {
			return true
		}
	}
	return false
}

// inSet tells whether the i-th piece, or the one before it, is a brace of a set.
func (r run) inSet(i int) bool {
	return r[i].is("}") || r[i-1].is("{")
}

// openers are words of the language that may stand before a parenthesis without calling anything.
var openers = []string{"sized", "max", "default", "length", "by", "over", "means", "assert", "except", "switch", "key", "error", "poly"}

// called tells whether a parenthesis behind the i-th piece holds arguments.
func (r run) called(i int) bool {
	t := r[i]
	if t.typ != tokName && t.typ != tokType {
		return false
	}
	return i > 0 && r[i-1].is("@") || !t.is(openers...)
}

// flat is the run on one line.
func (r run) flat() string {
	var b []byte
	for i, t := range r {
		if r.spaced(i) {
			b = append(b, ' ')
		}
		b = append(b, t.text...)
	}
	return string(b)
}

// breaks tells whether comments force the run to more than one line.
func (r run) breaks() bool {
	for _, t := range r {
		if len(t.comments) > 0 {
			return true
		}
	}
	return false
}
