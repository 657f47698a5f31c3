// SPDX-License-Identifier: Apache-2.0

package path

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// estimator smooths round-trip times (RFC 6298, with the sample's own deviation as first variance).
type estimator struct {
	smoothed, variance time.Duration
	least              time.Duration // of all samples; 0 = none yet
}

func newEstimator(initial time.Duration) estimator {
	return estimator{smoothed: initial, variance: initial / 2}
}

//mr:req MR-LOSS-008
func (e *estimator) sample(rtt time.Duration) {
	if e.least == 0 {
		e.smoothed, e.variance = rtt, rtt/2
	} else {
		e.variance += ((e.smoothed - rtt).Abs() - e.variance) / 4
		e.smoothed += (rtt - e.smoothed) / 8
	}
	if e.least == 0 || rtt < e.least {
		e.least = rtt
	}
}

// timer watches a path with data in flight. First it asks: after a probe timeout a probe goes out, whose acknowledgment
// exposes what was lost before it. Two unanswered probes later the oldest chunk itself is sent again.
type timer struct {
	since      mono.Time // of the last packet that may cause an ACK
	heard      mono.Time // when the peer last said something new
	unanswered int32     // timeouts since then
	latest     mono.Time // when the last of them was noticed
	wantProbe  bool
	exposed    bool // a probe has followed the last chunk
}

// unanswered is how often the timer has run out since the peer last said something new.
func (p *Path) unanswered() int32 {
	if p.watch == nil {
		return 0
	}
	return p.timer.unanswered
}

// longest bounds the probe timeout after backoff.
const longest = time.Second

func (t *timer) sent(now mono.Time) {
	t.since = now
	t.exposed = false
}

func (t *timer) progress(now mono.Time) {
	t.heard = now
	t.unanswered = 0
	t.wantProbe = false
}

// PTO is the time after which an unanswered packet is asked about.
//
//mr:req MR-LOSS-013
func (p *Path) PTO() time.Duration {
	return p.rtt.smoothed + max(4*p.rtt.variance, p.cfg.Granularity) + p.cfg.PeerDelay
}

// Deadline is when Expire must be called; Never when nothing is in flight.
//
//mr:req MR-LOSS-005 MR-LOSS-007
func (p *Path) Deadline() mono.Time {
	if p.health.down {
		return p.outage.next
	}
	if !p.ledger.flies() {
		return mono.Never
	}
	oldest, _ := p.ledger.transmission(p.ledger.slot(p.ledger.flight.head).tsn)
	if oldest.at == 0 {
		oldest.at = p.timer.since // nobody remembers
	}
	switch t := &p.timer; {
	case p.Mute():
		return max(t.latest, oldest.at).Add(p.RTO())
	case t.unanswered > 0:
		return min(max(t.latest, oldest.at).Add(p.RTO()), p.left.until)
	}
	// What was sent a PTO ago is overdue. While more is sent, that may be the queue's doing, unless the peer has gone silent.
	pto := p.PTO()
	silent := min(p.timer.since.Add(pto), p.timer.heard.Add(pto-p.rtt.smoothed))
	return min(max(oldest.at.Add(pto), silent), p.left.until)
}

// RTO is the pause until the timer runs out next: it doubles while nothing is heard.
//
//mr:req MR-LOSS-007
func (p *Path) RTO() time.Duration {
	wait := p.PTO() << min(max(p.unanswered()-1, 0), 16)
	return min(wait, max(longest, p.PTO()))
}

// Expire does what the deadline asks for: it wants a probe, or declares the oldest chunk lost.
// It returns false when the deadline has moved on.
//
//mr:req MR-LOSS-007 MR-LOSS-005
func (p *Path) Expire(now mono.Time) bool {
	if p.Deadline() > now {
		return false
	}
	if p.health.down {
		p.probeAgain(now)
		return true
	}
	p.timer.unanswered++
	p.timer.latest = now
	if !p.Mute() {
		p.timer.wantProbe = true
		p.Sent.TailProbes++
		return true
	}
	p.Sent.RTOFired++
	p.ledger.slot(p.ledger.flight.head).forGap = false
	p.timer.wantProbe = true // what is sent again may be unwanted by now, and nothing else asks
	p.ledger.lose(p.ledger.flight.head)
	return true
}

// RanOut tells whether the timer has run out just now.
func (p *Path) RanOut(now mono.Time) bool { return p.watch != nil && p.timer.latest == now }

// WantProbe asks for a probe: when a path comes into use and its peer should learn of it.
func (p *Path) WantProbe() {
	p.wake()
	p.timer.wantProbe = true
}

// WantsProbe tells whether a probe is due.
func (p *Path) WantsProbe() bool { return p.watch != nil && p.timer.wantProbe }
