// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Keys are drawn, and a region without rights grants nothing: neither writing nor reading nor atomic operations.
//
//mr:prop P14
//mr:test MR-STREAM-015
func TestKeysAreDrawnAndGrantNothingByDefault(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(1)
	memory := pattern(64, 1)
	before := bytes.Clone(memory)
	keys := map[engine.Key]bool{}
	var high engine.Key
	for range 100 {
		for end := range 2 {
			key, err := p.ends[end].Register(memory, 0)
			p.must(err)
			keys[key] = true
			high |= key
		}
	}
	if len(keys) != 200 || high>>56 == 0 {
		t.Errorf("200 regions have %d keys, together %#x", len(keys), high)
	}
	key, err := p.ends[1].Register(memory, 0)
	p.must(err)
	into := make([]byte, 8)
	works := []engine.Work{
		{Op: engine.OpWrite, Data: make([]byte, 8)}, {Op: engine.OpRead, Into: into},
		{Op: engine.OpFetchAdd, Operand: 1}, {Op: engine.OpCompareSwap, Operand: 1},
	}
	for i, w := range works {
		w.Stream, w.ID, w.Key = uint16(i), uint64(i), key
		p.must(p.ends[0].Post(p.now, ids[0], w))
	}
	p.run("refusals", func() bool { return p.count(0, engine.Completed) == len(works) })
	for _, ev := range p.events[0] {
		var refused *engine.OpError
		if ev.Kind == engine.Completed && (!errors.As(ev.Err, &refused) || refused.Code != wire.NoticeCodeRight) {
			t.Errorf("operation %d ends with %v", ev.ID, ev.Err)
		}
	}
	if !bytes.Equal(memory, before) || !bytes.Equal(into, make([]byte, 8)) {
		t.Error("memory has changed hands")
	}
}

// A Write with immediate consumes a receive and leaves its buffer alone.
//
//mr:test MR-STREAM-016
func TestImmediateLeavesTheBufferAlone(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 512})
	ids := p.connect(2)
	memory, buffer := make([]byte, 2000), bytes.Repeat([]byte{7}, 2000)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 3, ID: 5, Buffer: buffer}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{
		Stream: 3, Op: engine.OpWrite, Key: key, Data: pattern(2000, 1), Immediate: true, Value: 99,
	}))
	p.run("the Write", func() bool { return p.count(1, engine.Received) == 1 })
	if ev, _ := p.find(1, engine.Received); ev.ID != 5 || !ev.Immediate || ev.Value != 99 || !ev.Written {
		t.Errorf("received %+v", ev)
	}
	if !bytes.Equal(memory, pattern(2000, 1)) || !bytes.Equal(buffer, bytes.Repeat([]byte{7}, 2000)) {
		t.Error("the bytes lie in the wrong memory")
	}
}

// Atomic operations return the word before, in the responder's byte order; CompareSwap stores only when the word is what it
// compares with.
//
//mr:test MR-STREAM-032 MR-STREAM-031
func TestAtomicOperationsReturnTheWordBefore(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(1)
	memory := make([]byte, 24)
	binary.NativeEndian.PutUint64(memory[8:], ^uint64(0))
	key, err := p.ends[1].Register(memory, engine.RemoteAtomic)
	p.must(err)
	for i, c := range []struct {
		work         engine.Work
		before, then uint64
	}{
		{engine.Work{Op: engine.OpFetchAdd, Operand: 3}, ^uint64(0), 2},
		{engine.Work{Op: engine.OpCompareSwap, Compare: 3, Operand: 50}, 2, 2},
		{engine.Work{Op: engine.OpCompareSwap, Compare: 2, Operand: 50}, 2, 50},
	} {
		c.work.Key, c.work.At = key, 8
		p.must(p.ends[0].Post(p.now, ids[0], c.work))
		p.run("an operation", func() bool { return p.count(0, engine.Completed) == i+1 })
		ev := p.events[0][len(p.events[0])-1]
		if got := binary.NativeEndian.Uint64(memory[8:]); ev.Result != c.before || got != c.then || ev.Err != nil {
			t.Errorf("operation %d: the word was %d and is %d, want %d and %d (%v)", i, ev.Result, got, c.before, c.then, ev.Err)
		}
	}
	if !bytes.Equal(memory[:8], make([]byte, 8)) || !bytes.Equal(memory[16:], make([]byte, 8)) {
		t.Error("the neighbours have changed")
	}
}

// The same stream id names two streams, one in each direction, with numbers and ends of their own.
//
//mr:test MR-STREAM-003
func TestStreamIDsBelongToADirection(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(2)
	buffers := [2][]byte{make([]byte, 10), make([]byte, 10)}
	for from := range 2 {
		p.must(p.ends[1-from].PostReceive(p.now, ids[1-from], engine.Receive{Stream: 7, Buffer: buffers[from]}))
		p.must(p.ends[from].Post(p.now, ids[from], engine.Work{Stream: 7, Op: engine.OpSend, Data: []byte{byte(from + 1)}}))
	}
	p.must(p.ends[0].EndStream(p.now, ids[0], 7))
	p.run("the Sends", func() bool { return p.count(0, engine.Received) == 1 && p.count(1, engine.StreamEnded) == 1 })
	p.settle()
	if buffers[0][0] != 1 || buffers[1][0] != 2 {
		t.Errorf("received %v", buffers)
	}
	if p.count(0, engine.StreamEnded) != 0 || p.count(0, engine.StreamOpened) != 1 || p.count(1, engine.StreamOpened) != 1 {
		t.Errorf("the end of one direction ends the other: %+v", p.events[0])
	}
	p.must(p.ends[1].Post(p.now, ids[1], engine.Work{Stream: 7, Op: engine.OpSend, Data: []byte("more")}))
}

// When a requester gives up its stream, the replies to it stop.
//
//mr:test MR-STREAM-024
func TestRepliesToAnAbortedStreamStop(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024, InitialWindow: 4 * 1100, MaxWindow: 8 * 1100})
	ids := p.connect(2)
	key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteRead)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 2, Op: engine.OpRead, ID: 1, Key: key, Into: make([]byte, 1<<20)}))
	replies := 0
	p.drop = func(_ int, d engine.Datagram) bool {
		if opcodeAnswered(d) == wire.OpcodeReadReply {
			replies++
		}
		return false
	}
	p.run("a start", func() bool { return replies > 100 })
	p.must(p.ends[0].Cancel(p.now, ids[0], 2, 1))
	p.run("the stream's end", func() bool { return p.count(1, engine.StreamEnded) == 1 })
	before := replies
	p.settle()
	if replies > before+8 || before > 900 {
		t.Errorf("%d chunks of a reply of 1024 before the stream's end, %d after it", before, replies-before)
	}
}

// Reads and atomic operations end where their region ends, and atomic operations where a word begins.
//
//mr:test MR-STREAM-031
//mr:prop P15
func TestRequestsStayWithinTheirRegion(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(1)
	const size = 64
	key, err := p.ends[1].Register(make([]byte, size), engine.RemoteRead|engine.RemoteAtomic)
	p.must(err)
	for _, c := range []struct {
		op   engine.Op
		at   uint64
		n    int // bytes of a read
		want wire.NoticeCode
	}{
		{engine.OpRead, 0, size - 1, 0}, {engine.OpRead, 0, size, 0}, {engine.OpRead, 0, size + 1, wire.NoticeCodeBounds},
		{engine.OpRead, size - 1, 1, 0}, {engine.OpRead, size, 0, 0}, {engine.OpRead, size, 1, wire.NoticeCodeBounds},
		{engine.OpRead, size + 1, 0, wire.NoticeCodeBounds}, {engine.OpRead, ^uint64(0), 2, wire.NoticeCodeBounds},
		{engine.OpFetchAdd, size - 16, 0, 0}, {engine.OpFetchAdd, size - 8, 0, 0}, {engine.OpFetchAdd, size, 0, wire.NoticeCodeBounds},
		{engine.OpCompareSwap, size - 8, 0, 0}, {engine.OpCompareSwap, size, 0, wire.NoticeCodeBounds},
		{engine.OpFetchAdd, ^uint64(7), 0, wire.NoticeCodeBounds},
	} {
		done := p.count(0, engine.Completed)
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: c.op, Key: key, At: c.at, Into: make([]byte, c.n)}))
		p.run("a request", func() bool { return p.count(0, engine.Completed) > done })
		ev := p.events[0][len(p.events[0])-1]
		var refused *engine.OpError
		if errors.As(ev.Err, &refused) != (c.want != 0) || c.want != 0 && refused.Code != c.want {
			t.Errorf("operation %d on %d bytes at %d: %v", c.op, c.n, c.at, ev.Err)
		}
	}
	for _, at := range []uint64{1, 4, 7, size - 7} {
		if err := p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpFetchAdd, Key: key, At: at}); !errors.Is(err, engine.ErrWork) {
			t.Errorf("a word at %d: %v", at, err)
		}
	}
}

// A part of a region has a key, bounds and rights of its own, never more than the region has, and ends with it.
//
//mr:test MR-STREAM-014 MR-STREAM-015
//mr:prop P14 P18 P19
func TestPartOfARegionIsAWindow(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(1)
	memory := make([]byte, 1000)
	whole, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	part, err := p.ends[1].RegisterPart(whole, 100, 50, engine.RemoteWrite)
	p.must(err)
	if _, err := p.ends[1].RegisterPart(whole, 990, 11, engine.RemoteWrite); err == nil {
		t.Error("a part reaches beyond its region")
	}
	if _, err := p.ends[1].RegisterPart(whole, 0, 10, engine.RemoteRead); err == nil {
		t.Error("a part grants what its region does not")
	}
	outcome := func(stream uint16, at uint64, n int) wire.NoticeCode {
		before := p.count(0, engine.Completed)
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: stream, Op: engine.OpWrite, Key: part, At: at, Data: bytes.Repeat([]byte{7}, n)}))
		p.run("a Write", func() bool { return p.count(0, engine.Completed) == before+1 })
		var refused *engine.OpError
		for _, ev := range p.events[0] {
			if ev.Kind == engine.Completed && ev.Stream == stream && errors.As(ev.Err, &refused) {
				return refused.Code
			}
		}
		return 0
	}
	for i, c := range []struct {
		at   uint64
		n    int
		want wire.NoticeCode
	}{{0, 49, 0}, {0, 50, 0}, {0, 51, wire.NoticeCodeBounds}, {50, 0, 0}, {49, 1, 0}, {50, 1, wire.NoticeCodeBounds}, {^uint64(0), 2, wire.NoticeCodeBounds}} {
		if got := outcome(uint16(i), c.at, c.n); got != c.want {
			t.Errorf("%d bytes at %d: %v, want %v", c.n, c.at, got, c.want)
		}
	}
	want := make([]byte, len(memory))
	copy(want[100:], bytes.Repeat([]byte{7}, 50))
	if !bytes.Equal(memory, want) {
		t.Error("bytes lie outside the part")
	}
	p.must(p.ends[1].Deregister(whole))
	if got := outcome(100, 0, 1); got != wire.NoticeCodeBadKey {
		t.Errorf("after the end of its region: %v", got)
	}
}
