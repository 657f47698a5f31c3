// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// narrowed loses what an end sends and is longer than most bytes.
func narrowed(end, most int) func(int, engine.Datagram) bool {
	return func(from int, d engine.Datagram) bool { return from == end && len(d.Bytes) > most }
}

// isMTU checks an error that says which packets vanish.
func isMTU(t *testing.T, err error, lost int) {
	t.Helper()
	var e *engine.MTUError
	if !errors.As(err, &e) || !errors.Is(err, engine.ErrMTU) || !strings.Contains(err.Error(), "mtu") {
		t.Fatalf("ended with %v", err)
	}
	want := &engine.MTUError{Conn: 1, Peer: routes(1)[0].Remote, Path: e.Path, Lost: lost, Passed: e.Passed}
	if diff := cmp.Diff(want, e, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" || e.Passed < 36 || e.Passed >= lost {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// When full packets vanish on all paths, the operation ends with an error that says so, long before the time after which a
// silent peer counts as dead. What is short goes on.
//
//mr:test MR-FAIL-011 MR-LOSS-004
func TestFullPacketsVanishEverywhere(t *testing.T) {
	for _, paths := range []int{1, 8} {
		p := newPair(t, engine.Config{Chunk: 1024})
		ids := p.connect(paths)
		key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
		p.must(err)
		p.drop = narrowed(0, 600)
		began := p.now
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpWrite, ID: 1, Key: key, Data: make([]byte, 1<<20)}))
		for i := range 20 {
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 2, Op: engine.OpWrite, ID: uint64(2 + i), Key: key, Data: make([]byte, 500)}))
		}
		p.run("all", func() bool { return p.count(0, engine.Completed) == 21 })
		for _, ev := range p.events[0] {
			switch {
			case ev.Kind != engine.Completed:
			case ev.ID == 1:
				isMTU(t, ev.Err, 1024+56)
			case ev.Err != nil:
				t.Errorf("the short operation %d ends with %v", ev.ID, ev.Err)
			}
		}
		if took := p.now.Sub(began); took > 20*time.Millisecond {
			t.Errorf("%d paths: it took %v", paths, took)
		}
	}
}

// When the time is up before a chunk has been lost 64 times, the connection ends with the same error; when the peer was not
// heard either, it is dead.
//
//mr:test MR-FAIL-011 MR-LOSS-009
func TestConnectionEndsForItsMTU(t *testing.T) {
	for name, silent := range map[string]bool{"heard": false, "silent": true} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 1024, DeadAfter: time.Millisecond})
			ids := p.connect(2)
			key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
			p.must(err)
			p.drop = narrowed(0, 100)
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<12)}))
			if silent {
				p.run("losses", func() bool {
					s, _ := p.ends[0].ConnStats(ids[0])
					return s.Paths[0].Lost > 4
				})
				p.drop = func(int, engine.Datagram) bool { return true }
			}
			p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 })
			ev, _ := p.find(0, engine.Closed)
			if silent {
				if !errors.Is(ev.Err, engine.ErrDead) {
					t.Errorf("it ended with %v", ev.Err)
				}
				return
			}
			isMTU(t, ev.Err, 1024+56)
			if ev, _ := p.find(0, engine.Completed); !errors.Is(ev.Err, engine.ErrMTU) {
				t.Errorf("the operation ended with %v", ev.Err)
			}
		})
	}
}

// The system of the sender refuses full packets on the routes of some paths, or of all: the error is reported to the endpoint
// for each packet. Some: the others carry everything. All: the operation says why it ends.
//
//mr:test MR-FAIL-011 MR-FAIL-008
func TestSystemRefusesFullPackets(t *testing.T) {
	for name, all := range map[string]bool{"one path": false, "all paths": true} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 1024})
			ids := p.connect(4)
			memory := make([]byte, 1<<18)
			key, err := p.ends[1].Register(memory, engine.RemoteWrite)
			p.must(err)
			var refused []engine.Route
			p.drop = func(from int, d engine.Datagram) bool {
				if from != 0 || len(d.Bytes) <= 600 || !all && pathOf(d) != 1 {
					return false
				}
				refused = append(refused, d.Route)
				return true
			}
			report := func() {
				for _, route := range refused {
					p.ends[0].RouteError(p.now, route, engine.TooBig)
				}
				refused = refused[:0]
			}
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: pattern(len(memory), 2)}))
			p.run("the Write", func() bool { report(); return p.count(0, engine.Completed) == 1 })
			ev, _ := p.find(0, engine.Completed)
			if all {
				isMTU(t, ev.Err, 1024+56)
				return
			}
			if ev.Err != nil || !bytes.Equal(memory, pattern(len(memory), 2)) {
				t.Fatalf("the Write ended with %v", ev.Err)
			}
			if s, _ := p.ends[0].ConnStats(ids[0]); s.Paths[1].Downs != 1 || s.Paths[1].Acked > 0 {
				t.Errorf("path 1: %+v", s.Paths[1])
			}
		})
	}
}

// A packet content that never passes is not an MTU: packets as long arrive.
//
//mr:test MR-FAIL-011
func TestUnluckyChunkIsNoMTU(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024})
	ids := p.connect(2)
	key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	p.drop = func(_ int, d engine.Datagram) bool {
		var w wire.Packet
		_, err := w.Decode(d.Bytes)
		return err == nil && w.Base.Opcode == wire.OpcodeWrite && w.Plain.Write.Message.Stream == 1 && w.Plain.Write.Message.Offset == 8192
	}
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<16)}))
	for range 40 {
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 2, Op: engine.OpWrite, ID: 1, Key: key, Data: make([]byte, 1<<20)}))
	}
	p.run("the failure", func() bool {
		ev := last(p.events[0])
		return len(ev) > 0 && ev[len(ev)-1].Err != nil
	})
	if ev := p.events[0][len(p.events[0])-1]; !errors.Is(ev.Err, engine.ErrRefused) || errors.Is(ev.Err, engine.ErrMTU) {
		t.Errorf("it ended with %v", ev.Err)
	}
}

// The bytes of a read do not fit through the network. The reply that says so does: a lost answer never becomes a hang.
//
//mr:test MR-LOSS-004
func TestReadEndsWhenItsBytesVanish(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024})
	ids := p.connect(4)
	key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteRead)
	p.must(err)
	p.drop = narrowed(1, 600)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpRead, ID: 1, Key: key, Into: make([]byte, 1<<16)}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpRead, ID: 2, Key: key, Into: make([]byte, 500)}))
	began := p.now
	p.run("the reads", func() bool { return p.count(0, engine.Completed) == 2 })
	for _, ev := range p.events[0] {
		var refused *engine.OpError
		switch {
		case ev.Kind != engine.Completed:
		case ev.ID == 1 && (!errors.As(ev.Err, &refused) || refused.Code != wire.NoticeCodeStopped),
			ev.ID == 2 && ev.Err != nil:
			t.Errorf("read %d ends with %v", ev.ID, ev.Err)
		}
	}
	if took := p.now.Sub(began); took > 20*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	p.drop = nil
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpRead, ID: 3, Key: key, Into: make([]byte, 1<<16)}))
	p.run("another read", func() bool { return p.count(0, engine.Completed) == 3 })
}

// Small packets that arrive on a path which is to prove itself, ACKs among them, do not bring it back.
//
//mr:test MR-FAIL-005 MR-FAIL-007
func TestOnlyAFullPacketBringsAPathBack(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024})
	ids := p.connect(2)
	key, err := p.ends[0].Register(make([]byte, 1<<16), engine.RemoteWrite)
	p.must(err)
	dead := p.now.Add(3 * time.Millisecond)
	p.drop = func(from int, d engine.Datagram) bool {
		return pathOf(d) == 1 && (p.now < dead || from == 0 && len(d.Bytes) > 600)
	}
	for end, key := range []engine.Key{0, key} { // both directions of path 1 fail
		if end == 0 {
			key, err = p.ends[1].Register(make([]byte, 1<<16), engine.RemoteWrite)
			p.must(err)
		}
		p.must(p.ends[end].Post(p.now, ids[end], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<16)}))
	}
	p.run("the Writes", func() bool { return p.count(0, engine.Completed) == 1 && p.count(1, engine.Completed) == 1 })
	later := p.now.Add(5 * time.Second)
	p.run("probes", func() bool { return p.now >= later })
	a, _ := p.ends[0].ConnStats(ids[0])
	b, _ := p.ends[1].ConnStats(ids[1])
	if a.Paths[1].Downs != 1 || a.Paths[1].Ups != 0 {
		t.Errorf("the direction that loses full packets: down %d, up %d", a.Paths[1].Downs, a.Paths[1].Ups)
	}
	if b.Paths[1].Downs != 1 || b.Paths[1].Ups != 1 {
		t.Errorf("the direction that carries full packets: down %d, up %d", b.Paths[1].Downs, b.Paths[1].Ups)
	}
}
