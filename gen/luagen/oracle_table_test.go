// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"slices"

	"github.com/google/gopacket/layers"
)

var rivals = []*rival{
	{schema: "ip", packet: "Ipv4", layer: layers.LayerTypeIPv4, proto: "ip", start: "ip",
		options: []string{"-o", "ip.check_checksum:TRUE", "-o", "ip.defragment:FALSE"}, fields: `
ip.version ipv4.version
ip.hdr_len ipv4.ihl words
ip.dsfield.dscp ipv4.dscp
ip.dsfield.ecn ipv4.ecn
ip.len ipv4.total_length
ip.id ipv4.id
ip.flags.rb ipv4.evil
ip.flags.df ipv4.dont_fragment
ip.flags.mf ipv4.more_fragments
ip.frag_offset ipv4.fragment
ip.ttl ipv4.ttl
ip.proto ipv4.protocol
ip.checksum ipv4.checksum
ip.checksum.status ipv4.checksum.status
ip.src ipv4.src bytes
ip.dst ipv4.dst bytes
ip.opt.ra ip4_options_router_alert.value
ip.opt.overflow ip4_options_timestamp.overflow
ip.opt.flag ip4_options_timestamp.flag
`},
	{schema: "ip", packet: "Ipv6", layer: layers.LayerTypeIPv6, proto: "ipv6", start: "ipv6", mend: noJumbo, fields: `
ipv6.version ipv6.version
ipv6.tclass ipv6.traffic_class
ipv6.flow ipv6.flow_label
ipv6.plen ipv6.payload_length
ipv6.nxt ipv6.next_header
ipv6.hlim ipv6.hop_limit
ipv6.src ipv6.src bytes
ipv6.dst ipv6.dst bytes
`},
	{schema: "ip", packet: "Udp", layer: layers.LayerTypeUDP, proto: "udp", start: "udp", fields: `
udp.srcport udp.sport
udp.dstport udp.dport
udp.length udp.length
udp.checksum udp.checksum
`},
	{schema: "ip", packet: "Tcp", layer: layers.LayerTypeTCP, proto: "tcp", start: "tcp",
		options: []string{"-o", "tcp.relative_sequence_numbers:FALSE", "-o", "tcp.analyze_sequence_numbers:FALSE"}, fields: `
tcp.srcport tcp.sport
tcp.dstport tcp.dport
tcp.seq_raw tcp.seq
tcp.ack_raw tcp.ack_seq
tcp.hdr_len tcp.data_offset words
tcp.flags.ae tcp.ae
tcp.flags.cwr tcp.cwr
tcp.flags.ece tcp.ece
tcp.flags.urg tcp.urg
tcp.flags.ack tcp.ack
tcp.flags.push tcp.psh
tcp.flags.reset tcp.rst
tcp.flags.syn tcp.syn
tcp.flags.fin tcp.fin
tcp.window_size_value tcp.window
tcp.checksum tcp.checksum
tcp.urgent_pointer tcp.urgent
tcp.options.mss_val tcp_options_mss.value
tcp.options.wscale.shift tcp_options_window_scale.shift
tcp.options.timestamp.tsval tcp_options_timestamps.value
tcp.options.timestamp.tsecr tcp_options_timestamps.echo
tcp.options.sack_le tcp_options_sack_blocks.left
tcp.options.sack_re tcp_options_sack_blocks.right
tcp.options.user_to_granularity tcp_options_user_timeout.minutes
tcp.options.user_to_val tcp_options_user_timeout.timeout
tcp.options.tfo.cookie tcp_options_fast_open.cookie bytes
`},
	{schema: "vxlan", packet: "Vxlan", layer: layers.LayerTypeVXLAN, proto: "vxlan", start: "ip", wrap: overUDP(4789), fields: `
vxlan.flag_g vxlan.has_policy
vxlan.flag_i vxlan.has_vni
vxlan.flag_d vxlan.dont_learn
vxlan.flag_a vxlan.policy_applied
vxlan.gbp vxlan.policy
vxlan.vni vxlan.vni
`},
	{schema: "geneve", packet: "Geneve", layer: layers.LayerTypeGeneve, proto: "geneve", start: "ip", wrap: overUDP(6081), fields: `
geneve.version geneve.version
geneve.flags.oam geneve.oam
geneve.flags.critical geneve.has_critical
geneve.proto_type geneve.protocol
geneve.vni geneve.vni
geneve.option.class geneve_options_head.class
geneve.option.type.critical geneve_options_head.critical
geneve.option.type geneve_options_head.type low7
`},
	{schema: "gre", packet: "Gre", layer: layers.LayerTypeGRE, proto: "gre", start: "ip", wrap: overIP(layers.IPProtocolGRE), fields: `
gre.flags.checksum gre.has_checksum
gre.flags.key gre.has_key
gre.flags.sequence_number gre.has_seq
gre.flags.version gre.version
gre.proto gre.protocol
gre.checksum gre.checksum
gre.checksum.status gre.checksum.status
gre.key gre.key
gre.sequence_number gre.seq
`},
	{schema: "bfd", packet: "Bfd", layer: layers.LayerTypeBFD, proto: "bfd", start: "ip", wrap: overUDP(3784), fields: `
bfd.version bfd.version
bfd.diag bfd.diag
bfd.sta bfd.state
bfd.flags.p bfd.poll
bfd.flags.f bfd.final
bfd.flags.c bfd.control_plane_independent
bfd.flags.a bfd.has_auth
bfd.flags.d bfd.demand
bfd.flags.m bfd.multipoint
bfd.detect_time_multiplier bfd.detect_mult
bfd.message_length bfd.length
bfd.my_discriminator bfd.my_discr
bfd.your_discriminator bfd.your_discr
bfd.desired_min_tx_interval bfd.desired_min_tx
bfd.required_min_rx_interval bfd.required_min_rx
bfd.required_min_echo_interval bfd.required_min_echo_rx
bfd.auth.type auth.type
bfd.auth.len auth.len
bfd.auth.key auth.key_id
bfd.auth.password auth_password.password bytes
`},
	{schema: "ptp", packet: "Ptp", proto: "ptp", start: "ptp", mend: withTLV, fields: `
ptp.v2.majorsdoid ptp.sdo_major
ptp.v2.messagetype ptp.type
ptp.v2.minorversionptp ptp.minor_version
ptp.v2.versionptp ptp.version
ptp.v2.messagelength ptp.message_length
ptp.v2.domainnumber ptp.domain
ptp.v2.minorsdoid ptp.sdo_minor
ptp.v2.flags ptp.flags bytes
ptp.v2.sourceportid port_id.port first
ptp.v2.clockidentity port_id.clock hex,first
ptp.v2.messagetypespecific ptp.type_specific
ptp.v2.sdr.origintimestamp.seconds timestamp.seconds if
ptp.v2.sdr.origintimestamp.nanoseconds timestamp.nanos if
ptp.v2.an.origintimestamp.seconds timestamp.seconds if
ptp.v2.an.origintimestamp.nanoseconds timestamp.nanos if
ptp.v2.dr.receivetimestamp.seconds timestamp.seconds if
ptp.v2.mm.startingboundaryhops ptp_management.starting_hops
ptp.v2.mm.boundaryhops ptp_management.hops
ptp.v2.mm.action ptp_management.action
ptp.v2.sequenceid ptp.sequence
ptp.v2.controlfield ptp.control
ptp.v2.logmessageperiod ptp.log_interval signed
ptp.v2.an.origincurrentutcoffset ptp_announce.utc_offset signed
ptp.v2.an.priority1 ptp_announce.priority1
ptp.v2.an.grandmasterclockclass ptp_announce.clock_class
ptp.v2.an.grandmasterclockaccuracy ptp_announce.accuracy
ptp.v2.an.grandmasterclockvariance ptp_announce.variance
ptp.v2.an.priority2 ptp_announce.priority2
ptp.v2.an.grandmasterclockidentity ptp_announce.grandmaster hex
ptp.v2.an.localstepsremoved ptp_announce.steps_removed
ptp.v2.timesource ptp_announce.time_source
`},
	{schema: "rocev2", packet: "RoceV2", proto: "infiniband", start: "ip", wrap: overUDP(4791), mend: aligned, fields: `
infiniband.bth.opcode bth.opcode
infiniband.bth.se bth.solicited
infiniband.bth.m bth.migrated
infiniband.bth.padcnt bth.pad_count
infiniband.bth.tver bth.tver
infiniband.bth.p_key bth.pkey
infiniband.bth.destqp bth.dest_qp
infiniband.bth.a bth.ack_request
infiniband.bth.psn bth.psn
infiniband.reth.r_key reth.rkey|atomic_eth.rkey
infiniband.reth.dmalen reth.length
infiniband.aeth.syndrome aeth.syndrome
infiniband.aeth.msn aeth.msn
infiniband.atomiceth.swapdt atomic_eth.swap
infiniband.atomiceth.cmpdt atomic_eth.compare
infiniband.atomicacketh.origremdt atomic_ack_eth.original
infiniband.reth.va reth.va|atomic_eth.va
infiniband.deth.q_key deth.qkey if
infiniband.deth.srcqp deth.source_qp
infiniband.invariant.crc roce_v2.icrc swapped,if
`},
}

// noJumbo leaves out IPv6 packets whose length is zero: Wireshark takes them for broken jumbograms.
func noJumbo(b []byte) []byte {
	if len(b) > 5 && b[4] == 0 && b[5] == 0 {
		return nil
	}
	return b
}

// withTLV leaves out PTP management messages without a TLV, which Wireshark gives up.
func withTLV(b []byte) []byte {
	if b[0]&15 == 13 && len(b) < 54 {
		return nil
	}
	return b
}

// aligned makes an InfiniBand packet's payload longer, so that all of it is a multiple of four bytes as senders make it.
func aligned(b []byte) []byte {
	if len(b) < 16 {
		return nil
	}
	n := len(b) - 4
	return slices.Concat(b[:n], make([]byte, (4-len(b)%4)%4), b[n:])
}
