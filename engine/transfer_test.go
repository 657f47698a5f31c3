// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

func pattern(n int, seed uint64) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

//mr:test MR-CONN-008 MR-CONN-009
func TestConnectionOpensAndCloses(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(4)
	p.must(p.ends[0].Close(p.now, ids[0]))
	p.run("close", func() bool { return p.count(0, engine.Closed) == 1 && p.count(1, engine.Closed) == 1 })
	for end := range 2 {
		if ev, _ := p.find(end, engine.Closed); ev.Err != nil {
			t.Errorf("end %d: closed with %v", end, ev.Err)
		}
	}
	p.settle()
	for end := range 2 {
		if _, ok := p.ends[end].ConnStats(ids[end]); ok {
			t.Errorf("end %d still holds the connection", end)
		}
	}
}

// Writes of all sizes land where they belong, under loss in both directions.
//
//mr:prop P14 P16 P25
//mr:test MR-WIRE-010 MR-STREAM-027 MR-LOSS-003
func TestWritesArriveUnderLoss(t *testing.T) {
	for _, loss := range []float64{0, 0.01, 0.1, 0.3} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 1024})
			rng := rand.New(rand.NewPCG(7, 7))
			ids := p.connect(8)
			p.drop = func(int, engine.Datagram) bool { return rng.Float64() < loss }
			memory := make([]byte, 1<<20)
			key, err := p.ends[1].Register(memory, engine.RemoteWrite)
			p.must(err)
			want := make([]byte, len(memory))
			at, n := 0, 0
			for _, size := range []int{0, 1, 7, 1023, 1024, 1025, 4096, 100_000, 1, 500_000, 1024} {
				data := pattern(size, uint64(size))
				copy(want[at:], data)
				p.must(p.ends[0].Post(p.now, ids[0], engine.Work{
					Stream: uint16(n % 3), Op: engine.OpWrite, ID: uint64(n), Data: data, Key: key, At: uint64(at),
				}))
				at += size
				n++
			}
			p.run("writes", func() bool { return p.count(0, engine.Completed) == n })
			if !bytes.Equal(memory, want) {
				t.Fatal("memory differs")
			}
			for _, ev := range p.events[0] {
				if ev.Kind == engine.Completed && ev.Err != nil {
					t.Errorf("operation %d: %v", ev.ID, ev.Err)
				}
			}
		})
	}
}

// Sends and immediates fill posted receives in order, whatever is lost on the way.
//
//mr:prop P21 P23 P26
//mr:test MR-STREAM-016 MR-STREAM-017 MR-STREAM-005
func TestSendsFillPostedReceivesInOrder(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 512})
	rng := rand.New(rand.NewPCG(3, 3))
	ids := p.connect(8)
	p.drop = func(int, engine.Datagram) bool { return rng.Float64() < 0.1 }
	const n = 100
	key, err := p.ends[1].Register(make([]byte, 64), engine.RemoteWrite)
	p.must(err)
	buffers := make([][]byte, n)
	for i := range buffers {
		buffers[i] = make([]byte, 5000)
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 9, ID: uint64(i), Buffer: buffers[i]}))
		w := engine.Work{Stream: 9, Op: engine.OpSend, ID: uint64(i), Data: pattern(i*50, uint64(i)), Match: uint64(i) << 40}
		if i%10 == 3 {
			w = engine.Work{Stream: 9, Op: engine.OpWrite, ID: uint64(i), Key: key, Immediate: true, Value: uint32(i)}
		}
		p.must(p.ends[0].Post(p.now, ids[0], w))
	}
	p.run("sends", func() bool { return p.count(0, engine.Completed) == n && p.count(1, engine.Received) == n })
	i := 0
	for _, ev := range p.events[1] {
		if ev.Kind != engine.Received {
			continue
		}
		want := engine.Event{Kind: engine.Received, Conn: ids[1], Stream: 9, ID: uint64(i), Length: uint32(i * 50), Match: uint64(i) << 40}
		if i%10 == 3 {
			want.Length, want.Match, want.Immediate, want.Written, want.Value = 0, 0, true, true, uint32(i)
		}
		if ev != want {
			t.Fatalf("received %+v, want %+v", ev, want)
		}
		if !bytes.Equal(buffers[i][:want.Length], pattern(int(want.Length), uint64(i))) {
			t.Fatalf("buffer %d differs", i)
		}
		i++
	}
}

// A Send without a posted receive waits, and goes on when one is posted; other streams never notice.
//
//mr:prop P22 P23
//mr:test MR-STREAM-026 MR-STREAM-021
func TestSendWaitsForReceive(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 512})
	ids := p.connect(4)
	data := pattern(5000, 1)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, ID: 1, Data: data}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, ID: 2, Data: data[:10]}))
	key, err := p.ends[1].Register(make([]byte, 4096), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 2, Op: engine.OpWrite, ID: 3, Data: data[:4096], Key: key}))
	p.run("the other stream", func() bool { return p.count(0, engine.Completed) == 1 })
	at := p.now
	p.run("refusals", func() bool { return p.now > at.Add(200*time.Millisecond) })
	if n := p.count(0, engine.Completed); n != 1 {
		t.Fatalf("%d operations completed without a receive", n)
	}
	before := p.ends[0].Stats()
	if n := before.SentOf(wire.OpcodeSend); n > 200 {
		t.Errorf("%d packets were sent in vain", n)
	}
	buffers := [2][]byte{make([]byte, 6000), make([]byte, 6000)}
	for i := range buffers {
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 1, ID: uint64(i), Buffer: buffers[i]}))
	}
	posted := p.now
	p.run("sends", func() bool { return p.count(0, engine.Completed) == 3 && p.count(1, engine.Received) == 2 })
	if took := p.now.Sub(posted); took > 5*time.Millisecond {
		t.Errorf("the sends took %v after their receives were posted", took)
	}
	if !bytes.Equal(buffers[0][:5000], data) || !bytes.Equal(buffers[1][:10], data[:10]) {
		t.Fatal("buffers differ")
	}
}

//mr:prop P23
//mr:test MR-STREAM-014 MR-STREAM-009 MR-STREAM-018
func TestRefusedOperationFailsAlone(t *testing.T) {
	cases := []struct {
		name string
		work func(key engine.Key) engine.Work
		want wire.NoticeCode
	}{
		{"wrong key", func(key engine.Key) engine.Work {
			return engine.Work{Op: engine.OpWrite, Key: key + 1, Data: make([]byte, 100)}
		}, wire.NoticeCodeBadKey},
		{"out of bounds", func(key engine.Key) engine.Work {
			return engine.Work{Op: engine.OpWrite, Key: key, At: 1, Data: make([]byte, 4096)}
		}, wire.NoticeCodeBounds},
		{"wraps", func(key engine.Key) engine.Work {
			return engine.Work{Op: engine.OpWrite, Key: key, At: ^uint64(0), Data: make([]byte, 2)}
		}, wire.NoticeCodeBounds},
		{"too long", func(engine.Key) engine.Work { return engine.Work{Op: engine.OpSend, Data: make([]byte, 5000)} }, wire.NoticeCodeTooLong},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 512})
			ids := p.connect(4)
			memory := make([]byte, 4096)
			key, err := p.ends[1].Register(memory, engine.RemoteWrite)
			p.must(err)
			p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 5, ID: 77, Buffer: make([]byte, 100)}))
			bad := c.work(key)
			bad.Stream, bad.ID = 5, 1
			p.must(p.ends[0].Post(p.now, ids[0], bad))
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 6, Op: engine.OpWrite, ID: 2, Key: key, Data: pattern(4096, 2)}))
			p.run("operations", func() bool { return p.count(0, engine.Completed) == 2 && p.count(1, engine.StreamEnded) == 1 })
			p.settle()
			for _, ev := range p.events[0] {
				var refused *engine.OpError
				switch {
				case ev.Kind != engine.Completed:
				case ev.ID == 1 && (!errors.As(ev.Err, &refused) || refused.Code != c.want || !errors.Is(ev.Err, engine.ErrRefused)):
					t.Errorf("the bad operation ended with %v", ev.Err)
				case ev.ID == 2 && ev.Err != nil:
					t.Errorf("the good operation ended with %v", ev.Err)
				}
			}
			if !bytes.Equal(memory, pattern(4096, 2)) {
				t.Error("memory differs")
			}
			if ev, ok := p.find(1, engine.Received); !ok || !errors.Is(ev.Err, engine.ErrEnded) || ev.ID != 77 {
				t.Errorf("the posted receive ended with %+v", ev)
			}
			if s, _ := p.ends[0].ConnStats(ids[0]); s.InFlight != 0 {
				t.Errorf("%d bytes stay in flight", s.InFlight)
			}
		})
	}
}

//mr:test MR-STREAM-023 MR-STREAM-025
func TestStreamEndsAndOpensAgain(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(2)
	for round := range 3 {
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 4, ID: uint64(round), Buffer: make([]byte, 10)}))
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 4, Op: engine.OpSend, Data: []byte("hello")}))
		p.must(p.ends[0].EndStream(p.now, ids[0], 4))
		if err := p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 4, Op: engine.OpSend}); !errors.Is(err, engine.ErrEnded) {
			t.Fatalf("posting behind the end: %v", err)
		}
		p.run("round", func() bool {
			return p.count(1, engine.StreamEnded) == round+1 && p.count(0, engine.Completed) == round+1
		})
		p.settle()
	}
	if n := p.count(1, engine.StreamOpened); n != 3 {
		t.Errorf("%d streams were opened, want 3", n)
	}
}

// Ten seconds after the last acknowledgment, and not before, a connection ends with work outstanding, although the peer is heard.
//
//mr:prop P42
//mr:test MR-LOSS-009 MR-CONN-022
func TestSilentPeerEndsTheConnection(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(4)
	p.settle()
	p.drop = func(from int, d engine.Datagram) bool { return from == 0 || opcodeAnswered(d) == wire.OpcodeAbort }
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpSend, ID: 5, Data: make([]byte, 100_000)}))
	dead := p.now.Add(10 * time.Second)
	p.run("ten seconds", func() bool { return p.now >= dead-1 || p.ends[0].NextTimeout() >= dead })
	p.now = dead - 1
	if p.turn(); p.ends[0].NextTimeout() != dead || p.count(0, engine.Closed) > 0 {
		t.Errorf("a nanosecond before, the next timeout is %v away, %d connections are closed", p.ends[0].NextTimeout().Sub(p.now), p.count(0, engine.Closed))
	}
	p.now = dead
	if p.turn(); p.count(0, engine.Closed) != 1 {
		t.Error("the connection outlives its peer by more than ten seconds")
	}
	done, _ := p.find(0, engine.Completed)
	closed, _ := p.find(0, engine.Closed)
	if !errors.Is(done.Err, engine.ErrDead) || !errors.Is(closed.Err, engine.ErrDead) {
		t.Errorf("operation ended with %v, connection with %v", done.Err, closed.Err)
	}
}

func TestUnansweredOpenEnds(t *testing.T) {
	p := newPair(t, engine.Config{})
	p.drop = func(int, engine.Datagram) bool { return true }
	_, err := p.ends[0].Open(p.now, routes(4))
	p.must(err)
	p.run("giving up", func() bool { return p.count(0, engine.Closed) == 1 })
	if ev, _ := p.find(0, engine.Closed); !errors.Is(ev.Err, engine.ErrDead) {
		t.Errorf("closed with %v", ev.Err)
	}
}
