// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"errors"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	genevelayers "github.com/openmetaroce/metaroce/examples/inet/geneve/layers"
	vxlanlayers "github.com/openmetaroce/metaroce/examples/inet/vxlan/layers"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"github.com/openmetaroce/metaroce/tidy/bars/write"
)

var errRefused = errors.New("a contestant refuses a good packet")

// writePacket is a Write with a payload of 1 KiB.
func writePacket() []byte {
	var p wire.Packet
	p.Base = wire.Base{Opcode: wire.OpcodeWrite, AckRequest: true, Path: 0x123, Epoch: 5, Tag: 0x0102030405060708, Psn: 1000, Tsn: 2000}
	p.Plain.Write.Message = wire.Message{Stream: 7, Solicited: true, Floor: 3, Message: 11, Offset: 4096, Length: 1 << 20}
	p.Plain.Write.WriteTarget = wire.WriteTarget{Key: 0x1122334455667788, At: 1 << 33}
	p.Plain.Write.Data = make([]byte, 1024)
	out, err := p.Append(nil)
	if err != nil {
		panic(err) // the values above are legal
	}
	return out
}

// decoders compares what the Go backend prints with what is written by hand.
func decoders() []contest {
	src := writePacket()
	var hand, viewed handWrite
	var one write.Write
	var parts structs
	var packet, other wire.Packet
	byHand := func() bool { _, err := hand.decode(src); return err == nil }
	return []contest{
		{"views ÷ by hand (Base, Message, WriteTarget)", 1.05, func() bool { _, err := viewed.viewed(src); return err == nil }, byHand},
		{"struct Decode ÷ by hand (the three in one struct)", 1.1, func() bool { _, err := one.Decode(src); return err == nil }, byHand},
		{"packet Decode ÷ by hand (Packet, all kinds)", 1.1,
			func() bool { _, err := packet.Decode(src); return err == nil },
			func() bool { _, err := handPacket(&other, src); return err == nil }},
		{"three Decodes ÷ one function by hand", 1.1, func() bool { return parts.decode(src) }, byHand},
	}
}

// patches compares the change of one field under a checksum with the computing of that checksum.
func patches() []contest {
	var p wire.Packet
	p.Base.Opcode = wire.OpcodeWrite
	p.Plain.Write.Message.Length = 9000
	p.Plain.Write.Data = make([]byte, 9000)
	src, err := p.Append(nil)
	if err != nil {
		panic(err) // the values above are legal
	}
	value := []byte{0, 0, 0, 1}
	return []contest{{"PatchPacket ÷ VerifyPacket, 9,000 bytes", 1,
		func() bool {
			value[3]++
			return wire.PatchPacket(src, 12, value) == nil
		},
		func() bool { return wire.VerifyPacket(src) == nil }}}
}

// ownGeneve is gopacket's layer with the method that DecodingLayerParser asks for besides.
type ownGeneve struct{ layers.Geneve }

func (g *ownGeneve) CanDecode() gopacket.LayerClass { return layers.LayerTypeGeneve }

// layerContests compares the generated gopacket layers with gopacket's own.
func layerContests() []contest {
	if vxlanlayers.LayerTypeVxlan == 0 {
		vxlanlayers.Register(1700)
		genevelayers.Register(1710)
	}
	const frame = "00163e0871cf36dc851eb34008004500003c22e000004011e238c0a87a46c0a87a01"
	const vxlan, geneve = "080000000000ff00" + frame, "0000655800000a00" + frame
	const options = "0300655800000500" + "ff010500" + "ffff0501aabbccdd" + frame
	return []contest{
		{"VXLAN layer ÷ gopacket's", 1.05, parse(vxlan, new(vxlanlayers.Vxlan)), parse(vxlan, new(layers.VXLAN))},
		{"Geneve layer ÷ gopacket's", 1.05, parse(geneve, new(genevelayers.Geneve)), new(ownGeneve).parse(geneve)},
		{"Geneve layer with options ÷ gopacket's", 1.05, parse(options, new(genevelayers.Geneve)), new(ownGeneve).parse(options)},
	}
}

// parse is a DecodingLayerParser that stops behind one layer.
func parse(text string, l gopacket.DecodingLayer) func() bool {
	data, err := hex.DecodeString(text)
	if err != nil {
		panic(err) // the texts above are hex
	}
	parser := gopacket.NewDecodingLayerParser(l.(gopacket.Layer).LayerType(), l)
	parser.IgnoreUnsupported = true
	decoded := make([]gopacket.LayerType, 0, 4)
	return func() bool { return parser.DecodeLayers(data, &decoded) == nil && len(decoded) == 1 }
}

// parse empties the options before, to which gopacket's layer appends without end.
func (g *ownGeneve) parse(text string) func() bool {
	parse := parse(text, g)
	return func() bool {
		g.Options = g.Options[:0]
		return parse()
	}
}
