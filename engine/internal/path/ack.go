// SPDX-License-Identifier: Apache-2.0

package path

import (
	"math/bits"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/cc"
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Valid tells whether a block speaks only of what this path has sent. An ACK with one invalid block is rejected whole.
//
//mr:req MR-ACK-005
func (p *Path) Valid(b *wire.PathAck) bool {
	l := &p.ledger
	ahead := l.space.Diff(l.next, b.Base)
	sent := l.space.Diff(l.nextTSN, b.Largest)
	switch {
	case (b.Base|b.Largest)&^l.space.Mask() != 0:
		return false
	case sent <= 0 || sent > int64(l.tsns):
		return false
	case ahead < 0 || uint64(ahead) > p.Sent.Packets-p.Sent.Resent:
		return false
	}
	return int64(lastBit(b)) < ahead
}

// lastBit is the highest set bit of a block's vector, -1 when there is none.
func lastBit(b *wire.PathAck) int {
	if !b.HasSack {
		return -1
	}
	for w := len(b.Sack) - 1; w >= 0; w-- {
		if b.Sack[w] != 0 {
			return w*64 + 63 - bits.TrailingZeros64(b.Sack[w])
		}
	}
	return -1
}

// Verdict is what a block says about the path as a whole.
type Verdict struct {
	Lost     int         // transmissions now known to be lost
	Progress bool        // something new was acknowledged or heard
	SentAt   mono.Time   // when the packet with the largest TSN left; 0 = not known
	Feedback cc.Feedback // for the connection's window
}

// Ack applies a valid block: PSNs become acknowledged, then what was sent before the largest TSN and did not arrive is lost.
// The newly acknowledged chunks are appended to out.
//
//mr:req MR-ACK-006
func (p *Path) Ack(now mono.Time, b *wire.PathAck, sentAt uint32, out []Ref) ([]Ref, Verdict) {
	l := &p.ledger
	before := p.InFlight()
	known := len(out)
	ackedBytes := 0
	for l.space.Diff(b.Base, l.floor) > 0 {
		out, ackedBytes = p.acknowledge(l.floor, out, ackedBytes)
		l.raise()
	}
	out, ackedBytes = p.vector(b, out, ackedBytes)
	l.raise()
	p.learn(now, b)
	refusals := p.refusals(b)
	v := Verdict{Progress: len(out) > known}
	if l.space.Less(l.largest, b.Largest) {
		v.Progress = true
		l.largest = b.Largest
		if t, ok := l.transmission(b.Largest); ok {
			p.ecn.hear(t)
		}
		v.SentAt = p.sample(now, b, sentAt)
		p.revive(b.Largest)
		v.Lost = p.declareLost(b.Largest, refusals)
	}
	if v.Progress {
		if p.Mute() {
			p.restart()
			ackedBytes = 0 // of long ago: they say nothing about what the path carries now
		}
		if p.watch != nil {
			p.timer.progress(now)
		}
	}
	v.Feedback = p.congestion(now, b, cc.Feedback{Bytes: ackedBytes, InFlight: before, Lost: v.Lost})
	return out, v
}

// acknowledge marks one PSN of the ledger.
func (p *Path) acknowledge(psn uint32, out []Ref, ackedBytes int) ([]Ref, int) {
	s := p.ledger.slot(psn)
	if p.ledger.land(psn, acked) {
		p.Sent.Acked++
		if p.narrow.lost > 0 {
			p.narrow.arrive(s.size)
		}
		return append(out, s.ref), ackedBytes + int(s.size)
	}
	return out, ackedBytes
}

// vector marks the PSNs beyond base that the SACK names.
func (p *Path) vector(b *wire.PathAck, out []Ref, ackedBytes int) ([]Ref, int) {
	if !b.HasSack {
		return out, ackedBytes
	}
	for w, word := range b.Sack {
		for word != 0 {
			lead := bits.LeadingZeros64(word)
			word &^= 1 << (63 - lead)
			psn := p.ledger.space.Add(b.Base, int64(w*64+lead))
			if p.ledger.holds(psn) {
				out, ackedBytes = p.acknowledge(psn, out, ackedBytes)
			}
		}
	}
	return out, ackedBytes
}

// declareLost moves every transmission older than the largest acknowledged TSN, by more than the guard, to the lost list.
// Resends have TSNs of their own, so the same rule finds their loss without a timer. Those of earlier routes are left out.
//
//mr:req MR-LOSS-001
//mr:req MR-LOSS-002 MR-LOSS-012
func (p *Path) declareLost(largest, refusals uint32) int {
	l := &p.ledger
	if !l.flies() {
		return 0
	}
	width := int64(p.guard.width)
	if t, ok := l.transmission(largest); ok && t.probe {
		width = 0
	}
	n := 0
	psn := l.flight.head
	for range l.flight.n {
		s := l.slot(psn)
		next := s.next
		if l.space.Diff(largest, s.tsn) <= width {
			break
		}
		if !p.behind(s.tsn) {
			if uint32(n) >= refusals {
				s.losses++
				p.health.lost++
				p.narrow.miss(s.size)
			}
			s.forGap = true
			l.lose(psn)
			n++
		}
		psn = next
	}
	p.Sent.Lost += uint64(n)
	return n
}

// refusals is how many packets the peer has newly reported as refused: that many missing ones say nothing about the path.
func (p *Path) refusals(b *wire.PathAck) uint32 {
	if !b.HasCounters || int32(b.Counters.Refused-p.health.refused) <= 0 {
		return 0
	}
	n := b.Counters.Refused - p.health.refused
	p.health.refused = b.Counters.Refused
	return n
}

// sample takes one RTT sample per newly acknowledged largest TSN; the time that the peer held the ACK back is taken off.
//
//mr:req MR-LOSS-008
func (p *Path) sample(now mono.Time, b *wire.PathAck, sentAt uint32) mono.Time {
	t, ok := p.ledger.transmission(b.Largest)
	residence := sentAt - b.ReceivedAt
	if !ok {
		return 0
	}
	if rtt := now.Sub(t.at) - time.Duration(residence); rtt > 0 && residence < 1<<31 {
		p.rtt.sample(rtt)
	}
	return t.at
}

// congestion hands the block's counters to the window. Counters are used only when they are serially newer, and possible.
//
//mr:req MR-ACK-006
//mr:req MR-PATH-011
func (p *Path) congestion(now mono.Time, b *wire.PathAck, f cc.Feedback) cc.Feedback {
	if fresh := int32(b.Packets - p.reported.packets); fresh > 0 && !p.possible(b) {
		p.ecn.blind = true
	} else if fresh > 0 {
		f.Packets = uint32(fresh)
		f.Marked = b.Ce - p.reported.ce
		p.Sent.CE += uint64(f.Marked)
		p.reported = reported{b.Packets, b.Ce}
	}
	p.ecn.validate(b)
	if f.Bytes == 0 && f.Packets == 0 && f.Lost == 0 {
		return f
	}
	f.RTT, f.Base, f.Blind = int64(p.rtt.smoothed), int64(p.rtt.least), p.ecn.blind
	p.window.OnAck(now, f)
	return f
}

// Trimmed takes in that a transmission arrived cut short: if it is the latest of its PSN, the chunk is lost.
func (p *Path) Trimmed(psn, tsn uint32) bool {
	l := &p.ledger
	psn &= l.space.Mask() // it comes from the wire
	if !l.holds(psn) || l.slot(psn).state != flying || l.slot(psn).tsn != tsn {
		return false
	}
	l.slot(psn).losses++
	l.lose(psn)
	p.Sent.Lost++
	return true
}
