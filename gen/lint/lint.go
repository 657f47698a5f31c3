// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"embed"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/syntax"
)

// Code documents one warning. Numbers are stable; the word is the same code in letters.
type Code struct {
	Code string
	Word string
	Text string // what is wrong
	Help string // what to do about it
}

// Codes lists all warnings by number.
func Codes() []Code {
	return []Code{
		{"W1001", "arm-merge", "two arms with the same layout", "list the labels of both in one arm; it is called after the first one"},
		{"W1002", "enum-open-unstated", "an open enum that does not say what its other numbers are for", "reserve the numbers that nobody may use, or name a range of them"},
		{"W1003", "optional-without-user", "a presence flag that no item depends on", "let an item depend on it with `if`, or derive it, or rename it"},
		{"W1004", "undocumented-field", "a field without documentation", "put a line `/// …` above it: meaning, unit, range"},
		{"W1005", "undocumented-declaration", "a declaration without documentation", "put a line `/// …` above it"},
		{"W1006", "undocumented-member", "an enum member or element of a list without documentation", "put a line `/// …` above it"},
		{"W1007", "unused-declaration", "a declaration that nothing uses", "use it or remove it"},
		{"W1008", "no-example", "a packet without an example", "add an example block with the bytes of a real packet"},
		{"W1009", "not-formatted", "a file that is not laid out as `mrgen fmt` does it", "run `mrgen fmt -w`"},
	}
}

// Find returns the code with this number or word, or nil.
func Find(name string) *Code {
	for _, k := range Codes() {
		if k.Code == name || k.Word == name {
			return &k
		}
	}
	return nil
}

// badSchemas holds, for each code, a schema that raises it and one that does not.
//
//go:embed testdata/*/bad.mrs testdata/*/fixed.mrs
var badSchemas embed.FS

// Explain explains a warning, by number or word, as gen.Explain does for errors.
func Explain(name string) (x gen.Explanation, ok bool) {
	k := Find(name)
	if k == nil {
		return x, false
	}
	x = gen.Explanation{Code: k.Code, Name: k.Word, Text: k.Text, Help: k.Help}
	src, err := badSchemas.ReadFile("testdata/" + k.Code + "/bad.mrs")
	if err != nil {
		return x, true
	}
	found, err := Source("bad.mrs", src)
	if err != nil {
		return x, true
	}
	for _, d := range found {
		if d.Code == k.Code {
			x.Says += d.String()
		}
	}
	x.Bad = string(src)
	if fixed, err := badSchemas.ReadFile("testdata/" + k.Code + "/fixed.mrs"); err == nil {
		x.Fixed = string(fixed)
	}
	return x, true
}

// File reads a schema and returns its warnings in the order of the source. The error is a *gen.SchemaError when the schema
// does not compile.
func File(path string) ([]syntax.Diagnostic, error) {
	src, err := syntax.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := gen.Load(path)
	if err != nil {
		return nil, err
	}
	return examine(filepath.ToSlash(path), src, p), nil
}

// Source is File for a text without imports; name is what the warnings carry.
func Source(name string, src []byte) ([]syntax.Diagnostic, error) {
	p, faults := gen.Compile(name, src)
	if len(faults) > 0 {
		return nil, &gen.SchemaError{Diagnostics: faults}
	}
	return examine(name, src, p), nil
}

func examine(name string, src []byte, p *gen.Protocol) []syntax.Diagnostic {
	l := &linter{f: syntax.Parse(name, string(src)), p: p, uses: map[string]int{}, allowed: map[int][]string{}}
	l.count()
	for _, c := range l.f.Comments() {
		if rest, ok := strings.CutPrefix(c.Text, "mrgen:allow "); ok {
			l.allowed[c.Line] = append(l.allowed[c.Line], strings.Fields(rest)...)
		}
	}
	l.documentation()
	l.arms()
	l.enums()
	l.flags()
	l.unused()
	l.examples()
	l.format(string(src))
	return l.f.Sorted()
}

// linter is one schema under examination.
type linter struct {
	f       *syntax.File
	p       *gen.Protocol
	uses    map[string]int   // how often a name occurs outside examples
	allowed map[int][]string // by line of the comment
}

// warn reports one warning and returns the report; a comment that allows the warning gives nil.
func (l *linter) warn(code string, at syntax.Pos, format string, args ...any) *syntax.Report {
	k := Find(code)
	for _, line := range []int{at.Line, at.Line - 1} {
		if names := l.allowed[line]; slices.Contains(names, k.Code) || slices.Contains(names, k.Word) {
			return nil
		}
	}
	return l.f.Report(code, l.f.At(at), format, args...).Help("%s", k.Help)
}

// count counts the names outside example and reject blocks.
func (l *linter) count() {
	type span struct{ from, to int }
	var skip []span
	for _, d := range l.f.Decls {
		if d.Example != nil {
			skip = append(skip, span{d.Pos.Offset, d.EndPos.Offset})
		}
	}
	for _, w := range l.f.Words() {
		in := slices.ContainsFunc(skip, func(s span) bool { return s.from <= w.Pos.Offset && w.Pos.Offset < s.to })
		if !in {
			l.uses[w.Text]++
		}
	}
}
