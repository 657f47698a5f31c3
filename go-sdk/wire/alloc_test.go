// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"strings"
	"testing"
)

// hotVectors are the accepted packets without text, which alone is copied.
func hotVectors(t *testing.T) []vector {
	var out []vector
	for _, v := range accepted(t) {
		text := false
		for _, value := range v.Fields {
			text = text || strings.HasPrefix(value, "text:")
		}
		if !text {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		t.Fatal("there are no vectors without text")
	}
	return out
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	var p Packet
	for _, v := range hotVectors(t) {
		src := v.bytes(t)
		if _, err := p.Decode(src); err != nil { // grows the slices once
			t.Fatal(err)
		}
		allocs := testing.AllocsPerRun(3, func() {
			if _, err := p.Decode(src); err != nil {
				t.Fatal(err)
			}
			if err := VerifyPacket(src); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", v.ID, allocs)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, PacketMax)
	for _, v := range hotVectors(t) {
		var p Packet
		if _, err := p.Decode(v.bytes(t)); err != nil {
			t.Fatal(err)
		}
		allocs := testing.AllocsPerRun(3, func() {
			if _, err := p.Append(dst); err != nil {
				t.Fatal(err)
			}
			if _, err := p.AppendRaw(dst); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Len(); err != nil {
				t.Fatal(err)
			}
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", v.ID, allocs)
		}
	}
}

// hostileAllocs is what one refused packet may allocate: the error, and the parts of its path.
const hostileAllocs = 8

func TestRefusalAllocatesLittle(t *testing.T) {
	var p Packet
	for _, v := range loadVectors(t) {
		if v.OK || v.Stage == "verify" {
			continue
		}
		src := v.bytes(t)
		_, _ = p.Decode(src)
		if allocs := testing.AllocsPerRun(1, func() { _, _ = p.Decode(src) }); allocs > hostileAllocs {
			t.Errorf("%s: %v allocations", v.ID, allocs)
		}
	}
}

func TestViewsDoNotAllocate(t *testing.T) {
	src := writePacket(t, nil)
	var sum uint64
	allocs := testing.AllocsPerRun(100, func() {
		base, ok := AsBaseView(src)
		message, okMessage := AsMessageView(src[BaseSize:])
		if !ok || !okMessage || base.Check() != nil || message.Check() != nil {
			t.Fatal("a good packet is refused")
		}
		base.SetPsn(base.Psn() + 1)
		message.SetSolicited(!message.Solicited())
		sum += uint64(base.Path()) + uint64(message.Offset())
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
