// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// layouts are programs like this one whose functions the linker has put elsewhere. Where a loop of a few nanoseconds lies
// changes its time by a tenth, so that a single program says little about the code.
type layouts struct {
	t       *tool
	figures map[string]samples // by name of the contest: the medians that the programs have found
}

const programs = 15

// bar compares the times of both contestants in all programs.
func (l *layouts) bar(c contest) bar {
	return bar{c.name, "×", c.limit, func() (samples, error) {
		if err := l.run(); err != nil {
			return nil, err
		}
		return l.figures[c.name], nil
	}}
}

// run builds and runs the programs, unless it has done so.
func (l *layouts) run() error {
	if l.figures != nil {
		return nil
	}
	if err := l.t.build(); err != nil {
		return err
	}
	l.figures = map[string]samples{}
	for seed := range programs {
		program := filepath.Join(l.t.dir, "bars")
		flags := fmt.Sprintf("-ldflags=-randlayout=%d", seed+1)
		if out, err := exec.Command("go", "build", flags, "-o", program, "./tidy/bars").CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
		out, err := exec.Command(program, "-here", "-json", "-").Output()
		if err != nil {
			return fmt.Errorf("one layout: %w", err)
		}
		var r report
		if err := json.Unmarshal(out, &r); err != nil {
			return fmt.Errorf("one layout: %w", err)
		}
		for _, f := range r.Bars {
			if f.Verdict != refused {
				l.figures[f.Name] = append(l.figures[f.Name], f.Value)
			}
		}
	}
	return nil
}
