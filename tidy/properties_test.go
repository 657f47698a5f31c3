// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mostProperties is the number of properties that the page has rows for.
const mostProperties = 48

// Which test proves what is read from the tests; people write what is claimed, and how it is shown.
func TestPropertiesPageIsThatOfTheCode(t *testing.T) {
	tree, err := Read("..")
	if err != nil {
		t.Fatal(err)
	}
	page := tree.File(propertiesPage)
	want := currentProperties(tree, page)
	if *update {
		if err := os.WriteFile(filepath.Join("..", propertiesPage), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(page.Text), "\n")); diff != "" {
		t.Errorf("%s differs (-code +page; go test ./tidy -run Properties -update writes it):\n%s", propertiesPage, diff)
	}
	if rows, _ := properties(page); len(rows) != mostProperties {
		t.Errorf("%d properties have a row, want %d", len(rows), mostProperties)
	}
}

// What the engine is compared with shares nothing with it.
func TestOracleImportsNothingOfTheEngine(t *testing.T) {
	tree, err := Read("..")
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, f := range tree.hand() {
		if dirOf(f.Path) != "fuzz/model" || isTest(f.Path) {
			continue
		}
		files++
		for _, spec := range f.Syntax.Imports {
			if to, foreign := tree.foreign(spec); foreign {
				t.Errorf("%s imports %s", f.Path, to)
			}
		}
	}
	if files == 0 {
		t.Error("fuzz/model is gone")
	}
}
