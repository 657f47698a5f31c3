// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	bfdlayers "github.com/openmetaroce/metaroce/examples/bfd/control/layers"
	genevelayers "github.com/openmetaroce/metaroce/examples/inet/geneve/layers"
	grelayers "github.com/openmetaroce/metaroce/examples/inet/gre/layers"
	iplayers "github.com/openmetaroce/metaroce/examples/inet/ip/layers"
	vxlanlayers "github.com/openmetaroce/metaroce/examples/inet/vxlan/layers"
)

// decoder is a layer that reads bytes.
type decoder interface {
	gopacket.Layer
	DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error
}

// pair is one value as the generated layer and as gopacket's own has it.
type pair struct {
	name      string
	ours, own any
}

// rival is a generated layer and gopacket's own of the same protocol.
type rival struct {
	name      string
	ours, own decoder
	fields    func() []pair
}

// reading is the value of a number, whatever its type.
func reading[A, B ~uint8 | ~uint16 | ~uint32](name string, ours A, own B) pair {
	return pair{name, uint64(ours), uint64(own)}
}

func octets(name string, ours, own []byte) pair { return pair{name, string(ours), string(own)} }

// rivals are fresh layers, by the type of gopacket's own.
func rivals() map[gopacket.LayerType]rival {
	out := map[gopacket.LayerType]rival{}
	for _, r := range []rival{ipv4Rival(), ipv6Rival(), udpRival(), tcpRival(), vxlanRival(), geneveRival(), greRival(), bfdRival()} {
		out[r.own.LayerType()] = r
	}
	return out
}

func ipv4Rival() rival {
	a, b := new(iplayers.Ipv4), new(layers.IPv4)
	return rival{"Ipv4", a, b, func() []pair {
		out := []pair{
			reading("version", a.Version, b.Version), reading("ihl", a.Ihl, b.IHL), reading("tos", a.Dscp<<2|a.Ecn, b.TOS),
			reading("length", a.TotalLength, b.Length), reading("id", a.Id, b.Id), reading("fragment", a.Fragment, b.FragOffset),
			reading("ttl", a.Ttl, b.TTL), reading("protocol", a.Protocol, b.Protocol), reading("checksum", a.Checksum, b.Checksum),
			{"evil", a.Evil, b.Flags&layers.IPv4EvilBit != 0}, {"df", a.DontFragment, b.Flags&layers.IPv4DontFragment != 0},
			{"mf", a.MoreFragments, b.Flags&layers.IPv4MoreFragments != 0}, octets("src", a.Src[:], b.SrcIP), octets("dst", a.Dst[:], b.DstIP),
		}
		for _, o := range b.Options {
			if o.OptionType == 0x94 {
				out = append(out, pair{"router alert", []byte{byte(a.Options.RouterAlert.Value >> 8), byte(a.Options.RouterAlert.Value)}, o.OptionData})
			}
		}
		return out
	}}
}

func ipv6Rival() rival {
	a, b := new(iplayers.Ipv6), new(layers.IPv6)
	return rival{"Ipv6", a, b, func() []pair {
		return []pair{
			reading("version", a.Version, b.Version), reading("class", a.TrafficClass, b.TrafficClass), reading("label", a.FlowLabel, b.FlowLabel),
			reading("length", a.PayloadLength, b.Length), reading("next", a.NextHeader, b.NextHeader), reading("hops", a.HopLimit, b.HopLimit),
			octets("src", a.Src[:], b.SrcIP), octets("dst", a.Dst[:], b.DstIP),
		}
	}}
}

func udpRival() rival {
	a, b := new(iplayers.Udp), new(layers.UDP)
	return rival{"Udp", a, b, func() []pair {
		return []pair{
			reading("sport", a.Sport, b.SrcPort), reading("dport", a.Dport, b.DstPort), reading("length", a.Length, b.Length),
			reading("checksum", a.Checksum, b.Checksum),
		}
	}}
}

func tcpRival() rival {
	a, b := new(iplayers.Tcp), new(layers.TCP)
	return rival{"Tcp", a, b, func() []pair {
		out := []pair{
			reading("sport", a.Sport, b.SrcPort), reading("dport", a.Dport, b.DstPort), reading("seq", a.Seq, b.Seq), reading("ack_seq", a.AckSeq, b.Ack),
			reading("offset", a.DataOffset, b.DataOffset), reading("window", a.Window, b.Window), reading("checksum", a.Checksum, b.Checksum),
			reading("urgent", a.Urgent, b.Urgent), {"ae", a.Ae, b.NS}, {"cwr", a.Cwr, b.CWR}, {"ece", a.Ece, b.ECE}, {"urg", a.Urg, b.URG},
			{"ack", a.Ack, b.ACK}, {"psh", a.Psh, b.PSH}, {"rst", a.Rst, b.RST}, {"syn", a.Syn, b.SYN}, {"fin", a.Fin, b.FIN},
		}
		count := map[layers.TCPOptionKind]int{}
		for _, o := range b.Options {
			count[o.OptionType]++
		}
		return append(out,
			pair{"sacks", len(a.Options.Sack), count[layers.TCPOptionKindSACK]},
			pair{"mss", a.Options.MssPresent, count[layers.TCPOptionKindMSS] > 0},
			pair{"window scale", a.Options.WindowScalePresent, count[layers.TCPOptionKindWindowScale] > 0},
			pair{"timestamps", a.Options.TimestampsPresent, count[layers.TCPOptionKindTimestamps] > 0},
		)
	}}
}

func vxlanRival() rival {
	a, b := new(vxlanlayers.Vxlan), new(layers.VXLAN)
	return rival{"Vxlan", a, b, func() []pair {
		return []pair{
			{"has_policy", a.HasPolicy, b.GBPExtension}, {"has_vni", a.HasVni, b.ValidIDFlag}, {"dont_learn", a.DontLearn, b.GBPDontLearn},
			{"policy_applied", a.PolicyApplied, b.GBPApplied}, reading("policy", a.Policy, b.GBPGroupPolicyID), reading("vni", a.Vni, b.VNI),
		}
	}}
}

func geneveRival() rival {
	a, b := new(genevelayers.Geneve), new(layers.Geneve)
	return rival{"Geneve", a, b, func() []pair {
		return []pair{
			reading("opt_len", a.OptLen*4, b.OptionsLength), {"oam", a.Oam, b.OAMPacket}, {"critical", a.HasCritical, b.CriticalOption},
			reading("protocol", a.Protocol, b.Protocol), reading("vni", a.Vni, b.VNI),
		}
	}}
}

func greRival() rival {
	a, b := new(grelayers.Gre), new(layers.GRE)
	return rival{"Gre", a, b, func() []pair {
		out := []pair{
			{"has_checksum", a.HasChecksum, b.ChecksumPresent}, {"has_key", a.HasKey, b.KeyPresent}, {"has_seq", a.HasSeq, b.SeqPresent},
			reading("version", a.Version, b.Version), reading("protocol", a.Protocol, b.Protocol),
		}
		if a.HasChecksum {
			out = append(out, reading("checksum", a.Checksum, b.Checksum))
		}
		if a.HasKey {
			out = append(out, reading("key", a.Key, b.Key))
		}
		if a.HasSeq {
			out = append(out, reading("seq", a.Seq, b.Seq))
		}
		return out
	}}
}

func bfdRival() rival {
	a, b := new(bfdlayers.Bfd), new(layers.BFD)
	return rival{"Bfd", a, b, func() []pair {
		out := []pair{
			reading("version", a.Version, b.Version), reading("diag", a.Diag, b.Diagnostic), reading("state", a.State, b.State),
			{"poll", a.Poll, b.Poll}, {"final", a.Final, b.Final}, {"independent", a.ControlPlaneIndependent, b.ControlPlaneIndependent},
			{"auth", a.HasAuth, b.AuthPresent}, {"demand", a.Demand, b.Demand}, reading("mult", a.DetectMult, b.DetectMultiplier),
			reading("mine", a.MyDiscr, b.MyDiscriminator), reading("yours", a.YourDiscr, b.YourDiscriminator),
			reading("tx", a.DesiredMinTx, b.DesiredMinTxInterval), reading("rx", a.RequiredMinRx, b.RequiredMinRxInterval),
			reading("echo", a.RequiredMinEchoRx, b.RequiredMinEchoRxInterval),
		}
		if h := b.AuthHeader; h != nil && a.HasAuth {
			out = append(out, reading("auth.type", a.Auth.Type, h.AuthType), reading("auth.key_id", a.Auth.KeyId, h.KeyID))
			switch h.AuthType {
			case layers.BFDAuthTypePassword:
				out = append(out, octets("password", a.Auth.Password.Password, h.Data))
			case layers.BFDAuthTypeKeyedMD5, layers.BFDAuthTypeMeticulousKeyedMD5:
				out = append(out, reading("seq", a.Auth.Md5.Seq, h.SequenceNumber), octets("digest", a.Auth.Md5.Digest[:], h.Data))
			case layers.BFDAuthTypeKeyedSHA1, layers.BFDAuthTypeMeticulousKeyedSHA1:
				out = append(out, reading("seq", a.Auth.Sha1.Seq, h.SequenceNumber), octets("digest", a.Auth.Sha1.Digest[:], h.Data))
			}
		}
		return out
	}}
}
