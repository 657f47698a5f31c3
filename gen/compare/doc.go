// SPDX-License-Identifier: Apache-2.0

// Package compare says what a change of a schema changes: the bytes (WIRE), the names that programs use (SOURCE), or only
// what people read (DOC). It looks twice. First it compares the two protocols declaration by declaration. Then it gives the
// test vectors of both to both interpreters; a packet that one side sends and the other one refuses, or reads as something
// else, is a witness that the change breaks that direction.
package compare
