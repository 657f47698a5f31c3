// SPDX-License-Identifier: Apache-2.0

// Command mutants puts one fault after another into the engine and tells which test notices it. A fault that no test
// notices is a promise that nobody checks. The product has no switch for this: each fault replaces one file by way of
// `go test -overlay`, in a run of its own.
//
//	go run ./fuzz/mutants            every fault against the suites, cheapest first, until one notices it; and the controls
//	go run ./fuzz/mutants -only control   the unchanged code with 20 seeds against every suite and all scripts: no alarm may be raised
//	go run ./fuzz/mutants -smoke     the canaries and one fault of each kind, without the simulator
//	go run ./fuzz/mutants -only floor-one-too-high,sack
//
// It fails when a fault survives, when a canary survives in any suite, or when the unchanged code raises an alarm.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

// Options are what the command line says.
type Options struct {
	Only  string // names and kinds, separated by commas; empty = all
	Smoke bool   // one of each kind
	JSON  bool
	List  bool
	Jobs  int
}

func main() {
	var o Options
	flag.StringVar(&o.Only, "only", "", "names or kinds of faults, separated by commas")
	flag.BoolVar(&o.Smoke, "smoke", false, "the canaries and the first fault of each kind, without the simulator")
	flag.BoolVar(&o.JSON, "json", false, "print the matrix as JSON")
	flag.BoolVar(&o.List, "list", false, "print the faults and run nothing")
	flag.IntVar(&o.Jobs, "jobs", runtime.GOMAXPROCS(0), "faults at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

// run does what the options ask for. ok tells that every fault was noticed.
func run(ctx context.Context, o Options) (ok bool, err error) {
	faults, err := Faults()
	if err != nil {
		return false, err
	}
	control := o.Only == "" && !o.Smoke || o.Only == "control"
	if faults = choose(faults, o); o.Only == "control" {
		faults = nil
	} else if len(faults) == 0 {
		return false, fmt.Errorf("no fault is called %s", o.Only)
	}
	if o.List {
		for _, f := range faults {
			fmt.Printf("%-40s %-11s %s\n", f.Name, f.Kind, f.File)
		}
		return true, nil
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return false, err
	}
	begun := time.Now()
	r := runner{suites: suites(), root: root, out: os.Stderr}
	if o.Smoke {
		r.suites = r.suites[:2]
	}
	if r.dir, err = os.MkdirTemp("", "mutants"); err != nil {
		return false, err
	}
	defer os.RemoveAll(r.dir)
	if err := r.baseline(ctx); err != nil {
		return false, err
	}
	var m Matrix
	if control {
		if m.Controls, err = r.controls(ctx, max(o.Jobs, 1)); err != nil {
			return false, err
		}
	}
	m.Results = r.all(ctx, faults, max(o.Jobs, 1))
	m.Seconds = time.Since(begun).Seconds()
	if o.JSON {
		return m.Good(), m.writeJSON(os.Stdout)
	}
	return m.Good(), m.write(os.Stdout)
}

// choose returns the faults that the options name. Canaries always run.
func choose(all []Fault, o Options) (chosen []Fault) {
	names := map[string]bool{}
	for _, name := range strings.FieldsFunc(o.Only, func(r rune) bool { return r == ',' }) {
		names[name] = true
	}
	first := map[string]int{}
	for _, f := range all {
		first[f.Kind]++
		switch {
		case f.Kind == canary:
		case len(names) > 0 && !names[f.Name] && !names[f.Kind] && !(names["blind"] && f.Blind):
			continue
		case o.Smoke && len(names) == 0 && first[f.Kind] > smokePerKind:
			continue
		}
		chosen = append(chosen, f)
	}
	if len(names) > 0 && len(chosen) == first[canary] && !names[canary] {
		return nil
	}
	return chosen
}

// smokePerKind is how many faults of a kind a quick run takes.
const smokePerKind = 1
