// SPDX-License-Identifier: Apache-2.0

// Package vectorgen writes test vectors for every packet of a protocol: bytes with the values they hold, or with the
// error they must raise. All answers come from the interpreter of package gen, so that no language vouches for itself.
//
// For each arm of each switch there is a smallest packet and one with everything optional in it. From these come packets
// with every field at its limits, lists and spans of every interesting length, every TLV rule kept and broken, two rules
// broken at once, every truncation, stray bytes and broken sums. The schema's own examples stand at the end. The same
// protocol always gives the same bytes, and an id keeps its meaning when others come or go.
//
// The file is one JSON object with one vector a line:
//
//	{"format":1,"package":"metaroce.wire","schema":"<wire hash>","vectors":[
//	{"id":"close/min","packet":"Packet","hex":"…","stage":"decode","ok":true,"consumed":28,"canonical":true,"fields":{"base.epoch":"0",…}},
//	{"id":"close/full/short@3","packet":"Packet","hex":"…","stage":"decode","ok":false,"error":{"code":"E_SHORT","number":1,"field":"base.version","off":0}}
//	]}
//
// A vector that is ok decodes to exactly these fields, using consumed bytes, and all its sums are right; encoding the
// fields gives the same bytes if it is canonical. Stage "verify" means that the bytes decode and a sum is wrong. Values
// are text: numbers and enums in decimal, flags 0 and 1, "hex:" and "text:" before bytes and strings, a pad's length, 1
// for a TLV without value. Unnamed bits, absent items, skipped unknown TLVs and the zeros behind a list are not in fields.
// In a path an arm's name stands for its switch, and [i] for the element of an array or of a repeatable TLV. An error's
// field and off name the item at fault and the byte where it starts; which error wins is written in gen/interp.go.
package vectorgen
