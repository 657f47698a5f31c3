// SPDX-License-Identifier: Apache-2.0

// Package proof holds no code but tests: the compiler and its backends against schemas that nobody has written.
//
// A schema is drawn at random from the whole language. It is printed with wild spacing, read, laid out and read again; its
// vectors are made; the codecs in Go and C are generated, compiled and asked about every vector and about damaged and random
// packets. All must give the interpreter's answers: code, item, offset, bytes used, values, bytes written.
//
// Many schemas share one `go build` and one `gcc`. A schema is known by its number: MR_SCHEMA=n runs number n alone, MR_SCHEMAS=n
// says how many there are, from MR_SCHEMA or 1 on. A schema that fails is made smaller by rapid; the smallest one is printed and kept in the folder
// found, below the test's temporary folder or in MR_FOUND. What has been found and mended lies in testdata and is run again each time.
package proof
