// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"
)

// writePacket builds a Write with a payload of 1 KiB; change may alter it before.
func writePacket(t testing.TB, change func(*Packet)) []byte {
	t.Helper()
	var p Packet
	p.Base = Base{Opcode: OpcodeWrite, AckRequest: true, Path: 0x123, Epoch: 5, Tag: 0x0102030405060708, Psn: 1000, Tsn: 2000}
	p.Plain.Write.Message = Message{Stream: 7, Solicited: true, Floor: 3, Message: 11, Offset: 4096, Length: 1 << 20}
	p.Plain.Write.WriteTarget = WriteTarget{Key: 0x1122334455667788, At: 1 << 33}
	p.Plain.Write.Data = make([]byte, 1024)
	if change != nil {
		change(&p)
	}
	out, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// handWrite is what a careful programmer writes for the same three headers: one bounds check, one load for each field.
type handWrite struct {
	version                                uint8
	secure, keyPhase, ackRequest, feedback bool
	opcode                                 uint8
	path                                   uint16
	epoch                                  uint8
	tag                                    uint64
	psn, tsn                               uint32
	stream                                 uint16
	immediate, solicited                   bool
	floor                                  uint8
	message, offset, length                uint32
	target                                 struct{ key, at uint64 }
	data                                   []byte
}

// decode reads the headers and checks what the schema checks.
func (h *handWrite) decode(b []byte) bool {
	if len(b) < 56 {
		return false
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
	h.data = b[52 : len(b)-4]
	return h.version == 1 && !h.secure && v[22]&0x3f == 0 && (h.offset < h.length || h.offset == 0 && h.length == 0)
}

// viewed fills the same struct from the generated views.
func (h *handWrite) viewed(b []byte) bool {
	if len(b) < BaseSize+MessageSize+WriteTargetSize+4 {
		return false
	}
	base := (*BaseView)(b)
	message := (*MessageView)(b[BaseSize:])
	target := (*WriteTargetView)(b[BaseSize+MessageSize:])
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
	h.data = b[BaseSize+MessageSize+WriteTargetSize : len(b)-4]
	return base.Valid() && !h.secure && message.Valid()
}

func TestWriteDecodersAgree(t *testing.T) {
	src := writePacket(t, nil)
	var hand, viewed handWrite
	if !hand.decode(src) || !viewed.viewed(src) {
		t.Fatal("a good packet is refused")
	}
	if len(hand.data) != len(viewed.data) || &hand.data[0] != &viewed.data[0] {
		t.Fatal("payloads differ")
	}
	hand.data, viewed.data = nil, nil
	if a, b := hand, viewed; a.tag != b.tag || a.path != b.path || a.epoch != b.epoch || a.psn != b.psn || a.tsn != b.tsn ||
		a.offset != b.offset || a.length != b.length || a.target != b.target || a.ackRequest != b.ackRequest || a.solicited != b.solicited {
		t.Fatalf("by hand %+v, through views %+v", a, b)
	}
	bad := writePacket(t, nil)
	bad[22] |= 1
	if hand.decode(bad) || viewed.viewed(bad) {
		t.Fatal("reserved bits pass")
	}
}

// headers are the generated structs of the same headers.
type headers struct {
	base    Base
	message Message
	target  WriteTarget
	data    []byte
}

func (h *headers) decode(b []byte) bool {
	n, err := h.base.Decode(b)
	if err != nil || h.base.Secure {
		return false
	}
	m, err := h.message.Decode(b[n:])
	if err != nil {
		return false
	}
	k, err := h.target.Decode(b[n+m:])
	if err != nil || len(b) < n+m+k+4 {
		return false
	}
	h.data = b[n+m+k : len(b)-4]
	return true
}

// writeDecoders are the ways to decode Base, Message and WriteTarget, the hand-written one first.
func writeDecoders() []decoderUnderTest {
	var hand, viewed handWrite
	var structs headers
	var p Packet
	return []decoderUnderTest{
		{"hand", hand.decode},
		{"views", viewed.viewed},
		{"structs", structs.decode},
		{"packet", func(b []byte) bool { _, err := p.Decode(b); return err == nil }},
	}
}

type decoderUnderTest struct {
	name   string
	decode func([]byte) bool
}

func BenchmarkWriteDecode(b *testing.B) {
	src := writePacket(b, nil)
	for _, d := range writeDecoders() {
		b.Run(d.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !d.decode(src) {
					b.Fatal("refused")
				}
			}
		})
	}
}

// BenchmarkWriteDecodeRatio decodes in turns, so that a noisy machine slows all ways alike, and reports each one's median
// time and its ratio to the hand-written decoder's.
func BenchmarkWriteDecodeRatio(b *testing.B) {
	const batch = 1000 // decodes between two looks at the clock
	src := writePacket(b, nil)
	decoders := writeDecoders()
	times := make([][]time.Duration, len(decoders))
	for b.Loop() {
		for i, d := range decoders {
			start := time.Now()
			for range batch {
				if !d.decode(src) {
					b.Fatal("refused")
				}
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	for i, d := range decoders {
		slices.Sort(times[i])
		median := float64(times[i][len(times[i])/2])
		b.ReportMetric(median/batch, d.name+"-ns")
		if i > 0 {
			b.ReportMetric(median/float64(times[0][len(times[0])/2]), d.name+"/hand")
		}
	}
}

// BenchmarkWriteAppend writes the same packet: headers and payload, and with the checksum over all of it.
func BenchmarkWriteAppend(b *testing.B) {
	src := writePacket(b, nil)
	var p Packet
	if _, err := p.Decode(src); err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 0, 2048)
	b.Run("body", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Plain.Append(dst, &p.Base); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("packet", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Append(dst); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkAckDecode decodes an ACK of eight paths with SACK vectors.
func BenchmarkAckDecode(b *testing.B) {
	var p Packet
	p.Base.Opcode = OpcodeAck
	for i := range 8 {
		block := PathAck{Path: uint16(i), Base: uint32(1000 * i), Largest: 7, ReceivedAt: 8}
		block.Sack.Set(3 + i)
		p.Plain.Ack.Blocks = append(p.Plain.Ack.Blocks, block)
	}
	src, err := p.Append(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Decode(src); err != nil {
			b.Fatal(err)
		}
	}
}
