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
// cannot disagree. A number that holds a size is stored when what it measures has been written. Where checksums cover
// anything but what stands before them, they come last: inner structs first, and one that covers another one behind it.
// Headers of other layers that they cover are arguments of pack and verify, which may be NULL.
package cgen
