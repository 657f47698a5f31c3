// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"errors"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// File is a parsed schema.
type File struct {
	Name   string // for messages
	Source string
	Decls  []*Decl
	Diags  []Diagnostic

	lines []string
	spans map[int]Span     // by offset of a token
	docs  map[int][]string // by offset of the token that follows the comment

	brokenNames []string
	brokenWords map[string]bool
}

// chunkGrammar is what a chunk holds. The declaration is optional for participle, because it reports the deepest fault only
// for an optional part that does not match.
type chunkGrammar struct {
	Decl *Decl `parser:"@@?"`
}

var declParser = participle.MustBuild[chunkGrammar](
	participle.Lexer(definition),
	participle.Elide("Doc", "Comment", "Whitespace", "BlockOpen", "BlockClose", "BlockText"),
	participle.UseLookahead(participle.MaxLookahead),
)

// Parse reads a schema. What is broken is reported in Diags, what is whole stands in Decls.
func Parse(name, source string) *File {
	f, _ := parse(name, source)
	return f
}

// parse returns the tokens as well; nil when nothing can be made of the source.
func parse(name, source string) (*File, []lexer.Token) {
	f := &File{Name: name, Source: source, lines: strings.Split(strings.ToValidUTF8(source, "\uFFFD"), "\n"), docs: map[int][]string{}, brokenWords: map[string]bool{}}
	tokens, ok := f.tokenize()
	if !ok {
		return f, nil
	}
	f.attachDocs(tokens)
	for _, c := range f.split(tokens) {
		if d := f.parseChunk(c); d != nil {
			f.Decls = append(f.Decls, d)
		} else {
			f.lose(c)
		}
	}
	return f, tokens
}

// At returns the span of the token at a place.
func (f *File) At(p Pos) Span {
	if s, ok := f.spans[p.Offset]; ok {
		return s
	}
	return Span{p.Line, p.Column, p.Column + 1}
}

// Range returns the span from one place to another, cut at the end of the first line.
func (f *File) Range(from, to Pos) Span {
	s := f.At(from)
	if to.Line == from.Line && to.Column > s.Col {
		s.EndCol = to.Column
	} else if to.Line > from.Line {
		s.EndCol = max(s.EndCol, len([]rune(strings.TrimRight(f.line(from.Line), " \t")))+1)
	}
	return s
}

// Text returns the source between two places, on one line and without comments.
func (f *File) Text(from, to Pos) string {
	if from.Offset > to.Offset || to.Offset > len(f.Source) {
		return ""
	}
	return strings.Join(strings.Fields(f.Source[from.Offset:to.Offset]), " ")
}

// Doc returns the comment lines in front of a place.
func (f *File) Doc(p Pos) []string { return f.docs[p.Offset] }

// Unquote returns the value of a text literal of the grammar.
func Unquote(quoted string) string {
	s, _ := unquote(quoted)
	return s
}

func (f *File) attachDocs(tokens []lexer.Token) {
	var pending []string
	for _, t := range tokens {
		switch {
		case t.Type == tokDoc:
			pending = append(pending, strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(t.Value, "///"), " "), " \r"))
		case elided(t.Type):
		default:
			if pending != nil {
				f.docs[t.Pos.Offset] = pending
			}
			pending = nil
		}
	}
}

// sliceLexer gives a part of the token stream to participle.
type sliceLexer struct {
	tokens []lexer.Token
	end    Pos
}

func (s *sliceLexer) Next() (lexer.Token, error) {
	if len(s.tokens) == 0 {
		return lexer.EOFToken(s.end), nil
	}
	t := s.tokens[0]
	s.tokens = s.tokens[1:]
	return t, nil
}

func (f *File) parseChunk(c chunk) *Decl {
	if c.broken {
		return nil
	}
	lex, err := lexer.Upgrade(&sliceLexer{c.tokens, c.end}, tokDoc, tokComment, tokSpace, tokBlockOpen, tokBlockClose, tokBlockText)
	if err == nil {
		var g *chunkGrammar
		if g, err = declParser.ParseFromLexer(lex); err == nil {
			return g.Decl
		}
	}
	f.reportSyntax(c, err)
	return nil
}

// reportSyntax says in our own words what participle found.
func (f *File) reportSyntax(c chunk, err error) {
	var mine *fault
	if errors.As(err, &mine) {
		span := f.tokenSpan(mine.at)
		message := mine.say
		if message == "" {
			message = describe(mine.at) + " stands where " + mine.want + " should stand"
		}
		r := f.Report(mine.code, span, "%s", message).Help("%s", adviceFor(mine))
		f.fixMissing(r, c, mine.at, mine.want)
		return
	}
	var pe participle.Error
	at := c.tokens[0]
	if errors.As(err, &pe) {
		at = c.tokenAt(pe.Position())
	}
	span := f.tokenSpan(at)
	var unexpected *participle.UnexpectedTokenError
	want := ""
	if errors.As(err, &unexpected) {
		want = rewrite(unexpected.Message())
	}
	if want == "" {
		f.Report("E0007", span, "%s cannot stand here", describe(at)).Help("%s", c.form())
		return
	}
	r := f.Report("E0007", span, "%s stands where %s should stand", describe(at), want).Help("%s", c.form())
	f.fixMissing(r, c, at, want)
}

func (f *File) tokenSpan(t lexer.Token) Span {
	if !t.EOF() {
		return f.At(t.Pos)
	}
	return Span{t.Pos.Line, t.Pos.Column, t.Pos.Column + 1}
}

func describe(t lexer.Token) string {
	if t.EOF() {
		return "the end of the declaration"
	}
	return "`" + clip(t.Value) + "`"
}

// BrokenNames returns the names of declarations that could not be read.
func (f *File) BrokenNames() []string { return f.brokenNames }

// Broken tells whether a declaration that begins with a word could not be read.
func (f *File) Broken(word string) bool { return f.brokenWords[word] }

// lose records a declaration that cannot be read, so that nobody complains about its absence.
func (f *File) lose(c chunk) {
	f.brokenWords[c.word] = true
	for _, t := range c.tokens {
		if t.Type == tokType {
			f.brokenNames = append(f.brokenNames, t.Value)
			return
		}
	}
}
