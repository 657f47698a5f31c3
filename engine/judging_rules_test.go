// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// A path that loses more than half of what it is given goes out of service while the others lose next to nothing; one that
// loses a quarter stays.
//
//mr:test MR-FAIL-002
func TestPathThatLosesMostIsTakenOut(t *testing.T) {
	for name, c := range map[string]struct {
		loss float64
		down bool
	}{
		"most": {0.75, true}, "a quarter": {0.25, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 1024})
			ids := p.connect(4)
			rng := rand.New(rand.NewPCG(1, 2))
			p.drop = func(from int, d engine.Datagram) bool {
				return pathOf(d) == 2 && opcodeAnswered(d) == wire.OpcodeWrite && rng.Float64() < c.loss
			}
			key, err := p.ends[1].Register(make([]byte, 4<<20), engine.RemoteWrite)
			p.must(err)
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 4<<20)}))
			p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
			s, _ := p.ends[0].ConnStats(ids[0])
			for _, path := range s.Paths {
				if down := path.Downs > 0; down != (c.down && path.ID == 2) {
					t.Errorf("path %d went down %d times: %+v", path.ID, path.Downs, path)
				}
			}
		})
	}
}

// A failed path is probed for the life of the connection: with growing pauses up to a second, over one port after another, each
// with its epoch, and with packets as large as the largest.
//
//mr:test MR-FAIL-007
//mr:test MR-WIRE-018
func TestFailedPathIsProbedForEver(t *testing.T) {
	const chunk = 1024
	p := newPair(t, engine.Config{Chunk: chunk})
	ids := p.connect(3)
	key, err := p.ends[1].Register(make([]byte, 1<<16), engine.RemoteWrite)
	p.must(err)
	ports, epochs := map[uint16]bool{}, map[uint8]bool{}
	probes := p.collect(0, wire.OpcodeProbe, func(_ int, d engine.Datagram) bool { return pathOf(d) == 1 })
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<16)}))
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
	end := p.now.Add(30 * time.Second)
	p.run("a while", func() bool { return p.now >= end })
	var large []sending
	for _, d := range *probes {
		var base wire.Base
		if _, err := base.Decode(d.Bytes); err != nil {
			t.Fatal(err)
		}
		if base.Path == 1 && len(d.Bytes) > 100 {
			large = append(large, d)
			ports[d.Route.Local.Port()], epochs[base.Epoch] = true, true
		}
	}
	growing(t, large)
	if n := len(large); large[n-1].at.Sub(large[n-2].at) != time.Second {
		t.Errorf("the last pause is %v", large[n-1].at.Sub(large[n-2].at))
	}
	if n := len(large); n < 30 || large[n-1].at < end.Add(-2*time.Second) {
		t.Errorf("%d probes in %v", n, 30*time.Second)
	}
	for _, d := range large {
		if len(d.Bytes) != chunk+engine.Overhead {
			t.Fatalf("a probe of %d bytes", len(d.Bytes))
		}
	}
	if !epochs[1] || ports[10001] {
		t.Errorf("probes went over ports %v, in epochs %v", ports, epochs)
	}
}

// A chunk that no path delivers is sent 64 times, eight times on each path that stays in service; then its stream fails, and no
// other. One that arrives at the 64th time completes.
//
//mr:test MR-LOSS-004
func TestChunkThatNeverArrivesFailsItsStream(t *testing.T) {
	for name, c := range map[string]struct {
		lost  int // transmissions
		fault int // after so many of them their path fails
		fails bool
	}{
		"63 losses": {63, 0, false}, "64 losses": {64, 0, true}, "65 losses": {65, 0, true},
		"63 losses and a fault": {63, 3, false}, "64 losses and a fault": {64, 3, true}, "65 losses and a fault": {65, 3, true},
	} {
		p := newPair(t, engine.Config{Chunk: 1024})
		ids := p.connect(4)
		key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
		p.must(err)
		tries, paths := 0, map[uint16]int{}
		var faulty engine.Route
		p.drop = func(_ int, d engine.Datagram) bool {
			var w wire.Packet
			_, err := w.Decode(d.Bytes)
			if err != nil || w.Base.Opcode != wire.OpcodeWrite || w.Plain.Write.Message.Stream != 1 || w.Plain.Write.Message.Offset != 8192 {
				return false
			}
			tries++
			paths[w.Base.Path]++
			if tries == c.fault+1 && c.fault > 0 {
				faulty = d.Route // of a transmission that is not known to be lost yet
			}
			return tries <= c.lost+min(c.fault, 1)
		}
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpWrite, ID: 1, Key: key, Data: make([]byte, 1<<16)}))
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 2, Op: engine.OpWrite, ID: 2, Key: key, Data: make([]byte, 1<<20)}))
		p.run("both ends", func() bool {
			if faulty.Local.IsValid() {
				p.ends[0].RouteError(p.now, faulty, engine.Unreachable)
				faulty = engine.Route{}
			}
			return p.count(0, engine.Completed) == 2 && (!c.fails || p.count(1, engine.StreamEnded) == 1)
		})
		for _, ev := range p.events[0] {
			var failed *engine.OpError
			switch {
			case ev.Kind != engine.Completed:
			case ev.ID == 1 && c.fails:
				if !errors.As(ev.Err, &failed) || failed.Code != wire.NoticeCodeStopped {
					t.Errorf("%s: the operation ends with %v", name, ev.Err)
				}
			case ev.Err != nil:
				t.Errorf("%s: the operation of stream %d ends with %v", name, ev.Stream, ev.Err)
			}
		}
		// A transmission that is out when its path fails is not lost: it counts for nothing.
		if want := 64 + min(c.fault, 1); tries != want {
			t.Errorf("%s: the chunk was sent %d times, want %d", name, tries, want)
		}
		for path, n := range paths {
			if n%8 != 0 && c.fails && c.fault == 0 {
				t.Errorf("%s: it was sent %d times on path %d", name, n, path)
			}
		}
	}
}

// All packets of one path, and of no other, ask for feedback there; the wish moves when a timer has run out.
//
//mr:test MR-ACK-014
func TestFeedbackIsWantedOnOnePath(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024, InitialWindow: 2000, MaxWindow: 16_000})
	named, moves := -1, 0
	deaf := engine.Time(0)
	p.drop = func(from int, d engine.Datagram) bool {
		var base wire.Base
		if _, err := base.Decode(d.Bytes); err != nil || base.Opcode >= wire.OpcodeOpen && base.Opcode < wire.OpcodeConfirm {
			return false
		}
		if from == 0 && base.FeedbackHere && int(base.Path) != named {
			named = int(base.Path)
			moves++
		}
		if from == 0 && deaf == 0 && base.FeedbackHere != (int(base.Path) == named) {
			t.Errorf("%v on path %d does not say that feedback is wanted there", base.Opcode, base.Path)
		}
		return base.Path == 0 && p.now < deaf
	}
	ids := p.connect(4)
	key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	write := func(n int) {
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
		p.run("a Write", func() bool { return p.count(0, engine.Completed) == n })
	}
	write(1)
	if moves != 1 || named != 0 {
		t.Errorf("feedback was wanted on %d, moved %d times", named, moves-1)
	}
	deaf = p.now.Add(2 * time.Millisecond)
	write(2)
	if moves < 2 {
		t.Error("feedback is wanted on path 0 all the time, although nothing came back there for a while")
	}
}
