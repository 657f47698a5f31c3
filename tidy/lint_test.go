// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen/lint"
)

func TestSchemasHaveNoWarnings(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if filepath.Ext(name) != ".mrs" {
			return nil
		}
		seen++
		found, err := lint.File(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, w := range found {
			t.Error(w.String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 8 {
		t.Errorf("only %d schemas", seen)
	}
}
