// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorNamesPlaceCodeAndNumbers(t *testing.T) {
	good := writePacket(t, nil)
	tests := []struct {
		name string
		want string
		is   error
		src  func() []byte
	}{
		{"short", "base.version at byte 0: E_SHORT: the packet ends before this item (20 bytes needed)", ErrShort, func() []byte { return good[:7] }},
		{"short body", "plain.write.message.stream at byte 20: E_SHORT: the packet ends before this item (52 bytes needed)", ErrShort, func() []byte { return good[:30] }},
		{"fixed", "base.version at byte 0: E_FIXED: a fixed field has another value (want 1, got 2)", ErrFixed, func() []byte { return patched(good, 0, 0x20) }},
		{"reserved", "plain.write.message._ at byte 22 bit 2: E_RESERVED: reserved bits are set (got 1)", ErrReserved, func() []byte { return patched(good, 22, 1) }},
		{"opcode", "plain.kind at byte 20: E_OPCODE: opcode is not assigned (got 153)", ErrOpcode, func() []byte { return patched(good, 1, 0x99) }},
	}
	for _, tt := range tests {
		var p Packet
		n, err := p.Decode(tt.src())
		if err == nil || err.Error() != tt.want || n != 0 {
			t.Errorf("%s: got %d, %v\nwant %s", tt.name, n, err, tt.want)
		}
		if wrapped := fmt.Errorf("datagram: %w", err); !errors.Is(wrapped, tt.is) || errors.Is(wrapped, ErrChecksum) {
			t.Errorf("%s: errors.Is does not tell %v from others", tt.name, tt.is)
		}
	}
}

func patched(src []byte, at int, octet byte) []byte {
	out := append([]byte(nil), src...)
	out[at] = octet
	return out
}

func TestErrorCodesHaveNames(t *testing.T) {
	if got := CodeTlvLength.String(); got != "E_TLV_LENGTH" {
		t.Errorf("got %s", got)
	}
	if got := ErrorCode(999).String(); got != "E_999" {
		t.Errorf("got %s", got)
	}
}

func TestEnumsNameMembersRangesAndNumbers(t *testing.T) {
	for op, want := range map[Opcode]string{OpcodeWrite: "Write", 0xc5: "Vendor(197)", 0x99: "Opcode(153)"} {
		if got := op.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if !OpcodeVendorMin.IsVendor() || !OpcodeVendorMax.IsVendor() || OpcodeWrite.IsVendor() {
		t.Error("IsVendor has other limits than the schema")
	}
	if BodyKindReadReply.String() != "read_reply" || BodyKindNone.String() != "none" {
		t.Error("kinds are not named as in item paths")
	}
}

func TestPutRefusesShortMemory(t *testing.T) {
	var b Base
	if n, err := b.Put(make([]byte, BaseSize-1)); n != 0 || !errors.Is(err, ErrCapacity) {
		t.Errorf("got %d, %v", n, err)
	}
	dst := make([]byte, BaseSize)
	if n, err := b.Put(dst); n != BaseSize || err != nil || dst[0] != 0x10 {
		t.Errorf("got %d, %v, %x", n, err, dst)
	}
}
