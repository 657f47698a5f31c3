// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"errors"
	"testing"
)

// refusedSeeds thins the vectors that are refused, most of which are the same packets cut at every byte.
const refusedSeeds = 50

// FuzzDecodePacket feeds arbitrary bytes: no panic, errors are *Error and lie within the packet, and what is accepted
// can be written again and read back to the same values.
//
//mr:prop P46 P47
func FuzzDecodePacket(f *testing.F) {
	for i, v := range loadVectors(f) {
		if v.OK || i%refusedSeeds == 0 {
			f.Add(v.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		var p Packet
		n, err := p.Decode(src)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Off < 0 || e.Off > len(src) {
				t.Fatalf("error %v is no place in %d bytes", err, len(src))
			}
			return
		}
		if n != len(src) {
			t.Fatalf("%d of %d bytes were read without an error", n, len(src))
		}
		_ = VerifyPacket(src)
		first, err := p.Append(nil)
		if err != nil {
			t.Fatalf("an accepted packet cannot be written: %v", err)
		}
		if err := VerifyPacket(first); err != nil {
			t.Fatalf("a written packet does not verify: %v", err)
		}
		var again Packet
		if _, err := again.Decode(first); err != nil {
			t.Fatalf("a written packet is refused: %v", err)
		}
		second, err := again.Append(nil)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("writing twice gives\n%x and\n%x, %v", first, second, err)
		}
	})
}
