// SPDX-License-Identifier: Apache-2.0

// Package cc decides how much may be in flight on a path. It sees values and calls nobody.
package cc

import "github.com/openmetaroce/metaroce/engine/internal/mono"

// Config bounds a window. All in bytes.
type Config struct {
	Initial int // first window
	Least   int // never below: one full packet
	Most    int // never above
	Packet  int // additive increase per round
}

// AIMD is the window of one path: additive increase per round, and at most one decrease per round, by half the smoothed
// fraction of packets that were marked CE (the rule of DCTCP, RFC 8257). Loss alone changes nothing.
type AIMD struct {
	cfg       Config
	window    int
	threshold int // growth is exponential below it
	credit    int // acknowledged bytes not yet turned into growth
	fraction  float64
	packets   uint32 // of the round
	marked    uint32
	roundEnds mono.Time
	cutUntil  mono.Time // no second decrease before
}

// gain is the weight of the newest round in the smoothed marked fraction.
const gain = 1.0 / 16

// New returns a window at its initial value. Until the first mark it grows by what is acknowledged.
func New(cfg Config) AIMD {
	return AIMD{cfg: cfg, window: min(max(cfg.Initial, cfg.Least), cfg.Most), threshold: cfg.Most, fraction: 1}
}

// Window is the number of bytes that may be in flight.
func (a *AIMD) Window() int { return a.window }

// Feedback is what one ACK says about a path.
type Feedback struct {
	Bytes    int    // newly acknowledged
	InFlight int    // bytes before the ACK
	Packets  uint32 // packets that newly arrived at the peer
	Marked   uint32 // of those, marked CE
	RTT      int64  // smoothed, ns
}

// OnAck adjusts the window to feedback.
func (a *AIMD) OnAck(now mono.Time, f Feedback) {
	a.packets += f.Packets
	a.marked += min(f.Marked, f.Packets)
	if f.Marked > 0 && now >= a.cutUntil {
		a.decrease(now, f.RTT)
	} else if f.Marked == 0 {
		a.increase(f)
	}
	if now >= a.roundEnds && a.packets > 0 {
		a.fraction += gain * (float64(a.marked)/float64(a.packets) - a.fraction)
		a.packets, a.marked = 0, 0
		a.roundEnds = now + mono.Time(f.RTT)
	}
}

func (a *AIMD) decrease(now mono.Time, rtt int64) {
	a.window = max(int(float64(a.window)*(1-a.fraction/2)), a.cfg.Least)
	a.threshold = a.window
	a.credit = 0
	a.cutUntil = now + mono.Time(rtt)
}

// increase grows only a window that was used: an application-limited sender learns nothing about the path.
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
		a.window = min(a.window+a.cfg.Packet, a.cfg.Most)
	}
}
