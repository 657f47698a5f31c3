// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// reading is what gopacket's own layer says about the bytes that one of our packets decodes.
type reading struct {
	schema, packet string
	bytes          []byte
	fields         map[string]string
	payload        []byte
	below          gopacket.NetworkLayer // for checksums; nil = none
	truncated      bool                  // gopacket noticed that the frame ends too early
	sum            uint16                // that gopacket computes
	hasSum         bool
}

func num[T ~uint8 | ~uint16 | ~uint32](n T) string { return strconv.FormatUint(uint64(n), 10) }

// digits are flags as vectors write them.
var digits = map[bool]string{false: "0", true: "1"}

func hexed(b []byte) string { return "hex:" + hex.EncodeToString(b) }

// readings turns the layers of a frame into what our schemas must say.
func readings(p gopacket.Packet) []reading {
	var out []reading
	var below gopacket.NetworkLayer
	for _, l := range p.Layers() {
		r := reading{bytes: append(append([]byte{}, l.LayerContents()...), l.LayerPayload()...), payload: l.LayerPayload(), below: below, truncated: p.Metadata().Truncated}
		switch l := l.(type) {
		case *layers.IPv4:
			below = l
			readIPv4(&r, l)
		case *layers.IPv6:
			below = l
			readIPv6(&r, l)
		case *layers.UDP:
			readUDP(&r, l)
		case *layers.TCP:
			readTCP(&r, l)
		case *layers.VXLAN:
			r.schema, r.packet = "vxlan", "Vxlan"
			r.fields = map[string]string{
				"has_policy": digits[l.GBPExtension], "has_vni": digits[l.ValidIDFlag], "dont_learn": digits[l.GBPDontLearn],
				"policy_applied": digits[l.GBPApplied], "policy": num(l.GBPGroupPolicyID), "vni": num(l.VNI),
			}
		case *layers.Geneve:
			readGeneve(&r, l)
		case *layers.GRE:
			readGRE(&r, l)
		case *layers.BFD:
			readBFD(&r, l)
		default:
			continue
		}
		if r.schema != "" {
			out = append(out, r)
		}
	}
	return out
}

// computed is the checksum that gopacket writes for a layer, if it writes the other bytes as they were.
func (r *reading) computed(l gopacket.SerializableLayer, at int) {
	buf := gopacket.NewSerializeBuffer()
	if b, err := buf.PrependBytes(len(r.payload)); err == nil {
		copy(b, r.payload)
	}
	if err := l.SerializeTo(buf, gopacket.SerializeOptions{ComputeChecksums: true}); err != nil {
		return
	}
	b := slices.Clone(buf.Bytes())
	if len(b) != len(r.bytes) {
		return
	}
	r.sum = uint16(b[at])<<8 | uint16(b[at+1])
	copy(b[at:at+2], r.bytes[at:])
	r.hasSum = bytes.Equal(b, r.bytes)
}

func readIPv4(r *reading, l *layers.IPv4) {
	r.schema, r.packet = "ip", "Ipv4"
	r.fields = map[string]string{
		"version": num(l.Version), "ihl": num(l.IHL), "dscp": num(l.TOS >> 2), "ecn": num(l.TOS & 3), "total_length": num(l.Length),
		"id": num(l.Id), "evil": digits[l.Flags&layers.IPv4EvilBit != 0], "dont_fragment": digits[l.Flags&layers.IPv4DontFragment != 0],
		"more_fragments": digits[l.Flags&layers.IPv4MoreFragments != 0], "fragment": num(l.FragOffset), "ttl": num(l.TTL),
		"protocol": num(uint8(l.Protocol)), "checksum": num(l.Checksum), "src": hexed(l.SrcIP), "dst": hexed(l.DstIP), "data": hexed(r.payload),
	}
	for _, o := range l.Options {
		if o.OptionType == 0x94 {
			r.fields["options.router_alert.value"] = num(uint16(o.OptionData[0])<<8 | uint16(o.OptionData[1]))
		}
	}
	r.computed(l, 10)
}

func readIPv6(r *reading, l *layers.IPv6) {
	r.schema, r.packet = "ip", "Ipv6"
	r.fields = map[string]string{
		"version": num(l.Version), "traffic_class": num(l.TrafficClass), "flow_label": num(l.FlowLabel), "payload_length": num(l.Length),
		"next_header": num(uint8(l.NextHeader)), "hop_limit": num(l.HopLimit), "src": hexed(l.SrcIP), "dst": hexed(l.DstIP),
	}
}

func readUDP(r *reading, l *layers.UDP) {
	r.schema, r.packet = "ip", "Udp"
	r.fields = map[string]string{
		"sport": num(uint16(l.SrcPort)), "dport": num(uint16(l.DstPort)), "length": num(l.Length), "checksum": num(l.Checksum), "data": hexed(r.payload),
	}
	if r.below != nil && l.SetNetworkLayerForChecksum(r.below) == nil {
		r.computed(l, 6)
	}
}

func readTCP(r *reading, l *layers.TCP) {
	r.schema, r.packet = "ip", "Tcp"
	r.fields = map[string]string{
		"sport": num(uint16(l.SrcPort)), "dport": num(uint16(l.DstPort)), "seq": num(l.Seq), "ack_seq": num(l.Ack), "data_offset": num(l.DataOffset),
		"ae": digits[l.NS], "cwr": digits[l.CWR], "ece": digits[l.ECE], "urg": digits[l.URG], "ack": digits[l.ACK], "psh": digits[l.PSH], "rst": digits[l.RST],
		"syn": digits[l.SYN], "fin": digits[l.FIN], "window": num(l.Window), "checksum": num(l.Checksum), "urgent": num(l.Urgent), "data": hexed(r.payload),
	}
	be := func(b []byte) string {
		n := uint64(0)
		for _, c := range b {
			n = n<<8 | uint64(c)
		}
		return strconv.FormatUint(n, 10)
	}
	for _, o := range l.Options {
		switch o.OptionType {
		case layers.TCPOptionKindMSS:
			r.fields["options.mss.value"] = be(o.OptionData)
		case layers.TCPOptionKindWindowScale:
			r.fields["options.window_scale.shift"] = be(o.OptionData)
		case layers.TCPOptionKindSACKPermitted:
			r.fields["options.sack_permitted"] = "1"
		case layers.TCPOptionKindTimestamps:
			r.fields["options.timestamps.value"], r.fields["options.timestamps.echo"] = be(o.OptionData[:4]), be(o.OptionData[4:])
		case layers.TCPOptionKindSACK:
			for i := 0; i+8 <= len(o.OptionData); i += 8 {
				path := fmt.Sprintf("options.sack[0].blocks[%d].", i/8)
				r.fields[path+"left"], r.fields[path+"right"] = be(o.OptionData[i:i+4]), be(o.OptionData[i+4:i+8])
			}
		}
	}
	if r.below != nil && l.SetNetworkLayerForChecksum(r.below) == nil {
		r.computed(l, 16)
	}
}

func readGeneve(r *reading, l *layers.Geneve) {
	r.schema, r.packet = "geneve", "Geneve"
	r.fields = map[string]string{
		"opt_len": num(l.OptionsLength / 4), "oam": digits[l.OAMPacket], "has_critical": digits[l.CriticalOption], "protocol": num(uint16(l.Protocol)),
		"vni": num(l.VNI), "data": hexed(r.payload),
	}
}

func readGRE(r *reading, l *layers.GRE) {
	if l.AckPresent { // of GRE version 1; version 0 reserves the bit
		return
	}
	r.schema, r.packet = "gre", "Gre"
	r.fields = map[string]string{
		"has_checksum": digits[l.ChecksumPresent], "has_key": digits[l.KeyPresent], "has_seq": digits[l.SeqPresent], "version": num(l.Version),
		"protocol": num(uint16(l.Protocol)), "data": hexed(r.payload),
	}
	if l.ChecksumPresent {
		r.fields["checksum"] = num(l.Checksum)
	}
	if l.KeyPresent {
		r.fields["key"] = num(l.Key)
	}
	if l.SeqPresent {
		r.fields["seq"] = num(l.Seq)
	}
}

func readBFD(r *reading, l *layers.BFD) {
	r.schema, r.packet = "bfd", "Bfd"
	r.fields = map[string]string{
		"version": num(uint8(l.Version)), "diag": num(uint8(l.Diagnostic)), "state": num(uint8(l.State)), "poll": digits[l.Poll], "final": digits[l.Final],
		"control_plane_independent": digits[l.ControlPlaneIndependent], "has_auth": digits[l.AuthPresent], "demand": digits[l.Demand],
		"multipoint": digits[l.Multipoint], "detect_mult": num(uint8(l.DetectMultiplier)), "my_discr": num(uint32(l.MyDiscriminator)),
		"your_discr": num(uint32(l.YourDiscriminator)), "desired_min_tx": num(uint32(l.DesiredMinTxInterval)),
		"required_min_rx": num(uint32(l.RequiredMinRxInterval)), "required_min_echo_rx": num(uint32(l.RequiredMinEchoRxInterval)),
	}
	if a := l.AuthHeader; a != nil {
		r.fields["auth.type"], r.fields["auth.key_id"] = num(uint8(a.AuthType)), num(uint8(a.KeyID))
		switch a.AuthType {
		case layers.BFDAuthTypePassword:
			r.fields["auth.password.password"] = hexed(a.Data)
		case layers.BFDAuthTypeKeyedMD5, layers.BFDAuthTypeMeticulousKeyedMD5:
			r.fields["auth.md5.seq"], r.fields["auth.md5.digest"] = num(uint32(a.SequenceNumber)), hexed(a.Data)
		case layers.BFDAuthTypeKeyedSHA1, layers.BFDAuthTypeMeticulousKeyedSHA1:
			r.fields["auth.sha1.seq"], r.fields["auth.sha1.digest"] = num(uint32(a.SequenceNumber)), hexed(a.Data)
		}
	}
}
