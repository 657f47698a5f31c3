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
	Bytes           int   // newly acknowledged
	InFlight        int   // before the ACK
	Packets, Marked int64 // that arrived, and those of them marked
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
	switch {
	case s.Marked > 0 && s.Now >= w.cutUntil:
		// bytes * (1 - fraction / 2)
		keep := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Mul(w.fraction, big.NewRat(1, 2)))
		kept := new(big.Rat).Mul(keep, big.NewRat(int64(w.bytes), 1))
		floor := new(big.Int).Quo(kept.Num(), kept.Denom())
		w.bytes = max(int(floor.Int64()), w.limits.Least)
		w.threshold, w.credit, w.cutUntil = w.bytes, 0, s.Now+s.RTT
	case s.Marked == 0 && s.Bytes > 0 && 2*s.InFlight >= w.bytes-1:
		w.grow(s.Bytes)
	}
	if s.Now >= w.roundEnds && w.packets > 0 {
		// fraction += (marked/packets - fraction) / 16
		step := new(big.Rat).Sub(big.NewRat(w.marked, w.packets), w.fraction)
		w.fraction.Add(w.fraction, step.Mul(step, big.NewRat(1, 16)))
		w.packets, w.marked, w.roundEnds = 0, 0, s.Now+s.RTT
	}
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
