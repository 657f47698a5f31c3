// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"
)

// Sum adds up what happened in many runs.
type Sum struct {
	Runs                      uint64
	Packets, Resent, RTOFired uint64
	Virtual                   time.Duration
	Network                   NetworkStats
	Delayed                   uint64 // receives posted late
	Injected                  [kinds]uint64
	Met                       [meets]uint64
}

// Add takes in a run.
func (s *Sum) Add(r *Result) {
	s.Runs++
	s.Packets += r.Packets
	s.Resent += r.Resent
	s.RTOFired += r.RTOFired
	s.Virtual += r.Ended
	n := &r.Network
	s.Network.Sent += n.Sent
	s.Network.Delivered += n.Delivered
	s.Network.CopiedLate += n.CopiedLate
	s.Network.Overflowed += n.Overflowed
	s.Network.Marked += n.Marked
	s.Network.Reordered += n.Reordered
	for _, f := range r.Flows {
		s.Delayed += f.Delayed
	}
	for k := range s.Injected {
		s.Injected[k] += r.Injected[k]
	}
	for m := range s.Met {
		s.Met[m] += r.Met[m]
	}
}

// count is a name and how often it happened.
type count struct {
	name  string
	times uint64
}

// counts lists faults, what networks did by themselves, and what was met.
func (s *Sum) counts() (injected, natural, met []count) {
	for k := Kind(1); k < kinds; k++ {
		injected = append(injected, count{k.String(), s.Injected[k]})
	}
	n := &s.Network
	natural = []count{
		{"copied late", n.CopiedLate}, {"overflowed", n.Overflowed}, {"marked by queues", n.Marked}, {"reordered", n.Reordered},
		{"receives delayed", s.Delayed},
	}
	for _, m := range Meets() {
		met = append(met, count{m.String(), s.Met[m]})
	}
	return injected, natural, met
}

// Lines tells what was injected and what was met, a line for each.
func (s *Sum) Lines() (lines []string) {
	injected, natural, met := s.counts()
	for _, part := range []struct {
		name string
		list []count
	}{{"injected", injected}, {"happened", natural}, {"met", met}} {
		for _, c := range part.list {
			lines = append(lines, fmt.Sprintf("%-9s %-28s %d", part.name, c.name, c.times))
		}
	}
	return lines
}

// Missing lists what has never been injected, never happened or never been met.
func (s *Sum) Missing() (names []string) {
	injected, natural, met := s.counts()
	for _, list := range [][]count{injected, natural, met} {
		for _, c := range list {
			if c.times == 0 {
				names = append(names, c.name)
			}
		}
	}
	return names
}
