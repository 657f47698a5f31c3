// SPDX-License-Identifier: Apache-2.0

// Package cgen prints a compiled schema as freestanding C11 that also compiles as C++17.
//
// Generate returns one header, one source file and one test program. The header alone serves code that reads and writes
// headers in place: its getters and setters are inline and work on bytes. The source file adds, for every struct,
// unpack (bytes to struct), pack (struct to bytes), validate (where and why bytes are wrong) and verify (checksums).
// The generated code allocates nothing, keeps no state, and needs stdint.h, stddef.h and stdbool.h only.
//
// The package decides nothing about the wire: steps, checks and their order come from the Protocol. What it decides is C:
// spans, arrays and TLV lists become views of the caller's bytes, a switch becomes an enum and a union, an item whose
// condition is false is zero. Whatever pack writes, it reads back with unpack's rules before it returns, so that the two
// cannot disagree.
package cgen
