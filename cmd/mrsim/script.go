// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/openmetaroce/metaroce/engine/sim"
)

// replayCommand runs kept scripts.
type replayCommand struct {
	Files []string `arg:"" placeholder:"FILE" help:"Scripts, as minimise writes them."`
}

// Run carries out the command: every script has to pass.
func (c *replayCommand) Run(s streams) error {
	failed := 0
	for _, file := range c.Files {
		cfg, err := readScript(file)
		if err != nil {
			return err
		}
		res, err := sim.Run(cfg)
		if err != nil {
			failed++
			fmt.Fprintf(s.out, "%s: failed: %v\n", file, err)
			continue
		}
		fmt.Fprintf(s.out, "%s: passed, trace %016x\n", file, res.Trace)
	}
	if failed > 0 {
		return fmt.Errorf("%w: %d of %d scripts", errSeeds, failed, len(c.Files))
	}
	return nil
}

func readScript(file string) (sim.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return sim.Config{}, err
	}
	cfg, err := sim.ParseScript(string(text))
	if err != nil {
		return cfg, fmt.Errorf("%s: %w", file, err)
	}
	return cfg, nil
}

// minimiseCommand shrinks a failing run to a short script.
type minimiseCommand struct {
	Seed   uint64 `xor:"what" help:"A seed that fails."`
	Script string `xor:"what" placeholder:"FILE" help:"A script that fails, instead of a seed."`
	Out    string `placeholder:"FILE" help:"Where the small script goes; without it, to the standard output."`
	Runs   int    `default:"2000" help:"Stop after this many runs."`
}

// Run carries out the command. What does not fail is a failure.
func (c *minimiseCommand) Run(s streams) error {
	cfg, origin := sim.Swarm(c.Seed), fmt.Sprintf("seed %d", c.Seed)
	if c.Script != "" {
		var err error
		if cfg, err = readScript(c.Script); err != nil {
			return err
		}
		origin = c.Script
	}
	text, err := minimised(cfg, origin, c.Runs)
	if err == nil {
		return fmt.Errorf("%s does not fail", origin)
	}
	fmt.Fprintf(s.err, "%v\n", err)
	if c.Out == "" {
		_, err = fmt.Fprint(s.out, text)
		return err
	}
	return os.WriteFile(c.Out, []byte(text), 0o644)
}

// minimised returns the small script of a failing Config, with its origin and its error on top; nil for one that passes.
func minimised(cfg sim.Config, origin string, runs int) (string, error) {
	least, err := sim.Minimise(cfg, runs, func(c sim.Config) error {
		_, err := sim.Run(c)
		return err
	})
	return fmt.Sprintf("# From %s: %v\n%s", origin, err, least.Script()), err
}

// keep minimises failed seeds and writes their scripts to a folder, several at a time.
func keep(dir string, seeds []uint64, s streams) error {
	if dir == "none" || len(seeds) == 0 {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	errs := make([]error, len(seeds))
	var workers sync.WaitGroup
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, seed := range seeds {
		tokens <- struct{}{}
		workers.Go(func() {
			defer func() { <-tokens }()
			text, err := minimised(sim.Swarm(seed), fmt.Sprintf("seed %d", seed), soakRuns)
			if err != nil {
				errs[i] = os.WriteFile(filepath.Join(dir, fmt.Sprintf("seed-%d.txt", seed)), []byte(text), 0o644)
			}
		})
	}
	workers.Wait()
	for i, err := range errs {
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "seed %d: kept as %s\n", seeds[i], filepath.Join(dir, fmt.Sprintf("seed-%d.txt", seeds[i])))
	}
	return nil
}

// soakRuns bounds the time that a soak spends on minimising a failure.
const soakRuns = 1000
