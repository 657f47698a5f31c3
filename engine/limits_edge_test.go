// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// A Send may be as long as its receive, and not a byte longer.
//
//mr:test MR-STREAM-018
func TestSendIsAsLongAsItsReceiveAtMost(t *testing.T) {
	const size = 1000
	for _, n := range []int{size - 1, size, size + 1} {
		p := newPair(t, engine.Config{Chunk: 512})
		ids := p.connect(1)
		buffer := make([]byte, size+8)
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Buffer: buffer[:size]}))
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpSend, Data: pattern(n, 1)}))
		p.run("the Send", func() bool { return p.count(0, engine.Completed) == 1 })
		ev, _ := p.find(0, engine.Completed)
		var refused *engine.OpError
		switch {
		case n <= size && ev.Err != nil:
			t.Errorf("%d bytes: %v", n, ev.Err)
		case n > size && (!errors.As(ev.Err, &refused) || refused.Code != wire.NoticeCodeTooLong || refused.Info != size):
			t.Errorf("%d bytes: %v", n, ev.Err)
		}
		if s := string(buffer[size:]); s != strings.Repeat("\x00", 8) {
			t.Errorf("%d bytes: %q lies behind the buffer", n, s)
		}
	}
}

// The last path of those agreed is as good as any; the next number is none.
//
//mr:test MR-PATH-002
func TestPathNumbersEndWhereAgreed(t *testing.T) {
	for id, drops := range map[uint16]uint64{14: 0, 15: 0, 16: 1} {
		f := newForger(t)
		before := f.end.Stats().Drops[engine.DropPath]
		f.end.HandleDatagram(2, f.packetOf(wire.OpcodeWrite, func(p *wire.Packet) { p.Base.Path = id }))
		if n := f.end.Stats().Drops[engine.DropPath] - before; n != drops || (f.memory[0] == 1) != (drops == 0) {
			t.Errorf("path %d of 16: %d drops, memory %d", id, n, f.memory[0])
		}
	}
}

// The table of limits names a test for each; they exist.
func TestLimitsNameTheirTests(t *testing.T) {
	known := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			known[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../docs/spec/07-errors-and-limits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Limits")
	rows := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| what") {
			continue
		}
		rows++
		names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(line, -1)
		if len(names) == 0 {
			t.Errorf("no test holds: %s", line)
		}
		for _, m := range names {
			if !known[m[1]] {
				t.Errorf("there is no %s", m[1])
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d limits", rows)
	}
}
