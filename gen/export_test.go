// SPDX-License-Identifier: Apache-2.0

package gen

// What the tests that run backends share with those of the compiler.
var (
	Golden           = golden
	CheckDiagnostics = checkDiagnostics
)

// DiagDir holds the goldens of all codes.
const DiagDir = diagDir
