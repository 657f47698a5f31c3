// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"fmt"
	"net"

	"github.com/google/gopacket"
	internet "github.com/google/gopacket/layers"

	"github.com/openmetaroce/metaroce/go-sdk/layers"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// A frame is written and read back. The program has called layers.Register(1970) before.
func ExamplePacket() {
	eth := internet.Ethernet{
		SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: internet.EthernetTypeIPv4,
	}
	ip := internet.IPv4{Version: 4, TTL: 64, Protocol: internet.IPProtocolUDP, SrcIP: net.IP{10, 0, 0, 1}, DstIP: net.IP{10, 0, 0, 2}}
	udp := internet.UDP{SrcPort: 50000, DstPort: wire.Port}
	if err := udp.SetNetworkLayerForChecksum(&ip); err != nil {
		panic(err)
	}
	var write layers.Packet
	write.Base = wire.Base{Opcode: wire.OpcodeWrite, Path: 3, Tag: 0x1122, Psn: 7, Tsn: 9}
	write.Plain.Write.Message = wire.Message{Stream: 1, Length: 5}
	buf := gopacket.NewSerializeBuffer()
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, opts, &eth, &ip, &udp, &write, gopacket.Payload("hello")); err != nil {
		panic(err)
	}

	packet := gopacket.NewPacket(buf.Bytes(), internet.LayerTypeEthernet, gopacket.Default)
	for _, layer := range packet.Layers() {
		fmt.Println(layer.LayerType(), len(layer.LayerContents()))
	}
	if p, ok := packet.Layer(layers.LayerTypePacket).(*layers.Packet); ok {
		fmt.Printf("%v on path %d, PSN %d: %s\n", p.Base.Opcode, p.Base.Path, p.Base.Psn, p.LayerPayload())
	}
	// Output:
	// Ethernet 14
	// IPv4 20
	// UDP 8
	// MetaRoCE 52
	// Payload 5
	// Write on path 3, PSN 7: hello
}
