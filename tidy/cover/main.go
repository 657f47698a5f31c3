// SPDX-License-Identifier: Apache-2.0

// Command cover reads the profile that go test -coverprofile has written, with one block as often as packages were tested, and
// prints the share of statements that ran, for each package and in all, and every block that did not run.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// block is a run of statements.
type block struct {
	file       string
	from       string // line.column
	statements int
	line       int
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cover PROFILE")
		os.Exit(2)
	}
	f, err := os.Open(os.Args[1])
	if err == nil {
		err = report(os.Stdout, f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cover:", err)
		os.Exit(1)
	}
}

// report prints what a profile says.
func report(w io.Writer, profile io.Reader) error {
	runs, err := read(profile)
	if err != nil {
		return err
	}
	total, ran := map[string]int{}, map[string]int{}
	var missed []block
	for b, n := range runs {
		dir := path.Dir(b.file)
		total[dir] += b.statements
		total[""] += b.statements
		if n == 0 {
			missed = append(missed, b)
			continue
		}
		ran[dir] += b.statements
		ran[""] += b.statements
	}
	slices.SortFunc(missed, func(x, y block) int {
		return cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.line, y.line), cmp.Compare(x.from, y.from))
	})
	for _, b := range missed {
		fmt.Fprintf(w, "%s:%d: %d statements never ran\n", b.file, b.line, b.statements)
	}
	for _, dir := range slices.Sorted(maps.Keys(total)) {
		fmt.Fprintf(w, "%6.1f %% of %5d statements  %s\n", 100*float64(ran[dir])/float64(total[dir]), total[dir], cmp.Or(dir, "in all"))
	}
	return nil
}

// read adds up how often each block ran.
func read(profile io.Reader) (map[block]int, error) {
	runs := map[block]int{}
	lines := bufio.NewScanner(profile)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "mode:") {
			continue
		}
		at := strings.LastIndexByte(lines.Text(), ':')
		var b block
		var column, endLine, endColumn, count int
		n, err := fmt.Sscanf(lines.Text()[at+1:], "%d.%d,%d.%d %d %d", &b.line, &column, &endLine, &endColumn, &b.statements, &count)
		if at < 0 || n != 6 {
			return nil, fmt.Errorf("%q is no line of a profile: %w", lines.Text(), err)
		}
		b.file, b.from = lines.Text()[:at], fmt.Sprintf("%d.%d-%d.%d", b.line, column, endLine, endColumn)
		runs[b] += count
	}
	return runs, lines.Err()
}
