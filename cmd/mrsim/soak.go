// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openmetaroce/metaroce/engine/sim"
)

// soakCommand runs seed after seed: another network with other faults each time, judged from outside. What it found is
// appended to a ledger, so that the sum of all runs can be told.
type soakCommand struct {
	Minutes float64 `default:"10" help:"Stop after this time."`
	Seeds   uint64  `help:"Stop after this many seeds; 0 = when the time is over."`
	First   uint64  `help:"First seed; 0 = the one behind the last of the ledger."`
	Ledger  string  `default:"fuzz/ledger.jsonl" placeholder:"FILE" help:"Append a line there; none = write no ledger."`
	Keep    string  `default:"engine/sim/testdata/seeds" placeholder:"DIR" help:"Minimise failures and keep their scripts there; none = do not."`
}

// entry is a line of the ledger.
type entry struct {
	Time           string   `json:"time"`
	Commit         string   `json:"commit"`
	First          uint64   `json:"seed_first"`
	Last           uint64   `json:"seed_last"`
	VirtualSeconds float64  `json:"virtual_seconds"`
	Packets        uint64   `json:"packets"`
	Resent         uint64   `json:"resent"`
	Failed         []uint64 `json:"seeds_failed"`
	Missing        []string `json:"never_met,omitempty"`
}

var (
	// errSeeds: at least one seed came out wrong.
	errSeeds = errors.New("seeds failed")
	// errMissing: a long soak has not met everything that it is for.
	errMissing = errors.New("never met")
)

// enoughMinutes is how long a soak takes that must meet everything.
const enoughMinutes = 10

// Run runs seeds on all processors, prints each failure with the command that repeats it, and the sum.
func (c *soakCommand) Run(s streams) error {
	first, err := c.first()
	if err != nil {
		return err
	}
	b := batch{next: first, end: ^uint64(0), until: time.Now().Add(time.Duration(c.Minutes * float64(time.Minute))), out: s}
	if c.Seeds > 0 {
		b.end = first + c.Seeds
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(b.work)
	}
	workers.Wait()
	e := b.entry(first)
	fmt.Fprintf(s.out, "seeds %d to %d: %d packets, %d resent, %.0f s of virtual time, %d failed\n",
		e.First, e.Last, e.Packets, e.Resent, e.VirtualSeconds, len(e.Failed))
	for _, line := range b.sum.Lines() {
		fmt.Fprintln(s.out, line)
	}
	if c.long() {
		e.Missing = b.sum.Missing()
	}
	if err := errors.Join(c.record(e), keep(c.Keep, e.Failed, s)); err != nil {
		return err
	}
	if len(e.Failed) > 0 {
		return fmt.Errorf("%w: %v", errSeeds, e.Failed)
	}
	if len(e.Missing) > 0 {
		return fmt.Errorf("%w: %v", errMissing, strings.Join(e.Missing, ", "))
	}
	return nil
}

// long tells whether the soak has the time to meet everything.
func (c *soakCommand) long() bool { return c.Minutes >= enoughMinutes && c.Seeds == 0 }

// batch hands out seeds and collects what becomes of them.
type batch struct {
	mu     sync.Mutex
	next   uint64
	end    uint64
	until  time.Time
	out    streams
	sum    sim.Sum
	failed []uint64
}

func (b *batch) take() (seed uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next >= b.end || time.Now().After(b.until) {
		return 0, false
	}
	b.next++
	return b.next - 1, true
}

func (b *batch) work() {
	for {
		seed, ok := b.take()
		if !ok {
			return
		}
		res, err := sim.Run(sim.Swarm(seed))
		b.add(seed, res, err)
	}
}

func (b *batch) add(seed uint64, res sim.Result, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sum.Add(&res)
	if err != nil {
		b.failed = append(b.failed, seed)
		fmt.Fprintf(b.out.err, "seed %d: %v\n  again: MR_SEED=%d go test ./engine/sim -run TestSeeds\n", seed, err, seed)
	}
	if b.out.tty != nil {
		fmt.Fprintf(b.out.tty, "\r%d seeds, %d failed ", seed, len(b.failed))
	}
}

func (b *batch) entry(first uint64) entry {
	slices.Sort(b.failed)
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return entry{
		Time: time.Now().UTC().Format(time.RFC3339), Commit: strings.TrimSpace(string(commit)),
		First: first, Last: b.next - 1, VirtualSeconds: b.sum.Virtual.Seconds(),
		Packets: b.sum.Packets, Resent: b.sum.Resent, Failed: append([]uint64{}, b.failed...),
	}
}

// first is the seed to begin with.
func (c *soakCommand) first() (uint64, error) {
	if c.First > 0 || c.Ledger == "none" {
		return max(c.First, 1), nil
	}
	text, err := os.ReadFile(c.Ledger)
	if errors.Is(err, os.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	first := uint64(1)
	for line := range strings.Lines(string(text)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return 0, fmt.Errorf("%s: %w", c.Ledger, err)
		}
		first = max(first, e.Last+1)
	}
	return first, nil
}

// record appends a line to the ledger.
func (c *soakCommand) record(e entry) error {
	if c.Ledger == "none" {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.Ledger), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(c.Ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}
