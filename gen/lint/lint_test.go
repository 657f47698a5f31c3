// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
)

var update = flag.Bool("update", false, "rewrite testdata/*/want.txt")

func TestWarningsMatchTheirGoldens(t *testing.T) {
	for _, k := range Codes() {
		t.Run(k.Code, func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join("testdata", k.Code, "bad.mrs"))
			if err != nil {
				t.Fatalf("every code has a golden: %v", err)
			}
			found, err := Source("bad.mrs", src)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			seen := false
			for _, d := range found {
				got.WriteString(d.String())
				seen = seen || d.Code == k.Code
				if d.Help == "" || d.Severity() != "warning" {
					t.Errorf("%v: help %q, severity %s", d, d.Help, d.Severity())
				}
			}
			if !seen {
				t.Errorf("bad.mrs does not raise %s", k.Code)
			}
			name := filepath.Join("testdata", k.Code, "want.txt")
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
		})
	}
}

func TestCommentAllowsAWarningOnItsLineAndBelow(t *testing.T) {
	for name, place := range map[string]struct{ above, behind string }{
		"code above": {above: "// mrgen:allow W1004 it is clear\n  "}, "word behind": {behind: " // mrgen:allow undocumented-field"},
	} {
		t.Run(name, func(t *testing.T) {
			src := "edition 1;\npackage a.b;\nbyteorder big;\nbitorder msb;\n\n/// P.\npacket P {\n  " +
				place.above + "a : u8;" + place.behind + "\n  b : u8;\n}\nexample \"one\" P { hex \"0102\"; a = 1; }\n"
			found, err := Source("a.mrs", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			want := "the field `b` has no documentation"
			if place.above != "" { // the comment covers one line only
				if len(found) != 1 || found[0].Message != want {
					t.Errorf("got %v", found)
				}
				return
			}
			for _, d := range found {
				if d.Line == 8 {
					t.Errorf("got %v", d)
				}
			}
		})
	}
}

func TestLintRefusesSchemasWithFaults(t *testing.T) {
	_, err := Source("a.mrs", []byte("edition 1;\n"))
	var schema *gen.SchemaError
	if !errors.As(err, &schema) {
		t.Errorf("got %v", err)
	}
}

func TestExplainKnowsNumbersAndWords(t *testing.T) {
	for _, k := range Codes() {
		byNumber, ok := Explain(k.Code)
		byWord, _ := Explain(k.Word)
		if !ok || byNumber != byWord || byNumber.Bad == "" || byNumber.Fixed == "" || byNumber.Says == "" {
			t.Errorf("%s: %+v, by word %+v", k.Code, byNumber, byWord)
		}
	}
	if _, ok := Explain("W9999"); ok {
		t.Error("W9999 does not exist and is explained")
	}
}
