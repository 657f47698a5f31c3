// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// TestFixesMatchTheirGoldens: fixed.mrs is a schema without warnings; where a warning has a fix, it is what the fix makes of bad.mrs.
func TestFixesMatchTheirGoldens(t *testing.T) {
	for _, k := range Codes() {
		t.Run(k.Code, func(t *testing.T) {
			bad, err := os.ReadFile(filepath.Join("testdata", k.Code, "bad.mrs"))
			if err != nil {
				t.Fatal(err)
			}
			found, err := Source("bad.mrs", bad)
			if err != nil {
				t.Fatal(err)
			}
			mine := slices.DeleteFunc(found, func(d syntax.Diagnostic) bool { return d.Code != k.Code })
			name := filepath.Join("testdata", k.Code, "fixed.mrs")
			got, made := syntax.Apply(bad, mine)
			if made > 0 && *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			fixed, err := os.ReadFile(name)
			if err != nil {
				t.Fatalf("every warning shows how it is mended: %v", err)
			}
			if diff := cmp.Diff(string(fixed), string(got)); made > 0 && diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			left, err := Source("fixed.mrs", fixed)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range left {
				t.Errorf("fixed.mrs is not mended:\n%s", d)
			}
		})
	}
}
