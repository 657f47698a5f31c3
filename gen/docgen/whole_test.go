// SPDX-License-Identifier: Apache-2.0

package docgen

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferenceShowsWhatTheWholeLanguageCanSay holds the page of a schema with the constructs that the kitchen has not.
func TestReferenceShowsWhatTheWholeLanguageCanSay(t *testing.T) {
	p := load(t, "../testdata/whole.mrs")
	p.WireHash = "0123"
	files, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	const name = "testdata/whole.md"
	got := string(files[0].Data)
	if files[0].Path != "whole.md" {
		t.Fatalf("the first file is %s", files[0].Path)
	}
	if *update {
		if err := os.WriteFile(name, files[0].Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
