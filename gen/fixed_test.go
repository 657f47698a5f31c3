// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// ofCode keeps the diagnostics of one code.
func ofCode(diags []syntax.Diagnostic, code string) []syntax.Diagnostic {
	return slices.DeleteFunc(slices.Clone(diags), func(d syntax.Diagnostic) bool { return d.Code != code })
}

// mend applies the fixes of one code until none is left.
func mend(t *testing.T, src []byte, code string) (out []byte, made int) {
	t.Helper()
	for range 8 {
		_, diags := Compile("bad.mrs", src)
		next, n := syntax.Apply(src, ofCode(diags, code))
		if n == 0 {
			return src, made
		}
		src, made = next, made+n
	}
	t.Fatalf("the fixes of %s do not end:\n%s", code, src)
	return nil, 0
}

// TestFixesMatchTheirGoldens: fixed.mrs is a schema without the fault. Where fixes remove every fault of the code, it is what they make of
// bad.mrs; where they remove only some, that is applied.mrs.
func TestFixesMatchTheirGoldens(t *testing.T) {
	for _, k := range compilerCodes() {
		t.Run(k.Code, func(t *testing.T) {
			dir := filepath.Join(diagDir, k.Code)
			bad, err := os.ReadFile(filepath.Join(dir, "bad.mrs"))
			if err != nil {
				t.Fatal(err)
			}
			got, made := mend(t, bad, k.Code)
			_, left := Compile("bad.mrs", got)
			switch whole := len(ofCode(left, k.Code)) == 0; {
			case made > 0 && whole:
				golden(t, filepath.Join(dir, "fixed.mrs"), got)
			case made > 0:
				golden(t, filepath.Join(dir, "applied.mrs"), got)
			}
			if _, err := os.Stat(filepath.Join(dir, "applied.mrs")); !errors.Is(err, fs.ErrNotExist) && (made == 0 || len(ofCode(left, k.Code)) == 0) {
				t.Error("applied.mrs is for fixes that remove some of the faults only")
			}
			fixed, err := os.ReadFile(filepath.Join(dir, "fixed.mrs"))
			if err != nil {
				t.Fatalf("every code shows how the fault is mended: %v", err)
			}
			_, diags := Compile("fixed.mrs", fixed)
			for _, d := range diags {
				t.Errorf("fixed.mrs is not mended:\n%s", d)
			}
		})
	}
}

// golden compares a text with a file, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want +got:\n%s", name, diff)
	}
}
