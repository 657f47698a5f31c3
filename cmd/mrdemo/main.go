// SPDX-License-Identifier: Apache-2.0

// Command mrdemo moves a file between two processes over many paths, with and without loss, and checks that it arrived,
// that the losses were repaired, and that Wireshark sees what the SDK counted.
//
// Exit codes: 0 all is correct, 1 something is not, 2 the command line is wrong. Figures of speed are reported beside
// their bars and do not change the exit code.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// cli is the command line.
type cli struct {
	Run     runCommand     `cmd:"" help:"Run the whole demonstration: pairs of transfers without and with loss, then a captured one."`
	Send    sendCommand    `cmd:"" help:"Send one file to a receiver."`
	Receive receiveCommand `cmd:"" help:"Receive one file."`
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// errFailed: a check failed, and the report has said so.
var errFailed = errors.New("a check failed")

// streams are where a command writes.
type streams struct {
	out, err io.Writer
	tty      *os.File // where a progress bar may appear; nil when that is no terminal
}

func main() {
	s := streams{out: os.Stdout, err: os.Stderr}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		s.tty = os.Stderr
	}
	os.Exit(execute(os.Args[1:], s))
}

// execute carries out a command line and returns the exit code.
func execute(args []string, s streams) int {
	var c cli
	code := -1
	parser, err := kong.New(&c,
		kong.Name("mrdemo"),
		kong.Description("Moves a file between two processes over many lossy paths."),
		kong.Writers(s.out, s.err),
		kong.Exit(func(n int) { code = n }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	ctx, err := parser.Parse(args)
	if code >= 0 {
		return code // help has been printed
	}
	if err == nil {
		err = ctx.Run(s)
	}
	var wrongArgs *kong.ParseError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.As(err, &wrongArgs):
		fmt.Fprintf(s.err, "mrdemo: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(s.err, "mrdemo: %v\n", err)
	return exitFailed
}
