// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// behind is the place behind a token that stands on one line.
func behind(t lexer.Token) Pos {
	p := t.Pos
	p.Offset += len(t.Value)
	return p
}

// isDecimal tells whether a text is a number without prefix.
func isDecimal(text string) bool {
	return text != "" && strings.Trim(text, "0123456789_") == "" && text[0] != '_'
}

// closeText ends a text in front of the `;` that it has swallowed, or at the end of its line.
func closeText(t lexer.Token) Edit {
	end := t.Pos.Offset + len(strings.TrimRight(t.Value, " \t\r;"))
	return Edit{end, end, `"`}
}

// doubleEscapes turns the backslashes of unknown escapes into backslashes that stand for themselves.
func doubleEscapes(t lexer.Token) (edits []Edit) {
	for i := 1; i < len(t.Value)-2; i++ {
		if t.Value[i] != '\\' {
			continue
		}
		if _, ok := unquote(`"` + t.Value[i:min(i+4, len(t.Value)-1)] + `"`); !ok && t.Value[i+1] != '\\' {
			edits = append(edits, Edit{t.Pos.Offset + i, t.Pos.Offset + i, `\`})
		}
		i++
	}
	return edits
}

// fixMissing offers the sign that is missing in front of a token: `;` at the end of a line, or in the place of a comma, `:` and `=`.
func (f *File) fixMissing(r *Report, c chunk, at lexer.Token, want string) {
	sign := strings.Trim(want, "`")
	last := c.before(at)
	if last.EOF() {
		return
	}
	end := behind(last)
	switch {
	case sign == ";" && at.Value == ",":
		r.Fix("write `;`", Replace(at.Pos, behind(at), ";"))
	case sign == ";" && (at.EOF() || at.Pos.Line > last.Pos.Line):
		r.Fix("add `;`", Insert(end, ";"))
	case sign == ":" || sign == "=":
		r.Fix("add `"+sign+"`", Insert(end, " "+sign))
	}
}

// before finds the token of the declaration that stands in front of another one.
func (c chunk) before(t lexer.Token) lexer.Token {
	last := lexer.EOFToken(c.end)
	for _, x := range c.tokens {
		if x.Pos.Offset >= t.Pos.Offset {
			break
		}
		if !elided(x.Type) {
			last = x
		}
	}
	return last
}
