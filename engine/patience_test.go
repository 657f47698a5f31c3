// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

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
	began := p.now
	p.run("giving up", func() bool { return p.count(0, engine.Completed) == 2 })
	if took := p.now.Sub(began); took < 10*time.Second || took > 11*time.Second {
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
