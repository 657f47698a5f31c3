// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReportAddsUpWhatSeveralPackagesRan(t *testing.T) {
	const profile = "mode: set\nm/a/x.go:3.2,4.5 3 0\nm/a/x.go:7.2,9.5 1 1\nm/b/y.go:1.1,2.2 4 0\nmode: set\nm/a/x.go:3.2,4.5 3 2\n"
	var got bytes.Buffer
	if err := report(&got, strings.NewReader(profile)); err != nil {
		t.Fatal(err)
	}
	want := `m/b/y.go:1: 4 statements never ran
  50.0 % of     8 statements  in all
 100.0 % of     4 statements  m/a
   0.0 % of     4 statements  m/b
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := report(&got, strings.NewReader("nonsense")); err == nil {
		t.Error("nonsense is a profile")
	}
}
