// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"testing"
)

// sometimes counts what machines have met: a machine that never meets a loss proves nothing about losses.
type sometimes map[string]uint64

// note adds up the counters of an arena that has come to its end.
func (s sometimes) note(a *arena) {
	for end := range a.ends {
		for _, p := range a.stats(end) {
			s["losses"] += p.Lost
			s["resends"] += p.Resent
			s["timeouts"] += p.RTOFired
			s["probes"] += p.TailProbes
			s["copies"] += p.Copies
			s["duplicates"] += p.Duplicates
			s["marks"] += p.CEReported
			s["failed paths"] += p.Downs
			s["revived paths"] += p.Ups
			h := &a.halves[end][p.ID]
			s["overtaken routes"] += h.overtaken
			if a.space < 32 && int64(a.first[end])+h.ledger.TSN() > 1<<a.space {
				s["wraps"]++
			}
			if h.ledger.Next() > 256 {
				s["more PSNs than a SACK holds"]++
			}
			_, counts := a.halves[1-end][p.ID].board.Report()
			s["refusals"] += uint64(counts.Refused)
		}
	}
}

// require fails when something was never met.
func (s sometimes) require(t *testing.T, names ...string) {
	t.Helper()
	t.Logf("met: %v", s)
	for _, name := range names {
		if s[name] == 0 {
			t.Errorf("never met: %s", name)
		}
	}
}
