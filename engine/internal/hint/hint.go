// SPDX-License-Identifier: Apache-2.0

// Package hint divides an endpoint's inbound capacity among the connections that are sending to it. The share goes back in
// every ACK, so that an incast of any degree settles within a round trip, before any queue could tell.
package hint

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// None is the share of a connection that nobody competes with.
const None = 1<<32 - 1

// spread bounds how far a connection's weight may lie from the mean of all: those with more to send get more, so that
// all end together, but none gets much.
const spread = 1.3

// demand is a connection that is sending.
type demand struct {
	conn      uint64
	remaining uint64 // bytes of begun messages not yet received
	seen      mono.Time
}

// Allocator knows who is sending.
type Allocator struct {
	capacity uint64        // kbit/s; 0 = unknown: no hints
	memory   time.Duration // how long a silent connection keeps its share
	demands  []demand      // in order of arrival
	serial   uint16
}

// New returns an Allocator for an inbound capacity in kbit/s. A connection that is silent for memory loses its share.
func New(capacity uint64, memory time.Duration) Allocator {
	return Allocator{capacity: capacity, memory: memory}
}

// Observe notes that a connection has sent, and how many bytes of its messages are still to come. With none it is done,
// and its share is free at once.
func (a *Allocator) Observe(now mono.Time, conn, remaining uint64) {
	if a.capacity == 0 {
		return
	}
	i := a.find(conn)
	switch {
	case remaining == 0 && i >= 0:
		a.demands = append(a.demands[:i], a.demands[i+1:]...)
		a.serial++
	case remaining == 0:
	case i < 0:
		a.demands = append(a.demands, demand{conn, remaining, now})
		a.serial++
	default:
		a.demands[i].remaining, a.demands[i].seen = remaining, now
	}
}

func (a *Allocator) find(conn uint64) int {
	for i := range a.demands {
		if a.demands[i].conn == conn {
			return i
		}
	}
	return -1
}

// age drops connections that have been silent for too long.
func (a *Allocator) age(now mono.Time) {
	kept := a.demands[:0]
	for _, d := range a.demands {
		if now.Sub(d.seen) <= a.memory {
			kept = append(kept, d)
		}
	}
	if len(kept) != len(a.demands) {
		a.serial++
	}
	a.demands = kept
}

// Share is what a connection may send, in kbit/s of wire bytes, and the number of the division that it belongs to.
// It is None for one that is not sending or has no competitor.
//
//mr:req MR-CC-008
//mr:req MR-CC-015
func (a *Allocator) Share(now mono.Time, conn uint64) (rate uint32, serial uint16) {
	if a.capacity == 0 {
		return None, 0
	}
	a.age(now)
	i := a.find(conn)
	if i < 0 || len(a.demands) < 2 {
		return None, a.serial
	}
	total := uint64(0)
	for _, d := range a.demands {
		total += d.remaining
	}
	mean := float64(total) / float64(len(a.demands))
	sum := 0.0
	for _, d := range a.demands {
		sum += weight(d.remaining, mean)
	}
	share := float64(a.capacity) * weight(a.demands[i].remaining, mean) / sum
	return uint32(min(max(share, 1), None-1)), a.serial
}

func weight(remaining uint64, mean float64) float64 {
	return min(max(float64(remaining), mean/spread), mean*spread)
}
