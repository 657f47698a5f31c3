// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// states are what a requirement can be, the best first.
var states = []string{"proven", "tested", "untested", "waived", "open"}

// printTable prints one line for each requirement.
func (t *trace) printTable(w io.Writer) {
	tab := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tab, "id\tlevel\tmark\tstate\tcode\ttests")
	for _, id := range t.order {
		r := t.spec[id]
		var names []string
		for _, x := range r.Tests {
			name := x.Name
			if x.Result != "" && x.Result != "pass" {
				name += " (" + x.Result + ")"
			}
			names = append(names, name)
		}
		code := ""
		if len(r.Code) > 0 {
			code = r.Code[0].At
		}
		if n := len(r.Code); n > 1 {
			code += fmt.Sprintf(" and %d more", n-1)
		}
		if r.Waived != "" {
			code = strings.TrimSpace(code + " waived: " + r.Waived)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", id, r.Level, r.Mark, r.State, code, strings.Join(names, ", "))
	}
	_ = tab.Flush() // a failing output shows in what follows
	fmt.Fprintln(w)
}

// counts counts the requirements, and those that are owed, by state.
func (t *trace) counts() (all, owed map[string]int) {
	all, owed = map[string]int{}, map[string]int{}
	for _, r := range t.spec {
		all[r.State]++
		if r.must() {
			owed[r.State]++
		}
	}
	return all, owed
}

func (t *trace) printFindings(w io.Writer) {
	for _, f := range t.findings {
		fmt.Fprintf(w, "%s: %s\n", f.At, strings.TrimSpace(f.ID+" "+f.What))
	}
	all, owed := t.counts()
	musts := 0
	var parts []string
	for _, s := range states {
		musts += owed[s]
		parts = append(parts, fmt.Sprintf("%d %s", all[s], s))
	}
	note := ""
	if t.results == nil {
		note = "; no test results were given"
	}
	fmt.Fprintf(w, "%d requirements, %d of them MUST: %s; %d %s%s\n", len(t.order), musts, strings.Join(parts, ", "),
		len(t.findings), plural(len(t.findings), "finding"), note)
}

// printJSON prints everything as one object.
func (t *trace) printJSON(w io.Writer) error {
	all, owed := t.counts()
	var list []*requirement
	for _, id := range t.order {
		list = append(list, t.spec[id])
	}
	findings := t.findings
	if findings == nil {
		findings = []finding{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Results      bool           `json:"results"` // whether test results were given
		States       map[string]int `json:"states"`
		Musts        map[string]int `json:"musts"` // the same, of MUST and MUST NOT only
		Requirements []*requirement `json:"requirements"`
		Findings     []finding      `json:"findings"`
	}{t.results != nil, all, owed, list, findings})
}
