// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"math/bits"
)

// mark tells the trace what became of a datagram.
type mark uint64

const (
	markDelivered mark = iota + 1
	markCopied
	markDamaged
	markLost
	markCut
	markUnplugged
	markOverflowed
	markStale
	markStray
)

// trace is a hash over everything that happened to datagrams, in order. Not cryptographic; equal on every machine.
type trace uint64

// The multipliers are the fractional digits of the square roots of 2 and 3, made odd.
const (
	traceA = 0x6a09e667f3bcc909
	traceB = 0xbb67ae8584caa73b
)

func (t *trace) fold(word uint64) {
	high, low := bits.Mul64(uint64(*t)^word^traceB, traceA)
	*t = trace(high ^ low ^ word)
}

// add takes in one datagram's fate.
func (t *trace) add(at instant, m mark, datagram []byte) {
	t.fold(uint64(at))
	t.fold(uint64(m)<<32 | uint64(len(datagram)))
	for len(datagram) >= 8 {
		t.fold(binary.LittleEndian.Uint64(datagram))
		datagram = datagram[8:]
	}
	var tail uint64
	for _, b := range datagram {
		tail = tail<<8 | uint64(b)
	}
	t.fold(tail)
}
