// SPDX-License-Identifier: Apache-2.0

package cc

import (
	"math/bits"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// Pacer spreads packets over time.
type Pacer struct {
	next mono.Time // when the next packet may leave
}

// creditPackets is the number of packets that may leave together after a pause.
const creditPackets = 2

// longestGap bounds the time between two packets, whatever the rate: progress never stops.
const longestGap = time.Second

// Next is when the next packet may leave.
func (p *Pacer) Next() mono.Time { return p.next }

// Sent notes a packet of a size in bytes at a rate in bit/s.
//
//mr:req MR-CC-013
func (p *Pacer) Sent(now mono.Time, sizeBytes int, rate uint64) {
	gap := Gap(sizeBytes, rate)
	p.next = max(p.next, now.Add(-(creditPackets-1)*gap)).Add(gap)
}

// Gap is the time that a number of bytes take at a rate in bit/s. Rate 0 takes the longest.
func Gap(sizeBytes int, rate uint64) time.Duration {
	if rate == 0 {
		return longestGap
	}
	hi, lo := bits.Mul64(uint64(sizeBytes)*8, uint64(time.Second))
	if hi >= rate {
		return longestGap
	}
	ns, _ := bits.Div64(hi, lo, rate)
	return time.Duration(min(ns, uint64(longestGap)))
}

// Rate is the rate in bit/s that sends a number of bytes per round trip.
func Rate(bytes int, rtt time.Duration) uint64 {
	if rtt <= 0 {
		return ^uint64(0)
	}
	hi, lo := bits.Mul64(uint64(bytes)*8, uint64(time.Second))
	if hi >= uint64(rtt) {
		return ^uint64(0)
	}
	rate, _ := bits.Div64(hi, lo, uint64(rtt))
	return rate
}
