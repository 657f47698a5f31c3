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
	plain   uint8  // silences in a row that a probe has ended which left as Not-ECT
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
		e.anew, e.packets, e.notECT = false, b.Packets, b.Counters.NotEct
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

// plainSilences is how many silences have to end so, with nothing else heard between, that the codepoint is to blame and not chance.
const plainSilences = 4

// plain tells whether the next probe should leave as Not-ECT: every second one of a silent path, or of one that is out of service.
// A network may drop what it takes for ECN.
//
//mr:req MR-CC-017
func (p *Path) plain() bool {
	n := p.unanswered()
	if p.health.down {
		n = p.outage.asked
	}
	return n > 0 && n%2 == 0 && !p.ecn.blind
}

// hear takes in which transmission the peer has heard last.
//
//mr:req MR-CC-017
func (e *ecn) hear(t transmission) {
	if !t.plain {
		e.plain = 0
		return
	}
	e.plain = min(e.plain+1, plainSilences)
	e.blind = e.blind || e.plain == plainSilences
}

// again is what a path that begins anew knows.
func (e *ecn) again() ecn { return ecn{anew: true, plain: e.plain, blind: e.plain == plainSilences} }

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
