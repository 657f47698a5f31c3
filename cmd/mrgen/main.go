// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/openmetaroce/metaroce/gen"
)

// Exit statuses.
const (
	exitOK    = 0
	exitFault = 1
	exitUsage = 2
)

// memoryLimit is what a command may use, in bytes, before it collects its garbage more eagerly.
const memoryLimit = 240 << 20

// errFault says that the answer is no and that it has been printed.
var errFault = errors.New("fault")

type cli struct {
	Gen     genCmd     `cmd:"" help:"Write the outputs of a schema."`
	Check   checkCmd   `cmd:"" help:"Tell whether the outputs are fresh, or report the faults of schemas."`
	Decode  decodeCmd  `cmd:"" help:"Show what the bytes of a packet mean."`
	Explain explainCmd `cmd:"" help:"Say what a diagnostic code means."`
	Diff    diffCmd    `cmd:"" help:"Say what a change of a schema changes: bytes, names or documentation."`
	Docs    docsCmd    `cmd:"" help:"Print a reference, or hold pages to the schema."`
	Fmt     fmtCmd     `cmd:"" help:"Lay schemas out in their canonical form."`
	Init    initCmd    `cmd:"" help:"Begin a project: a sample schema and the list of its outputs."`
	Layout  layoutCmd  `cmd:"" help:"Show where the items of headers and packets lie."`
	Lint    lintCmd    `cmd:"" help:"Report what a schema may do but should not."`
	Trace   traceCmd   `cmd:"" help:"Tie the requirements of a specification to code and tests."`
	Vectors vectorsCmd `cmd:"" help:"Print, write or compare the test vectors of a schema."`
}

// streams is where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func main() {
	debug.SetGCPercent(400) // most commands end before their garbage matters
	debug.SetMemoryLimit(memoryLimit)
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

func run(args []string, s streams) int {
	var c cli
	exited, status := false, 0
	parser, err := kong.New(&c,
		kong.Name("mrgen"),
		kong.Description("Compiles protocol schemas to Go, C, Lua and test vectors."),
		kong.UsageOnError(),
		kong.Writers(s.out, s.err),
		kong.Exit(func(code int) { exited, status = true, code }),
		kong.Bind(s),
	)
	if err != nil {
		panic(err) // the grammar above is wrong
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if exited {
		return status
	}
	if err == nil {
		err = ctx.Run(s)
		return exitStatus(err, s.err)
	}
	fmt.Fprintf(s.err, "mrgen: %v\n", err)
	return exitUsage
}

// exitStatus prints an error and classifies it.
func exitStatus(err error, w io.Writer) int {
	diags := gen.Diagnostics(err)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errFault):
		return exitFault
	case diags != nil:
		printFaults(w, diags)
		return exitFault
	}
	fmt.Fprintf(w, "mrgen: %v\n", err)
	return exitUsage
}
