// SPDX-License-Identifier: Apache-2.0

package syntax

import "strings"

// Severity is "error", or "warning" for the codes that begin with W.
func (d Diagnostic) Severity() string {
	if strings.HasPrefix(d.Code, "W") {
		return "warning"
	}
	return "error"
}

// Nearest returns the most similar one of some names; empty when none shares half of its letters.
func Nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}
