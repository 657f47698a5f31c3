// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Format lays a schema out in its one canonical form: a line for each declaration, item, arm and member, two spaces for
// each level, one space between words, at most one empty line in a row. Comments and documentation stay with the words
// that they stand at. What stands in braces on one line stays so while the line fits; a statement that is too long keeps
// its own line breaks. Formatting twice gives the same text, and the words and their order never change, except that a `;`
// directly behind a closing brace goes away. A source that cannot be read gives diagnostics and no text.
func Format(name string, src []byte) ([]byte, []Diagnostic) {
	f, tokens := parse(name, string(src))
	if len(f.Diags) > 0 {
		return nil, f.Sorted()
	}
	p := &layoutParser{pieces: pieces(tokens)}
	file := p.block()
	out := &printer{}
	out.block(file, 0)
	text := out.text()
	if !sameWords(tokens, text) {
		panic("syntax: formatting has changed the words of " + name)
	}
	return []byte(text), nil
}

// piece is a token with the comments before it.
type piece struct {
	text     string
	typ      lexer.TokenType
	newline  bool // stood on a new line
	blank    bool // stood behind an empty line
	comments []comment
	noted    bool // comments stand before it, even when a statement has taken them
}

// comment is one comment, with its slashes.
type comment struct {
	text    string
	newline bool // stood on a new line
	blank   bool // stood behind an empty line
	line    bool // reaches to the end of its line
	doc     bool
}

// is tells whether the piece is this word or sign.
func (p piece) is(words ...string) bool {
	return p.typ != tokString && slices.Contains(words, p.text)
}

func (p piece) end() bool { return p.typ == lexer.EOF }

// pieces hangs the comments on the tokens that follow them. The last piece is the end of the file.
func pieces(tokens []lexer.Token) []piece {
	var out []piece
	var before []comment
	newlines := 0
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		place := func() (newline, blank bool) { return newlines > 0, newlines > 1 }
		switch t.Type {
		case tokSpace:
			newlines += strings.Count(t.Value, "\n")
			continue
		case tokDoc, tokComment:
			c := comment{text: tidyComment(t), line: true, doc: t.Type == tokDoc}
			c.newline, c.blank = place()
			before = append(before, c)
		case tokBlockOpen:
			c := comment{}
			c.newline, c.blank = place()
			for ; tokens[i].Type != tokBlockClose; i++ {
				c.text += tokens[i].Value
			}
			c.text += tokens[i].Value
			before = append(before, c)
		default:
			p := piece{text: t.Value, typ: t.Type, comments: before, noted: before != nil}
			p.newline, p.blank = place()
			out = append(out, p)
			before = nil
		}
		newlines = 0
	}
	return out
}

// tidyComment drops what nobody sees at the end of a comment, and separates documentation from its slashes.
func tidyComment(t lexer.Token) string {
	if t.Type == tokComment {
		return strings.TrimRight(t.Value, " \t\r")
	}
	text := strings.TrimRight(t.Value, " \r")
	if rest := strings.TrimPrefix(text, "///"); rest != "" && !strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "/") {
		return "/// " + rest
	}
	return text
}

// statement is a declaration, an item or anything else that ends with `;` or `}`.
type statement struct {
	lead  []comment // on lines of their own
	blank bool      // an empty line stands before it
	parts []part
	trail []comment // behind it on its last line
}

// part is a token or a group in braces.
type part struct {
	piece
	group *group
}

// group is what stands in braces.
type group struct {
	open    piece
	trail   []comment // behind the opening brace on its line
	inner   []statement
	last    []comment // before the closing brace
	oneLine bool      // it stood on one line and holds no comments
}

// layoutParser cuts pieces into statements.
type layoutParser struct {
	pieces []piece
	at     int
}

func (p *layoutParser) next() piece { return p.pieces[p.at] }

func (p *layoutParser) peek(n int) piece {
	return p.pieces[min(p.at+n, len(p.pieces)-1)]
}

// block reads statements up to the closing brace or the end of the file, which is not taken.
func (p *layoutParser) block() *group {
	g := &group{}
	for !p.next().end() && !p.next().is("}") {
		g.inner = append(g.inner, p.statement())
	}
	g.last = p.next().comments
	return g
}

func (p *layoutParser) statement() statement {
	first := &p.pieces[p.at]
	s := statement{lead: first.comments, blank: first.blank}
	first.comments = nil
	sets := 0
	for {
		t := p.next()
		switch {
		case t.end(), t.is("}") && sets == 0:
			return p.finish(s)
		case t.is("{") && (sets > 0 || p.at > 0 && p.pieces[p.at-1].is("in")):
			sets++
		case t.is("}"):
			sets--
		case t.is("{"):
			s.parts = append(s.parts, part{group: p.group()})
			if p.endsBehindGroup() {
				return p.finish(s)
			}
			continue
		}
		s.parts = append(s.parts, part{piece: t})
		p.at++
		if t.is(";") {
			return p.finish(s)
		}
	}
}

// finish takes the comments that stand behind a statement on its line.
func (p *layoutParser) finish(s statement) statement {
	s.trail = p.trailing()
	return s
}

// trailing takes the comments that stand on the line of what is before them. Documentation belongs to what is behind it.
func (p *layoutParser) trailing() []comment {
	next := &p.pieces[p.at]
	n := 0
	for n < len(next.comments) && !next.comments[n].newline && !next.comments[n].doc {
		n++
	}
	taken := next.comments[:n:n]
	next.comments = next.comments[n:]
	return taken
}

// group reads what stands in braces.
func (p *layoutParser) group() *group {
	open := p.next()
	p.at++
	start := p.at
	trail := p.trailing()
	g := p.block()
	g.open, g.trail = open, trail
	g.oneLine = len(open.comments) == 0 && len(trail) == 0 && len(g.last) == 0 && p.plain(start, p.at)
	if len(g.inner) == 0 && len(trail) == 0 && len(g.last) == 0 {
		g.oneLine = len(open.comments) == 0
	}
	p.at++
	return g
}

// plain tells whether the pieces from start to end, the last one included, stand on the line of the one before them and
// without comments.
func (p *layoutParser) plain(start, end int) bool {
	for i := start; i <= end; i++ {
		if p.pieces[i].newline || p.pieces[i].noted {
			return false
		}
	}
	return true
}
