// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/lint"
	"github.com/openmetaroce/metaroce/gen/syntax"
)

// fixRounds bounds how often a schema is read again: a fix can bring a fault to light that was hidden.
const fixRounds = 16

// faultsOf compiles a schema and returns its faults; when it has none, what the backends refuse that its project names. An
// error is one of reading.
func faultsOf(name string) ([]syntax.Diagnostic, error) {
	protocol, err := gen.Load(name)
	if err == nil {
		err = refusalsOf(name, protocol)
	}
	if diags := gen.Diagnostics(err); diags != nil {
		return diags, nil
	}
	return nil, err
}

// refusalsOf asks the backends that a project names for a schema; there may be none.
func refusalsOf(name string, protocol *gen.Protocol) error {
	p, err := projectOf(name)
	if err != nil || p == nil {
		return err
	}
	_, err = p.render(protocol)
	return err
}

// findingsOf returns the warnings of a schema, or its faults when it does not compile.
func findingsOf(name string) ([]syntax.Diagnostic, error) {
	found, err := lint.File(name)
	if diags := gen.Diagnostics(err); diags != nil {
		return diags, nil
	}
	return found, err
}

// fixFile applies the fixes of what is found in a schema until none is left, and says how many there were.
func fixFile(w io.Writer, name string, find func(string) ([]syntax.Diagnostic, error)) error {
	total := 0
	for range fixRounds {
		found, err := find(name)
		if err != nil {
			return err
		}
		mine := slices.DeleteFunc(slices.Clone(found), func(d syntax.Diagnostic) bool { return d.File != filepath.ToSlash(name) })
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text, made := syntax.Apply(src, mine)
		if made == 0 {
			break
		}
		if _, err := replaceFile(name, text); err != nil {
			return err
		}
		total += made
	}
	if total > 0 {
		fmt.Fprintf(w, "fixed %d %s in %s\n", total, plural(total, "fault"), name)
	}
	return nil
}

// printFaults writes the faults of a schema and how many there are.
func printFaults(w io.Writer, faults []syntax.Diagnostic) {
	printText(w, faults)
	if n := len(faults); n > 0 {
		fmt.Fprintf(w, "%d %s\n", n, plural(n, "fault"))
	}
}
