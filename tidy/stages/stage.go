// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Stage is a group of checks that answer one question.
type Stage struct {
	Name   string
	Doc    string        // the question
	Budget time.Duration // exceeding it fails the stage
	Steps  []Step
}

// Step is one command of a stage.
type Step struct {
	Kind Kind
	Args []string // the command line; for GoTest and Fuzz what follows `go test`
	Env  []string // additions to the environment, NAME=value
}

// Kind tells how a Step is judged and counted.
type Kind int

// The kinds of steps.
const (
	// Command passes when it exits with 0: one check, or as many as its last line counts ("N passed, N failed, N skipped").
	Command Kind = iota
	// Silent passes when it also writes nothing to standard output.
	Silent
	// GoTest counts every test that has no subtests of its own.
	GoTest
	// Fuzz finds the fuzz targets of the packages in Args[1:] and runs each for the time Args[0].
	Fuzz
)

// Count is what a stage came to.
type Count struct{ Passed, Failed, Skipped int }

// String is the form in which counts are printed and parsed.
func (c Count) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}

func (c *Count) add(d Count) {
	c.Passed += d.Passed
	c.Failed += d.Failed
	c.Skipped += d.Skipped
}

// Result is a Count with the text that explains its failures.
type Result struct {
	Count
	Report string
}

func (r *Result) add(s Result) {
	r.Count.add(s.Count)
	r.Report += s.Report
}

func failed(format string, args ...any) Result {
	return Result{Count{Failed: 1}, fmt.Sprintf("      "+format+"\n", args...)}
}

// run runs the steps up to the first that fails.
func (s Stage) run() Result {
	ctx, cancel := context.WithTimeout(context.Background(), s.Budget)
	defer cancel()
	var total Result
	for _, step := range s.Steps {
		total.add(step.run(ctx))
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			total.add(failed("%s: stopped after its budget of %s", step, s.Budget))
		}
		if total.Failed > 0 {
			return total
		}
	}
	if total.Passed == 0 {
		total.add(failed("the stage ran no check"))
	}
	return total
}

// String is the command line, for messages.
func (s Step) String() string {
	words := append(append([]string(nil), s.Env...), s.command()...)
	return strings.Join(words, " ")
}

func (s Step) command() []string {
	switch s.Kind {
	case GoTest:
		return append([]string{"go", "test", "-json", "-count=1"}, s.Args...)
	case Fuzz:
		return append([]string{"go", "test", "-list", "^Fuzz"}, s.Args[1:]...)
	}
	return s.Args
}

func (s Step) run(ctx context.Context) Result {
	out, errOut, err := execute(ctx, s.command(), s.Env)
	switch s.Kind {
	case GoTest:
		return judgeTests(out, errOut, err)
	case Fuzz:
		if err != nil {
			return failed("%s: %v\n%s%s", s, err, out, errOut)
		}
		return fuzzAll(ctx, s.Args[0], string(out))
	case Silent:
		if err == nil && len(bytes.TrimSpace(out)) > 0 {
			err = errors.New("must be silent")
		}
	}
	return judgeCommand(s.String(), append(out, errOut...), err)
}

// judgeCommand takes the count from a command's last line when it has one.
func judgeCommand(name string, out []byte, err error) Result {
	r := Result{Count: Count{Passed: 1}}
	text := strings.TrimRight(string(out), "\n")
	var c Count
	last := text[strings.LastIndexByte(text, '\n')+1:]
	if n, _ := fmt.Sscanf(last, "%d passed, %d failed, %d skipped", &c.Passed, &c.Failed, &c.Skipped); n == 3 && c.String() == last {
		r.Count = c
	}
	if err != nil && r.Failed == 0 {
		r.Count = Count{Failed: 1}
	}
	if r.Failed > 0 {
		r.Report = fmt.Sprintf("      %s: %v\n%s\n", name, err, text)
	}
	return r
}

// execute runs a command in a process group of its own and kills the whole group when ctx ends.
func execute(ctx context.Context, args, env []string) (out, errOut []byte, err error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	err = cmd.Run()
	return o.Bytes(), e.Bytes(), err
}
