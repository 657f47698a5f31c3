// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

func (p *pair) lose(seed uint64, probability float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	p.drop = func(int, engine.Datagram) bool { return rng.Float64() < probability }
}

// Reads of all sizes return the region's bytes, and each ends once, under loss of requests, replies and ACKs.
//
//mr:prop P28
//mr:test MR-STREAM-010 MR-STREAM-006
func TestReadsReturnTheRegion(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 512, Requests: 3})
	ids := p.connect(8)
	p.lose(5, 0.1)
	memory := pattern(300_000, 1)
	key, err := p.ends[1].Register(memory, engine.RemoteRead)
	p.must(err)
	sizes := []int{0, 1, 511, 512, 513, 100_000, 7, 200_000, 1024, 0, 40_000}
	into := make([][]byte, len(sizes))
	for i, size := range sizes {
		into[i] = make([]byte, size)
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{
			Stream: uint16(i % 2), Op: engine.OpRead, ID: uint64(i), Into: into[i], Key: key, At: uint64(i * 1000),
		}))
	}
	p.run("reads", func() bool { return p.count(0, engine.Completed) == len(sizes) })
	for i, size := range sizes {
		if !bytes.Equal(into[i], memory[i*1000:][:size]) {
			t.Errorf("read %d differs", i)
		}
	}
	for _, ev := range p.events[0] {
		if ev.Err != nil {
			t.Errorf("operation %d: %v", ev.ID, ev.Err)
		}
	}
}

// Every atomic operation happens exactly once, whatever is lost or sent again.
//
//mr:prop P28
//mr:test MR-STREAM-010 MR-STREAM-032
func TestAtomicsHappenExactlyOnce(t *testing.T) {
	p := newPair(t, engine.Config{Requests: 4})
	ids := p.connect(4)
	p.lose(9, 0.3)
	memory := make([]byte, 64)
	key, err := p.ends[1].Register(memory, engine.RemoteAtomic)
	p.must(err)
	const n = 200
	for i := range n {
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: uint16(i % 3), Op: engine.OpFetchAdd, ID: uint64(i), Key: key, At: 8, Operand: 1}))
	}
	p.run("adds", func() bool { return p.count(0, engine.Completed) == n })
	if got := binary.NativeEndian.Uint64(memory[8:]); got != n {
		t.Fatalf("the word is %d after %d additions", got, n)
	}
	seen := map[uint64]bool{}
	for _, ev := range p.events[0] {
		if ev.Kind == engine.Completed {
			seen[ev.Result] = true
		}
	}
	if len(seen) != n {
		t.Fatalf("%d different results of %d additions", len(seen), n)
	}
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpCompareSwap, ID: n, Key: key, At: 8, Compare: n, Operand: 1 << 60}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpCompareSwap, ID: n + 1, Key: key, At: 8, Compare: n, Operand: 3, Fence: true}))
	p.run("swaps", func() bool { return p.count(0, engine.Completed) == n+2 })
	results := p.events[0][len(p.events[0])-2:]
	if results[0].Result != n || results[1].Result != 1<<60 || binary.NativeEndian.Uint64(memory[8:]) != 1<<60 {
		t.Fatalf("swaps returned %d and %d, the word is %d", results[0].Result, results[1].Result, binary.NativeEndian.Uint64(memory[8:]))
	}
}

//mr:test MR-STREAM-031
func TestRefusedRequestFailsAlone(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(2)
	key, err := p.ends[1].Register(make([]byte, 64), engine.RemoteRead)
	p.must(err)
	works := []struct {
		work engine.Work
		want wire.NoticeCode
	}{
		{engine.Work{Op: engine.OpRead, Key: key + 1, Into: make([]byte, 8)}, wire.NoticeCodeBadKey},
		{engine.Work{Op: engine.OpRead, Key: key, At: 60, Into: make([]byte, 8)}, wire.NoticeCodeBounds},
		{engine.Work{Op: engine.OpFetchAdd, Key: key}, wire.NoticeCodeRight},
		{engine.Work{Op: engine.OpRead, Key: key, Into: make([]byte, 64)}, 0},
	}
	for i, w := range works {
		w.work.ID = uint64(i)
		p.must(p.ends[0].Post(p.now, ids[0], w.work))
	}
	p.run("requests", func() bool { return p.count(0, engine.Completed) == len(works) })
	for _, ev := range p.events[0] {
		var refused *engine.OpError
		switch {
		case ev.Kind != engine.Completed:
		case works[ev.ID].want == 0 && ev.Err != nil,
			works[ev.ID].want != 0 && (!errors.As(ev.Err, &refused) || refused.Code != works[ev.ID].want):
			t.Errorf("request %d ended with %v, want %v", ev.ID, ev.Err, works[ev.ID].want)
		}
	}
}

// A read whose region goes away under it ends with an error, not with silence and not with other bytes.
//
//mr:prop P18
//mr:test MR-STREAM-031
func TestReadOfAVanishedRegionEnds(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 512})
	ids := p.connect(2)
	key, err := p.ends[1].Register(make([]byte, 10<<20), engine.RemoteRead)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpRead, Key: key, Into: make([]byte, 10<<20)}))
	half := func() bool {
		s, _ := p.ends[0].ConnStats(ids[0])
		return s.BytesReceived > 1<<20
	}
	p.run("half of it", half)
	p.must(p.ends[1].Deregister(key))
	p.run("the end", func() bool { return p.count(0, engine.Completed) == 1 })
	if ev, _ := p.find(0, engine.Completed); !errors.Is(ev.Err, engine.ErrRefused) {
		t.Errorf("the read ended with %v", ev.Err)
	}
}

// Of Writes that overlap, the later one wins when a fence lies between them.
//
//mr:test MR-STREAM-029
//mr:prop P20
func TestFenceWaitsForEarlierOperations(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 512})
	ids := p.connect(8)
	p.lose(2, 0.05)
	memory := make([]byte, 100_000)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite|engine.RemoteRead)
	p.must(err)
	ones, twos := bytes.Repeat([]byte{1}, len(memory)), bytes.Repeat([]byte{2}, len(memory))
	into := make([]byte, len(memory))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, ID: 1, Key: key, Data: ones}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpRead, ID: 2, Key: key, Into: into}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, ID: 3, Key: key, Data: twos, Fence: true}))
	p.run("operations", func() bool { return p.count(0, engine.Completed) == 3 })
	if !bytes.Equal(into, ones) {
		t.Error("the read between the Writes saw something else than the first")
	}
	if !bytes.Equal(memory, twos) {
		t.Error("the fenced Write did not win")
	}
}

func TestPiecesArriveAsOneMessage(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 512})
	ids := p.connect(4)
	p.lose(4, 0.1)
	want := pattern(10_000, 3)
	pieces := [][]byte{want[:1], want[1:1], want[1:600], want[600:5000], want[5000:]}
	memory := make([]byte, len(want))
	key, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Pieces: pieces}))
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
	if !bytes.Equal(memory, want) {
		t.Error("memory differs")
	}
}

func TestDeadlineAndCancelEndOperations(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(2)
	late := p.now.Add(3 * time.Millisecond)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, ID: 1, Data: []byte("nobody receives"), Deadline: late}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 2, Op: engine.OpSend, ID: 2, Data: []byte("nor this")}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 2, Op: engine.OpSend, ID: 3, Data: []byte("nor this"), Fence: true}))
	p.run("the deadline", func() bool { return p.count(0, engine.Completed) == 1 })
	if ev, _ := p.find(0, engine.Completed); ev.ID != 1 || !errors.Is(ev.Err, engine.ErrDeadline) || p.now < late {
		t.Errorf("operation %d ended with %v at %d", ev.ID, ev.Err, p.now)
	}
	p.must(p.ends[0].Cancel(p.now, ids[0], 2, 3))
	p.run("the cancellation", func() bool { return p.count(0, engine.Completed) == 2 })
	if ev := p.events[0][len(p.events[0])-1]; ev.ID != 3 || !errors.Is(ev.Err, engine.ErrCanceled) {
		t.Errorf("canceled operation: %+v", ev)
	}
	p.must(p.ends[0].Cancel(p.now, ids[0], 2, 2))
	p.run("the stream's end", func() bool { return p.count(0, engine.Completed) == 3 && p.count(1, engine.StreamEnded) == 2 })
	p.settle()
	p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 2, ID: 9, Buffer: make([]byte, 10)}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 2, Op: engine.OpSend, ID: 4, Data: []byte("again")}))
	p.run("the stream's next life", func() bool { return p.count(1, engine.Received) == 1 })
}

func TestImpossibleWorkIsRefusedByThePoster(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(1)
	for name, w := range map[string]engine.Work{
		"no operation":   {},
		"unaligned":      {Op: engine.OpFetchAdd, At: 4},
		"compared add":   {Op: engine.OpFetchAdd, Compare: 1},
		"immediate read": {Op: engine.OpRead, Immediate: true},
	} {
		if err := p.ends[0].Post(p.now, ids[0], w); !errors.Is(err, engine.ErrWork) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
