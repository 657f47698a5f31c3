// SPDX-License-Identifier: Apache-2.0

package skip

import "testing"

func TestAllowedMatchesBeginnings(t *testing.T) {
	const list = "# needs patience\n\nneeds root\n"
	for reason, want := range map[string]bool{
		"needs root":            true,
		"needs root: not found": true,
		"needs":                 false,
		"it needs root":         false,
		"# needs patience":      false,
		"":                      false,
	} {
		if got := allowed(list, reason); got != want {
			t.Errorf("allowed(%q) = %v", reason, got)
		}
	}
}

func TestListIsNotEmpty(t *testing.T) {
	if !Allowed("needs root") || Allowed("flaky") {
		t.Error("reasons.txt is not what Allowed reads")
	}
}
