// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
)

func TestColoursAreForTerminalsThatWantThem(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if !coloured(tty) || coloured(write) || coloured(&bytes.Buffer{}) {
		t.Errorf("terminal %t, pipe %t, buffer %t", coloured(tty), coloured(write), coloured(&bytes.Buffer{}))
	}
	t.Setenv("NO_COLOR", "1")
	if coloured(tty) {
		t.Error("NO_COLOR is set and there are colours")
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if coloured(tty) {
		t.Error("the terminal is dumb and there are colours")
	}
}

func TestColoursChangeNoLetter(t *testing.T) {
	_, diags := gen.Compile("a.mrs", []byte("edition 1;\npackage a.b;\nbyteorder big;\nbitorder msb;\nheader A {\n  a : u4;\n  b : bytes[2];\n}\n"))
	if len(diags) != 1 {
		t.Fatalf("got %v", diags)
	}
	painted := paint(diags[0].String(), diags[0].Severity())
	if n := strings.Count(painted, "\x1b["); n < 8 {
		t.Errorf("%d escapes in %q", n, painted)
	}
	bare := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(painted, "")
	if diff := cmp.Diff(diags[0].String(), bare); diff != "" {
		t.Error(diff)
	}
}
