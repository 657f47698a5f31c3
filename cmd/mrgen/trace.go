// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// requirement is one numbered rule of the specification: **MR-AREA-NNN** MUST [public] text.
type requirement struct {
	ID     string      `json:"id"`
	Level  string      `json:"level"` // MUST, MUST NOT, SHOULD, SHOULD NOT, MAY
	Mark   string      `json:"mark"`  // public, our choice
	At     string      `json:"at"`    // file:line
	State  string      `json:"state"` // proven, tested, untested, waived, open
	Code   []citation  `json:"code"`
	Tests  []*testCase `json:"tests"`
	Waived string      `json:"waived,omitempty"` // the reason
}

// must tells whether code or a waiver is owed.
func (r *requirement) must() bool { return strings.HasPrefix(r.Level, "MUST") }

// citation is one place in the code.
type citation struct {
	At     string `json:"at"` // file:line
	Symbol string `json:"symbol,omitempty"`
}

// testCase is one test that proves a requirement.
type testCase struct {
	At      string `json:"at"`
	Package string `json:"package"`
	Name    string `json:"name"`
	Result  string `json:"result"` // pass, fail, skip, none; empty when no results were given
}

// finding is one gap between specification, code and tests.
type finding struct {
	At   string `json:"at"`
	ID   string `json:"id"`
	What string `json:"what"`
}

// trace is everything that is known about the requirements.
type trace struct {
	spec     map[string]*requirement
	order    []string // ids in the order of the pages
	results  map[string]*outcome
	findings []finding
}

func (t *trace) find(at, id, format string, args ...any) {
	t.findings = append(t.findings, finding{at, id, fmt.Sprintf(format, args...)})
}

var definition = regexp.MustCompile(`^\*\*(MR-[A-Z]+-\d{3})\*\* (MUST|MUST NOT|SHOULD|SHOULD NOT|MAY) \[([^\]]+)\]`)

// readSpec reads the requirements of all pages of a directory. What stands in a code block defines nothing.
func (t *trace) readSpec(root, dir string) error {
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.md"))
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no pages", dir)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(filepath.Join(dir, filepath.Base(name)))
		inside := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				inside = !inside
			}
			m := definition.FindStringSubmatch(line)
			if m == nil || inside {
				continue
			}
			at := fmt.Sprintf("%s:%d", rel, i+1)
			if old := t.spec[m[1]]; old != nil {
				t.find(at, m[1], "is already defined at %s", old.At)
				continue
			}
			t.spec[m[1]] = &requirement{ID: m[1], Level: m[2], Mark: m[3], At: at, Code: []citation{}, Tests: []*testCase{}}
			t.order = append(t.order, m[1])
		}
	}
	if len(t.order) == 0 {
		return fmt.Errorf("the pages of %s define no requirement", dir)
	}
	return nil
}

// outcome is what became of one test.
type outcome struct {
	status  string
	subs    int
	skipped int // of the subtests
}

// testEvent is a line of go test -json.
type testEvent struct{ Action, Package, Test string }

// readResults reads the output of go test -json. Lines that are not JSON, as of failed builds, are left out.
func (t *trace) readResults(name string, stdin io.Reader) error {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	if t.results == nil {
		t.results = map[string]*outcome{}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	events := 0
	for lines.Scan() {
		var e testEvent
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action == "" {
			continue
		}
		events++
		t.event(e)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if events == 0 {
		return fmt.Errorf("%s holds no results of `go test -json`", name)
	}
	return nil
}

func (t *trace) event(e testEvent) {
	if e.Test == "" || e.Action != "pass" && e.Action != "fail" && e.Action != "skip" {
		return
	}
	top, _, sub := strings.Cut(e.Test, "/")
	key := e.Package + " " + top
	if t.results[key] == nil {
		t.results[key] = &outcome{}
	}
	switch x := t.results[key]; {
	case sub:
		x.subs++
		if e.Action == "skip" {
			x.skipped++
		}
	case x.status == "" || e.Action == "fail" || x.status == "skip":
		x.status = e.Action // the worst of several runs, but a pass is better than a skip
	}
}

// of is the result of a test: that of its subtests when all of them were skipped.
func (t *trace) of(x *testCase) string {
	got := t.results[x.Package+" "+x.Name]
	switch {
	case t.results == nil:
		return ""
	case got == nil || got.status == "":
		return "none"
	case got.status == "pass" && got.subs > 0 && got.subs == got.skipped:
		return "skip"
	}
	return got.status
}

// judge decides the state of each requirement and finds the gaps.
func (t *trace) judge() {
	for _, id := range t.order {
		r := t.spec[id]
		for _, x := range r.Tests {
			x.Result = t.of(x)
			switch x.Result {
			case "skip":
				t.find(x.At, id, "%s was skipped", x.Name)
			case "none":
				t.find(x.At, id, "%s never ran", x.Name)
			case "fail":
				t.find(x.At, id, "%s failed", x.Name)
			}
		}
		t.state(r)
	}
	slices.SortStableFunc(t.findings, func(a, b finding) int { return cmp.Compare(a.ID, b.ID) })
}

func (t *trace) state(r *requirement) {
	proven := slices.ContainsFunc(r.Tests, func(x *testCase) bool { return x.Result == "pass" })
	switch {
	case r.Waived != "" && len(r.Code) > 0:
		r.State = "waived"
		t.find(r.At, r.ID, "is waived, and obeyed at %s", r.Code[0].At)
	case r.Waived != "":
		r.State = "waived"
	case len(r.Code) == 0 && r.must():
		r.State = "open"
		t.find(r.At, r.ID, "%s has neither code nor a waiver", r.Level)
	case len(r.Code) == 0:
		r.State = "open"
	case len(r.Tests) == 0:
		r.State = "untested"
		t.find(r.Code[0].At, r.ID, "has code and no test")
	case proven:
		r.State = "proven"
	default:
		r.State = "tested"
	}
}
