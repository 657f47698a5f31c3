// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// refusal runs to the arrival of the first NOTICE at end 0, and returns its time.
func (p *pair) refusal() (at engine.Time) {
	p.t.Helper()
	p.drop = func(from int, d engine.Datagram) bool {
		if opcodeAnswered(d) == wire.OpcodeNotice && at == 0 {
			at = p.now.Add(wireDelay)
		}
		return false
	}
	p.run("a refusal", func() bool { return at > 0 && p.now >= at })
	p.drop = nil
	return at
}

// A receive that is posted just before a Send gives up is in time; one that its RECEIVE_READY tells of later is not.
//
//mr:test MR-STREAM-021 MR-STREAM-020
func TestLastMomentForAReceive(t *testing.T) {
	for spare, ok := range map[time.Duration]bool{time.Microsecond: true, 1: true, -1: false, -time.Millisecond: false} {
		p := newPair(t, engine.Config{})
		ids := p.connect(2)
		p.settle()
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, ID: 1, Data: []byte("anybody?")}))
		refused := p.refusal()
		at := refused.Add(10*time.Second - wireDelay - spare) // RECEIVE_READY arrives with so much time to spare
		p.drop = func(from int, d engine.Datagram) bool {     // the tries of just before, and of until then, are lost
			return opcodeAnswered(d) == wire.OpcodeSend && p.now >= at.Add(-wireDelay) && p.now < at.Add(wireDelay)
		}
		for next := p.now; next < at; next = p.turn() {
			p.now = max(p.now, next)
		}
		p.now = at
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 1, ID: 9, Buffer: make([]byte, 10)}))
		p.run("an end", func() bool { return p.count(0, engine.Completed) == 1 })
		if ev, _ := p.find(0, engine.Completed); (ev.Err == nil) != ok || ev.Err != nil && !errors.Is(ev.Err, engine.ErrNoReceive) {
			t.Errorf("%v to spare: %v", spare, ev.Err)
		}
	}
}

// MR-STREAM-021: a Send for which nobody posts a receive ends after ten seconds with an error of its own, and with few packets;
// its stream ends at both sides and can be used again; the connection lives.
//
//mr:prop P22
//mr:test MR-STREAM-021
func TestSendGivesUpWhenNobodyReceives(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(2)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, ID: 1, Data: []byte("anybody?")}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, ID: 2, Data: []byte("hello?")}))
	refused := p.refusal()
	p.run("giving up", func() bool { return p.count(0, engine.Completed) == 2 })
	if took := p.now.Sub(refused); took != 10*time.Second {
		t.Errorf("it took %v", took)
	}
	for _, ev := range p.events[0] {
		if ev.Kind == engine.Completed && !errors.Is(ev.Err, engine.ErrNoReceive) {
			t.Errorf("operation %d ends with %v", ev.ID, ev.Err)
		}
	}
	stats := p.ends[0].Stats()
	if sent := stats.SentOf(wire.OpcodeSend); sent < 100 || sent > 3000 {
		t.Errorf("%d packets tried in ten seconds", sent)
	}
	p.run("the stream's end", func() bool { return p.count(1, engine.StreamEnded) == 1 && p.count(0, engine.StreamClosed) == 1 })
	p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 1, ID: 9, Buffer: make([]byte, 10)}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, ID: 3, Data: []byte("again")}))
	p.run("the stream's next life", func() bool { return p.count(1, engine.Received) == 1 })
}
