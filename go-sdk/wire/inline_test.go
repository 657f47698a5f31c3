// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"os/exec"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// compilerNotes builds the package with a compiler flag and returns what the compiler says about the views' file.
func compilerNotes(t *testing.T, flag string) []string {
	t.Helper()
	out, err := exec.Command("go", "build", "-gcflags="+flag, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var notes []string
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "./views.gen.go:") {
			notes = append(notes, strings.TrimSpace(line))
		}
	}
	return notes
}

// viewMethod finds the inliner's verdict on a method of a view, and its cost when it can be inlined.
var viewMethod = regexp.MustCompile(`(can|cannot) inline \(\*(\w+View)\)\.(\w+)(?: with cost (\d+)|:)`)

// maxGetterCost is half the compiler's budget: callers that use several getters stay inlinable themselves.
const maxGetterCost = 40

func TestViewGettersAndSettersInline(t *testing.T) {
	seen := map[string]bool{}
	for _, note := range compilerNotes(t, "-m=2") {
		m := viewMethod.FindStringSubmatch(note)
		if m == nil || m[3] == "Check" || m[3] == "Valid" || m[3] == "broken" {
			continue
		}
		seen[m[2]+"."+m[3]] = true
		if cost, _ := strconv.Atoi(m[4]); m[1] == "cannot" || cost > maxGetterCost {
			t.Errorf("%s", note)
		}
	}
	for _, view := range []any{(*BaseView)(nil), (*MessageView)(nil), (*WriteTargetView)(nil), (*AckView)(nil), (*AtomicView)(nil)} {
		typ := reflect.TypeOf(view)
		for i := range typ.NumMethod() {
			name := typ.Elem().Name() + "." + typ.Method(i).Name
			if !seen[name] && !strings.HasSuffix(name, ".Check") && !strings.HasSuffix(name, ".Valid") {
				t.Errorf("the compiler says nothing about %s", name)
			}
		}
	}
}

func TestViewsHaveNoBoundsChecks(t *testing.T) {
	for _, note := range compilerNotes(t, "-d=ssa/check_bce") {
		t.Errorf("%s", note)
	}
}
