// SPDX-License-Identifier: Apache-2.0

// Package docgen writes the reference of a protocol in Markdown: a diagram and a table for every header, the numbers of
// every enum, the elements of every list, errors and sizes, and one SVG for each header. It also keeps the parts of
// hand-written pages that show the schema true:
//
//	<!-- mrgen:diagram Base -->      followed by a ```text block: the layout of a header
//	<!-- mrgen:enum Opcode -->       up to <!-- mrgen:end -->: a table of numbers
//	<!-- mrgen:tlv Parameters -->    up to <!-- mrgen:end -->: a table of elements
package docgen
