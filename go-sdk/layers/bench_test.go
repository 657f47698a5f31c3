// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"testing"

	"github.com/google/gopacket"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// samples are the packets that most traffic consists of.
func samples(b *testing.B) map[string][]byte {
	b.Helper()
	var write, ack wire.Packet
	write.Base.Opcode = wire.OpcodeWrite
	write.Plain.Write.Message.Length = 1 << 20
	write.Plain.Write.Data = make([]byte, 4096)
	ack.Base.Opcode = wire.OpcodeAck
	for i := range 8 {
		ack.Plain.Ack.Blocks = append(ack.Plain.Ack.Blocks, wire.PathAck{Path: uint16(i), Sack: wire.Bits256{1 << 40, 7}})
	}
	out := map[string][]byte{}
	for name, p := range map[string]*wire.Packet{"write": &write, "ack": &ack} {
		src, err := p.Append(nil)
		if err != nil {
			b.Fatal(err)
		}
		out[name] = src
	}
	return out
}

func BenchmarkDecode(b *testing.B) {
	all := samples(b)
	for _, name := range []string{"write", "ack"} {
		src := all[name]
		b.Run(name+"/codec", func(b *testing.B) {
			var p wire.Packet
			for b.Loop() {
				if _, err := p.Decode(src); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/layer", func(b *testing.B) {
			var p Packet
			for b.Loop() {
				if err := p.DecodeFromBytes(src, gopacket.NilDecodeFeedback); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/parser", func(b *testing.B) {
			var p Packet
			parser := parser(&p)
			src := frame(b, wire.Port, src)
			decoded := make([]gopacket.LayerType, 0, 8)
			for b.Loop() {
				if err := parser.DecodeLayers(src, &decoded); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	all := samples(b)
	for _, name := range []string{"write", "ack"} {
		var p Packet
		if err := p.DecodeFromBytes(all[name], gopacket.NilDecodeFeedback); err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/codec", func(b *testing.B) {
			dst := make([]byte, 0, wire.PacketMax)
			for b.Loop() {
				if _, err := p.Append(dst); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/layer", func(b *testing.B) {
			buf := gopacket.NewSerializeBuffer()
			inner := []gopacket.SerializableLayer{&p, gopacket.Payload(p.payload)}
			opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
			for b.Loop() {
				if err := gopacket.SerializeLayers(buf, opts, inner...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
