// SPDX-License-Identifier: Apache-2.0

package syntax_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/syntax"
)

var update = flag.Bool("update", false, "rewrite the wanted texts of testdata/format")

func TestFormatMatchesItsGoldens(t *testing.T) {
	names, err := filepath.Glob("testdata/format/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got, diags := syntax.Format("in.mrs", a.Files[0].Data)
			if diags != nil {
				t.Fatalf("the input has faults: %v", diags)
			}
			if *update {
				a.Files = []txtar.File{a.Files[0], {Name: "want.mrs", Data: got}}
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(a.Files[1].Data), string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkFormat(t, a.Files[0].Data)
		})
	}
}

func TestFormatRefusesWhatCannotBeRead(t *testing.T) {
	text, diags := syntax.Format("bad.mrs", []byte("edition 1;\nheader A { a : ; }\n"))
	if text != nil || len(diags) != 1 || diags[0].Code != "E0007" {
		t.Errorf("text %q, diagnostics %v", text, diags)
	}
}

func TestFormatIsFastOnHostileSources(t *testing.T) {
	head := "edition 1;\npackage a.b;\nbyteorder big;\nbitorder msb;\n"
	for name, src := range map[string]string{
		"one line":  head + "header A { " + strings.Repeat("a : u8; ", 1<<11) + "}",
		"comments":  head + strings.Repeat("/* */ ", 1<<12),
		"nested if": head + "header A { " + strings.Repeat("if a { ", syntax.MaxDepth-1) + strings.Repeat("} ", syntax.MaxDepth-1) + "}",
		"ifs":       head + "header A { a : { b : u8; } " + strings.Repeat("if a == 1 { b : u8; } ", 1<<9) + "}",
	} {
		t.Run(name, func(t *testing.T) { checkFormat(t, []byte(src)) })
	}
}

// FuzzFormat holds what Format promises: the same words, the same protocol, and nothing left to do. Its seeds are every schema
// of the repository.
func FuzzFormat(f *testing.F) {
	for _, src := range schemas(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) { checkFormat(t, src) })
}

// schemas returns every schema of the repository, those with faults included, and the goldens' inputs.
func schemas(tb testing.TB) [][]byte {
	var out [][]byte
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".mrs":
			src, err := os.ReadFile(path)
			out = append(out, src)
			return err
		case ".txtar":
			a, err := txtar.ParseFile(path)
			if err != nil {
				return err
			}
			for _, file := range a.Files {
				if filepath.Ext(file.Name) == ".mrs" {
					out = append(out, file.Data)
				}
			}
		}
		return nil
	})
	if err != nil || len(out) < 50 {
		tb.Fatalf("%d schemas: %v", len(out), err)
	}
	return out
}

// checkFormat formats a source, if it can be read, and tests the result.
func checkFormat(t *testing.T, src []byte) bool {
	t.Helper()
	text, diags := syntax.Format("fuzz.mrs", src)
	if diags != nil {
		return false
	}
	again, diags := syntax.Format("fuzz.mrs", text)
	if diags != nil {
		t.Fatalf("the formatted text has faults: %v\n%s", diags, text)
	}
	if !bytes.Equal(text, again) {
		t.Fatalf("formatting twice differs:\n%s", cmp.Diff(string(text), string(again)))
	}
	before, faults := gen.Compile("fuzz.mrs", src)
	after, faultsAfter := gen.Compile("fuzz.mrs", text)
	if len(faults) != len(faultsAfter) {
		t.Fatalf("faults before: %v\nafter: %v\n%s", faults, faultsAfter, text)
	}
	if before == nil {
		return true
	}
	if before.WireHash != after.WireHash {
		t.Fatalf("the wire hash changes:\n%s", text)
	}
	if diff := cmp.Diff(docs(before), docs(after)); diff != "" {
		t.Fatalf("documentation moves (-before +after):\n%s\n%s", diff, text)
	}
	return true
}

// docs lists what the wire hash leaves out.
func docs(p *gen.Protocol) []any {
	out := []any{p.Doc, p.License, p.Targets}
	for _, k := range p.Codes {
		out = append(out, k.Text)
	}
	for _, k := range p.Consts {
		out = append(out, k.Name, k.Doc)
	}
	for _, e := range p.Enums {
		out = append(out, e.Name, e.Doc)
		for _, m := range e.Members {
			out = append(out, m.Name, m.Doc)
		}
	}
	for _, s := range p.Structs {
		out = append(out, s.Name, s.Doc)
		for _, it := range s.Items {
			out = append(out, it.Name, it.Doc, it.Format, it.Unit)
			if it.Switch != nil {
				for _, a := range it.Switch.Arms {
					out = append(out, a.Name, a.Doc)
				}
			}
		}
	}
	for _, l := range p.Lists {
		out = append(out, l.Name, l.Doc)
		for _, c := range l.Cases {
			out = append(out, c.Name, c.Doc)
		}
	}
	for _, e := range p.Examples {
		out = append(out, e.Name, e.Bytes, e.Fields, e.At)
	}
	return out
}
