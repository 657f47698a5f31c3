// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// Seeds 1 to MR_SEEDS run, 1,000 without it, the first 200 of them twice; MR_SEED_FIRST moves the range. MR_SEED names one seed alone.
const (
	defaultSeeds = 1000
	twiceSeeds   = 200
	seedsEnv     = "MR_SEEDS"
	firstEnv     = "MR_SEED_FIRST"
	oneEnv       = "MR_SEED"
)

func envNumber(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q: %v", name, text, err)
	}
	return n
}

// seedRange returns the first seed and the number of seeds.
func seedRange(t *testing.T) (first, count uint64) {
	t.Helper()
	if one := envNumber(t, oneEnv, 0); one != 0 {
		return one, 1
	}
	return envNumber(t, firstEnv, 1), envNumber(t, seedsEnv, defaultSeeds)
}

// tally sums up what happened over many runs.
type tally struct {
	mu      sync.Mutex
	results []Result
}

func (a *tally) add(res Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.results = append(a.results, res)
}

func (a *tally) report(t *testing.T, took time.Duration) Sum {
	t.Helper()
	var sum Sum
	var total, events uint64
	for i := range a.results {
		r := &a.results[i]
		for _, f := range r.Flows {
			total += f.Bytes
		}
		events += r.Events
		sum.Add(r)
	}
	fmt.Printf("%d runs in %.1f s: %d MiB, %d packets, %d resent, %d timeouts, %d events, %.1f s of virtual time\n",
		sum.Runs, took.Seconds(), total>>20, sum.Packets, sum.Resent, sum.RTOFired, events, sum.Virtual.Seconds())
	for _, line := range sum.Lines() {
		fmt.Println(" ", line)
	}
	return sum
}

// runSeed runs a seed, and a second time when twice is due, and tells what is wrong.
func runSeed(seed uint64, times int) (Result, error) {
	cfg := Swarm(seed)
	res, err := Run(cfg)
	if err != nil {
		return res, err
	}
	var sent uint64
	for _, f := range res.Flows {
		sent += f.Bytes
	}
	if sent < 1<<20 || len(res.Flows) < 4 || cfg.Network.Paths < 4 {
		return res, fmt.Errorf("only %d bytes on %d streams over %d paths", sent, len(res.Flows), cfg.Network.Paths)
	}
	for range times - 1 {
		again, err := Run(Swarm(seed))
		if err != nil {
			return res, fmt.Errorf("second run: %w", err)
		}
		if again.Trace != res.Trace || again.Events != res.Events {
			return res, fmt.Errorf("trace %016x after %d events, then %016x after %d: not the same run", res.Trace, res.Events, again.Trace, again.Events)
		}
	}
	return res, nil
}

//mr:prop P3 P14 P17 P19 P23 P24 P25 P26 P28 P40 P48
func TestSeedsMoveEverythingOnceInOrder(t *testing.T) {
	first, count := seedRange(t)
	fmt.Printf("seeds %d to %d\n", first, first+count-1)
	begun := time.Now()
	var sum tally
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				k := next.Add(1) - 1
				if k >= count {
					return
				}
				seed, times := first+k, 1
				if k < twiceSeeds {
					times = 2
				}
				res, err := runSeed(seed, times)
				if err != nil {
					t.Errorf("seed %d: %v\n  again: %s=%d go test ./engine/sim -run %s", seed, err, oneEnv, seed, t.Name())
				}
				sum.add(res)
			}
		})
	}
	workers.Wait()
	all := sum.report(t, time.Since(begun))
	if count < defaultSeeds {
		return
	}
	for _, name := range all.Missing() {
		t.Errorf("no seed has met: %s", name)
	}
}

func TestSwarmLeavesEachClassOutHalfTheTime(t *testing.T) {
	const seeds = 2000
	with := map[string]int{}
	for seed := range uint64(seeds) {
		cfg := Swarm(seed)
		for name, present := range map[string]bool{
			"planes":     cfg.Network.Planes > 1,
			"reordering": cfg.Network.Skew > 0,
			"queue":      cfg.Network.Hops[0].Queue > 0,
			"pauses":     cfg.Streams[0].Receives > 0,
			"narrow":     cfg.Engine.SeqBits != 0,
			"hints":      cfg.Engine.Capacity != 0,
		} {
			if present {
				with[name]++
			}
		}
		seen := map[Kind]bool{}
		for _, f := range cfg.Faults {
			if !seen[f.Kind] {
				with[f.Kind.String()]++
			}
			seen[f.Kind] = true
		}
		if _, err := cfg.withDefaults(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if _, err := engine.New(cfg.Engine); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	for name, n := range with {
		if n < seeds*45/100 || n > seeds*55/100 {
			t.Errorf("%s: present in %d of %d seeds, want about half", name, n, seeds)
		}
	}
}

func TestSumTellsWhatWasNeverMet(t *testing.T) {
	var s Sum
	all := len(s.Missing())
	if all != kinds-1+5+meets {
		t.Errorf("%d things can be missing", all)
	}
	s.Add(&Result{Network: NetworkStats{Overflowed: 1}, Injected: [kinds]uint64{Cut: 2}, Met: [meets]uint64{metRestart: 3}})
	if left := s.Missing(); len(left) != all-3 || s.Injected[Cut] != 2 || s.Met[metRestart] != 3 {
		t.Errorf("missing are %v", left)
	}
}
