// SPDX-License-Identifier: Apache-2.0

package syntax

import "github.com/alecthomas/participle/v2/lexer"

// clauseWords may follow a type; some of them are names elsewhere.
var clauseWords = []string{"serial", "opaque", "unique", "required", "default", "sized", "over", "since", "until"}

// endsBehindGroup tells whether a statement ends behind the closing brace that was just taken. A `;` that adds nothing is
// dropped; it adds something where the next word could be read as a clause.
func (p *layoutParser) endsBehindGroup() bool {
	for p.next().is(";") {
		if p.next().noted || p.peek(1).is(clauseWords...) || p.continues(1) {
			return false
		}
		p.at++
		if !p.next().is(";") {
			return true
		}
	}
	return !p.continues(0)
}

// continues tells whether the piece n places on belongs to the statement whose closing brace stands before it.
func (p *layoutParser) continues(n int) bool {
	t := p.peek(n)
	switch {
	case t.end():
		return false
	case t.is("else", "[", "=", "@", ",", ".", "in", "?", ":", "=>"):
		return true
	case t.is("if"):
		return !p.startsBlock(n + 1)
	case t.is(clauseWords...):
		return !p.peek(n+1).is(":", ",", "=>", "=")
	}
	return false
}

// startsBlock tells whether the condition that begins n places on is that of an if-block.
func (p *layoutParser) startsBlock(n int) bool {
	for sets := 0; ; n++ {
		t := p.peek(n)
		switch {
		case t.end(), t.is(";"):
			return false
		case t.is("{") && (sets > 0 || p.peek(n-1).is("in")):
			sets++
		case t.is("{"):
			return true
		case t.is("}"):
			if sets == 0 {
				return false
			}
			sets--
		}
	}
}

// sameWords tells whether a formatted text has the words and comments of the tokens, in their order.
func sameWords(tokens []lexer.Token, text string) bool {
	f := &File{Source: text}
	other, ok := f.tokenize()
	if !ok || len(f.Diags) > 0 {
		return false
	}
	return equalWords(words(tokens), words(other))
}

func equalWords(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// words lists tokens and comments; a `;` directly behind a closing brace is left out.
func words(tokens []lexer.Token) []string {
	var out []string
	for i, p := range pieces(tokens) {
		for _, c := range p.comments {
			out = append(out, c.text)
		}
		if p.is(";") && i > 0 && len(out) > 0 && out[len(out)-1] == "}" {
			continue
		}
		out = append(out, p.text)
	}
	return out
}
