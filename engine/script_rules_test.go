// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var ruleID = regexp.MustCompile(`\bMR-[A-Z]+-\d{3}\b`)

// rulesOfScripts are the requirements that scripts name in their lines "# Rules: ...".
func rulesOfScripts(t *testing.T) (ids []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "# Rules: ") {
				ids = append(ids, ruleID.FindAllString(line, -1)...)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Which script shows which requirement stands in the scripts; the test that plays them cites all of them.
func TestScriptsNameTheirRules(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "script_test.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var cited []string
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//mr:test ") {
				cited = append(cited, ruleID.FindAllString(c.Text, -1)...)
			}
		}
	}
	slices.Sort(cited)
	if diff := cmp.Diff(rulesOfScripts(t), cited); diff != "" {
		t.Errorf("rules of the scripts and rules that the test of scripts cites (-scripts +cited):\n%s", diff)
	}
}
