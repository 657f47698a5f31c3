// SPDX-License-Identifier: Apache-2.0

// Package syntax reads the text of a schema: tokens, declarations, expressions and the diagnostics about them.
//
// Parse never fails: whatever the bytes are, it returns the declarations that could be read and one Diagnostic for each
// fault. A broken declaration does not hide the ones around it, because the token stream is cut into declarations by
// matching brackets before any of them is parsed. Time and memory are bounded: a source has at most MaxSource bytes and
// brackets nest at most MaxDepth deep.
package syntax
