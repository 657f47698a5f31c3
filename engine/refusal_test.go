// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// loseFirst loses the first packets of an end with an opcode.
func (p *pair) loseFirst(end int, opcode wire.Opcode, n int) {
	p.drop = func(from int, d engine.Datagram) bool {
		if from == end && opcodeAnswered(d) == opcode && n > 0 {
			n--
			return true
		}
		return false
	}
}

// A refusal that is lost, even three times, is said again: the operation ends with it, soon, and does not hang.
//
//mr:test MR-STREAM-007 MR-STREAM-009 MR-STREAM-014
func TestLostRefusalIsSaidAgain(t *testing.T) {
	for want, work := range map[wire.NoticeCode]engine.Work{
		wire.NoticeCodeBadKey:  {Op: engine.OpWrite, Key: 1, Data: make([]byte, 100)},
		wire.NoticeCodeBounds:  {Op: engine.OpWrite, At: 1000, Data: make([]byte, 100)},
		wire.NoticeCodeRight:   {Op: engine.OpWrite, Data: make([]byte, 100)},
		wire.NoticeCodeTooLong: {Op: engine.OpSend, Data: make([]byte, 100)},
	} {
		p := newPair(t, engine.Config{Chunk: 512})
		ids := p.connect(2)
		rights := engine.RemoteWrite
		if want == wire.NoticeCodeRight {
			rights = engine.RemoteRead
		}
		key, err := p.ends[1].Register(make([]byte, 1000), rights)
		p.must(err)
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Buffer: make([]byte, 10)}))
		if work.Key == 0 {
			work.Key = key
		}
		p.loseFirst(1, wire.OpcodeNotice, 3)
		began := p.now
		p.must(p.ends[0].Post(p.now, ids[0], work))
		p.run("the refusal", func() bool { return p.count(0, engine.Completed) == 1 })
		var refused *engine.OpError
		if ev, _ := p.find(0, engine.Completed); !errors.As(ev.Err, &refused) || refused.Code != want {
			t.Errorf("%v: it ended with %v", want, ev.Err)
		}
		if took := p.now.Sub(began); took > 5*time.Millisecond {
			t.Errorf("%v: it took %v", want, took)
		}
	}
}

// Receives that are always posted late, after the refusal, cost a round trip each, and not a timer; and where every
// announcement of them is lost, the timer that repairs it is short.
//
//mr:test MR-STREAM-020 MR-STREAM-021
//mr:prop P22
func TestLateReceivesCostLittle(t *testing.T) {
	for name, c := range map[string]struct {
		lost int
		each time.Duration
	}{"announced": {0, 250 * time.Microsecond}, "announcements lost": {1 << 30, time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			const n = 100
			p := newPair(t, engine.Config{Chunk: 512})
			ids := p.connect(2)
			p.loseFirst(1, wire.OpcodeReceiveReady, c.lost)
			began := p.now
			for i := range n {
				p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpSend, Data: make([]byte, 1000)}))
				late := p.now.Add(100 * time.Microsecond)
				p.run("the refusal", func() bool { return p.now >= late })
				p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Buffer: make([]byte, 1000)}))
				p.run("a Send", func() bool { return p.count(0, engine.Completed) == i+1 })
			}
			if refused := p.ends[1].Stats().SentOf(wire.OpcodeNotice); refused < n {
				t.Errorf("%d refusals", refused)
			}
			t.Logf("%v for each Send, of which its receive is late by 100µs", p.now.Sub(began)/n)
			if took := p.now.Sub(began); took > n*c.each {
				t.Errorf("%v for each Send", took/n)
			}
		})
	}
}
