// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"pgregory.net/rapid"
)

// Whenever a region is taken back, from the first packet of a Write to its last one: not a byte of the memory changes from then
// on, nor around it, its key names nothing any more, and the Write ends: with an error unless all of it had arrived.
//
//mr:prop P14 P18 P19
//mr:test MR-STREAM-014
func TestMemoryTakenBackNeverChanges(t *testing.T) {
	const chunks, guard = 12, 64
	refused, completed := 0, 0
	for arrived := range chunks + 1 {
		p := newPair(t, engine.Config{Chunk: 64})
		ids := p.connect(2)
		memory := bytes.Repeat([]byte{0xA5}, guard+chunks*64+guard)
		key, err := p.ends[1].Register(memory[guard:guard+chunks*64], engine.RemoteWrite)
		p.must(err)
		p.settle()
		n := 0
		p.drop = func(from int, d engine.Datagram) bool {
			if from != 0 || opcodeAnswered(d) != wire.OpcodeWrite {
				return false
			}
			n++
			return n == 5 || n == 9 // so that some come late
		}
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: pattern(chunks*64, 3)}))
		p.run("some chunks", func() bool {
			s, _ := p.ends[1].ConnStats(ids[1])
			return s.BytesReceived >= uint64(64*arrived)
		})
		p.must(p.ends[1].Deregister(key))
		before := bytes.Clone(memory)
		p.run("the end", func() bool { return p.count(0, engine.Completed) == 1 })
		p.settle()
		if !bytes.Equal(memory, before) {
			t.Errorf("after %d chunks: memory changes after its region was taken back", arrived)
		}
		if edge := bytes.Repeat([]byte{0xA5}, guard); !bytes.Equal(memory[:guard], edge) || !bytes.Equal(memory[guard+chunks*64:], edge) {
			t.Errorf("after %d chunks: bytes outside the region have changed", arrived)
		}
		var op *engine.OpError
		switch ev, _ := p.find(0, engine.Completed); {
		case ev.Err == nil:
			completed++
			if !bytes.Equal(memory[guard:guard+chunks*64], pattern(chunks*64, 3)) {
				t.Errorf("after %d chunks: the Write completes, and not all bytes are there", arrived)
			}
		case errors.As(ev.Err, &op) && op.Code == wire.NoticeCodeBadKey:
			refused++
		default:
			t.Errorf("after %d chunks: the Write ends with %v", arrived, ev.Err)
		}
		if err := p.ends[1].Deregister(key); err == nil {
			t.Error("the key is still known")
		}
	}
	if refused == 0 || completed == 0 {
		t.Errorf("%d Writes are refused, %d complete", refused, completed)
	}
}

// What a driver's buffers held before never reaches the wire: all datagrams of a conversation, padding included, are the same
// whatever lay there.
//
//mr:prop P10 P19 P48
func TestOldBytesOfBuffersNeverReachTheWire(t *testing.T) {
	converse := func(poison byte) (said [][]byte) {
		p := newPair(t, engine.Config{Chunk: 512})
		n := 0
		p.drop = func(_ int, d engine.Datagram) bool {
			said = append(said, bytes.Clone(d.Bytes))
			p.buf = bytes.Repeat([]byte{poison}, len(p.buf))
			n++
			return n%11 == 0
		}
		p.buf = bytes.Repeat([]byte{poison}, len(p.buf))
		ids := p.connect(3)
		memory := make([]byte, 5000)
		key, err := p.ends[1].Register(memory, engine.RemoteWrite|engine.RemoteRead|engine.RemoteAtomic)
		p.must(err)
		for i, w := range []engine.Work{
			{Op: engine.OpWrite, Key: key, Data: pattern(4999, 1)}, {Op: engine.OpRead, Key: key, Into: make([]byte, 4999), Fence: true},
			{Op: engine.OpSend, Data: nil, Stream: 1}, {Op: engine.OpFetchAdd, Key: key, Stream: 2},
		} {
			w.ID = uint64(i)
			p.must(p.ends[0].Post(p.now, ids[0], w))
		}
		p.settleFor("the Send is refused", 2000)
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 1}))
		p.run("the work", func() bool { return p.count(0, engine.Completed) == 4 })
		p.must(p.ends[0].Close(p.now, ids[0]))
		p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 })
		return said
	}
	want := converse(0)
	for _, poison := range []byte{0x5A, 0xFF} {
		if diff := cmp.Diff(want, converse(poison)); diff != "" {
			t.Errorf("datagrams over buffers of zeros and over buffers of %#x:\n%s", poison, diff)
		}
	}
}

// settleFor turns so many times.
func (p *pair) settleFor(what string, turns int) {
	p.t.Helper()
	p.run(what, func() bool { turns--; return turns < 0 })
}

// Writes of one stream that overlap leave at each byte what one of them has written; and from a fenced one on, the bytes that it
// covers are its own or a later one's.
//
//mr:prop P20
//mr:test MR-STREAM-029
func TestOverlappingWritesLeaveTheirOwnBytes(t *testing.T) {
	met := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t, engine.Config{Chunk: 64})
		ids := p.connect(4)
		p.lose(rapid.Uint64().Draw(rt, "losses"), 0.1)
		memory := make([]byte, 1000)
		key, err := p.ends[1].Register(memory, engine.RemoteWrite)
		p.must(err)
		possible := make([][]byte, len(memory)) // writers of a byte
		n := rapid.IntRange(2, 6).Draw(rt, "writes")
		for i := range n {
			at := rapid.IntRange(0, 900).Draw(rt, "at")
			size := rapid.IntRange(1, len(memory)-at).Draw(rt, "size")
			fence := rapid.Bool().Draw(rt, "fence")
			for b := at; b < at+size; b++ {
				if fence {
					possible[b] = nil
				}
				possible[b] = append(possible[b], byte(i+1))
			}
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{
				Op: engine.OpWrite, Key: key, At: uint64(at), Data: bytes.Repeat([]byte{byte(i + 1)}, size), Fence: fence,
			}))
		}
		p.run("the Writes", func() bool { return p.count(0, engine.Completed) == n })
		for b, writers := range possible {
			switch {
			case len(writers) == 0 && memory[b] == 0:
			case bytes.IndexByte(writers, memory[b]) < 0:
				rt.Fatalf("byte %d is %d, its writers are %d", b, memory[b], writers)
			case len(writers) > 1 && memory[b] != writers[len(writers)-1]:
				met["an earlier one wins"]++
			case len(writers) > 1:
				met["the last one wins"]++
			}
		}
	})
	if met["the last one wins"] == 0 {
		t.Errorf("met %v", met)
	}
}
