// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Result is what became of a fault.
type Result struct {
	Name     string    `json:"name"`
	Kind     string    `json:"kind"`
	Blind    bool      `json:"blind,omitempty"`
	File     string    `json:"file"`
	Outcomes []Outcome `json:"outcomes"`
	Error    string    `json:"error,omitempty"` // it could not be tried
	need     int       // suites that must notice it
}

// Noticed tells whether the fault was noticed: a canary by every suite, another fault by one.
func (r *Result) Noticed() bool {
	noticed := 0
	for _, o := range r.Outcomes {
		if o.Killer != "" {
			noticed++
		}
	}
	return noticed >= max(r.need, 1)
}

func (r *Result) seconds() (sum float64) {
	for _, o := range r.Outcomes {
		sum += o.Seconds
	}
	return sum
}

// line is the result in one line.
func (r *Result) line() string {
	what := "SURVIVES"
	if r.Error != "" {
		what = "NOT TRIED: " + r.Error
	} else if r.Noticed() {
		what = ""
		for _, o := range r.Outcomes {
			if o.Killer != "" {
				what += o.Suite + ": " + o.Killer + "  "
			}
		}
	}
	name := r.Name
	if r.Blind {
		name += " (blind)"
	}
	return fmt.Sprintf("%-46s %-11s %5.1f s  %s", name, r.Kind, r.seconds(), strings.TrimSpace(what))
}

// Matrix is every fault and who noticed it.
type Matrix struct {
	Results  []Result  `json:"results"`
	Controls []Control `json:"controls,omitempty"`
	Seconds  float64   `json:"seconds"`
}

// Good tells whether every fault was noticed, and nothing where there is no fault.
func (m *Matrix) Good() bool {
	return m.count(func(r *Result) bool { return !r.Noticed() }) == 0 && m.alarms() == 0
}

// alarms is how often the unchanged code was taken for a faulty one.
func (m *Matrix) alarms() (n int) {
	for _, c := range m.Controls {
		n += c.Alarms
	}
	return n
}

func (m *Matrix) count(is func(*Result) bool) (n int) {
	for i := range m.Results {
		if is(&m.Results[i]) {
			n++
		}
	}
	return n
}

func (m *Matrix) write(w io.Writer) error {
	for i := range m.Results {
		if _, err := fmt.Fprintln(w, m.Results[i].line()); err != nil {
			return err
		}
	}
	if err := m.writeControls(w); err != nil {
		return err
	}
	canaries := m.count(func(r *Result) bool { return r.Kind == canary })
	alive := m.count(func(r *Result) bool { return r.Kind != canary && r.Error == "" && !r.Noticed() })
	_, err := fmt.Fprintf(w, "%d faults, %d survive, %d could not be tried; %d canaries, %d noticed by every suite; %d blind; %.0f s\n",
		len(m.Results)-canaries, alive, m.count(func(r *Result) bool { return r.Error != "" }),
		canaries, m.count(func(r *Result) bool { return r.Kind == canary && r.Noticed() }),
		m.count(func(r *Result) bool { return r.Blind }), m.Seconds)
	return err
}

// writeControls prints what the suites made of the unchanged code.
func (m *Matrix) writeControls(w io.Writer) error {
	if len(m.Controls) == 0 {
		return nil
	}
	for i := range m.Controls {
		if _, err := fmt.Fprintln(w, m.Controls[i].line()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d seeds × %d suites, scripts included: %d false alarms\n", controlSeeds, len(m.Controls), m.alarms())
	return err
}

func (m *Matrix) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(m)
}
