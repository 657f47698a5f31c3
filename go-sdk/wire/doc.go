// SPDX-License-Identifier: Apache-2.0

// Package wire reads and writes MetaRoCE packets. All of it but the serial arithmetic is generated from
// schema/metaroce.mrs; `make generate` writes it anew.
//
// Every header of the schema has two forms:
//
//   - A struct, for example Base: Decode fills it from bytes, Append writes it, Len and Validate ask it.
//     Append computes what the struct need not know: fixed and derived fields, counts, lengths and checksums.
//     AppendRaw writes those as stored, which lets tests build wrong packets.
//   - A view, for example BaseView: an array pointer into a buffer whose getters and setters cost what a load and a store
//     cost. Only headers of fixed size have one. A getter checks nothing; Check does.
//
// Packet is the root: one UDP datagram. Decode accepts exactly what the schema allows, and never looks at checksums;
// VerifyPacket does that. Decoded byte slices alias the input, arrays reuse the capacity of the struct they land in, so
// a Packet that is used again does not allocate. Strings are copied; they occur in handshakes only.
//
// Every error is an *Error; errors.Is tells its kind, for example errors.Is(err, ErrShort). After an error the struct's
// contents are unspecified.
package wire
