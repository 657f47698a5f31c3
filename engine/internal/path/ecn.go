// SPDX-License-Identifier: Apache-2.0

package path

import "github.com/openmetaroce/metaroce/go-sdk/wire"

// IP codepoints (RFC 3168).
const (
	notECT = 0
	ect0   = 2
	ce     = 3
)

// ecn watches whether the codepoint that this side sends arrives. A network that clears it cannot mark either, so the
// path is then blind: it sends Not-ECT and listens to loss and delay.
type ecn struct {
	blind   bool
	packets uint32 // as the last block with counters said
	notECT  uint32
}

// bleachedAfter is the number of packets over which clearing is judged.
const bleachedAfter = 16

// validate compares what arrived with what was sent.
//
//mr:req MR-CC-006
func (e *ecn) validate(b *wire.PathAck) {
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
