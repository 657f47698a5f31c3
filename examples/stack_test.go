// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"net"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	genevelayers "github.com/openmetaroce/metaroce/examples/inet/geneve/layers"
	grelayers "github.com/openmetaroce/metaroce/examples/inet/gre/layers"
	iplayers "github.com/openmetaroce/metaroce/examples/inet/ip/layers"
	vxlanlayers "github.com/openmetaroce/metaroce/examples/inet/vxlan/layers"
	rocelayers "github.com/openmetaroce/metaroce/examples/rocev2/wire/layers"
)

// TestMain registers the layers that the tests of this package stack. Registers of gopacket are global.
func TestMain(m *testing.M) {
	iplayers.Register(1500)
	vxlanlayers.Register(1510)
	grelayers.Register(1520)
	rocelayers.Register(1530)
	genevelayers.Register(1540)
	iplayers.RegisterIpv4Next(uint64(layers.IPProtocolUDP), iplayers.LayerTypeUdp)
	iplayers.RegisterIpv4Next(uint64(layers.IPProtocolGRE), grelayers.LayerTypeGre)
	iplayers.RegisterIpv6Next(uint64(layers.IPProtocolUDP), iplayers.LayerTypeUdp)
	os.Exit(m.Run())
}

// stackOf names the layers of a packet that begins with an IP header.
func stackOf(t *testing.T, first gopacket.LayerType, parts ...gopacket.SerializableLayer) []string {
	t.Helper()
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, parts...); err != nil {
		t.Fatal(err)
	}
	packet := gopacket.NewPacket(buf.Bytes(), first, gopacket.DecodeOptions{SkipDecodeRecovery: true})
	if e := packet.ErrorLayer(); e != nil {
		t.Errorf("%v", e.Error())
	}
	var names []string
	for _, l := range packet.Layers() {
		names = append(names, l.LayerType().String())
	}
	return names
}

func TestLayersFindTheNextOne(t *testing.T) {
	layers.RegisterUDPPortLayerType(4789, vxlanlayers.LayerTypeVxlan) // which benchmarks give back to gopacket
	ip4 := func(p layers.IPProtocol) *layers.IPv4 {
		return &layers.IPv4{Version: 4, TTL: 64, Protocol: p, SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 2}}
	}
	udp := func(src, dst layers.UDPPort) *layers.UDP {
		u := &layers.UDP{SrcPort: src, DstPort: dst}
		if err := u.SetNetworkLayerForChecksum(ip4(layers.IPProtocolUDP)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	frame := &layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeIPv4}
	vxlan := &layers.VXLAN{ValidIDFlag: true, VNI: 7}
	cnp := gopacket.Payload{0x81, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}
	text := gopacket.Payload("behind")
	for name, c := range map[string]struct {
		parts []gopacket.SerializableLayer
		want  []string
	}{
		"a frame in VXLAN": {
			[]gopacket.SerializableLayer{ip4(layers.IPProtocolUDP), udp(40000, 4789), vxlan, frame, ip4(layers.IPProtocolUDP), udp(5, 6), text},
			[]string{"IP (schema)", "IP (schema) Udp", "VXLAN (schema)", "Ethernet", "IPv4", "UDP", "Payload"},
		},
		"IPv4 in GRE": {
			[]gopacket.SerializableLayer{ip4(layers.IPProtocolGRE), &layers.GRE{Protocol: layers.EthernetTypeIPv4}, ip4(layers.IPProtocolUDP), udp(5, 6), text},
			[]string{"IP (schema)", "GRE (schema)", "IPv4", "UDP", "Payload"},
		},
		"RoCEv2": {
			[]gopacket.SerializableLayer{ip4(layers.IPProtocolUDP), udp(40000, 4791), cnp},
			[]string{"IP (schema)", "IP (schema) Udp", "RoCEv2 (schema)"},
		},
		"the port of the sender": {
			[]gopacket.SerializableLayer{ip4(layers.IPProtocolUDP), udp(4789, 40000), vxlan, frame, ip4(layers.IPProtocolNoNextHeader)},
			[]string{"IP (schema)", "IP (schema) Udp", "VXLAN (schema)", "Ethernet", "IPv4"},
		},
		"a port that nobody knows": {
			[]gopacket.SerializableLayer{ip4(layers.IPProtocolUDP), udp(40000, 40001), text},
			[]string{"IP (schema)", "IP (schema) Udp", "Payload"},
		},
		"a built-in layer behind ours": {
			[]gopacket.SerializableLayer{ip4(layers.IPProtocolICMPv4), &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0)}, text},
			[]string{"IP (schema)", "ICMPv4", "Payload"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, stackOf(t, iplayers.LayerTypeIpv4, c.parts...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
