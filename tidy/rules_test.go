// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestRulesFailOnTheirFixtures runs each rule over the small tree testdata/<rule>.txtar. The section "want" lists the
// findings; every rule must have at least one.
func TestRulesFailOnTheirFixtures(t *testing.T) {
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			root, want := unpack(t, filepath.Join("testdata", rule.Name+".txtar"))
			tree, err := Read(root)
			if err != nil {
				t.Fatal(err)
			}
			found, err := rule.Find(tree)
			if err != nil {
				t.Fatal(err)
			}
			sortFindings(found)
			var got strings.Builder
			for _, f := range found {
				got.WriteString(f.String() + "\n")
			}
			if want == "" {
				t.Error("the fixture wants no finding, so it proves nothing")
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// unpack writes a fixture's files below a temporary directory and returns its "want" section. The line «500 lines» stands
// for so many empty ones.
func unpack(t *testing.T, fixture string) (root, want string) {
	t.Helper()
	archive, err := txtar.ParseFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	for _, f := range archive.Files {
		if f.Name == "want" {
			want = string(f.Data)
			continue
		}
		p := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(strings.ReplaceAll(string(f.Data), "«500 lines»\n", strings.Repeat("\n", 500))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, want
}

func TestExceptionsExcuseOnlyWhatTheyName(t *testing.T) {
	list, err := parseExceptions("# comment\nspdx a/x.go x.go: it is a copy\n\nspdx a/y.go y.go: so is it\n")
	if err != nil {
		t.Fatal(err)
	}
	used := map[Exception]bool{}
	found := []Finding{{"a/x.go", 1, "x.go", "w"}, {"a/x.go", 1, "z.go", "w"}, {"b/x.go", 1, "x.go", "w"}}
	if diff := cmp.Diff(found[1:], Excuse("spdx", found, list, used)); diff != "" {
		t.Errorf("standing findings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[Exception]bool{list[0]: true}, used); diff != "" {
		t.Errorf("used exceptions (-want +got):\n%s", diff)
	}
	if other := Excuse("link", found, list, used); len(other) != len(found) {
		t.Errorf("an exception of spdx excuses findings of another rule: %v", other)
	}
}

func TestExceptionsNeedAReason(t *testing.T) {
	for _, text := range []string{"spdx a/x.go x.go", "spdx a/x.go: reason", "spdx a/x.go x.go:  \n", "spdx a b c d: reason"} {
		if _, err := parseExceptions(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
