// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// ownPort tells whether a datagram travels on the port that its path began with.
func ownPort(from int, d engine.Datagram) bool { return openerPort(from, d) == 10000+pathOf(d) }

// All ports in use lead over a dead link, in one direction or both. Other ports do not, and are found: by the sender itself,
// or by an idle opener whose peer cannot reach it. Nothing fails, and no path is blamed.
//
//mr:test MR-FAIL-009
func TestSilentPathsFindOtherPorts(t *testing.T) {
	for _, c := range []struct {
		name   string
		sender int
		dead   [2]bool // by sender of the datagram
		within time.Duration
	}{
		{"the opener's data", 0, [2]bool{true, false}, 10 * time.Millisecond},
		{"the opener's feedback", 0, [2]bool{false, true}, 10 * time.Millisecond},
		{"all of an opener that sends", 0, [2]bool{true, true}, 10 * time.Millisecond},
		{"the acceptor's data", 1, [2]bool{false, true}, 6 * time.Second},
		{"all of an acceptor that sends", 1, [2]bool{true, true}, 6 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 1024})
			ids := p.connect(4)
			p.settle()
			memory := make([]byte, 1<<20)
			key, err := p.ends[1-c.sender].Register(memory, engine.RemoteWrite)
			p.must(err)
			p.drop = func(from int, d engine.Datagram) bool { return c.dead[from] && ownPort(from, d) }
			began := p.now
			p.must(p.ends[c.sender].Post(p.now, ids[c.sender], engine.Work{Op: engine.OpWrite, Key: key, Data: pattern(len(memory), 3)}))
			p.run("the Write", func() bool { return p.count(c.sender, engine.Completed) == 1 })
			if ev, _ := p.find(c.sender, engine.Completed); ev.Err != nil || !bytes.Equal(memory, pattern(len(memory), 3)) {
				t.Fatalf("it ended with %v", ev.Err)
			}
			t.Logf("%v after the cut", p.now.Sub(began))
			if took := p.now.Sub(began); took > c.within {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// While nothing is heard anywhere, chunks stay on their paths, each path is probed with growing pauses, and no more than
// one of a plane changes its port in the time between two probes. The connection ends when its time is up.
//
//mr:test MR-FAIL-009 MR-LOSS-009
//mr:prop P42
func TestSilenceTurnsOnePortAtATime(t *testing.T) {
	const paths = 4
	p := newPair(t, engine.Config{Chunk: 1024})
	ids := p.connect(paths)
	p.settle()
	key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	began, turns, probes := p.now, 0, [paths]int{}
	latest := map[uint16]uint16{0: 10000, 1: 10001, 2: 10002, 3: 10003}
	p.drop = func(from int, d engine.Datagram) bool {
		id, port := pathOf(d), d.Route.Local.Port()
		if from == 0 && id < paths {
			if latest[id] != port {
				turns++
				latest[id] = port
			}
			if wire.Opcode(d.Bytes[1]) == wire.OpcodeProbe {
				probes[id]++
			}
		}
		return true
	}
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<16)}))
	p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 })
	if ev, _ := p.find(0, engine.Closed); !errors.Is(ev.Err, engine.ErrDead) {
		t.Errorf("it ended with %v", ev.Err)
	}
	if took := p.now.Sub(began); took < 9900*time.Millisecond || took > 11*time.Second {
		t.Errorf("it ended after %v", took)
	}
	s, _ := p.ends[0].ConnStats(ids[0])
	timeouts := 0
	for _, path := range s.Paths {
		if path.Downs != 0 {
			t.Errorf("path %d is blamed", path.ID)
		}
		if probes[path.ID] < 15 {
			t.Errorf("path %d was probed %d times", path.ID, probes[path.ID])
		}
		timeouts = max(timeouts, int(path.RTOFired))
	}
	t.Logf("%d changes of a port, %d timeouts of each path, probes %v", turns, timeouts, probes)
	if turns < timeouts-1 || turns > timeouts+timeouts/2 {
		t.Errorf("%d changes of a port in %d timeouts", turns, timeouts)
	}
}

// What was in flight when the silence began does not come back in one burst: each path begins with its first window, however
// large its window was before.
//
//mr:test MR-FAIL-010
func TestReturnFromSilenceIsRamped(t *testing.T) {
	const chunk, paths, first = 1024, 4, 4
	p := newPair(t, engine.Config{Chunk: chunk, InitialWindow: first * (chunk + engine.Overhead)})
	ids := p.connect(paths)
	key, err := p.ends[1].Register(make([]byte, 16<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 16<<20)}))
	p.run("large windows", func() bool {
		s, _ := p.ends[0].ConnStats(ids[0])
		return s.Paths[0].InFlight > 100*chunk && s.Paths[1].InFlight > 100*chunk
	})
	ends := p.now.Add(500 * time.Millisecond)
	sent, after := map[uint16]int{}, map[uint16]int{} // bytes into the silence, Writes after it
	burst := map[uint16]int{}                         // Writes that leave as soon as the path is heard again
	p.drop = func(from int, d engine.Datagram) bool {
		if p.now < ends {
			if from == 0 && p.now > ends.Add(-400*time.Millisecond) {
				sent[pathOf(d)] += len(d.Bytes)
			}
			return true
		}
		if from == 0 && wire.Opcode(d.Bytes[1]) == wire.OpcodeWrite {
			after[pathOf(d)]++
		}
		return false
	}
	p.run("a sign of life", func() bool {
		s, _ := p.ends[0].ConnStats(ids[0])
		for _, path := range s.Paths {
			// One Write is that of the timer; its acknowledgment makes the window larger by one.
			n := after[path.ID]
			if n > 1 && burst[path.ID] == 0 {
				burst[path.ID] = n - 1
			}
		}
		return after[0] > 8*first && after[1] > 8*first
	})
	t.Logf("packets that leave at once: %v", burst)
	for id, n := range burst {
		if n > first+1 {
			t.Errorf("path %d sends %d packets at once, the first window is %d", id, n, first)
		}
	}
	for id, bytes := range sent {
		if bytes > 20*(chunk+engine.Overhead) {
			t.Errorf("path %d sends %d bytes into the silence", id, bytes)
		}
	}
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
}
