// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"

	"pgregory.net/rapid"
)

// sackRoundTrip writes a block with a vector and reads it back.
func sackRoundTrip(tb rapid.TB, v Bits256, buf []byte) []byte {
	want := PathAck{Path: 5, Base: 77, Largest: 99, HasSack: v != Bits256{}, Sack: v}
	out, err := want.Append(buf[:0])
	if err != nil {
		tb.Fatalf("%x: %v", v, err)
	}
	got := PathAck{Sack: Bits256{1, 2, 3, 4}}
	if v.Test(0) {
		if _, err := got.Decode(out); err == nil {
			tb.Fatalf("%x is taken: base cannot have been received", v)
		}
		return out
	}
	if n, err := got.Decode(out); err != nil || n != len(out) {
		tb.Fatalf("%x: %d of %d bytes read, %v", v, n, len(out), err)
	}
	if got.HasSack != want.HasSack || got.HasSack && got.Sack != v {
		tb.Fatalf("%x comes back as %x", v, got.Sack)
	}
	return out
}

// Every vector of 16 bits, wherever it lies among the 256, across every border of words too, and any vector of 256 bits: what is
// read is what was written, and bit 0 set is refused. Bit i of the vector is bit i of the bytes, counted from the first one's most significant.
//
//mr:prop P4
//mr:test MR-ACK-003
func TestSackVectorsRoundTrip(t *testing.T) {
	buf := make([]byte, 0, 100)
	for _, at := range []int{0, 56, 63, 120, 127, 184, 191, 240} {
		for pattern := range 1 << 16 {
			var v Bits256
			for rest := pattern; rest != 0; rest &= rest - 1 {
				v.Set(at + 15 - trailing(rest))
			}
			out := sackRoundTrip(t, v, buf)
			if pattern == 0 {
				continue
			}
			sack := out[len(out)-32:]
			for i := range 16 {
				if bit := sack[(at+i)/8] >> (7 - (at+i)%8) & 1; bit != byte(pattern>>(15-i))&1 {
					t.Fatalf("pattern %016b at %d: bit %d is %d in %x", pattern, at, at+i, bit, sack)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		sackRoundTrip(t, Bits256{
			rapid.Uint64().Draw(t, "0"), rapid.Uint64().Draw(t, "1"), rapid.Uint64().Draw(t, "2"), rapid.Uint64().Draw(t, "3"),
		}, buf)
	})
}

// trailing is the number of zero bits below the lowest one.
func trailing(n int) (zeros int) {
	for n&1 == 0 {
		n >>= 1
		zeros++
	}
	return zeros
}

// Every truncation of every valid packet is refused, by the decoder or by the checksum, without a look behind its end.
//
//mr:prop P46 P47
//mr:test MR-WIRE-012 MR-WIRE-014
func TestEveryTruncationIsRefused(t *testing.T) {
	cuts := 0
	for _, v := range loadVectors(t) {
		if !v.OK || v.Packet != "Packet" {
			continue
		}
		b := v.bytes(t)
		for n := range len(b) {
			short := append(make([]byte, 0, n), b[:n]...)[:n:n]
			var p Packet
			if _, err := p.Decode(short); err == nil && !p.Base.Secure && VerifyPacket(short) == nil {
				t.Errorf("%s: the first %d of %d bytes are taken for a packet", v.ID, n, len(b))
			}
			cuts++
		}
	}
	if cuts < 1000 {
		t.Errorf("%d truncations only", cuts)
	}
}
