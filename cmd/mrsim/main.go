// SPDX-License-Identifier: Apache-2.0

// Command mrsim runs experiments in simulated networks: virtual time, real engine, the same result for the same seed.
//
// Exit codes: 0 the run is done, 1 it failed, 2 the command line asks for something that does not exist.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/openmetaroce/metaroce/engine/sim"
)

// cli is the command line.
type cli struct {
	Run      runCommand      `cmd:"" help:"Run one workload and report how long it took, against the ideal of its real bytes."`
	Soak     soakCommand     `cmd:"" help:"Run seed after seed with random faults, and append what was found to a ledger."`
	Minimise minimiseCommand `cmd:"" help:"Shrink a failing seed to a short script that fails in the same way."`
	Replay   replayCommand   `cmd:"" help:"Run scripts that once failed."`
}

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError says what the command line asks for and this version does not serve.
type usageError string

func (e usageError) Error() string { return string(e) }

func refusal(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// streams are where a command writes.
type streams struct {
	out, err io.Writer
	tty      *os.File // where a progress bar may appear; nil when that is no terminal
}

func main() {
	s := streams{out: os.Stdout, err: os.Stderr}
	if terminal(os.Stderr) {
		s.tty = os.Stderr
	}
	os.Exit(execute(os.Args[1:], s))
}

// execute carries out a command line and returns the exit code.
func execute(args []string, s streams) int {
	var c cli
	code := -1
	parser, err := kong.New(&c,
		kong.Name("mrsim"),
		kong.Description("Experiments in simulated networks."),
		kong.Writers(s.out, s.err),
		kong.Exit(func(n int) { code = n }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		panic(err)
	}
	ctx, err := parser.Parse(args)
	if code >= 0 {
		return code // help has been printed
	}
	if err == nil {
		err = ctx.Run(s)
	}
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(s.err, "mrsim: %v\n", err)
	var wrongArgs *kong.ParseError
	var refused usageError
	if errors.As(err, &wrongArgs) || errors.As(err, &refused) || errors.Is(err, sim.ErrConfig) {
		return exitUsage
	}
	return exitFailed
}
