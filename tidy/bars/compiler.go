// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// viewPackages are the packages with views of fixed headers.
var viewPackages = []string{
	"./go-sdk/wire", "./examples/bfd/control", "./examples/inet/geneve", "./examples/inet/gre", "./examples/inet/ip",
	"./examples/inet/vxlan", "./examples/ptp/v2", "./examples/rocev2/wire",
}

// notes are the lines that the compiler prints about the views of all packages with a flag.
func notes(flag string) ([]string, error) {
	var found []string
	for _, pkg := range viewPackages {
		out, err := exec.Command("go", "build", "-gcflags="+flag, pkg).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "/views.gen.go:") {
				found = append(found, line)
			}
		}
	}
	return found, nil
}

// accessor finds the inliner's verdict on a method of a view, and its cost when it can be inlined.
var accessor = regexp.MustCompile(`can(not)? inline \(\*\w+View\)\.(\w+)(?: with cost (\d+)|:)`)

// notInlined counts as more than any cost.
const notInlined = 1000

// worstGetter is the highest inlining cost of a getter or setter.
func worstGetter() (samples, error) {
	lines, err := notes("-m=2")
	if err != nil {
		return nil, err
	}
	worst := -1
	for _, line := range lines {
		m := accessor.FindStringSubmatch(line)
		if m == nil || m[2] == "Check" || m[2] == "Valid" || m[2] == "broken" {
			continue
		}
		cost, _ := strconv.Atoi(m[3])
		if m[1] != "" {
			cost = notInlined
		}
		worst = max(worst, cost)
	}
	if worst < 0 {
		return nil, fmt.Errorf("the compiler says nothing about views")
	}
	return samples{float64(worst)}, nil
}

// boundsChecks is how many bounds checks are left in views.
func boundsChecks() (samples, error) {
	lines, err := notes("-d=ssa/check_bce")
	return samples{float64(len(lines))}, err
}
