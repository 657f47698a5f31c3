// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// controlSeeds is how many seeds the unchanged code runs with against every suite. A suite that raises an alarm at it would
// notice any fault, and prove nothing.
const controlSeeds = 20

// controlLimit is how long a control may take. It is generous: a busy machine is no alarm.
const controlLimit = 10 * time.Minute

// parts are the packages below the engine whose own tests notice faults in them.
var parts = []string{"path", "stream", "region", "cc", "hint"}

// Control is what a suite made of the unchanged code.
type Control struct {
	Suite   string  `json:"suite"`
	Seeds   int     `json:"seeds"`
	Alarms  int     `json:"alarms"`
	Killer  string  `json:"killer,omitempty"` // the test that has raised the first alarm
	Seconds float64 `json:"seconds"`
}

func (c *Control) line() string {
	return fmt.Sprintf("%-46s %-11s %5.1f s  %d seeds, %d false alarms  %s", "unchanged code: "+c.Suite, "control", c.Seconds, c.Seeds, c.Alarms, c.Killer)
}

// controls runs the unchanged code with every seed against all suites, scripts included, some at a time.
func (r *runner) controls(ctx context.Context, jobs int) ([]Control, error) {
	all := suites()
	for _, name := range parts {
		all = append(all, suite{name: name, dir: "./engine/internal/" + name})
	}
	var rows []Control
	for _, s := range all {
		binary := filepath.Join(r.dir, s.name+".test")
		build := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, s.dir)
		build.Dir = r.root
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s does not compile: %w\n%s", s.dir, err, out)
		}
		row := r.control(ctx, s, binary, jobs)
		r.say("%s", row.line())
		rows = append(rows, row)
	}
	return rows, ctx.Err()
}

// control runs one suite with every seed.
func (r *runner) control(ctx context.Context, s suite, binary string, jobs int) Control {
	row := Control{Suite: s.name, Seeds: controlSeeds}
	begun := time.Now()
	seeds := make(chan int)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for seed := range seeds {
				if alarm := r.alarm(ctx, s, binary, seed); alarm != "" {
					mu.Lock()
					row.Alarms++
					row.Killer = fmt.Sprintf("seed %d: %s", seed, alarm)
					mu.Unlock()
				}
			}
		})
	}
	for seed := range controlSeeds {
		seeds <- seed + 1
	}
	close(seeds)
	workers.Wait()
	row.Seconds = time.Since(begun).Seconds()
	return row
}

// simulated is how many runs of the simulator a seed of a control stands for, and none of them is one of the suite's own.
const simulated = 24

// alarm runs a suite with one seed and returns the test that has failed, if one has. What tries all first numbers anyway does
// not depend on the seed, and is left out.
func (r *runner) alarm(ctx context.Context, s suite, binary string, seed int) string {
	args := []string{"-test.timeout", controlLimit.String(), "-test.skip", "Shifts"}
	if s.name == "simulator" {
		args = append(args, "-test.run", "Seeds")
	}
	if r.usesRapid(s.dir) {
		args = append(args, "-rapid.nofailfile", "-rapid.shrinktime=1ns", "-rapid.seed="+strconv.Itoa(seed))
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = filepath.Join(r.root, filepath.FromSlash(s.dir))
	cmd.Env = append(os.Environ(),
		"MR_ENDS="+strconv.Itoa(seed), "MR_SEEDS="+strconv.Itoa(simulated), "MR_SEED_FIRST="+strconv.Itoa(1000+simulated*seed))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &exit):
		return err.Error()
	}
	return killer(string(out))
}
