// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// Tree is a read source tree.
type Tree struct {
	Root   string // directory of go.mod
	Module string // module path
	Files  []*File
	Fset   *token.FileSet
}

// File is one text file of a Tree.
type File struct {
	Path      string // slash-separated, relative to the root
	Text      []byte
	Generated bool
	Syntax    *ast.File // of Go files
}

// kinds are the extensions (or whole names) of the files that a Tree holds.
var kinds = map[string]bool{
	".go": true, ".c": true, ".h": true, ".lua": true, ".mrs": true, ".sh": true, ".md": true, "Makefile": true, ".ci/run": true,
}

var generated = regexp.MustCompile(`(?m)^\W*Code generated .*DO NOT EDIT`)

// Read reads every file that the rules look at below root. Directories called testdata, hidden ones except .ci, and
// ones that a .gitignore-style list names (build, out) are skipped.
func Read(root string) (*Tree, error) {
	t := &Tree{Root: root, Fset: token.NewFileSet()}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, fmt.Errorf("tidy: %s is not the root of a module: %w", root, err)
	}
	line, _, _ := bytes.Cut(mod, []byte("\n"))
	t.Module = strings.TrimSpace(strings.TrimPrefix(string(line), "module "))
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if skippedDir(rel) {
				return fs.SkipDir
			}
			return nil
		}
		if !kinds[path.Ext(rel)] && !kinds[path.Base(rel)] && !kinds[rel] || !d.Type().IsRegular() {
			return nil
		}
		return t.add(rel)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

func skippedDir(rel string) bool {
	name := path.Base(rel)
	switch {
	case rel == "." || rel == ".ci":
		return false
	case strings.HasPrefix(name, "."):
		return true
	}
	return name == "testdata" || name == "build" || rel == "out"
}

func (t *Tree) add(rel string) error {
	text, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	head := text[:min(len(text), 512)]
	f := &File{Path: rel, Text: text, Generated: path.Ext(rel) != ".md" && generated.Match(head)}
	if path.Ext(rel) == ".go" {
		f.Syntax, err = parser.ParseFile(t.Fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("tidy: %w", err)
		}
	}
	t.Files = append(t.Files, f)
	return nil
}

// File returns the file at a path, or nil.
func (t *Tree) File(path string) *File {
	for _, f := range t.Files {
		if f.Path == path {
			return f
		}
	}
	return nil
}

// hand returns the hand-written Go files.
func (t *Tree) hand() []*File {
	var files []*File
	for _, f := range t.Files {
		if f.Syntax != nil && !f.Generated {
			files = append(files, f)
		}
	}
	return files
}

// markdown returns the documents.
func (t *Tree) markdown() []*File {
	var files []*File
	for _, f := range t.Files {
		if path.Ext(f.Path) == ".md" {
			files = append(files, f)
		}
	}
	return files
}

// exists tells whether a path relative to the root, possibly with * in it, names something.
func (t *Tree) exists(p string) bool {
	found, err := filepath.Glob(filepath.Join(t.Root, filepath.FromSlash(p)))
	return err == nil && len(found) > 0
}

func (t *Tree) line(n ast.Node) int { return t.Fset.Position(n.Pos()).Line }

// isTest tells Go test files from others.
func isTest(p string) bool { return strings.HasSuffix(p, "_test.go") }

// dirOf is the directory of a file, "." at the root.
func dirOf(p string) string { return path.Dir(p) }

// lines splits a text; the last line need not end.
func lines(text []byte) []string {
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
