// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// tool is the compiler, built once, and a schema of a megabyte.
type tool struct{ dir string }

const (
	toolRounds  = 11
	schemaBytes = 1_048_000 // a megabyte is the most that the compiler takes
)

// build makes the compiler and the schema, unless they are there.
func (t *tool) build() error {
	if t.dir != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "bars")
	if err != nil {
		return err
	}
	t.dir = dir
	if out, err := exec.Command("go", "build", "-o", t.mrgen(), "./cmd/mrgen").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return os.WriteFile(t.schema(), []byte(largeSchema()), 0o644)
}

func (t *tool) remove() error {
	if t.dir == "" {
		return nil
	}
	return os.RemoveAll(t.dir)
}

func (t *tool) mrgen() string  { return filepath.Join(t.dir, "mrgen") }
func (t *tool) schema() string { return filepath.Join(t.dir, "large.mrs") }

// largeSchema is a megabyte of headers, enums and packets.
func largeSchema() string {
	var b strings.Builder
	b.WriteString("edition 1;\npackage large.wire;\nbyteorder big;\nbitorder msb;\n")
	for i := 0; b.Len() < schemaBytes; i++ {
		fmt.Fprintf(&b, `
/// What packet %[1]d carries.
enum Kind%[1]d : u8 open { Data = 1; Ack = 2; Other = 0xc0..0xdf; }

/// The header of packet %[1]d.
header Head%[1]d sized 12 {
  version : u4 = 1;
  flag, other : bit;
  _ : rsvd 2 zero;
  kind : Kind%[1]d;
  path : u12;
  epoch : u4;
  psn : u32 serial;
  tag : u32 @fmt(hex);
}

/// Packet %[1]d.
packet Packet%[1]d max 1500 {
  head : Head%[1]d;
  body : switch head.kind {
    Data => { offset : u32; length : u32 in 1..65535; data : payload; }
    Ack => { count : u8 in 1..64; _ : rsvd 24 zero; blocks : u32[count]; }
    _ => nothing;
  }
}
`, i)
	}
	return b.String()
}

// use is what one run of the compiler took.
type use struct {
	wall, processor time.Duration
	memory          int64 // bytes, at most
}

func (t *tool) run(args ...string) (use, error) {
	cmd := exec.Command(t.mrgen(), args...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		return use{}, fmt.Errorf("mrgen %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	res, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return use{}, errors.New("this system does not tell what a process used")
	}
	return use{took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), res.Maxrss << 10}, nil
}

// task is work of the compiler that several bars look at. It is run for the first of them.
type task struct {
	t    *tool
	args func(*tool) []string
	uses []use
}

func (k *task) measure(figure func(use) float64) func() (samples, error) {
	return func() (samples, error) {
		if err := k.t.build(); err != nil {
			return nil, err
		}
		for len(k.uses) < toolRounds {
			u, err := k.t.run(k.args(k.t)...)
			if err != nil {
				return nil, err
			}
			k.uses = append(k.uses, u)
		}
		var s samples
		for _, u := range k.uses {
			s = append(s, figure(u))
		}
		return s, nil
	}
}

func wall(u use) float64      { return u.wall.Seconds() * 1000 }
func processor(u use) float64 { return u.processor.Seconds() * 1000 }
func memory(u use) float64    { return float64(u.memory) / 1e6 }
