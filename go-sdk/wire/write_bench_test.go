// SPDX-License-Identifier: Apache-2.0

package wire

import "testing"

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
