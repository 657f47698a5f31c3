// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
)

// handWrite is what a careful programmer writes for the headers of a Write: one bounds check, one load for each field, the
// rules of the schema at the end, and what is wrong found out where it does not cost the good packets.
type handWrite struct {
	handBase
	stream                       uint16
	immediate, solicited         bool
	floor                        uint8
	message, offset, length, crc uint32
	target                       struct{ key, at uint64 }
	data                         []byte
}

// handBase is the first of the headers.
type handBase struct {
	version                                uint8
	secure, keyPhase, ackRequest, feedback bool
	opcode                                 uint8
	path                                   uint16
	epoch                                  uint8
	tag                                    uint64
	psn, tsn                               uint32
}

func (h *handWrite) decode(b []byte) (int, error) {
	if len(b) < 56 || len(b) > 65507 {
		return 0, errSize
	}
	v := (*[52]byte)(b)
	h.version = v[0] >> 4
	h.secure = v[0]&8 != 0
	h.keyPhase = v[0]&4 != 0
	h.ackRequest = v[0]&2 != 0
	h.feedback = v[0]&1 != 0
	h.opcode = v[1]
	pathEpoch := binary.BigEndian.Uint16(v[2:])
	h.path = pathEpoch >> 4
	h.epoch = uint8(pathEpoch & 0xf)
	h.tag = binary.BigEndian.Uint64(v[4:])
	h.psn = binary.BigEndian.Uint32(v[12:])
	h.tsn = binary.BigEndian.Uint32(v[16:])
	h.stream = binary.BigEndian.Uint16(v[20:])
	h.immediate = v[22]&0x80 != 0
	h.solicited = v[22]&0x40 != 0
	h.floor = v[23]
	h.message = binary.BigEndian.Uint32(v[24:])
	h.offset = binary.BigEndian.Uint32(v[28:])
	h.length = binary.BigEndian.Uint32(v[32:])
	h.target.key = binary.BigEndian.Uint64(v[36:])
	h.target.at = binary.BigEndian.Uint64(v[44:])
	end := len(b) - 4
	h.data = b[52:end:end]
	h.crc = binary.BigEndian.Uint32(b[end:])
	if v[0]>>4 != 1 || h.secure || v[22]&0x3f != 0 || h.offset >= h.length && h.offset|h.length != 0 {
		return 0, h.broken(v[22])
	}
	return len(b), nil
}

var (
	errSize     = errors.New("no Write has this size")
	errVersion  = errors.New("another version")
	errSecure   = errors.New("sealed")
	errReserved = errors.New("reserved bits are set")
	errGeometry = errors.New("the chunk lies outside its message")
)

// broken is the rule that the packet breaks.
//
//go:noinline
func (h *handWrite) broken(flags uint8) error {
	switch {
	case h.version != 1:
		return errVersion
	case flags&0x3f != 0:
		return errReserved
	case h.secure:
		return errSecure
	}
	return errGeometry
}
