// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"math/rand/v2"
	"net"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// writer makes random frames with gopacket's layers.
type writer struct {
	t   *testing.T
	rng *rand.Rand
}

func (w writer) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
	return b
}

func (w writer) coin() bool { return w.rng.IntN(2) == 0 }

// writtenFrames are Ethernet frames that gopacket writes.
func writtenFrames(t *testing.T) [][]byte {
	t.Helper()
	w := writer{t, rand.New(rand.NewPCG(5, 6))}
	var out [][]byte
	for range 60 {
		out = append(out, w.tcp(), w.vxlan(), w.gre(), w.bfd())
	}
	return out
}

func (w writer) network(protocol layers.IPProtocol) *layers.IPv4 {
	ip := &layers.IPv4{Version: 4, TOS: uint8(w.rng.Uint32()), Id: uint16(w.rng.Uint32()), TTL: uint8(1 + w.rng.IntN(255)), Protocol: protocol,
		SrcIP: net.IP(w.bytes(4)), DstIP: net.IP(w.bytes(4))}
	if w.coin() {
		ip.Flags = layers.IPv4DontFragment
	}
	if w.coin() {
		ip.Options = []layers.IPv4Option{{OptionType: 0x94, OptionLength: 4, OptionData: []byte{0, 0}}}
	}
	return ip
}

func (w writer) serialize(all ...gopacket.SerializableLayer) []byte {
	w.t.Helper()
	eth := &layers.Ethernet{SrcMAC: w.bytes(6), DstMAC: w.bytes(6), EthernetType: layers.EthernetTypeIPv4}
	buf := gopacket.NewSerializeBuffer()
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, opts, append([]gopacket.SerializableLayer{eth}, all...)...); err != nil {
		w.t.Fatal(err)
	}
	return buf.Bytes()
}

func (w writer) tcp() []byte {
	ip := w.network(layers.IPProtocolTCP)
	tcp := &layers.TCP{SrcPort: 40000, DstPort: 40001, Seq: w.rng.Uint32(), Ack: w.rng.Uint32(), Window: uint16(w.rng.Uint32()), Urgent: uint16(w.rng.Uint32()),
		SYN: w.coin(), ACK: w.coin(), PSH: w.coin(), URG: w.coin(), ECE: w.coin(), CWR: w.coin(), NS: w.coin()}
	add := func(kind layers.TCPOptionKind, n int) {
		if w.coin() {
			tcp.Options = append(tcp.Options, layers.TCPOption{OptionType: kind, OptionLength: uint8(n + 2), OptionData: w.bytes(n)})
		}
	}
	add(layers.TCPOptionKindMSS, 2)
	add(layers.TCPOptionKindSACKPermitted, 0)
	add(layers.TCPOptionKindTimestamps, 8)
	add(layers.TCPOptionKindSACK, 8)
	if w.coin() {
		tcp.Options = append(tcp.Options, layers.TCPOption{OptionType: layers.TCPOptionKindWindowScale, OptionLength: 3, OptionData: []byte{byte(w.rng.IntN(15))}},
			layers.TCPOption{OptionType: layers.TCPOptionKindNop, OptionLength: 1})
	}
	if err := tcp.SetNetworkLayerForChecksum(ip); err != nil {
		w.t.Fatal(err)
	}
	return w.serialize(ip, tcp, gopacket.Payload(w.bytes(w.rng.IntN(40))))
}

func (w writer) vxlan() []byte {
	ip := w.network(layers.IPProtocolUDP)
	udp := &layers.UDP{SrcPort: 50000, DstPort: 4789}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		w.t.Fatal(err)
	}
	v := &layers.VXLAN{ValidIDFlag: true, VNI: w.rng.Uint32() & 0xffffff}
	if w.coin() {
		v.GBPExtension, v.GBPDontLearn, v.GBPApplied, v.GBPGroupPolicyID = true, w.coin(), w.coin(), uint16(w.rng.Uint32())
	}
	inner := &layers.Ethernet{SrcMAC: w.bytes(6), DstMAC: w.bytes(6), EthernetType: 0x88b5}
	return w.serialize(ip, udp, v, inner, gopacket.Payload(w.bytes(46)))
}

func (w writer) gre() []byte {
	g := &layers.GRE{Protocol: 0x88b5, ChecksumPresent: w.coin(), KeyPresent: w.coin(), SeqPresent: w.coin(), Key: w.rng.Uint32(), Seq: w.rng.Uint32()}
	return w.serialize(w.network(layers.IPProtocolGRE), g, gopacket.Payload(w.bytes(20+w.rng.IntN(20))))
}

func (w writer) bfd() []byte {
	ip := w.network(layers.IPProtocolUDP)
	udp := &layers.UDP{SrcPort: 50000, DstPort: 3784}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		w.t.Fatal(err)
	}
	b := &layers.BFD{Version: 1, Diagnostic: layers.BFDDiagnostic(w.rng.IntN(32)), State: layers.BFDState(w.rng.IntN(4)), Poll: w.coin(), Demand: w.coin(),
		ControlPlaneIndependent: w.coin(), DetectMultiplier: layers.BFDDetectMultiplier(1 + w.rng.IntN(255)),
		MyDiscriminator: layers.BFDDiscriminator(1 + w.rng.Uint32N(1<<31)), YourDiscriminator: layers.BFDDiscriminator(1 + w.rng.Uint32N(1<<31)),
		DesiredMinTxInterval: layers.BFDTimeInterval(w.rng.Uint32()), RequiredMinRxInterval: layers.BFDTimeInterval(w.rng.Uint32())}
	if w.coin() {
		b.AuthPresent = true
		b.AuthHeader = &layers.BFDAuthHeader{AuthType: layers.BFDAuthTypeKeyedMD5, KeyID: 3, SequenceNumber: layers.BFDAuthSequenceNumber(w.rng.Uint32()), Data: w.bytes(16)}
	}
	return w.serialize(ip, udp, b)
}
