// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// machine is what the run cost here; it differs from machine to machine.
type machine struct {
	CPU  float64 `json:"cpu_seconds"`
	RSS  int64   `json:"rss_bytes"` // the largest so far
	Wall float64 `json:"wall_seconds"`
}

// stopwatch measures a machine.
type stopwatch struct {
	begun time.Time
	cpu   float64
}

func startMachine() stopwatch {
	cpu, _ := usage()
	return stopwatch{begun: time.Now(), cpu: cpu}
}

func (w stopwatch) stop() machine {
	cpu, rss := usage()
	return machine{CPU: cpu - w.cpu, RSS: rss, Wall: time.Since(w.begun).Seconds()}
}

// usage returns the process's CPU seconds and largest resident set; zeros where the system does not tell.
func usage() (cpuSeconds float64, rssBytes int64) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, int64(u.Maxrss) << 10
}

// terminal tells whether somebody may be watching.
func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// bar shows how far a run is. Without a terminal it does nothing.
type bar struct{ *progressbar.ProgressBar }

func newBar(tty *os.File, total int64) bar {
	if tty == nil {
		return bar{}
	}
	return bar{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(tty),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

func (b bar) set(placed, total uint64) {
	if b.ProgressBar != nil {
		_ = b.Set64(int64(min(placed, total))) // a terminal that is gone does not stop the run
	}
}

func (b bar) done() {
	if b.ProgressBar != nil {
		_ = b.Finish()
	}
}
