// SPDX-License-Identifier: Apache-2.0

package cc

import "github.com/openmetaroce/metaroce/engine/internal/mono"

// AIMD is additive increase per round, and at most one decrease per round, by half the smoothed fraction of packets that
// were marked CE (the rule of DCTCP, RFC 8257). Loss alone changes nothing: it counts only when it comes with queueing, in
// a mass that no random loss explains, or on a path where marks do not get through.
type AIMD struct {
	cfg       *Config
	window    int
	threshold int // growth is exponential below it
	credit    int // acknowledged bytes not yet turned into growth
	fraction  float64
	packets   uint32 // of the round
	marked    uint32
	lost      uint32
	roundEnds mono.Time
	cutUntil  mono.Time // no second decrease before
}

const (
	// gain is the weight of the newest round in the smoothed marked fraction.
	gain = 1.0 / 16
	// massLoss is the share of a round's packets whose loss counts as congestion, if round trips have doubled too.
	massLoss = 0.2
	// lossFactor is what such a loss leaves of a window.
	lossFactor = 0.7
)

func newAIMD(cfg *Config) *AIMD {
	a := &AIMD{cfg: cfg}
	a.Restart()
	return a
}

// Window is the number of bytes that may be in flight.
func (a *AIMD) Window() int { return a.window }

// Restart returns to the first window. Until the first mark it grows by what is acknowledged.
func (a *AIMD) Restart() {
	*a = AIMD{
		cfg: a.cfg, window: min(max(a.cfg.Initial, a.cfg.Least), a.cfg.Most), threshold: a.cfg.Most, fraction: 1,
	}
}

// OnAck adjusts the window to feedback.
//
//mr:req MR-CC-002 MR-CC-003
func (a *AIMD) OnAck(now mono.Time, f Feedback) {
	a.packets += f.Packets
	a.marked += min(f.Marked, f.Packets)
	a.lost += uint32(max(f.Lost, 0))
	congested := a.congestedByLoss(f)
	switch {
	case f.Marked > 0 && now >= a.cutUntil:
		a.decrease(now, f.RTT, 1-a.fraction/2)
	case congested && now >= a.cutUntil:
		a.decrease(now, f.RTT, lossFactor)
	case f.Marked == 0 && !congested:
		a.increase(f)
	}
	if now >= a.roundEnds && a.packets > 0 {
		a.fraction += gain * (float64(a.marked)/float64(a.packets) - a.fraction)
		a.packets, a.marked, a.lost = 0, 0, 0
		a.roundEnds = now + mono.Time(f.RTT)
	}
}

// congestedByLoss tells whether losses speak of congestion. A blind path believes losses that come with any queueing.
//
//mr:req MR-CC-012 MR-CC-006
func (a *AIMD) congestedByLoss(f Feedback) bool {
	if f.Lost == 0 || f.Base <= 0 {
		return false
	}
	if f.Blind {
		return f.RTT > f.Base+f.Base/4
	}
	return float64(a.lost) > massLoss*float64(a.packets+a.lost) && f.RTT > 2*f.Base
}

//mr:req MR-CC-003 MR-CC-011
func (a *AIMD) decrease(now mono.Time, rtt int64, factor float64) {
	a.window = max(int(float64(a.window)*factor), a.cfg.Least)
	a.threshold = a.window
	a.credit = 0
	a.cutUntil = now + mono.Time(rtt)
}

// increase grows only a window that was used: an application-limited sender learns nothing about the path.
//
//mr:req MR-CC-005 MR-CC-010 MR-CC-011
func (a *AIMD) increase(f Feedback) {
	if f.InFlight < a.window/2 || f.Bytes == 0 {
		return
	}
	if a.window < a.threshold {
		a.window = min(a.window+f.Bytes, a.cfg.Most)
		return
	}
	a.credit += f.Bytes
	if a.credit >= a.window {
		a.credit -= a.window
		a.window = min(a.window+a.cfg.Step, a.cfg.Most)
	}
}
