// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/openmetaroce/metaroce/engine/sim"
)

// script is what breaks and when.
type script struct {
	text   string
	faults []sim.Fault
}

// UnmarshalText reads parts such as "plane 2 down at 50us for 200us" or "path 3 down at 1ms", separated by ";". Without "for"
// a part lasts to the end.
func (s *script) UnmarshalText(text []byte) error {
	s.text = string(text)
	for part := range strings.SplitSeq(s.text, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		f, err := parseOutage(part)
		if err != nil {
			return fmt.Errorf("%q: %w", strings.TrimSpace(part), err)
		}
		s.faults = append(s.faults, f)
	}
	return nil
}

func (s script) String() string { return s.text }

func parseOutage(text string) (sim.Fault, error) {
	f := sim.Everywhere(sim.Cut)
	words := strings.Fields(text)
	forever := len(words) == 5
	if !forever && (len(words) != 7 || words[5] != "for") || words[2] != "down" || words[3] != "at" {
		return f, errors.New(`not of the form "plane 2 down at 50us for 200us"`)
	}
	index, err := strconv.ParseUint(words[1], 10, 8)
	if err != nil {
		return f, fmt.Errorf("%q is no number of a plane or path", words[1])
	}
	switch words[0] {
	case "plane":
		f.Plane = int(index)
	case "path":
		f.Path = int(index)
	default:
		return f, fmt.Errorf("this version knows planes and paths, not %q", words[0])
	}
	if f.Begin, err = time.ParseDuration(words[4]); err != nil || f.Begin < 0 {
		return f, fmt.Errorf("no such time: %q", words[4])
	}
	if forever {
		return f, nil
	}
	last, err := time.ParseDuration(words[6])
	if err != nil || last <= 0 {
		return f, fmt.Errorf("no such time: %q", words[6])
	}
	f.End = f.Begin + last
	return f, nil
}

// fits refuses what the network does not have.
func (s script) fits(c *runCommand) error {
	for _, f := range s.faults {
		if f.Plane >= c.Planes {
			return refusal("--fail %q: there are planes 0 to %d", s.text, c.Planes-1)
		}
		if f.Path >= c.Paths {
			return refusal("--fail %q: there are paths 0 to %d", s.text, c.Paths-1)
		}
	}
	return nil
}

// faults are all that the flags ask for, when flows begin at start.
func (c *runCommand) faults(start time.Duration) (list []sim.Fault) {
	for _, f := range c.Fail.faults {
		f.Begin += start
		if f.End > 0 {
			f.End += start
		}
		list = append(list, f)
	}
	if c.Loss > 0 {
		f := sim.Everywhere(sim.LoseData)
		if c.LossAcks {
			f.Kind = sim.Lose
		}
		f.Chance = c.Loss
		list = append(list, f)
	}
	return list
}
