// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// Colours of a terminal.
const (
	plain  = "\x1b[0m"
	bold   = "\x1b[1m"
	red    = "\x1b[1;31m"
	yellow = "\x1b[1;33m"
	cyan   = "\x1b[36m"
)

// printText writes diagnostics for people, in colours when the writer is a terminal that wants them.
func printText(w io.Writer, diags []syntax.Diagnostic) {
	colours := coloured(w)
	for _, d := range diags {
		text := d.String()
		if colours {
			text = paint(text, d.Severity())
		}
		fmt.Fprint(w, text)
	}
}

// coloured tells whether a writer is a terminal; NO_COLOR with any value, and TERM=dumb, forbid colours (no-color.org).
func coloured(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// paint colours a printed diagnostic: its severity, its marks and its advice.
func paint(text, severity string) string {
	tone := red
	if severity == "warning" {
		tone = yellow
	}
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		mark, isMark := strings.CutPrefix(line, "      | ")
		help, isHelp := strings.CutPrefix(line, " help: ")
		switch {
		case i == 0:
			place, rest, _ := strings.Cut(line, ": "+severity)
			code, message, _ := strings.Cut(rest, ": ")
			fmt.Fprintf(&b, "%s%s:%s %s%s%s%s: %s%s\n", bold, place, plain, tone, severity, code, plain+bold, message, plain)
		case isMark:
			fmt.Fprintf(&b, "      | %s%s%s\n", tone, mark, plain)
		case isHelp:
			fmt.Fprintf(&b, " %shelp:%s %s\n", cyan, plain, help)
		default:
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
