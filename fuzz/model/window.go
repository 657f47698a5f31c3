// SPDX-License-Identifier: Apache-2.0

package model

import "math/big"

// Limits bound a window, in bytes. Step is what it grows by in a round.
type Limits struct {
	First, Least, Most, Step int
}

// Signal is what an ACK says of congestion on a path.
type Signal struct {
	Now, RTT        int64 // ns
	Base            int64 // least RTT, ns; 0 = not known
	Bytes           int   // newly acknowledged
	InFlight        int   // before the ACK
	Packets, Marked int64 // that arrived, and those of them marked
	Lost            int64 // transmissions found lost
	Blind           bool  // marks do not get through
}

// Window is additive increase and multiplicative decrease in exact fractions.
type Window struct {
	limits    Limits
	bytes     int
	threshold int // above it, growth is additive
	credit    int
	fraction  *big.Rat // smoothed share of marked packets
	packets   int64    // of the round
	marked    int64
	lost      int64
	roundEnds int64
	cutUntil  int64
}

// NewWindow returns the first window. The marked fraction begins at 1.
func NewWindow(l Limits) *Window {
	return &Window{limits: l, bytes: min(max(l.First, l.Least), l.Most), threshold: l.Most, fraction: big.NewRat(1, 1)}
}

// Bytes is the window.
func (w *Window) Bytes() int { return w.bytes }

// Settle takes over a window that differs by less than a byte's rounding.
func (w *Window) Settle(bytes int) {
	if w.threshold == w.bytes {
		w.threshold = bytes
	}
	w.bytes = bytes
}

// Ack adjusts the window.
func (w *Window) Ack(s Signal) {
	w.packets += s.Packets
	w.marked += s.Marked
	w.lost += s.Lost
	switch congested := w.congestedByLoss(s); {
	case s.Marked > 0 && s.Now >= w.cutUntil:
		w.cut(s, new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Mul(w.fraction, big.NewRat(1, 2))))
	case congested && s.Now >= w.cutUntil:
		w.cut(s, big.NewRat(7, 10))
	case s.Marked == 0 && !congested && s.Bytes > 0 && 2*s.InFlight >= w.bytes-1:
		w.grow(s.Bytes)
	}
	if s.Now >= w.roundEnds && w.packets > 0 {
		// fraction += (marked/packets - fraction) / 16
		step := new(big.Rat).Sub(big.NewRat(w.marked, w.packets), w.fraction)
		w.fraction.Add(w.fraction, step.Mul(step, big.NewRat(1, 16)))
		w.packets, w.marked, w.lost, w.roundEnds = 0, 0, 0, s.Now+s.RTT
	}
}

// cut leaves a fraction of the window.
func (w *Window) cut(s Signal, keep *big.Rat) {
	kept := new(big.Rat).Mul(keep, big.NewRat(int64(w.bytes), 1))
	floor := new(big.Int).Quo(kept.Num(), kept.Denom())
	w.bytes = max(int(floor.Int64()), w.limits.Least)
	w.threshold, w.credit, w.cutUntil = w.bytes, 0, s.Now+s.RTT
}

// congestedByLoss tells whether losses count: more than a fifth of a round's packets, with a round-trip time of more than
// twice the least one; on a path whose marks do not arrive any, with one more than a quarter above the least.
func (w *Window) congestedByLoss(s Signal) bool {
	switch {
	case s.Lost == 0 || s.Base == 0:
		return false
	case s.Blind:
		return 4*s.RTT > 5*s.Base
	}
	return 5*w.lost > w.packets+w.lost && s.RTT > 2*s.Base
}

// grow adds what is acknowledged until the first decrease, and then one step for each window acknowledged.
func (w *Window) grow(bytes int) {
	if w.bytes < w.threshold {
		w.bytes = min(w.bytes+bytes, w.limits.Most)
		return
	}
	w.credit += bytes
	if w.credit >= w.bytes {
		w.credit -= w.bytes
		w.bytes = min(w.bytes+w.limits.Step, w.limits.Most)
	}
}
