// SPDX-License-Identifier: Apache-2.0

package path

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// health tells whether a path is in service. Failure is a verdict of its own: losses, even many, are not it.
type health struct {
	down    bool
	barred  bool   // the peer's address is not valid yet
	sent    uint16 // transmissions of the sample under way
	lost    uint16 // of those, lost by send order
	refused uint32 // packets that the peer has reported as refused
	Service
}

// outage is how a path that is out of service is asked to come back.
type outage struct {
	next  mono.Time // when it is probed again
	wait  time.Duration
	since uint32 // first TSN sent after the failure: its acknowledgment brings the path back
	asked int32  // probes since the failure, or since the route changed
}

// Bounds of the failure rules.
const (
	unansweredProbes = 2  // probes without an answer that make a path suspect
	sampleSize       = 64 // transmissions that a loss fraction is taken over
)

// Moved is a chunk that has lost its path.
type Moved struct {
	Ref    Ref
	Size   int
	Losses int // transmissions lost so far
}

// Down tells whether the path is out of service.
func (p *Path) Down() bool { return p.health.down }

// Suspect tells whether the path has gone silent while the peer is there: two probes are unanswered, something sent no
// earlier than the last of them elsewhere, at ackedSent, has been acknowledged, and the path has had the time to answer,
// too. When it has not had it yet, at says until when to wait. When nothing is heard on any path, none is suspect.
//
//mr:req MR-FAIL-001
func (p *Path) Suspect(now, ackedSent mono.Time) (suspect bool, at mono.Time) {
	if !p.Silent() || ackedSent < p.timer.latest {
		return false, mono.Never
	}
	at = p.timer.latest.Add(p.rtt.smoothed + max(2*p.rtt.variance, p.cfg.Granularity))
	return now >= at, at
}

// LossFraction is the share of transmissions lost in the last whole sample, and whether there is one that has not been
// looked at.
func (p *Path) LossFraction() (fraction float64, fresh bool) {
	h := &p.health
	if h.sent < sampleSize {
		return 0, false
	}
	fraction = float64(h.lost) / float64(h.sent)
	h.sent, h.lost = 0, 0
	return fraction, true
}

// Fail takes the path out of service: its PSNs are abandoned and their chunks appended to out, to go elsewhere. It gets
// another route, with a new epoch, and is probed for ever.
//
//mr:req MR-FAIL-003
func (p *Path) Fail(now mono.Time, route Route, out []Moved) []Moved {
	out = p.evict(out)
	p.Rebind(now, route)
	p.health.down = true
	p.health.Downs++
	p.wake()
	p.timer = timer{}
	p.outage = outage{next: now, wait: p.PTO(), since: p.ledger.nextTSN}
	return out
}

func (p *Path) evict(out []Moved) []Moved {
	l := &p.ledger
	if l.board == nil {
		return out
	}
	for _, q := range []*list{&l.flight, &l.lost} {
		for q.n > 0 {
			psn := q.head
			s := l.slot(psn)
			out = append(out, Moved{s.ref, int(s.size), int(s.before) + int(s.losses)})
			p.Abandon(psn)
		}
	}
	return out
}

// probeAgain schedules the next probe of a path that is down.
//
//mr:req MR-FAIL-007
func (p *Path) probeAgain(now mono.Time) {
	p.outage.asked++
	p.timer.wantProbe = true
	p.outage.next = now.Add(p.outage.wait)
	p.outage.wait = min(2*p.outage.wait, max(longest, p.PTO()))
}

// revive puts the path back into service once a packet of full length sent since the failure is acknowledged, and no other
// one: what is small may pass where full packets do not. It comes back as after any silence.
//
//mr:req MR-FAIL-005 MR-FAIL-007
func (p *Path) revive(largest uint32) {
	h := &p.health
	if !h.down || h.barred || p.ledger.space.Less(largest, p.outage.since) {
		return
	}
	if t, ok := p.ledger.transmission(largest); !ok || !t.full {
		return
	}
	h.down = false
	if h.Ups < h.Downs {
		h.Ups++ // else it comes into service for the first time
	}
	h.sent, h.lost = 0, 0
	p.narrow = narrow{}
	p.timer = timer{}
	p.restart()
}

// restart begins anew on a path that is heard again: with the first window, the known round-trip time, and little trust in it.
//
//mr:req MR-FAIL-005 MR-FAIL-010
func (p *Path) restart() {
	p.window.Restart()
	p.ecn = p.ecn.again()
	p.rtt.variance = p.rtt.smoothed / 2
}

// Hopeless tells whether the path is out of service and stays so on its present route: a probe has gone unanswered.
func (p *Path) Hopeless() bool { return p.Proving() && p.outage.asked > 1 }

// Silent tells whether enough probes are unanswered to make the path suspect, once other paths are heard.
func (p *Path) Silent() bool { return !p.health.down && p.unanswered() >= unansweredProbes }

// Service counts how often a path went out of service and came back.
type Service struct {
	Downs, Ups uint32
}

// Health returns the path's service counters.
func (p *Path) Health() Service { return p.health.Service }

// Bar keeps a path out of service until Unbar: its peer's address is not known to be true.
func (p *Path) Bar(now mono.Time) {
	p.health.down, p.health.barred = true, true
	p.wake()
	p.outage.wait, p.outage.next = p.PTO(), now
}

// Unbar lets the path prove that it carries full packets, and so come into service.
func (p *Path) Unbar(now mono.Time) {
	if !p.health.barred {
		return
	}
	p.health.barred = false
	p.outage.since = p.ledger.nextTSN
	p.outage.wait, p.outage.next = p.PTO(), now
}

// Proving tells whether the path has to show that it carries full packets before it comes into service.
func (p *Path) Proving() bool { return p.health.down && !p.health.barred }

// Mute tells whether the path, although in service, has been silent for so long that its chunks are sent again one by one.
func (p *Path) Mute() bool { return !p.health.down && p.unanswered() > unansweredProbes }

// Overdue tells whether an answer has been missed on the path.
func (p *Path) Overdue() bool { return !p.health.down && p.unanswered() > 0 }
