// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// Bounds of a source text.
const (
	MaxSource = 1 << 20 // bytes
	MaxDepth  = 48      // nested brackets
	maxNumber = 70      // characters of a number: 64 binary digits with prefix and some separators
	maxWords  = 1 << 17 // of one declaration, with the spaces and comments between them
)

var definition = lexer.MustStateful(lexer.Rules{
	"Root": {
		{Name: "Doc", Pattern: `///[^\n]*`},
		{Name: "Comment", Pattern: `//[^\n]*`},
		{Name: "BlockOpen", Pattern: `/\*`, Action: lexer.Push("Block")},
		{Name: "Whitespace", Pattern: `[ \t\r\n]+`},
		{Name: "String", Pattern: `"(\\.|[^"\\\n])*"`},
		{Name: "OpenString", Pattern: `"(\\.|[^"\\\n])*`},
		{Name: "Number", Pattern: `[0-9][0-9A-Za-z_]*`},
		{Name: "Keyword", Pattern: `(if|else|where|let|in|true|false|self)\b`},
		{Name: "TypeName", Pattern: `[A-Z][A-Za-z0-9_]*`},
		{Name: "Name", Pattern: `[a-z_][A-Za-z0-9_]*`},
		{Name: "Op", Pattern: `=>|\.\.|==|!=|<=|>=|<<|>>|&&|\|\||[\]\[(){}<>=;:,.|^&+\-*/%!?@]`},
		{Name: "Bad", Pattern: `(?s:.)`},
	},
	"Block": {
		{Name: "BlockClose", Pattern: `\*/`, Action: lexer.Pop()},
		{Name: "BlockText", Pattern: `(?s:[^*]+|\*)`},
	},
})

var (
	symbols       = definition.Symbols()
	tokDoc        = symbols["Doc"]
	tokComment    = symbols["Comment"]
	tokSpace      = symbols["Whitespace"]
	tokString     = symbols["String"]
	tokOpenString = symbols["OpenString"]
	tokNumber     = symbols["Number"]
	tokKeyword    = symbols["Keyword"]
	tokType       = symbols["TypeName"]
	tokName       = symbols["Name"]
	tokBad        = symbols["Bad"]
	tokBlockOpen  = symbols["BlockOpen"]
	tokBlockClose = symbols["BlockClose"]
	tokBlockText  = symbols["BlockText"]
)

// elided tells whether the grammar never sees a token.
func elided(t lexer.TokenType) bool {
	switch t {
	case tokDoc, tokComment, tokSpace, tokBlockOpen, tokBlockClose, tokBlockText:
		return true
	}
	return false
}

// tokenize cuts the source into tokens and reports every token that belongs to no schema. ok is false when nothing can be
// made of the source as a whole.
func (f *File) tokenize() (tokens []lexer.Token, ok bool) {
	if len(f.Source) > MaxSource {
		f.Report("E0003", Span{Line: 1, Col: 1, EndCol: 2}, "the file has more than %d bytes", MaxSource).
			Help("split the protocol into several schemas")
		return nil, false
	}
	if !utf8.ValidString(f.Source) {
		f.reportBadUTF8()
		return nil, false
	}
	lex, err := definition.LexString(f.Name, f.Source)
	if err == nil {
		tokens, err = lexer.ConsumeAll(lex)
	}
	if err != nil {
		f.Report("E0001", Span{Line: 1, Col: 1, EndCol: 2}, "the text cannot be read").Help("save it as plain UTF-8 text")
		return nil, false
	}
	f.spans = make(map[int]Span, len(tokens)/2)
	for i := range tokens {
		f.note(tokens, i)
	}
	return tokens, true
}

func (f *File) reportBadUTF8() {
	line, col := 1, 1
	for _, r := range f.Source {
		if r == utf8.RuneError {
			break
		}
		col++
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	f.Report("E0003", Span{Line: line, Col: col, EndCol: col + 1}, "the file is not UTF-8").Help("save it as UTF-8 text")
}

// note records a token's span and checks the token by itself.
func (f *File) note(tokens []lexer.Token, i int) {
	t := tokens[i]
	if t.EOF() || t.Type == tokSpace {
		return
	}
	span := Span{Line: t.Pos.Line, Col: t.Pos.Column, EndCol: t.Pos.Column + utf8.RuneCountInString(firstLine(t.Value))}
	f.spans[t.Pos.Offset] = span
	switch t.Type {
	case tokBad:
		r := f.Report("E0001", span, "`%s` belongs to no schema", printable(t.Value))
		if t.Value == "#" {
			r.Help("a comment begins with `//`").Fix("write `//`", Replace(t.Pos, behind(t), "//"))
		} else {
			r.Help("remove it").Fix("remove it", f.Remove(t.Pos, behind(t)))
		}
	case tokOpenString:
		f.Report("E0002", span, "the text is not closed on its line").Help("end it with `\"`").Fix("end it with `\"`", closeText(t))
	case tokString:
		if _, ok := unquote(t.Value); !ok {
			f.Report("E0002", span, "the text holds an unknown escape").Help(`use \n \t \" \\ or \x and two hex digits`).
				Fix("write `\\\\`", doubleEscapes(t)...)
		}
	case tokNumber:
		if _, ok := ParseNumber(t.Value); !ok {
			r := f.Report("E0004", span, "`%s` is not a number", clip(t.Value)).
				Help("write 42, 0x2a or 0b10_1010: no leading zero, no decimals, at most %d characters", maxNumber)
			if plain := strings.TrimLeft(t.Value, "0"); isDecimal(plain) {
				r.Fix("write `"+plain+"`", Replace(t.Pos, behind(t), plain))
			}
		}
	case tokBlockOpen:
		if !blockCloses(tokens[i+1:]) {
			f.Report("E0002", span, "the comment is never closed").Help("end it with `*/`").Fix("end it with `*/`", Edit{len(f.Source), len(f.Source), "*/\n"})
		}
	}
}

func blockCloses(rest []lexer.Token) bool {
	for _, t := range rest {
		if t.Type == tokBlockClose {
			return true
		}
		if t.Type != tokBlockText {
			return false
		}
	}
	return false
}

// ParseNumber reads a number as schemas write it: decimal without leading zero, 0x… or 0b…, with _ after the first digit.
func ParseNumber(text string) (*big.Int, bool) {
	if len(text) > maxNumber {
		return nil, false
	}
	digits, base := text, 10
	switch {
	case strings.HasPrefix(text, "0x"):
		digits, base = text[2:], 16
	case strings.HasPrefix(text, "0b"):
		digits, base = text[2:], 2
	case len(text) > 1 && text[0] == '0':
		return nil, false
	}
	if digits == "" || digits[0] == '_' {
		return nil, false
	}
	return new(big.Int).SetString(strings.ReplaceAll(digits, "_", ""), base)
}

// unquote returns the value of a text literal, quotes included in the argument.
func unquote(quoted string) (string, bool) {
	var b strings.Builder
	s := quoted[1 : len(quoted)-1]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '"', '\\':
			b.WriteByte(s[i])
		case 'x':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "", false
			}
			v, _ := new(big.Int).SetString(s[i+1:i+3], 16)
			b.WriteByte(byte(v.Uint64()))
			i += 2
		default:
			return "", false
		}
	}
	return b.String(), true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// clip shortens a text that is quoted in a message.
func clip(s string) string {
	const most = 40
	r := []rune(firstLine(s))
	if len(r) <= most {
		return string(r)
	}
	return string(r[:most]) + "…"
}

func printable(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	if r < ' ' || r == 0x7f {
		return "\\x" + string("0123456789abcdef"[r>>4&15]) + string("0123456789abcdef"[r&15])
	}
	return clip(s)
}
