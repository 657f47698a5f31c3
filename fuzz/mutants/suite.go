// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// suite is a package of tests.
type suite struct {
	name string
	dir  string
	args []string
	env  []string
}

// suites move data, and therefore notice every canary. Before them comes the package of the changed file itself. A quick run
// does without the last one.
func suites() []suite {
	return []suite{
		{name: "engine", dir: "./engine"},
		{name: "models", dir: "./fuzz", args: quietRapid},
		{name: "simulator", dir: "./engine/sim", args: []string{"-run", "Seeds"}, env: []string{"MR_SEEDS=24"}},
	}
}

// quietRapid makes rapid report a failure at once and keep no files.
var quietRapid = []string{"-rapid.shrinktime=1ns", "-rapid.nofailfile"}

// suitesOf are the suites that a fault runs against, cheapest first.
func (r *runner) suitesOf(f Fault) []suite {
	all := r.suites
	if f.Kind == canary || path.Dir(f.File) == "engine" {
		return all
	}
	own := suite{name: path.Base(path.Dir(f.File)), dir: "./" + path.Dir(f.File)}
	tests, err := filepath.Glob(filepath.Join(r.root, own.dir, "*_test.go"))
	if err != nil || len(tests) == 0 {
		return all
	}
	if r.usesRapid(own.dir) {
		own.args = quietRapid
	}
	return append([]suite{own}, all...)
}

// usesRapid tells whether the tests of a package take rapid's flags.
func (r *runner) usesRapid(dir string) bool {
	tests, err := filepath.Glob(filepath.Join(r.root, dir, "*_test.go"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(tests, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && bytes.Contains(text, []byte(`"pgregory.net/rapid"`))
	})
}

// limit is how long a suite may take with a fault in it: a hang is noticed, too.
const limit = 90 * time.Second

// Outcome is what a suite made of a fault.
type Outcome struct {
	Suite   string  `json:"suite"`
	Killer  string  `json:"killer,omitempty"` // the test that has noticed it; empty = none
	Seconds float64 `json:"seconds"`
	broken  error   // the fault does not compile
}

// runner runs suites with faults in them.
type runner struct {
	suites []suite
	root   string // of the module
	dir    string // for overlays
	mu     sync.Mutex
	out    io.Writer // progress
}

func (r *runner) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, format+"\n", args...)
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// baseline proves that the suites accept the unchanged code.
func (r *runner) baseline(ctx context.Context) error {
	for _, s := range r.suites {
		o, text := r.test(ctx, s, "")
		if o.broken != nil || o.Killer != "" {
			return fmt.Errorf("the unchanged code fails: %s %s\n%s", s.dir, o.Killer, text)
		}
		r.say("unchanged code: %-10s %5.1f s", s.name, o.Seconds)
	}
	return nil
}

// all runs every fault, some at a time.
func (r *runner) all(ctx context.Context, faults []Fault, jobs int) []Result {
	results := make([]Result, len(faults))
	next := make(chan int)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for i := range next {
				results[i] = r.fault(ctx, faults[i])
				r.say("%3d/%d %s", i+1, len(faults), results[i].line())
			}
		})
	}
	for i := range faults {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

// fault runs the suites until one notices the fault; a canary runs against all of them.
func (r *runner) fault(ctx context.Context, f Fault) Result {
	res := Result{Name: f.Name, Kind: f.Kind, Blind: f.Blind, File: f.File, need: 1}
	if f.Kind == canary {
		res.need = len(r.suites)
	}
	overlay, err := r.overlay(f)
	if err != nil {
		res.Error = err.Error()
		return res
	}
	for _, s := range r.suitesOf(f) {
		o, text := r.test(ctx, s, overlay)
		if o.broken != nil {
			res.Error = fmt.Sprintf("%v: %s", o.broken, text)
			return res
		}
		res.Outcomes = append(res.Outcomes, o)
		if o.Killer != "" && f.Kind != canary {
			break
		}
	}
	return res
}

// overlay writes the changed file and the description of where it belongs.
func (r *runner) overlay(f Fault) (string, error) {
	original := filepath.Join(r.root, filepath.FromSlash(f.File))
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	changed, err := f.Apply(string(source))
	if err != nil {
		return "", err
	}
	copied := filepath.Join(r.dir, f.Name+".go")
	if err := os.WriteFile(copied, []byte(changed), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: copied}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(r.dir, f.Name+".json")
	return file, os.WriteFile(file, text, 0o600)
}

// test runs one suite, with an overlay unless it is empty.
func (r *runner) test(ctx context.Context, s suite, overlay string) (Outcome, string) {
	args := []string{"test", "-count=1", "-failfast", "-vet=off", "-timeout", limit.String()}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	args = append(append(args, s.dir), s.args...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), s.env...)
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	o := Outcome{Suite: s.name, Seconds: time.Since(begun).Seconds()}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case !errors.As(err, &exit), ctx.Err() != nil:
		o.broken = err
	case bytes.Contains(out, []byte("[build failed]")), bytes.Contains(out, []byte("[setup failed]")):
		o.broken = errors.New("it does not compile")
	default:
		o.Killer = killer(string(out))
	}
	return o, string(out)
}

var (
	failed  = regexp.MustCompile(`(?m)^(\s*)--- FAIL: (\S+)`)
	running = regexp.MustCompile(`(?m)^\s+(Test\S+) \(`)
)

// killer finds the test that failed in what `go test` has printed.
func killer(out string) string {
	if i := strings.Index(out, "panic: test timed out"); i >= 0 {
		if m := running.FindStringSubmatch(out[i:]); m != nil {
			return m[1] + " (hangs)"
		}
		return "timeout"
	}
	found := failed.FindAllStringSubmatch(out, 2)
	switch {
	case len(found) == 0:
		return "the test binary"
	case len(found) == 2 && found[1][1] != "":
		return found[1][2]
	}
	return found[0][2]
}
