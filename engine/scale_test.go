// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Thousands of streams at once, under loss: each message of each arrives, and a stream that waits for a receive holds up
// nobody.
//
//mr:test MR-STREAM-026
//mr:prop P23
func TestThousandsOfStreamsArrive(t *testing.T) {
	const streams = 4096
	p := newPair(t, engine.Config{Chunk: 1024, Streams: streams})
	p.check = false
	ids := p.connect(8)
	p.lose(1, 0.02)
	memory := make([]byte, 4*streams)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 7, Op: engine.OpSend, ID: 1 << 40, Data: make([]byte, 10)}))
	for i := range streams {
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{
			Stream: uint16(i), Op: engine.OpWrite, ID: uint64(i), Key: key, At: uint64(4 * i), Data: []byte{1, 2, 3, byte(i)},
		}))
	}
	// The Write on stream 7 arrives, and is complete only when the Send before it is.
	p.run("the others", func() bool { return p.count(0, engine.Completed) == streams-1 })
	p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 7, Buffer: make([]byte, 10)}))
	p.run("the last one", func() bool { return p.count(0, engine.Completed) == streams+1 })
	for i := range streams {
		if memory[4*i] != 1 || memory[4*i+3] != byte(i) {
			t.Fatalf("the message of stream %d is not there", i)
		}
	}
}

// 256 paths are more than fit into one ACK: they take turns, none is forgotten, and no ACK is longer than the largest packet.
//
//mr:test MR-ACK-007 MR-WIRE-018
func TestManyPathsShareTheACKs(t *testing.T) {
	const paths, chunk = 256, 1024
	p := newPair(t, engine.Config{Chunk: chunk, Paths: paths, Requests: 1})
	p.check = false
	longest := 0
	p.drop = func(_ int, d engine.Datagram) bool {
		if opcodeAnswered(d) == wire.OpcodeAck {
			longest = max(longest, len(d.Bytes))
		}
		return false
	}
	ids := p.connect(paths)
	key, err := p.ends[1].Register(make([]byte, 4<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 4<<20)}))
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
	s, _ := p.ends[0].ConnStats(ids[0])
	for _, path := range s.Paths {
		if path.Acked == 0 || path.Resent > 0 || path.Downs > 0 {
			t.Errorf("path %d: %+v", path.ID, path)
		}
	}
	// 13 of the longest blocks fit; these have neither a vector nor counters.
	const full = wire.BaseSize + wire.AckSize + 13*24 + 4
	if longest > chunk+engine.Overhead || longest < full {
		t.Errorf("the longest ACK has %d bytes", longest)
	}
}

// A peer that announces large messages, and sends of each nothing but one chunk out of order, makes the receiver keep one
// bit for each chunk of the span, and no more messages than were announced. Nothing is allocated for a length.
//
//mr:test MR-STREAM-002 MR-STREAM-022
//mr:prop P43
func TestGappedMessagesCostWhatWasAnnounced(t *testing.T) {
	const messages, span, chunk = 1000, 1 << 16, 4096
	for name, c := range map[string]struct {
		offset uint32
		most   uint64 // bytes for each message
	}{"in order": {0, 512}, "with a gap": {chunk, span/8 + 2048}} {
		f := newForgerOf(t, engine.Config{Disorder: messages * (span/8 + 256)})
		memory := make([]byte, chunk)
		key, err := f.end.Register(memory, engine.RemoteWrite)
		if err != nil {
			t.Fatal(err)
		}
		send := func(i uint32) {
			f.end.HandleDatagram(2, f.packetOf(wire.OpcodeWrite, func(p *wire.Packet) {
				p.Base.Psn, p.Base.Tsn = p.Base.Psn+i, p.Base.Tsn+i
				p.Plain.Write = wire.BodyWrite{
					Message:     wire.Message{Stream: uint16(i % 4), Message: i / 4, Offset: c.offset, Length: 1<<32 - 1},
					WriteTarget: wire.WriteTarget{Key: uint64(key)}, Data: bytes.Repeat([]byte{byte(i)}, chunk),
				}
			}))
		}
		for i := range uint32(4) {
			send(i) // streams are opened
		}
		before, drops := heap(), f.end.Stats().Drops
		for i := range uint32(messages - 4) {
			send(i + 4)
			if memory[0] != byte(i+4) || f.end.Stats().Drops != drops {
				t.Fatalf("%s: message %d is not placed", name, i+4)
			}
		}
		each := (int64(heap()) - int64(before)) / messages
		t.Logf("%s: %d bytes for each of %d messages of 4 GiB", name, each, messages)
		if each > int64(c.most) {
			t.Errorf("%s: %d bytes for each message, allowed are %d", name, each, c.most)
		}
		runtime.KeepAlive(f)
	}
}

// What is lost now and then never stands still: with loss of 10 % in both directions every operation ends soon.
//
//mr:prop P40
func TestOperationsEndSoonUnderLoss(t *testing.T) {
	for seed := range uint64(20) {
		p := newPair(t, engine.Config{Chunk: 512})
		ids := p.connect(2)
		p.lose(seed, 0.1)
		key, err := p.ends[1].Register(make([]byte, 1<<16), engine.RemoteWrite)
		p.must(err)
		for n := range 50 {
			began := p.now
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 700)}))
			p.run("a Write", func() bool { return p.count(0, engine.Completed) == n+1 })
			if took := p.now.Sub(began); took > 50*time.Millisecond {
				t.Errorf("seed %d: a Write takes %v", seed, took)
			}
		}
	}
}
