// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// CLOSE goes out over one path after another, and after eight of them the connection ends without an error.
//
//mr:test MR-CONN-021
func TestUnansweredCloseEndsWithoutError(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(3)
	p.settle()
	closes := p.collect(0, wire.OpcodeClose, everything)
	p.must(p.ends[0].Close(p.now, ids[0]))
	p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 })
	if ev, _ := p.find(0, engine.Closed); ev.Err != nil {
		t.Errorf("closed with %v", ev.Err)
	}
	if n := len(*closes); n != 8 {
		t.Errorf("%d CLOSEs were sent", len(*closes))
	}
	growing(t, *closes)
	for i := 1; i < len(*closes); i++ {
		if (*closes)[i].Route == (*closes)[i-1].Route {
			t.Errorf("CLOSE %d goes over the path of the one before", i)
		}
	}
}

// busy posts work at end 1 that cannot complete: a Send that nobody receives, a read that waits for it, receives.
func (p *pair) busy(id engine.ConnID) {
	p.t.Helper()
	p.must(p.ends[1].Post(p.now, id, engine.Work{Stream: 1, Op: engine.OpSend, ID: 1, Data: pattern(5000, 1)}))
	p.must(p.ends[1].Post(p.now, id, engine.Work{Stream: 1, Op: engine.OpRead, ID: 2, Into: make([]byte, 10)}))
	for n := range uint64(3) {
		p.must(p.ends[1].PostReceive(p.now, id, engine.Receive{Stream: 4, ID: 10 + n, Buffer: make([]byte, 8)}))
	}
}

// Whatever ends a connection, every operation and every receive ends once, with an error, and all of them before it.
//
//mr:prop P24 P27
//mr:test MR-CONN-009 MR-CONN-022 MR-CONN-023
//mr:prop P24 P27
func TestEndOfAConnectionEndsEverythingOnce(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(p *pair, ids [2]engine.ConnID)
		want error
	}{
		"the peer closes":  {func(p *pair, ids [2]engine.ConnID) { p.must(p.ends[0].Close(p.now, ids[0])) }, engine.ErrClosed},
		"the peer is gone": {func(p *pair, _ [2]engine.ConnID) { p.drop = everything }, engine.ErrDead},
		"the peer has gone for longer here": {func(p *pair, ids [2]engine.ConnID) {
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 9, Op: engine.OpWrite, Data: make([]byte, 9)}))
			p.drop = func(from int, d engine.Datagram) bool { return opcodeAnswered(d) != wire.OpcodeAbort }
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, engine.Config{})
			ids := p.connect(2)
			p.busy(ids[1])
			c.end(p, ids)
			p.run("the end", func() bool { return p.count(1, engine.Closed) == 1 })
			p.settle()
			ended := map[uint64]int{}
			for i, ev := range p.events[1] {
				switch ev.Kind {
				case engine.Completed, engine.Received:
					ended[ev.ID]++
					if ev.Err == nil || c.want != nil && !errors.Is(ev.Err, c.want) {
						t.Errorf("%d ends with %v", ev.ID, ev.Err)
					}
				case engine.Closed:
					if i != len(p.events[1])-1 {
						t.Errorf("events follow the connection's end: %+v", p.events[1][i+1:])
					}
				}
			}
			for _, id := range []uint64{1, 2, 10, 11, 12} {
				if ended[id] != 1 {
					t.Errorf("%d ended %d times", id, ended[id])
				}
			}
		})
	}
}

// From the wish to close on, nothing new is taken, and what was taken goes on until it is acknowledged.
//
//mr:test MR-CONN-008
func TestClosingConnectionFinishesItsWork(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(2)
	p.lose(5, 0.2)
	lossy, closed := p.drop, false
	p.drop = func(from int, d engine.Datagram) bool {
		if from == 0 && opcodeAnswered(d) == wire.OpcodeClose {
			closed = true
			a, _ := p.ends[0].ConnStats(ids[0])
			if b, _ := p.ends[1].ConnStats(ids[1]); a.InFlight != 0 || b.BytesReceived < 1<<16 {
				t.Errorf("CLOSE leaves with %d bytes in flight, %d have arrived", a.InFlight, b.BytesReceived)
			}
		}
		return lossy(from, d)
	}
	key, err := p.ends[1].Register(make([]byte, 1<<16), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<16)}))
	p.turn()
	p.must(p.ends[0].Close(p.now, ids[0]))
	if err := p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key}); !errors.Is(err, engine.ErrNotOpen) {
		t.Errorf("posting on a closing connection: %v", err)
	}
	p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 })
	if ev, _ := p.find(0, engine.Completed); ev.Err != nil || !closed {
		t.Errorf("the Write ends with %v; CLOSE was sent: %v", ev.Err, closed)
	}
}
