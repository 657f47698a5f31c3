// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// Every fault still applies to the code as it is, once, and what results parses.
func TestFaultsApplyToTheCode(t *testing.T) {
	faults, err := Faults()
	if err != nil {
		t.Fatal(err)
	}
	blind, canaries := 0, 0
	for _, f := range faults {
		source, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(f.File)))
		if err != nil {
			t.Error(err)
			continue
		}
		changed, err := f.Apply(string(source))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), f.File, changed, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		if f.Blind {
			blind++
		}
		if f.Kind == canary {
			canaries++
		}
	}
	if len(faults)-canaries < 40 || blind < 10 || canaries != 3 {
		t.Errorf("%d faults, %d blind, %d canaries", len(faults)-canaries, blind, canaries)
	}
}

func TestKillerIsTheInnermostFailedTest(t *testing.T) {
	for name, c := range map[string]struct{ out, want string }{
		"plain":   {"--- FAIL: TestA (0.1s)\n    x_test.go:1: no\nFAIL\n", "TestA"},
		"subtest": {"--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0.1s)\n", "TestA/b"},
		"two":     {"--- FAIL: TestA (0.1s)\n--- FAIL: TestB (0.1s)\n", "TestA"},
		"panic":   {"--- FAIL: TestA (0.1s)\npanic: boom [recovered]\n", "TestA"},
		"hang":    {"panic: test timed out after 1m0s\n\trunning tests:\n\t\tTestB (1m0s)\n", "TestB (hangs)"},
		"nothing": {"exit status 2\n", "the test binary"},
	} {
		if got := killer(c.out); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCanaryMustBeNoticedByEverySuite(t *testing.T) {
	one := []Outcome{{Suite: "engine", Killer: "TestA"}}
	var all []Outcome
	for _, s := range suites() {
		all = append(all, Outcome{Suite: s.name, Killer: "TestA"})
	}
	for _, c := range []struct {
		name string
		r    Result
		want bool
	}{
		{"fault noticed once", Result{Kind: "sack", Outcomes: one}, true},
		{"fault not noticed", Result{Kind: "sack", Outcomes: []Outcome{{Suite: "engine"}}}, false},
		{"canary noticed once", Result{Kind: canary, Outcomes: one, need: len(all)}, false},
		{"canary noticed everywhere", Result{Kind: canary, Outcomes: all, need: len(all)}, true},
	} {
		m := Matrix{Results: []Result{c.r}}
		if m.Good() != c.want {
			t.Errorf("%s: %v", c.name, m.Good())
		}
		if m.Controls = []Control{{Suite: "engine"}, {Suite: "models", Alarms: 1}}; m.Good() {
			t.Errorf("%s: good in spite of a false alarm", c.name)
		}
	}
}

func TestFaultFilesRefuseHalfFaults(t *testing.T) {
	for _, text := range []string{
		"name kind\nfile a.go\n-x\n", "name kind\n-x\n+y\n", "name kind\nfile a.go\n-x\n+x\n", "file a.go\n-x\n+y\n", "what is this line\n",
	} {
		if faults, err := parseFaults(text); err == nil {
			t.Errorf("%q gives %+v", text, faults)
		}
	}
	f := Fault{Name: "n", File: "a.go", Old: "x\n", New: "y\n"}
	for _, source := range []string{"z\n", "x\nx\n", " x\n"} {
		if _, err := f.Apply(source); err == nil {
			t.Errorf("applies to %q", source)
		}
	}
}
