// SPDX-License-Identifier: Apache-2.0

// Package layers lets gopacket read and write MetaRoCE packets. The layers are generated from schema/metaroce.mrs;
// `make generate` writes them anew. Who only needs the codec imports go-sdk/wire and does not pay for gopacket.
//
// Register once, then packets to or from UDP port 4797 are found by themselves. Here internet is gopacket's own package of
// layers:
//
//	layers.Register(1970)
//	packet := gopacket.NewPacket(frame, internet.LayerTypeEthernet, gopacket.Default)
//	if metaroce, ok := packet.Layer(layers.LayerTypePacket).(*layers.Packet); ok {
//		fmt.Println(metaroce.Base.Opcode, metaroce.Base.Psn)
//	}
//
// Packet can also be given to a gopacket.DecodingLayerParser, which then reads packets without allocating: only the texts of
// handshakes are copied. Decoding accepts exactly what wire.Packet accepts, and looks at no checksum.
//
// A layer's Contents are all bytes before the payload: of a Write, Base and the three headers. The payload of a Write, a Send
// or a ReadReply is the next layer's; other packets have none. The CRC, or the tag of a sealed packet, is the Trailer. A
// capture that cuts packets off loses the trailer first, and the last bytes of what is left are then taken for it; gopacket's
// Metadata().Truncated tells.
//
// To write, put the payload into a layer of its own, as with other protocols:
//
//	gopacket.SerializeLayers(buf, opts, &eth, &ip, &udp, &metaroce, gopacket.Payload(data))
//
// With both options set the packet is right: version, counts, lengths, CRC. Without FixLengths they are written as they are
// stored, which can make wrong packets on purpose, and costs an allocation.
//
// Body is the layer of what a sealed packet holds. It needs the Base of that packet: see SetBase.
package layers
