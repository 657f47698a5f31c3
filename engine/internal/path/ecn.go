// SPDX-License-Identifier: Apache-2.0

package path

import "github.com/openmetaroce/metaroce/go-sdk/wire"

// IP codepoints (RFC 3168).
const (
	notECT = 0
	ect0   = 2
	ce     = 3
)

// ecn watches whether the codepoint that this side sends arrives, and whether what the peer counts is possible. A network
// that clears the codepoint cannot mark either, and counters that cannot be are no counters: the path is then blind, sends
// Not-ECT and listens to loss and delay.
type ecn struct {
	blind   bool
	anew    bool   // what was counted so far says nothing about the present route
	packets uint32 // as the last block with counters said
	notECT  uint32
}

// bleachedAfter is the number of packets over which clearing is judged.
const bleachedAfter = 16

// lateCopies is how many packets more than twice those sent may arrive: a receiver cannot tell a very late copy from a duplicate.
const lateCopies = 256

// validate compares what arrived with what was sent.
//
//mr:req MR-CC-006
func (e *ecn) validate(b *wire.PathAck) {
	if b.HasCounters && e.anew {
		*e = ecn{blind: e.blind, packets: b.Packets, notECT: b.Counters.NotEct}
	}
	if !b.HasCounters || e.blind {
		return
	}
	packets := b.Packets - e.packets
	if int32(packets) < bleachedAfter {
		return
	}
	e.blind = b.Counters.NotEct-e.notECT > packets/2
	e.packets, e.notECT = b.Packets, b.Counters.NotEct
}

// possible tells whether counters that are newer than the reported ones can be true: no counter falls, more packets than
// have arrived were not marked, and what is acknowledged has arrived, of what was sent.
//
//mr:req MR-CC-016
func (p *Path) possible(b *wire.PathAck) bool {
	fresh := b.Packets - p.reported.packets
	switch {
	case b.Ce-p.reported.ce > fresh:
		return false
	case int32(b.Packets-uint32(p.Sent.Acked)) < 0:
		return false
	}
	return int32(uint32(2*p.Sent.Packets)+lateCopies-b.Packets) >= 0
}

// ECN is the codepoint that packets on this path carry.
//
//mr:req MR-WIRE-004 MR-CC-006
func (p *Path) ECN() uint8 {
	if p.ecn.blind {
		return notECT
	}
	return ect0
}

// Blind tells whether marks do not get through on the path.
func (p *Path) Blind() bool { return p.ecn.blind }
