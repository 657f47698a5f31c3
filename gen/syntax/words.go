// SPDX-License-Identifier: Apache-2.0

package syntax

import "strings"

// Word is one name in the source outside comments and texts.
type Word struct {
	Text string
	Pos  Pos
}

// Words lists every name of the source in order, words of the language included; none when the source cannot be read.
func (f *File) Words() []Word {
	quiet := &File{Name: f.Name, Source: f.Source, lines: f.lines}
	tokens, ok := quiet.tokenize()
	if !ok {
		return nil
	}
	var out []Word
	for _, t := range tokens {
		if t.Type == tokName || t.Type == tokType || t.Type == tokKeyword {
			out = append(out, Word{t.Value, t.Pos})
		}
	}
	return out
}

// Comment is one comment that is no documentation.
type Comment struct {
	Text string // without the slashes, trimmed
	Line int
}

// Comments lists the `//` comments of the source.
func (f *File) Comments() []Comment {
	quiet := &File{Name: f.Name, Source: f.Source, lines: f.lines}
	tokens, ok := quiet.tokenize()
	if !ok {
		return nil
	}
	var out []Comment
	for _, t := range tokens {
		if t.Type == tokComment {
			out = append(out, Comment{trimComment(t.Value), t.Pos.Line})
		}
	}
	return out
}

func trimComment(s string) string { return strings.TrimSpace(strings.TrimPrefix(s, "//")) }
