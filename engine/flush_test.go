// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// When a connection fails, every outstanding operation and receive of every stream ends once, with an error, in the order of
// posting within its stream, before the end of the connection itself; all at once, and within the time that the silence may last.
//
//mr:prop P24 P27 P42
//mr:test MR-CONN-023 MR-LOSS-009
func TestFailureFlushesInOrder(t *testing.T) {
	const streams, each, dead = 5, 7, 2 * time.Second
	p := newPair(t, engine.Config{Chunk: 256, DeadAfter: dead})
	ids := p.connect(3)
	key, err := p.ends[1].Register(make([]byte, 4096), engine.RemoteWrite|engine.RemoteRead|engine.RemoteAtomic)
	p.must(err)
	for n := range uint64(each) {
		for s := range uint16(streams) {
			w := engine.Work{Stream: s, ID: uint64(s)<<32 | n, Op: engine.OpWrite, Key: key, Data: make([]byte, 1000), Fence: n == 5}
			switch (int(s) + int(n)) % 4 {
			case 1:
				w.Op, w.Key = engine.OpSend, 0
			case 2:
				w.Op, w.Data, w.Into = engine.OpRead, nil, make([]byte, 500)
			case 3:
				w.Op, w.Data, w.Operand = engine.OpFetchAdd, nil, 1
			}
			p.must(p.ends[0].Post(p.now, ids[0], w))
			p.must(p.ends[0].PostReceive(p.now, ids[0], engine.Receive{Stream: s, ID: 1<<63 | w.ID, Buffer: make([]byte, 8)}))
		}
	}
	p.settleFor("some of it", 12)
	began := p.now
	p.drop = everything
	p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 })
	if took := p.now.Sub(began); took > dead*5/4 {
		t.Errorf("the failure takes %v, silence may last %v", took, dead)
	}
	checkFlush(t, p.events[0], streams, each)
	ended := len(p.events[0])
	p.settle()
	if len(p.events[0]) != ended {
		t.Errorf("things happen after the end: %+v", last(p.events[0]))
	}
}

// checkFlush holds the events of an end to what its application has posted.
func checkFlush(t *testing.T, events []engine.Event, streams, each int) {
	t.Helper()
	done, failed, received := make([]int, streams), 0, make([]int, streams)
	for i, ev := range events {
		switch ev.Kind {
		case engine.Completed:
			if want := uint64(ev.Stream)<<32 | uint64(done[ev.Stream]); ev.ID != want {
				t.Errorf("stream %d: operation %#x ends, want %#x", ev.Stream, ev.ID, want)
			}
			done[ev.Stream]++
			if ev.Err != nil && !errors.Is(ev.Err, engine.ErrDead) {
				t.Errorf("operation %#x ends with %v", ev.ID, ev.Err)
			}
			if ev.Err != nil {
				failed++
			}
		case engine.Received:
			if want := 1<<63 | uint64(ev.Stream)<<32 | uint64(received[ev.Stream]); ev.ID != want || ev.Err == nil {
				t.Errorf("stream %d: receive %#x ends with %v, want %#x", ev.Stream, ev.ID, ev.Err, want)
			}
			received[ev.Stream]++
		case engine.Closed:
			if i != len(events)-1 || !errors.Is(ev.Err, engine.ErrDead) {
				t.Errorf("event %d of %d ends the connection with %v", i, len(events), ev.Err)
			}
		}
	}
	for s := range streams {
		if done[s] != each || received[s] != each {
			t.Errorf("stream %d: %d operations and %d receives end, %d of each were posted", s, done[s], received[s], each)
		}
	}
	if failed < streams || failed == streams*each {
		t.Errorf("%d of %d operations fail: some should have ended well", failed, streams*each)
	}
}

// When no path works any more, in one direction or both, either side fails within its patience and forgets the connection with
// all that it held: nothing is left that would ever happen.
//
//mr:prop P40 P42
//mr:test MR-LOSS-009 MR-CONN-011
func TestBothSidesForgetADeadConnection(t *testing.T) {
	const dead = 2 * time.Second
	for name, drop := range map[string]func(from int, d engine.Datagram) bool{
		"nothing passes":     everything,
		"nothing goes there": func(from int, _ engine.Datagram) bool { return from == 0 },
		"nothing comes back": func(from int, _ engine.Datagram) bool { return from == 1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 1024, DeadAfter: dead})
			ids := p.connect(4)
			key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
			p.must(err)
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
			p.settleFor("some of it", 20)
			began := p.now
			p.drop = drop
			p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 && p.count(1, engine.Closed) == 1 })
			if took := p.now.Sub(began); took > 2*dead {
				t.Errorf("it takes %v, silence may last %v", took, dead)
			}
			p.settle()
			for end := range 2 {
				if _, known := p.ends[end].ConnStats(ids[end]); known {
					t.Errorf("end %d still knows the connection", end)
				}
				if at := p.ends[end].NextTimeout(); at != engine.Never {
					t.Errorf("end %d still waits for something at %v", end, time.Duration(at))
				}
			}
		})
	}
}
