// SPDX-License-Identifier: Apache-2.0

// Package skip knows for which reasons a test may skip itself: reasons.txt holds their beginnings.
package skip

import (
	_ "embed"
	"strings"
)

//go:embed reasons.txt
var reasons string

// Allowed tells whether a test may skip itself for the reason.
func Allowed(reason string) bool { return allowed(reasons, reason) }

func allowed(list, reason string) bool {
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && strings.HasPrefix(reason, line) {
			return true
		}
	}
	return false
}
