// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"time"
)

// contest is work that two contestants do alike. Each tells whether it accepted the packet.
type contest struct {
	name        string
	limit       float64
	ours, rival func() bool
}

const (
	rounds    = 101
	roundTime = 100 * time.Microsecond // of one contestant: short enough that few rounds are interrupted
)

// bar compares the times of both. Nothing is collected meanwhile: that would hit single rounds, and mostly not the culprit.
func (c contest) bar() bar {
	return bar{c.name, "×", c.limit, func() (samples, error) {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		if !c.ours() || !c.rival() {
			return nil, errRefused
		}
		calls := 1
		for timed(c.rival, calls) < roundTime {
			calls *= 2
		}
		var out samples
		for i := range rounds {
			var a, b time.Duration
			if i%2 == 0 {
				a, b = timed(c.ours, calls), timed(c.rival, calls)
			} else {
				b, a = timed(c.rival, calls), timed(c.ours, calls)
			}
			out = append(out, float64(a)/float64(b))
		}
		return out, nil
	}}
}

// timed is how long a number of calls takes.
func timed(f func() bool, calls int) time.Duration {
	start := time.Now()
	for range calls {
		if !f() {
			panic("a contestant refuses what it has accepted before")
		}
	}
	return time.Since(start)
}
