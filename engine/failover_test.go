// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// pathOf is the path that a packet says it travels on.
func pathOf(d engine.Datagram) uint16 {
	var base wire.Base
	if _, err := base.Decode(d.Bytes); err != nil {
		return 0xffff
	}
	return base.Path
}

// cutPort loses what travels between a local port of end 0 and the peer, in the directions asked for.
func cutPort(port uint16, directions [2]bool) func(int, engine.Datagram) bool {
	return func(from int, d engine.Datagram) bool {
		opener := d.Route.Local.Port()
		if from == 1 {
			opener = d.Route.Remote.Port()
		}
		return opener == port && directions[from]
	}
}

// A path dies in one direction or both; its chunks go elsewhere, nothing is lost, and it comes back on another port.
//
//mr:prop P41
//mr:test MR-FAIL-001 MR-FAIL-003 MR-FAIL-007
func TestDeadPathHandsItsChunksOver(t *testing.T) {
	for name, directions := range map[string][2]bool{
		"data": {true, false}, "feedback": {false, true}, "both": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 1024, InitialWindow: 20 * 1100})
			ids := p.connect(8)
			memory := make([]byte, 4<<20)
			key, err := p.ends[1].Register(memory, engine.RemoteWrite)
			p.must(err)
			data := pattern(len(memory), 4)
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: data}))
			p.run("a start", func() bool {
				s, _ := p.ends[1].ConnStats(ids[1])
				return s.BytesReceived > 1<<18
			})
			p.drop = cutPort(10003, directions)
			cut := p.now
			p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
			if ev, _ := p.find(0, engine.Completed); ev.Err != nil {
				t.Fatal(ev.Err)
			}
			if !bytes.Equal(memory, data) {
				t.Fatal("memory differs")
			}
			s, _ := p.ends[0].ConnStats(ids[0])
			t.Logf("took %v after the cut; path 3: %+v", p.now.Sub(cut), s.Paths[3])
			if took := p.now.Sub(cut); took > 20*time.Millisecond {
				t.Errorf("the Write took %v after the cut", took)
			}
			if directions[0] && s.Paths[3].Downs != 1 {
				t.Errorf("path 3 went down %d times", s.Paths[3].Downs)
			}
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: data}))
			before := s.Paths[3].Acked
			p.run("another Write", func() bool { return p.count(0, engine.Completed) == 2 })
			s, _ = p.ends[0].ConnStats(ids[0])
			if s.Paths[3].Ups != s.Paths[3].Downs || s.Paths[3].Acked < before+100 {
				t.Errorf("path 3 carries %d packets after its return: %+v", s.Paths[3].Acked-before, s.Paths[3])
			}
		})
	}
}

//mr:test MR-FAIL-008
func TestRouteErrorTakesThePathOutOfService(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024})
	ids := p.connect(4)
	key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
	p.run("a start", func() bool {
		s, _ := p.ends[1].ConnStats(ids[1])
		return s.BytesReceived > 1<<16
	})
	p.drop = cutPort(10001, [2]bool{true, true})
	p.ends[0].RouteError(p.now, routes(4)[1], engine.Unreachable)
	if s, _ := p.ends[0].ConnStats(ids[0]); s.Paths[1].InFlight != 0 || s.Paths[1].Downs != 1 {
		t.Errorf("path 1 stays in service: %+v", s.Paths[1])
	}
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
}

// When nothing is heard on any path, no path is blamed, and all goes on when the silence ends.
//
//mr:prop P11
//mr:test MR-FAIL-001
func TestSilenceEverywhereBlamesNoPath(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024})
	ids := p.connect(8)
	memory := make([]byte, 1<<20)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	data := pattern(len(memory), 4)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: data}))
	p.run("a start", func() bool {
		s, _ := p.ends[1].ConnStats(ids[1])
		return s.BytesReceived > 1<<16
	})
	ends := p.now.Add(2 * time.Second)
	p.drop = func(int, engine.Datagram) bool { return p.now < ends }
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
	if took := p.now.Sub(ends); took > 2*time.Second {
		t.Errorf("it took %v after the silence", took)
	}
	if !bytes.Equal(memory, data) {
		t.Fatal("memory differs")
	}
}

// A PSN that is lost again and again on one path gives its chunk to another.
//
//mr:test MR-LOSS-004
func TestUnluckyChunkMovesToAnotherPath(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024})
	ids := p.connect(4)
	memory := make([]byte, 1<<20)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	p.drop = func(from int, d engine.Datagram) bool {
		var w wire.Packet
		_, err := w.Decode(d.Bytes)
		return err == nil && w.Base.Opcode == wire.OpcodeWrite && w.Plain.Write.Message.Offset == 8192 && pathOf(d) != 3
	}
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: pattern(len(memory), 1)}))
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
	if ev, _ := p.find(0, engine.Completed); ev.Err != nil {
		t.Fatal(ev.Err)
	}
	if !bytes.Equal(memory, pattern(len(memory), 1)) {
		t.Fatal("memory differs")
	}
}
