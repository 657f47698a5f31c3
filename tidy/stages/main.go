// SPDX-License-Identifier: Apache-2.0

// Command stages runs the checks of the project, one stage after the other, each within its budget of time, and counts.
//
//	go run ./tidy/stages [-only NAME,NAME] PLAN
//
// The plans are test (what every change must pass), all (test and the slow checks) and fuzz. A stage in which
// nothing passed fails, so does a test that skips itself for a reason that tidy/skip/reasons.txt does not list, and so does a
// stage that exceeds its budget. The last line is always "N passed, N failed, N skipped".
// Exit status: 0 all passed, 1 something failed, 2 wrong usage.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	only := flag.String("only", "", "run only the stages with these `names`, separated by commas")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: stages [-only NAME,NAME] test|all|fuzz")
		flag.PrintDefaults()
	}
	flag.Parse()
	stages, ok := plan(flag.Arg(0))
	if !ok || flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *only != "" {
		names := strings.Split(*only, ",")
		stages = slices.DeleteFunc(stages, func(s Stage) bool { return !slices.Contains(names, s.Name) })
	}
	if len(stages) == 0 {
		fmt.Fprintln(os.Stderr, "stages: no stage has such a name")
		os.Exit(2)
	}
	if total := runAll(stages); total.Failed > 0 {
		os.Exit(1)
	}
}

// runAll runs stages in order, prints a line for each, and at the end the total.
func runAll(stages []Stage) Count {
	var total Count
	start := time.Now()
	for _, s := range stages {
		fmt.Printf("run   %-10s %s\n", s.Name, s.Doc)
		begin := time.Now()
		r := s.run()
		fmt.Print(r.Report)
		verdict := "ok"
		if r.Failed > 0 {
			verdict = "FAIL"
		}
		fmt.Printf("%-5s %-10s %v in %s of %s\n", verdict, s.Name, r.Count, time.Since(begin).Round(100*time.Millisecond), s.Budget)
		total.add(r.Count)
	}
	fmt.Printf("\nall stages took %s\n%v\n", time.Since(start).Round(time.Second), total)
	return total
}
