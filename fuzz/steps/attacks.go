// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// attack is a packet that should cost as much as one can.
type attack struct {
	name   string
	packet func(v *victim) ([]byte, error)
}

var attacks = []attack{
	{"write", func(v *victim) ([]byte, error) { return v.write(0) }},
	{"duplicate", func(v *victim) ([]byte, error) {
		b, err := v.write(0)
		v.hand(b)
		v.own, v.ended = v.own-1, v.ended-1
		if err != nil {
			return nil, err
		}
		return v.write(0)
	}},
	{"jump-of-tsn", func(v *victim) ([]byte, error) {
		v.tsn += 1<<31 - 1000
		return v.write(0)
	}},
	{"jump-of-floor", func(v *victim) ([]byte, error) {
		const skip = 255
		p := wire.Packet{Base: wire.Base{Opcode: wire.OpcodeProbe, Tag: v.tag, Psn: v.own + skip, Tsn: v.tsn, AckRequest: true}}
		return p.Append(nil)
	}},
	{"gap-filled", gapFilled},
	{"ack-of-everything", func(v *victim) ([]byte, error) {
		return v.ack(wire.PathAck{Base: v.psn, Largest: v.last, Packets: v.psn})
	}},
	{"ack-of-every-second", func(v *victim) ([]byte, error) { return v.ack(everySecond(v)) }},
	{"ack-of-nothing", func(v *victim) ([]byte, error) { return v.ack(wire.PathAck{Base: v.floor, Largest: v.last}) }},
	{"ack-that-lies", func(v *victim) ([]byte, error) {
		b := everySecond(v)
		b.Base++ // so that its last bit speaks of what was never sent
		return v.ack(b)
	}},
	{"end-of-stream", func(v *victim) ([]byte, error) {
		p := wire.Packet{Base: wire.Base{Opcode: wire.OpcodeStreamEnd, Tag: v.tag, Psn: v.own, Tsn: v.tsn}}
		p.Plain.StreamEnd = wire.BodyStreamEnd{Message: wire.Message{Message: v.ended + 255}, End: wire.End{Code: 22}}
		return p.Append(nil)
	}},
	{"notice-of-nothing", func(v *victim) ([]byte, error) {
		p := wire.Packet{Base: wire.Base{Opcode: wire.OpcodeNotice, Tag: v.tag, Psn: v.own, Tsn: v.tsn}}
		p.Plain.Notice = wire.Notice{Code: wire.NoticeCodeBadKey, Psn: v.psn + 5}
		return p.Append(nil)
	}},
	{"notice-that-fails-a-stream", func(v *victim) ([]byte, error) {
		p := wire.Packet{Base: wire.Base{Opcode: wire.OpcodeNotice, Tag: v.tag, Psn: v.own, Tsn: v.tsn}}
		p.Plain.Notice = wire.Notice{Code: wire.NoticeCodeBadKey, Psn: v.psn - 1, Tsn: v.last}
		return p.Append(nil)
	}},
}

// everySecond acknowledges every second PSN of all that is in flight: the others count as lost.
func everySecond(v *victim) wire.PathAck {
	b := wire.PathAck{Base: v.floor, Largest: v.last, Packets: v.psn, HasSack: true}
	for i := uint32(1); v.floor+i < v.psn && i < 256; i += 2 {
		b.Sack.Set(int(i))
	}
	return b
}

// gapFilled is a packet in front of 254 that have arrived, each a message of its own: it completes all of them.
func gapFilled(v *victim) ([]byte, error) {
	first, err := v.write(0)
	if err != nil {
		return nil, err
	}
	for v.held = 1; v.held < 255; v.held++ {
		b, err := v.write(0)
		if err != nil {
			return nil, err
		}
		v.hand(b)
	}
	return first, nil
}
