// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/openmetaroce/metaroce/gen"
)

// stacked writes one frame of layers behind Ethernet and IPv4 as a capture, and returns its path.
func stacked(t *testing.T, parts ...gopacket.SerializableLayer) string {
	t.Helper()
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	all := append([]gopacket.SerializableLayer{&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeIPv4}}, parts...)
	buf := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, all...); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "stack.pcap")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriter(f)
	if err := w.WriteFileHeader(1<<16, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	n := len(buf.Bytes())
	if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Unix(1, 0), Length: n, CaptureLength: n}, buf.Bytes()); err != nil {
		t.Fatal(err)
	}
	return name
}

func ipv4(p layers.IPProtocol) *layers.IPv4 {
	return &layers.IPv4{Version: 4, TTL: 64, Protocol: p, SrcIP: net.IP{192, 0, 2, 1}, DstIP: net.IP{192, 0, 2, 2}}
}

func udp(t *testing.T, src, dst layers.UDPPort) *layers.UDP {
	t.Helper()
	u := &layers.UDP{SrcPort: src, DstPort: dst}
	if err := u.SetNetworkLayerForChecksum(ipv4(layers.IPProtocolUDP)); err != nil {
		t.Fatal(err)
	}
	return u
}

// ownTable is a dissector that asks a generated one for payloads.
const ownTable = `
local mine = Proto("mine", "Mine")
function mine.dissector(buf, pinfo, tree)
  tree:add(mine, buf())
  return buf:len()
end
DissectorTable.get("mrgre.gre.protocol"):add(0x9999, mine)
`

func TestDissectorHandsThePayloadOn(t *testing.T) {
	query := &layers.DNS{ID: 7, RD: true, Questions: []layers.DNSQuestion{{Name: []byte("example.org"), Type: layers.DNSTypeA, Class: layers.DNSClassIN}}}
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 2}
	frame := &layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeIPv4}
	for name, c := range map[string]struct {
		schema  string
		options []string
		pcap    string
		want    string // frame.protocols, behind ip
	}{
		"an ethertype": {
			"gre", []string{"-d", "ip.proto==47,mrgre"},
			stacked(t, ipv4(layers.IPProtocolGRE), &layers.GRE{Protocol: layers.EthernetTypeIPv4, KeyPresent: true, Key: 5}, ipv4(layers.IPProtocolUDP), udp(t, 40000, 53), query),
			"mrgre:ip:udp:dns",
		},
		"one protocol for all": {
			"vxlan", nil,
			stacked(t, ipv4(layers.IPProtocolUDP), udp(t, 40000, 4789), &layers.VXLAN{ValidIDFlag: true, VNI: 9}, frame, ipv4(layers.IPProtocolUDP), udp(t, 40000, 53), query),
			"udp:mrvxlan:eth:ethertype:ip:udp:dns",
		},
		"the first of two ports": {
			"ip", []string{"-d", "ip.proto==17,mrip_udp"},
			stacked(t, ipv4(layers.IPProtocolUDP), udp(t, 40000, 53), query), "mrip_udp:dns",
		},
		"the second of two ports": {
			"ip", []string{"-d", "ip.proto==17,mrip_udp"},
			stacked(t, ipv4(layers.IPProtocolUDP), udp(t, 53, 40000), query), "mrip_udp:dns",
		},
		"a protocol that nobody knows": {
			"gre", []string{"-d", "ip.proto==47,mrgre"},
			stacked(t, ipv4(layers.IPProtocolGRE), &layers.GRE{Protocol: 0x9998}, gopacket.Payload("behind")), "mrgre",
		},
		"a table of our own": {
			"gre", []string{"-d", "ip.proto==47,mrgre"},
			stacked(t, ipv4(layers.IPProtocolGRE), &layers.GRE{Protocol: 0x9999}, gopacket.Payload("behind")), "mrgre:mine",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := gen.Load("../../schema/examples/" + c.schema + ".mrs")
			if err != nil {
				t.Fatal(err)
			}
			options := append([]string{"-T", "fields", "-e", "frame.protocols"}, c.options...)
			if c.schema == "gre" {
				script := filepath.Join(t.TempDir(), "mine.lua")
				if err := os.WriteFile(script, []byte(ownTable), 0o600); err != nil {
					t.Fatal(err)
				}
				options = append(options, "-X", "lua_script:"+script)
			}
			got := strings.TrimSpace(string(tshark(t, generated(t, p), c.pcap, options...)))
			if want := "eth:ethertype:ip:" + c.want; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
