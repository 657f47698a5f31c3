// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// viewed fills the same struct from the generated views.
func (h *handWrite) viewed(b []byte) (int, error) {
	const headers = wire.BaseSize + wire.MessageSize + wire.WriteTargetSize
	if len(b) < headers+4 || len(b) > wire.PacketMax {
		return 0, errSize
	}
	base := (*wire.BaseView)(b)
	message := (*wire.MessageView)(b[wire.BaseSize:])
	target := (*wire.WriteTargetView)(b[wire.BaseSize+wire.MessageSize:])
	h.version = base.Version()
	h.secure = base.Secure()
	h.keyPhase = base.KeyPhase()
	h.ackRequest = base.AckRequest()
	h.feedback = base.FeedbackHere()
	h.opcode = uint8(base.Opcode())
	h.path = base.Path()
	h.epoch = base.Epoch()
	h.tag = base.Tag()
	h.psn = base.Psn()
	h.tsn = base.Tsn()
	h.stream = message.Stream()
	h.immediate = message.Immediate()
	h.solicited = message.Solicited()
	h.floor = message.Floor()
	h.message = message.Message()
	h.offset = message.Offset()
	h.length = message.Length()
	h.target.key = target.Key()
	h.target.at = target.At()
	end := len(b) - 4
	h.data = b[headers:end:end]
	h.crc = binary.BigEndian.Uint32(b[end:])
	if !base.Valid() || h.secure || !message.Valid() {
		return 0, h.broken(b[22])
	}
	return len(b), nil
}

// structs are the generated structs of the same headers, which are decoded one after the other.
type structs struct {
	base    wire.Base
	message wire.Message
	target  wire.WriteTarget
	data    []byte
}

func (s *structs) decode(b []byte) bool {
	n, err := s.base.Decode(b)
	if err != nil || s.base.Secure {
		return false
	}
	m, err := s.message.Decode(b[n:])
	if err != nil {
		return false
	}
	k, err := s.target.Decode(b[n+m:])
	if err != nil || len(b) < n+m+k+4 {
		return false
	}
	s.data = b[n+m+k : len(b)-4]
	return true
}
