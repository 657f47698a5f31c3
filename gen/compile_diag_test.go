// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

var update = flag.Bool("update", false, "rewrite testdata/diag/*/want.txt")

const diagDir = "testdata/diag"

// leaks finds the words of the tools behind the front end.
var leaks = regexp.MustCompile(`(?i)participle|unexpected token|expected |lexer|\*?syntax\.|0x[0-9a-f]{9,}\b.*goroutine|<eof>|SpanType|BodyType`)

// compilerCodes lists the codes that the compiler reports. Those of the block E08 are the backends', which TestRefusalsMatchTheirGoldens runs.
func compilerCodes() []syntax.CodeInfo {
	return slices.DeleteFunc(syntax.Codes(), func(k syntax.CodeInfo) bool { return strings.HasPrefix(k.Code, "E08") })
}

func TestDiagnosticsMatchTheirGoldens(t *testing.T) {
	for _, code := range compilerCodes() {
		t.Run(code.Code, func(t *testing.T) {
			dir := filepath.Join(diagDir, code.Code)
			src, err := os.ReadFile(filepath.Join(dir, "bad.mrs"))
			if err != nil {
				t.Fatalf("every code has a golden: %v", err)
			}
			_, diags := Compile("bad.mrs", src)
			var got strings.Builder
			seen := false
			for _, d := range diags {
				got.WriteString(d.String())
				seen = seen || d.Code == code.Code
			}
			if !seen {
				t.Errorf("bad.mrs does not raise %s:\n%s", code.Code, got.String())
			}
			name := filepath.Join(dir, "want.txt")
			if *update {
				if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkDiagnostics(t, diags)
		})
	}
}

// checkDiagnostics tests what every diagnostic promises.
func checkDiagnostics(t *testing.T, diags []syntax.Diagnostic) {
	t.Helper()
	for _, d := range diags {
		if d.Help == "" {
			t.Errorf("%v has no help", d)
		}
		if d.Line < 1 || d.Col < 1 || d.EndCol <= d.Col {
			t.Errorf("%v: span %d:%d-%d", d, d.Line, d.Col, d.EndCol)
		}
		if syntax.Help(d.Code) == "" {
			t.Errorf("%v: undocumented code", d)
		}
		checkWords(t, d)
	}
}

func TestDiagnosticGoldensHaveADocumentedCode(t *testing.T) {
	entries, err := os.ReadDir(diagDir)
	if err != nil {
		t.Fatal(err)
	}
	manual, err := os.ReadFile("../schema/LANGUAGE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if syntax.Help(e.Name()) == "" {
			t.Errorf("%s is a golden of no code", e.Name())
		}
	}
	for _, k := range syntax.Codes() {
		if row := "| " + k.Code + " | " + k.Text + " |"; !strings.Contains(string(manual), row) {
			t.Errorf("LANGUAGE.md lacks the row %q", row)
		}
	}
}
