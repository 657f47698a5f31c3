// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// scatter hands the receiver of a forger chunks of 64 bytes in any order.
type scatter struct {
	*forger
	key uint64
	n   uint32
}

func newScatter(t *testing.T, cfg engine.Config) *scatter {
	t.Helper()
	cfg.Chunk = 64
	s := &scatter{forger: newForgerOf(t, cfg)}
	s.memory = make([]byte, 64)
	key, err := s.end.Register(s.memory, engine.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	s.key = uint64(key)
	return s
}

// write sends a chunk of a message of many chunks and tells whether it is placed. If it is not, it is refused with Busy.
func (s *scatter) write(stream uint16, message, chunk, chunks uint32) bool {
	s.t.Helper()
	s.n++
	clear(s.memory)
	s.end.HandleDatagram(2, s.packetOf(wire.OpcodeWrite, func(p *wire.Packet) {
		p.Base.Psn, p.Base.Tsn = p.Base.Psn+s.n, p.Base.Tsn+s.n
		p.Plain.Write = wire.BodyWrite{
			Message:     wire.Message{Stream: stream, Message: message, Offset: 64 * chunk, Length: 64 * chunks, Floor: 255},
			WriteTarget: wire.WriteTarget{Key: s.key}, Data: bytes.Repeat([]byte{1}, 64),
		}
	}))
	buf, busy := make([]byte, 2000), false
	for {
		d, ok := s.end.NextDatagram(2, buf)
		if !ok {
			break
		}
		var p wire.Packet
		if _, err := p.Decode(d.Bytes); err != nil {
			s.t.Fatal(err)
		}
		n := &p.Plain.Notice
		busy = busy || p.Base.Opcode == wire.OpcodeNotice && n.Code == wire.NoticeCodeBusy && n.Stream == stream && n.Message == message
	}
	if placed := s.memory[0] == 1; placed == busy {
		s.t.Fatalf("chunk %d of message %d of stream %d: placed %v, refused %v", chunk, message, stream, placed, busy)
	}
	if err := s.end.Check(); err != nil {
		s.t.Fatal(err)
	}
	return !busy
}

// What arrives out of order finds room up to the last byte that was set aside for it, and is refused with Busy from the
// next one on; what is in order needs no room.
//
//mr:test MR-STREAM-033
//mr:prop P43
func TestDisorderEndsAtItsBound(t *testing.T) {
	const record, slot, ring = 128, 16, 8 * (640/64 + 2) // of a message of 640 chunks
	for name, c := range map[string]struct {
		message, chunk uint32
		needs          int
	}{
		"in order":                 {0, 0, 0},
		"a gap":                    {0, 1, ring},
		"the last chunk":           {0, 639, ring},
		"the message after next":   {2, 0, record + 3*slot},
		"the end of the window":    {255, 0, record + 256*slot},
		"a gap in another message": {1, 3, record + 2*slot + ring},
	} {
		for _, more := range []int{-1, 0, 1} {
			if c.needs+more < 1 {
				continue
			}
			s := newScatter(t, engine.Config{Disorder: c.needs + more})
			if placed := s.write(5, c.message, c.chunk, 640); placed != (more >= 0) {
				t.Errorf("%s with %d B more than it needs: placed %v", name, more, placed)
			}
			if !s.write(6, 0, 0, 640) {
				t.Errorf("%s with %d B more than it needs: then the first chunk of another stream is refused", name, more)
			}
		}
	}
}

// A peer that leaves a gap in everything, on every stream that there is, makes a connection hold what was set aside for that
// and no more, however often it begins anew; and every stream goes on in order meanwhile.
//
//mr:test MR-STREAM-033
//mr:prop P43
func TestGapsEverywhereCostAFixedPart(t *testing.T) {
	const disorder, streams = 64 << 10, 512
	s := newScatter(t, engine.Config{Disorder: disorder, Streams: streams, Paths: 1})
	for stream := range uint16(streams) {
		s.write(stream, 0, 0, 2)
	}
	before, refused := heap(), 0
	for round := range uint32(3) {
		for stream := range uint16(streams) {
			for _, ahead := range []uint32{250, 30, 100} {
				first := ahead + 2*round
				if !s.write(stream, first, 0, 1) || !s.write(stream, first+1, 7, 4096) {
					refused++
				}
			}
			if !s.write(stream, round, 1, 2) || !s.write(stream, round+1, 0, 2) {
				t.Fatalf("round %d: stream %d does not go on", round, stream)
			}
		}
	}
	held := int64(heap()) - int64(before)
	t.Logf("%d streams hold %d B more, %d chunks are refused", streams, held, refused)
	if most := int64(3*disorder + streams*64); held > most || refused < streams {
		t.Errorf("%d B are held, allowed are %d; %d chunks were refused", held, most, refused)
	}
	runtime.KeepAlive(s)
}

// Two honest ends with next to no room for what is out of order get everything across a network that loses much of it.
//
//mr:test MR-STREAM-033 MR-STREAM-028
//mr:prop P23
func TestHonestPeersOutliveALackOfRoom(t *testing.T) {
	for _, disorder := range []int{1, 400} {
		p := newPair(t, engine.Config{Chunk: 256, Disorder: disorder})
		ids := p.connect(8)
		p.lose(3, 0.05)
		refused := 0
		lossy := p.drop
		p.drop = func(from int, d engine.Datagram) bool {
			if opcodeAnswered(d) == wire.OpcodeNotice {
				refused++
			}
			return lossy(from, d)
		}
		memory := make([]byte, 64<<10)
		key, err := p.ends[1].Register(memory, engine.RemoteWrite|engine.RemoteRead|engine.RemoteAtomic)
		p.must(err)
		const streams, rounds = 8, 12
		data, want := pattern(4<<10, 1), 0
		for round := range rounds {
			for stream := range uint16(streams) {
				p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: stream, Buffer: make([]byte, 4<<10)}))
				for _, w := range []engine.Work{
					{Op: engine.OpWrite, Key: key, At: uint64(stream) * 4096, Data: data},
					{Op: engine.OpSend, Data: data[:700]},
					{Op: engine.OpRead, Key: key, Into: make([]byte, 1000)},
					{Op: engine.OpFetchAdd, Key: key, At: 60 << 10, Operand: 1},
				} {
					w.Stream, w.ID = stream, uint64(round)
					p.must(p.ends[0].Post(p.now, ids[0], w))
					want++
				}
			}
		}
		for stream := range uint16(streams) {
			p.must(p.ends[0].EndStream(p.now, ids[0], stream))
		}
		p.run("all of it", func() bool {
			return p.count(0, engine.Completed) == want && p.count(1, engine.StreamEnded) == streams
		})
		for _, ev := range p.events[0] {
			if ev.Err != nil {
				t.Errorf("operation %d of stream %d ends with %v", ev.ID, ev.Stream, ev.Err)
			}
		}
		if p.count(1, engine.Received) != streams*rounds || refused == 0 {
			t.Errorf("%d Sends have arrived, %d chunks were refused", p.count(1, engine.Received), refused)
		}
		t.Logf("%d B: %d notices, %v", disorder, refused, p.now)
	}
}
