// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// What one end may hold while nothing is under way, in bytes.
const (
	connBytes   = 4096 // a connection, without its paths and streams
	pathBytes   = 400  // a path that has been opened, whatever it has carried
	windowBytes = 80   // of that, its window, once it has sent something
	unusedBytes = 32   // a path that could be opened
	streamBytes = 256  // a stream that has been used
)

// shape is a crowd of connections: how many, the paths that each could open and has opened, the streams that each has used,
// how far their ids lie apart, and how many messages were posted on each stream at a time.
type shape struct {
	conns, most, paths, streams, stride, burst int
}

func (s shape) String() string {
	return fmt.Sprintf("%d connections, %d of %d paths, %d streams by %d, %d messages at a time",
		s.conns, s.paths, s.most, s.streams, s.stride, s.burst)
}

// crowdOf is how many connections the crowd of MR_CROWD has; 0 when that is not set.
func crowdOf(t *testing.T) int {
	s := os.Getenv("MR_CROWD")
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What idle connections, paths and streams cost is bounded, whatever their number and whatever they have carried.
//
//mr:prop P43
func TestCrowdStaysSmall(t *testing.T) {
	shapes := []shape{
		{conns: 200, most: 16, paths: 4, streams: 64, stride: 1, burst: 1},
		{conns: 200, most: 1, paths: 1, streams: 1, stride: 1, burst: 16},
		{conns: 4, most: 1, paths: 1, streams: 4096, stride: 1, burst: 4},
		{conns: 50, most: 16, paths: 16, streams: 64, stride: 1, burst: 16},
		{conns: 50, most: 256, paths: 1, streams: 16, stride: 256, burst: 1},
	}
	if n := crowdOf(t); n > 0 {
		shapes = append(shapes, shape{conns: n, most: 16, paths: 4, streams: 64, stride: 1, burst: 1})
	}
	for _, s := range shapes {
		t.Run(s.String(), s.measure)
	}
}

// measure builds the crowd and compares what it holds with the bounds.
func (s shape) measure(t *testing.T) {
	opened, used := s.weigh(t)
	bound := connBytes + s.paths*pathBytes + (s.most-s.paths)*unusedBytes
	t.Logf("idle connection: %d B at each end, bound %d", opened, bound)
	if opened > bound {
		t.Errorf("an idle connection with %d of %d paths holds %d B, allowed are %d", s.paths, s.most, opened, bound)
	}
	each := (used - opened - s.paths*windowBytes) / (2 * s.streams)
	t.Logf("idle stream: %d B at each end, bound %d", each, streamBytes)
	if each > streamBytes {
		t.Errorf("a stream that has been used holds %d B, allowed are %d", each, streamBytes)
	}
}

// weigh builds the crowd and returns what a connection holds at each end: at rest after opening, and at rest after work.
func (s shape) weigh(t *testing.T) (opened, used int) {
	t.Helper()
	p := newPair(t, engine.Config{Chunk: 1024, Posted: 16, Paths: s.most})
	p.check = false
	base := heap()
	ids := s.open(p)
	p.rest()
	opened = int(heap()-base) / (2 * s.conns)
	for from := range ids {
		s.work(p, from, ids[from])
	}
	p.rest()
	used = int(heap()-base) / (2 * s.conns)
	for from := range ids {
		s.carried(p, from, ids[from])
	}
	return opened, used
}

// carried makes sure that every path has been used, if there was enough to do.
func (s shape) carried(p *pair, from int, ids []engine.ConnID) {
	for _, id := range ids {
		stats, _ := p.ends[from].ConnStats(id)
		for _, path := range stats.Paths {
			if path.Packets == 0 && s.streams*s.burst > 16*s.paths {
				p.t.Fatalf("path %d of connection %d has carried nothing", path.ID, id)
			}
		}
	}
}

// A path costs little as long as it carries nothing, and again once it carries nothing any more.
//
//mr:prop P43
func TestRestingPathStaysSmall(t *testing.T) {
	one := shape{conns: 50, most: 1, paths: 1, streams: 16, stride: 1, burst: 16}
	many := one
	many.most, many.paths = 16, 16
	openedOne, usedOne := one.weigh(t)
	openedMany, usedMany := many.weigh(t)
	more := many.paths - one.paths
	for name, per := range map[string]int{
		"unused": (openedMany - openedOne) / more, "used": (usedMany - usedOne) / more,
	} {
		t.Logf("%s path: %d B at each end, bound %d", name, per, pathBytes)
		if per > pathBytes {
			t.Errorf("an idle path that is %s holds %d B, allowed are %d", name, per, pathBytes)
		}
	}
}

// open makes the connections and returns their ids at both ends.
func (s shape) open(p *pair) (ids [2][]engine.ConnID) {
	for i := range s.conns {
		_, err := p.ends[0].Open(p.now, routes(s.paths))
		p.must(err)
		if i%32 == 31 || i == s.conns-1 { // as many as an endpoint answers at once
			p.run("open", func() bool { return p.count(0, engine.Opened) == i+1 && p.count(1, engine.Opened) == i+1 })
		}
	}
	for end := range ids {
		for _, ev := range p.events[end] {
			if ev.Kind == engine.Opened {
				ids[end] = append(ids[end], ev.Conn)
			}
		}
	}
	return ids
}

// work lets every stream from one end carry messages, all streams of a connection at a time.
func (s shape) work(p *pair, from int, ids []engine.ConnID) {
	key, err := p.ends[1-from].Register(make([]byte, 64), engine.RemoteWrite)
	p.must(err)
	data := make([]byte, 64)
	for _, id := range ids {
		for n := range s.streams {
			for range s.burst {
				p.must(p.ends[from].Post(p.now, id, engine.Work{Stream: uint16(n * s.stride), Op: engine.OpWrite, Key: key, Data: data}))
			}
		}
		p.run("writes", func() bool { return p.count(from, engine.Completed) == s.streams*s.burst })
		p.events = [2][]engine.Event{}
	}
}

// rest lets so much time pass that idle connections notice that they are.
func (p *pair) rest() {
	until := p.now.Add(8 * time.Second)
	p.run("rest", func() bool { return p.now >= until })
	p.events = [2][]engine.Event{}
	if len(p.wire) == 0 {
		p.wire = nil
	}
}

// What one end may hold besides for work that is under way, in bytes.
const (
	operationBytes = 320 // an operation that is posted and has not ended
	receiveBytes   = 96  // a posted receive
)

// Work under way costs so much a piece, whatever its amount.
func TestWorkUnderWayStaysSmall(t *testing.T) {
	const streams = 16
	for _, posted := range []int{10, 100, 1025} {
		p := newPair(t, engine.Config{Posted: 2000})
		ids := p.connect(1)
		data := make([]byte, 64)
		base := heap()
		for n := range streams * posted {
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: uint16(n % streams), Op: engine.OpSend, Data: data}))
		}
		sending := heap()
		for n := range streams * posted {
			p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: uint16(n % streams), Buffer: data}))
		}
		receiving := heap()
		for _, c := range []struct {
			what       string
			held, each uint64
		}{
			{"operations", sending - base, operationBytes},
			{"receives", receiving - sending, receiveBytes},
		} {
			bound := connBytes + streams*(streamBytes+uint64(posted)*c.each)
			t.Logf("%d × %d %s: %d B, bound %d", streams, posted, c.what, c.held, bound)
			if c.held > bound {
				t.Errorf("%d × %d %s hold %d B, allowed are %d", streams, posted, c.what, c.held, bound)
			}
		}
		runtime.KeepAlive(p)
	}
}
