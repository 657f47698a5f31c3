// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"
)

// chunk is the tokens of one declaration.
type chunk struct {
	tokens []lexer.Token // the first one is not elided
	end    Pos           // where the declaration ends
	word   string        // its first word
	broken bool          // its fault is reported already
}

// forms shows how each declaration is written. Its keys are the words that begin one.
var forms = map[string]string{
	"edition":   "`edition 1;`",
	"package":   "`package name.part;`",
	"import":    "`import \"file.mrs\" as name;`",
	"byteorder": "`byteorder big;`",
	"bitorder":  "`bitorder msb;`",
	"option":    "`option target { key = value; }`",
	"versions":  "`versions 1..2 by Header.field;`",
	"const":     "`const Name = 42;`",
	"error":     "`error E_NAME = 64 \"text\";`",
	"assert":    "`assert minsize(Packet) == 24;`",
	"enum":      "`enum Name : u8 open { Member = 1; reserved 2..3; }`",
	"crc":       "`crc Name : u32 { width 32; poly 0x1edc6f41; … }`",
	"sum":       "`sum Name : u16 { … }`",
	"header":    "`header Name { field : u8 in 1..9 = 3; Other; where a < b; if c { … } }`",
	"packet":    "`packet Name max 1500 { field : u8; data : payload; }`",
	"tlv":       "`tlv Name max 40 { head { … } key type; length len; 1 => name : { … } unique; }`",
	"example":   "`example \"title\" Packet { hex \"00 01\"; item = 1; }`",
	"reject":    "`reject \"title\" Packet { hex \"00\"; error E_SHORT at item; }`",
}

// braced tells whether a declaration ends with its closing brace and not with `;`.
func braced(word string) bool {
	switch word {
	case "option", "enum", "crc", "sum", "header", "packet", "tlv", "example", "reject":
		return true
	}
	return false
}

// form is the advice for a declaration that cannot be read.
func (c chunk) form() string {
	if s, ok := forms[c.word]; ok {
		return "the form is " + s
	}
	return "a declaration begins with one of: const, enum, header, packet, tlv, crc, error, assert, option, example, reject"
}

// tokenAt finds the token of this declaration at a place.
func (c chunk) tokenAt(p Pos) lexer.Token {
	for _, t := range c.tokens {
		if t.Pos.Offset >= p.Offset && !elided(t.Type) {
			return t
		}
	}
	return lexer.EOFToken(c.end)
}

// splitter cuts the token stream into declarations.
type splitter struct {
	f      *File
	out    []chunk
	start  int // first token of the current declaration; -1 = none
	open   []lexer.Token
	broken bool
}

var closers = map[string]string{"}": "{", ")": "(", "]": "["}

func (f *File) split(tokens []lexer.Token) []chunk {
	s := &splitter{f: f, start: -1}
	for i, t := range tokens {
		if t.EOF() {
			s.unclosed(t)
			s.cut(tokens, i)
			break
		}
		if elided(t.Type) {
			continue
		}
		if s.start >= 0 && startsDecl(tokens, i) {
			s.unclosed(t)
			s.cut(tokens, i)
		}
		if s.start < 0 {
			if t.Value == ";" && len(s.out) > 0 {
				continue // a spare `;` after a closing brace
			}
			s.start = i
		}
		if s.step(tokens, i) {
			s.cut(tokens, i+1)
		}
	}
	return s.out
}

// startsDecl tells whether a declaration surely begins at a token, whatever was left open before it.
func startsDecl(tokens []lexer.Token, i int) bool {
	t := tokens[i]
	if t.Pos.Column != 1 || t.Type != tokName || forms[t.Value] == "" {
		return false
	}
	for _, next := range tokens[i+1:] {
		if next.Type == tokSpace {
			continue
		}
		switch t.Value {
		case "edition":
			return next.Type == tokNumber
		case "package", "byteorder", "bitorder", "option":
			return next.Type == tokName
		case "import", "example", "reject":
			return next.Type == tokString
		case "assert", "versions":
			return next.Value != ":" && next.Value != "," && next.Value != "."
		}
		return next.Type == tokType
	}
	return false
}

// step follows the brackets; true = the declaration ends with this token.
func (s *splitter) step(tokens []lexer.Token, i int) bool {
	t := tokens[i]
	if t.Type == tokBad || t.Type == tokOpenString {
		s.broken = true
	}
	if t.Type == tokNumber {
		_, ok := ParseNumber(t.Value)
		s.broken = s.broken || !ok
	}
	if t.Type == tokString {
		_, ok := unquote(t.Value)
		s.broken = s.broken || !ok
		return false
	}
	switch t.Value {
	case "{", "(", "[":
		s.open = append(s.open, t)
		if len(s.open) == MaxDepth+1 {
			s.f.Report("E0006", s.f.At(t.Pos), "brackets nest more than %d deep", MaxDepth)
			s.broken = true
		}
	case "}", ")", "]":
		return s.close(tokens, i)
	case ";":
		return len(s.open) == 0
	}
	return false
}

func (s *splitter) close(tokens []lexer.Token, i int) bool {
	t := tokens[i]
	if n := len(s.open); n == 0 || s.open[n-1].Value != closers[t.Value] {
		if !s.broken {
			r := s.f.Report("E0005", s.f.At(t.Pos), "`%s` closes nothing", t.Value)
			if n > 0 {
				r.Label(s.f.At(s.open[n-1].Pos), "this is open")
			} else {
				r.Fix("remove it", s.f.Remove(t.Pos, behind(t)))
			}
		}
		s.broken = true
		for n > 0 && s.open[n-1].Value != closers[t.Value] {
			n--
		}
		s.open = s.open[:max(n-1, 0)]
	} else {
		s.open = s.open[:n-1]
	}
	return len(s.open) == 0 && t.Value == "}" && braced(tokens[s.start].Value)
}

// unclosed reports what is still open where a declaration must end.
func (s *splitter) unclosed(t lexer.Token) {
	if len(s.open) == 0 {
		return
	}
	first := s.open[len(s.open)-1]
	if !s.broken {
		r := s.f.Report("E0005", s.f.At(first.Pos), "`%s` is never closed", first.Value)
		if !t.EOF() {
			r.Label(s.f.At(t.Pos), "the next declaration begins here")
		}
	}
	s.broken = true
}

func (s *splitter) cut(tokens []lexer.Token, end int) {
	if s.start >= 0 {
		if end-s.start > maxWords && !s.broken {
			s.f.Report("E0006", s.f.At(tokens[s.start].Pos), "the declaration has more than %d words and spaces", maxWords)
			s.broken = true
		}
		s.out = append(s.out, chunk{
			tokens: tokens[s.start:end], end: tokens[min(end, len(tokens)-1)].Pos,
			word: tokens[s.start].Value, broken: s.broken,
		})
	}
	s.start, s.open, s.broken = -1, nil, false
}
