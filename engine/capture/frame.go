// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"net/netip"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/openmetaroce/metaroce/engine"
)

// hopLimit is what the made-up headers claim.
const hopLimit = 64

// frame puts the packet of a datagram, IP header first, into the buffer.
func (p *Port) frame(from, to netip.AddrPort, d *engine.Datagram) error {
	udp := layers.UDP{SrcPort: layers.UDPPort(from.Port()), DstPort: layers.UDPPort(to.Port())}
	options := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	source, target := from.Addr().Unmap(), to.Addr().Unmap()
	if source.Is4() && target.Is4() {
		ip := layers.IPv4{
			Version: 4, TOS: d.ECN & 3, TTL: hopLimit, Flags: layers.IPv4DontFragment, Protocol: layers.IPProtocolUDP,
			SrcIP: source.AsSlice(), DstIP: target.AsSlice(),
		}
		if err := udp.SetNetworkLayerForChecksum(&ip); err != nil {
			return err
		}
		return gopacket.SerializeLayers(p.buffer, options, &ip, &udp, gopacket.Payload(d.Bytes))
	}
	s, t := source.As16(), target.As16()
	ip := layers.IPv6{
		Version: 6, TrafficClass: d.ECN & 3, HopLimit: hopLimit, NextHeader: layers.IPProtocolUDP, SrcIP: s[:], DstIP: t[:],
	}
	if err := udp.SetNetworkLayerForChecksum(&ip); err != nil {
		return err
	}
	return gopacket.SerializeLayers(p.buffer, options, &ip, &udp, gopacket.Payload(d.Bytes))
}
