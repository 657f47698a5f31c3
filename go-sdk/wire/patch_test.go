// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// largeWrite is a Write with a payload of size bytes.
func largeWrite(t interface{ Fatal(...any) }, size int) []byte {
	var p Packet
	p.Base.Opcode = OpcodeWrite
	p.Plain.Write.Message.Length = 1 << 20
	p.Plain.Write.Data = bytes.Repeat([]byte{0x5a}, size)
	src, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestPatchPacketKeepsTheChecksumRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := largeWrite(t, rapid.SampledFrom([]int{0, 1, 1000, 3015, 3016, 3017, 9000, 65000}).Draw(t, "size"))
		at := rapid.IntRange(1, len(src)-4).Draw(t, "at")
		value := rapid.SliceOfN(rapid.Byte(), 0, min(9, len(src)-4-at)).Draw(t, "value")
		want := append(append(bytes.Clone(src[:at]), value...), src[at+len(value):len(src)-4]...)
		if err := PatchPacket(src, at, value); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(src[:len(src)-4], want) {
			t.Fatal("other bytes have changed")
		}
		if err := VerifyPacket(src); err != nil {
			t.Fatal(err)
		}
		src[len(src)-1] ^= 1
		if err := PatchPacket(src, at, bytes.Repeat([]byte{7}, len(value))); err != nil {
			t.Fatal(err)
		}
		if err := VerifyPacket(src); !errors.Is(err, ErrChecksum) {
			t.Fatalf("a wrong checksum has become right: %v", err)
		}
	})
}

func TestPatchPacketRefusesPlacesOutside(t *testing.T) {
	src := largeWrite(t, 100)
	before := bytes.Clone(src)
	for _, c := range []struct{ at, size int }{{-1, 1}, {len(src) - 3, 0}, {len(src) - 5, 2}, {1 << 30, 1}} {
		if err := PatchPacket(src, c.at, make([]byte, c.size)); !errors.Is(err, ErrSize) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := PatchPacket(src[:23], 0, nil); !errors.Is(err, ErrShort) {
		t.Errorf("a short packet: %v", err)
	}
	if !bytes.Equal(src, before) {
		t.Error("a refused patch changes the packet")
	}
}

func TestPatchPacketWritesIntoSealedPackets(t *testing.T) {
	p := Packet{Base: Base{Secure: true}, Sealed: make([]byte, 9)}
	src, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := PatchPacket(src, len(src)-1, []byte{3}); err != nil || src[len(src)-1] != 3 {
		t.Errorf("%x, %v", src, err)
	}
}
