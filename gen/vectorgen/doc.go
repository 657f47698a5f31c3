// SPDX-License-Identifier: Apache-2.0

// Package vectorgen writes test vectors for every packet of a protocol: bytes with the values they hold, or with the
// error they must raise. All answers come from the interpreter of package gen, so that no language vouches for itself.
//
// For each arm of each switch there is a smallest packet and one with everything optional in it. From these come packets
// with every field at its limits, lists and spans of every interesting length, every TLV rule kept and broken, every
// truncation, stray bytes and broken sums. The same protocol always gives the same bytes.
package vectorgen
