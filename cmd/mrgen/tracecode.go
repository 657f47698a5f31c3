// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A directive stands in a comment of its own: //mr:req ID…, //mr:test ID…, //mr:waive ID reason.
var (
	directive = regexp.MustCompile(`^\s*(?://|--|#|/\*)\s?mr:(\w+)\b *(.*?)\s*(?:\*/)?$`)
	anyID     = regexp.MustCompile(`^MR-[A-Z]+-\d+$`)
	tests     = regexp.MustCompile(`^(Test|Fuzz|Example)`)
)

// codeKinds are the files that may carry directives.
var codeKinds = []string{".go", ".c", ".h", ".lua", ".mrs", ".sh"}

// readCode reads the directives of all files below root, without testdata and hidden directories.
func (t *trace) readCode(root, module string) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if base := d.Name(); rel != "." && (base == "testdata" || base == "build" || strings.HasPrefix(base, ".") || rel == "out") {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(codeKinds, path.Ext(rel)) || !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(rel) != ".go" {
			for i, line := range strings.Split(string(text), "\n") {
				t.directive(line, spot{file: rel, line: i + 1})
			}
			return nil
		}
		return t.readGo(rel, text, path.Join(module, path.Dir(rel)))
	})
}

// spot is where a directive stands.
type spot struct {
	file   string
	line   int
	symbol string // the declaration that it belongs to
	pkg    string // import path
}

func (s spot) at() string { return fmt.Sprintf("%s:%d", s.file, s.line) }

// readGo reads the directives of a Go file; those in the comment of a declaration belong to it.
func (t *trace) readGo(rel string, text []byte, pkg string) error {
	if !strings.Contains(string(text), "mr:") {
		return nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	owners := map[*ast.CommentGroup]string{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			owners[d.Doc] = d.Name.Name
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					owners[d.Doc], owners[s.Doc] = s.Name.Name, s.Name.Name
				}
			}
		}
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			pos := fset.Position(c.Pos())
			t.directive(c.Text, spot{rel, pos.Line, owners[group], pkg})
		}
	}
	return nil
}

// directive takes note of one line that may be a directive.
func (t *trace) directive(line string, s spot) {
	m := directive.FindStringSubmatch(line)
	if m == nil || s.pkg != "" && strings.HasPrefix(line, "// ") { // Go has no space there, so prose may begin with one
		return
	}
	ids := strings.Fields(m[2])
	reason := ""
	if m[1] == "waive" && len(ids) > 0 {
		ids, reason = ids[:1], strings.Join(ids[1:], " ")
	}
	switch {
	case m[1] == "prop": // names a property, not a requirement: the house rules hold it to docs/properties.md
		return
	case m[1] != "req" && m[1] != "test" && m[1] != "waive":
		t.find(s.at(), "", "there is no directive mr:%s; they are mr:req, mr:test, mr:waive and mr:prop", m[1])
		return
	case len(ids) == 0:
		t.find(s.at(), "", "mr:%s names no requirement", m[1])
	}
	for _, id := range ids {
		r := t.spec[id]
		switch {
		case !anyID.MatchString(id):
			t.find(s.at(), id, "is not the id of a requirement")
		case r == nil:
			t.find(s.at(), id, "is defined nowhere")
		default:
			t.cite(r, m[1], reason, s)
		}
	}
}

// cite ties a known requirement to a place.
func (t *trace) cite(r *requirement, kind, reason string, s spot) {
	switch kind {
	case "req":
		r.Code = append(r.Code, citation{s.at(), s.symbol})
	case "test":
		if !strings.HasSuffix(s.file, "_test.go") || !tests.MatchString(s.symbol) {
			t.find(s.at(), r.ID, "mr:test does not stand in the comment of a test function")
			return
		}
		r.Tests = append(r.Tests, &testCase{At: s.at(), Package: s.pkg, Name: s.symbol})
	case "waive":
		if reason == "" {
			t.find(s.at(), r.ID, "is waived without a reason")
		}
		r.Waived = reason
	}
}
