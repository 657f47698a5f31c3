// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/openmetaroce/metaroce"

// Bounds on the statements that HandleDatagram executes for one packet. A window has 256 slots.
const (
	window  = 256
	fixed   = 2000 // for any packet
	perSlot = 130  // and for each slot of a window that a packet can concern
)

// Whatever packet comes, the statements executed for it are bounded by the window and not by what came before: after many times as
// long a history they are the same, but for a tenth.
//
//mr:prop P44
//mr:test MR-ERR-006
func TestWorkOfAPacketIsBounded(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "steps")
	covered := strings.Join([]string{module + "/fuzz/steps", module + "/engine", module + "/engine/internal/...", module + "/go-sdk/wire"}, ",")
	execute(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+covered, "-o", program, ".")
	execute(t, program, "-out", dir)
	most := 0
	for _, a := range attacks {
		var steps []int
		for _, history := range histories {
			steps = append(steps, statements(t, filepath.Join(dir, strconv.Itoa(history)+"-"+a.name)))
		}
		t.Logf("%-28s %6d statements after %d packets, %6d after %d", a.name, steps[0], histories[0], steps[1], histories[1])
		most = max(most, steps[0], steps[1])
		if limit := fixed + perSlot*window; steps[0] > limit || steps[1] > limit {
			t.Errorf("%s: %d statements, at most %d", a.name, steps, limit)
		}
		if steps[1] > steps[0]+steps[0]/10+20 || steps[0] < 20 {
			t.Errorf("%s: %d statements after short and long histories", a.name, steps)
		}
	}
	if most < 20*window {
		t.Errorf("no packet concerns a whole window: %d statements at most", most)
	}
}

func execute(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// statements adds up the counters of a directory, those of the program itself left out.
func statements(t *testing.T, dir string) (sum int) {
	t.Helper()
	text := execute(t, "go", "tool", "covdata", "textfmt", "-i="+dir, "-o=/dev/stdout")
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line)) // file:line.column,line.column statements count
		if len(words) != 3 || strings.HasPrefix(words[0], module+"/fuzz/steps/") {
			continue
		}
		n, err := strconv.Atoi(words[1])
		count, err2 := strconv.Atoi(words[2])
		if err != nil || err2 != nil {
			t.Fatalf("%s: %q", dir, line)
		}
		sum += n * count
	}
	return sum
}
