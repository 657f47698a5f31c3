// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
)

// bar is a figure and the limit that it must not exceed.
type bar struct {
	name    string
	unit    string // of the figure; "×" = a ratio
	limit   float64
	measure func() (samples, error)
}

// samples are the figures of single rounds. One of them alone is a count, which does not spread.
type samples []float64

// The least number of rounds that a median of times may stand on, and how far they may spread.
const (
	leastRounds = 10
	mostSpread  = 0.15
)

// verdict says how a figure stands to its limit.
type verdict string

// The verdicts.
const (
	met     verdict = "met"
	missed  verdict = "missed"
	refused verdict = "refused" // the rounds disagree, or are too few
)

// figure is a bar that was measured.
type figure struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Limit   float64 `json:"limit"`
	Value   float64 `json:"value,omitempty"` // of a refused figure nothing is said
	Spread  float64 `json:"spread"`          // interquartile range ÷ median
	Rounds  int     `json:"rounds"`
	Verdict verdict `json:"verdict"`
}

func (b bar) judge(s samples) figure {
	f := figure{Name: b.name, Unit: b.unit, Limit: b.limit, Rounds: len(s)}
	if len(s) == 0 {
		f.Verdict = refused
		return f
	}
	slices.Sort(s)
	value := s.quantile(0.5)
	if len(s) > 1 {
		f.Spread = math.Round(1000*(s.quantile(0.75)-s.quantile(0.25))/value) / 1000
	}
	switch {
	case f.Spread > mostSpread || len(s) > 1 && len(s) < leastRounds:
		f.Verdict = refused
		return f
	case value > b.limit:
		f.Verdict = missed
	default:
		f.Verdict = met
	}
	f.Value = math.Round(1000*value) / 1000
	return f
}

// quantile is the sample below which the given part of the sorted samples lies.
func (s samples) quantile(part float64) float64 { return s[int(part*float64(len(s)-1)+0.5)] }

// String is a line of the table.
func (f figure) String() string {
	value := "-"
	if f.Verdict != refused {
		value = fmt.Sprintf("%.4g", f.Value)
	}
	return fmt.Sprintf("%-8s %-52s %8s %-3s of %-5g (spread %.1f %%, %d rounds)", f.Verdict, f.Name, value, f.Unit, f.Limit, 100*f.Spread, f.Rounds)
}
