// SPDX-License-Identifier: Apache-2.0

package gogen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// viewPackages are the generated packages that have views.
func viewPackages(t *testing.T) []string {
	t.Helper()
	found := []string{wireDir}
	for _, pattern := range []string{"../../examples/*/*/views.gen.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			found = append(found, filepath.Dir(f))
		}
	}
	if len(found) < 5 {
		t.Fatalf("only %v have views", found)
	}
	return found
}

// compilerNotes builds a package with a compiler flag and returns what the compiler says about the views' file.
func compilerNotes(t *testing.T, dir, flag string) []string {
	t.Helper()
	cmd := exec.Command("go", "build", "-gcflags="+flag, ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if len(out) == 0 {
		t.Fatalf("%s: the compiler says nothing with %s", dir, flag)
	}
	var notes []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "/views.gen.go:") {
			notes = append(notes, strings.TrimSpace(line))
		}
	}
	return notes
}

var (
	// verdict is the inliner's on a method of a view, with its cost when it can be inlined.
	verdict = regexp.MustCompile(`can(not)? inline \(\*(\w+View)\)\.(\w+)(?: with cost (\d+)|:)`)
	// accessor is the declaration of a method of a view.
	accessor = regexp.MustCompile(`(?m)^func \(v \*(\w+View)\) (\w+)\(`)
)

// maxCost is half the compiler's budget: callers that use several getters stay inlinable themselves.
const maxCost = 40

func TestGettersAndSettersInline(t *testing.T) {
	for _, dir := range viewPackages(t) {
		cost := map[string]int{}
		for _, note := range compilerNotes(t, dir, "-m=2") {
			if m := verdict.FindStringSubmatch(note); m != nil && m[1] == "" {
				cost[m[2]+"."+m[3]], _ = strconv.Atoi(m[4])
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "views.gen.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range accessor.FindAllStringSubmatch(string(text), -1) {
			name := m[1] + "." + m[2]
			switch m[2] {
			case "Valid", "Check", "broken":
				continue
			}
			if n, ok := cost[name]; !ok || n > maxCost {
				t.Errorf("%s: %s: inlinable %t, cost %d", dir, name, ok, n)
			}
		}
	}
}

func TestViewsHaveNoBoundsChecks(t *testing.T) {
	for _, dir := range viewPackages(t) {
		for _, note := range compilerNotes(t, dir, "-d=ssa/check_bce") {
			t.Errorf("%s: %s", dir, note)
		}
	}
}
