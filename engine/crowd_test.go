// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
)

// crowd is how many connections TestCrowdStaysSmall opens: 200, or what MR_CROWD says.
func crowd(t *testing.T) int {
	n := 200
	if s := os.Getenv("MR_CROWD"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
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

// What an idle connection, path and stream cost is bounded, and does not grow with their number.
//
//mr:prop P43
func TestCrowdStaysSmall(t *testing.T) {
	const paths, streams = 4, 64
	n := crowd(t)
	p := newPair(t, engine.Config{Chunk: 1024, Posted: 16})
	p.check = false
	measure := func(what string, limit uint64, parts int, build func()) {
		before := heap()
		build()
		p.events = [2][]engine.Event{}
		each := (heap() - before) / uint64(parts)
		t.Logf("%d × %s: %d B each", parts, what, each)
		if each > limit {
			t.Errorf("%s costs %d B, allowed are %d", what, each, limit)
		}
	}
	var ids [2][]engine.ConnID
	measure("connection with 4 idle paths, both ends", 2*(4096+paths*1400), n, func() {
		for i := range n {
			if _, err := p.ends[0].Open(p.now, routes(paths)); err != nil {
				t.Fatal(err)
			}
			if i%32 == 31 || i == n-1 { // as many as an endpoint answers at once
				p.run("open", func() bool { return p.count(0, engine.Opened) == i+1 && p.count(1, engine.Opened) == i+1 })
			}
		}
		p.settle()
		for end := range 2 {
			for _, ev := range p.events[end] {
				if ev.Kind == engine.Opened {
					ids[end] = append(ids[end], ev.Conn)
				}
			}
		}
	})
	key, err := p.ends[1].Register(make([]byte, 64), engine.RemoteWrite)
	p.must(err)
	measure("stream that has carried a message, both ends", 1200, n*streams, func() {
		for s := range streams {
			for _, id := range ids[0] {
				p.must(p.ends[0].Post(p.now, id, engine.Work{Stream: uint16(s), Op: engine.OpWrite, Key: key, Data: make([]byte, 64)}))
			}
			p.run("writes", func() bool { return p.count(0, engine.Completed) == n })
			p.settle()
			p.events = [2][]engine.Event{}
		}
	})
	runtime.KeepAlive(p)
}
