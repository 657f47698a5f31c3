// SPDX-License-Identifier: Apache-2.0

// Package write is the codec of schema/bars.mrs: the headers of a Write in one struct, to be compared with a decoder that is
// written by hand.
package write
