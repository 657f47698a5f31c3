// SPDX-License-Identifier: Apache-2.0

// Package lint finds what a schema may do but a reader would rather not see: missing documentation, declarations without
// use, arms that could be one. A warning never changes an output.
//
// A comment `// mrgen:allow W1004 reason` accepts a warning on its own line and on the one below it; the code may also be
// written as its word.
package lint
