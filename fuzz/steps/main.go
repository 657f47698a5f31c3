// SPDX-License-Identifier: Apache-2.0

// Command steps counts the statements that an endpoint executes for one packet of a hostile peer, without a clock: it is built
// with -cover, and reads the counters of the engine's statements around the call. Packets are chosen to be as expensive as they
// can be; each is measured after a short and after a long history.
//
//	go build -cover -covermode=atomic -coverpkg=./fuzz/steps,./engine,./engine/internal/...,./go-sdk/wire -o steps ./fuzz/steps
//	./steps -out DIR
//
// Each measurement is a directory below DIR, called history-packet, for `go tool covdata textfmt`.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/coverage"
	"strconv"
)

func main() {
	out := flag.String("out", "", "directory for the counters")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
}

// histories are numbers of packets before the one that is measured.
var histories = []int{20, 300}

func run(out string) error {
	for _, history := range histories {
		for _, a := range attacks {
			v, err := newVictim()
			if err != nil {
				return err
			}
			if err := v.live(history); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			b, err := a.packet(v)
			if err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			dir := filepath.Join(out, strconv.Itoa(history)+"-"+a.name)
			if err := measure(dir, func() { v.hand(b) }); err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
		}
	}
	return nil
}

// measure leaves the counters of a call in a directory.
func measure(dir string, call func()) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	call()
	if err := coverage.WriteCountersDir(dir); err != nil {
		return err
	}
	return coverage.WriteMetaDir(dir)
}
