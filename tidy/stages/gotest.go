// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openmetaroce/metaroce/tidy/skip"
)

// testEvent is a line of `go test -json` (see `go doc test2json`).
type testEvent struct {
	Action, Package, Test, Output, ImportPath string
}

// outcome is what became of one test, or, with an empty name, of a package.
type outcome struct {
	pkg, test, action string
	output            strings.Builder
}

// judgeTests counts the tests of a `go test -json` run. Skips are held to the list of allowed reasons.
func judgeTests(out, errOut []byte, err error) Result {
	list, build := readEvents(out)
	var r Result
	hasChild, childFailed := map[string]bool{}, map[string]bool{}
	for _, o := range list {
		for name := o.test; strings.Contains(name, "/"); {
			name = name[:strings.LastIndexByte(name, '/')]
			hasChild[o.pkg+" "+name] = true
			childFailed[o.pkg+" "+name] = childFailed[o.pkg+" "+name] || o.action == "fail"
		}
		if o.test != "" && o.action == "fail" {
			childFailed[o.pkg+" "] = true
		}
	}
	for _, o := range list {
		key := o.pkg + " " + o.test
		switch {
		case o.action == "fail" && !childFailed[key]:
			r.add(failed("%s %s\n%s", o.pkg, o.test, o.output.String()))
		case o.test == "" || hasChild[key]:
		case o.action == "pass":
			r.Passed++
		case o.action == "skip" && explained(o.output.String()):
			r.Skipped++
		case o.action == "skip":
			r.add(failed("%s %s skipped itself for a reason that tidy/skip/reasons.txt does not list:\n%s", o.pkg, o.test, o.output.String()))
		}
	}
	if r.Failed > 0 || err != nil {
		r.Report += build
	}
	if err != nil && r.Failed == 0 {
		r.add(failed("go test: %v\n%s", err, errOut))
	}
	return r
}

// readEvents collects the outcomes in the order in which the tests ended, and the output of failed builds.
func readEvents(out []byte) (list []*outcome, build string) {
	open := map[string]*outcome{}
	for line := range bytes.Lines(out) {
		var e testEvent
		if json.Unmarshal(line, &e) != nil {
			build += string(line)
			continue
		}
		if e.Action == "build-output" {
			build += e.Output
			continue
		}
		key := e.Package + " " + e.Test
		o := open[key]
		if o == nil {
			o = &outcome{pkg: e.Package, test: e.Test}
			open[key] = o
		}
		switch e.Action {
		case "output":
			o.output.WriteString(e.Output)
		case "pass", "fail", "skip":
			o.action = e.Action
			list = append(list, o)
		}
	}
	return list, build
}

var logged = regexp.MustCompile(`(?m)^\s*\S+\.go:\d+: (.*)$`)

// explained tells whether a skipped test logged a reason of the list.
func explained(output string) bool {
	return slices.ContainsFunc(logged.FindAllStringSubmatch(output, -1), func(m []string) bool { return skip.Allowed(m[1]) })
}

var executions = regexp.MustCompile(`execs: (\d+)`)

// fuzzAll runs every target of a `go test -list` output for a time each. A target that executed nothing fails.
func fuzzAll(ctx context.Context, time, listing string) Result {
	var r Result
	var targets []string
	for line := range strings.Lines(listing) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Fuzz"):
			targets = append(targets, words[0])
		case len(words) >= 2 && words[0] == "ok":
			for _, target := range targets {
				r.add(fuzz(ctx, []string{target, words[1], time}))
			}
			targets = nil
		}
	}
	return r
}

// fuzz runs one target, given as name, package and time.
func fuzz(ctx context.Context, run []string) Result {
	args := []string{"go", "test", "-run", "^$", "-fuzz", "^" + run[0] + "$", "-fuzztime", run[2], "-fuzzminimizetime", "1x", run[1]}
	out, errOut, err := execute(ctx, args, nil)
	if err != nil {
		return failed("%s: %v\n%s%s", strings.Join(args, " "), err, out, errOut)
	}
	n := 0
	for _, m := range executions.FindAllSubmatch(out, -1) {
		if k, err := strconv.Atoi(string(m[1])); err == nil {
			n = max(n, k)
		}
	}
	if n == 0 {
		return failed("%s in %s executed nothing:\n%s", run[0], run[1], out)
	}
	return Result{Count{Passed: 1}, fmt.Sprintf("      %s: %d executions in %s\n", run[0], n, run[2])}
}
