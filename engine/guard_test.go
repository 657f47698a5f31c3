// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// sprayed makes every third Write of each path late by four packets, as a switch does that sprays underneath.
func (p *pair) sprayed(sender int) {
	f := newFabric(p, 10, 1<<30, 1<<30)
	n := map[uint16]int{}
	p.drop = func(from int, d engine.Datagram) bool {
		f.delay = wireDelay
		if from == sender && opcodeAnswered(d) == wire.OpcodeWrite {
			n[pathOf(d)]++
			if n[pathOf(d)]%3 == 0 {
				f.delay += 4 * time.Microsecond
			}
		}
		return f.carry(from, d)
	}
}

// A network that reorders costs a few packets once. A path that gets another port, whether its own side or its peer chooses it,
// does not pay again for what the others have learned.
//
//mr:test MR-LOSS-015 MR-LOSS-006
func TestNewPortKeepsWhatTheConnectionHasLearned(t *testing.T) {
	const paths, chunk = 4, 1024
	for from, name := range []string{"the opener sends", "the acceptor sends"} {
		p := newPair(t, engine.Config{Chunk: chunk, Control: engine.Constant, InitialWindow: 32 * chunk})
		ids := p.connect(paths)
		key, err := p.ends[1-from].Register(make([]byte, 1<<20), engine.RemoteWrite)
		p.must(err)
		p.sprayed(from)
		write := func() (resent []uint64) {
			done := p.count(from, engine.Completed)
			p.must(p.ends[from].Post(p.now, ids[from], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
			p.run("a Write", func() bool { return p.count(from, engine.Completed) > done })
			s, _ := p.ends[from].ConnStats(ids[from])
			for _, path := range s.Paths {
				resent = append(resent, path.Resent)
			}
			return resent
		}
		learned := write()
		before, _ := p.ends[0].ConnStats(ids[0])
		p.ends[0].RouteError(p.now, before.Paths[1].Route, engine.Unreachable)
		p.run("its return", func() bool {
			s, _ := p.ends[0].ConnStats(ids[0])
			return s.Paths[1].Ups == 1
		})
		again := write()
		t.Logf("%s: %v resends, and %v after one Write more", name, learned, again)
		after, _ := p.ends[0].ConnStats(ids[0])
		if learned[1] < 2 || after.Paths[1].Route == before.Paths[1].Route {
			t.Errorf("%s: %d resends on path 1, which went from %v to %v", name, learned[1], before.Paths[1].Route, after.Paths[1].Route)
		}
		if mine, others := again[1]-learned[1], again[2]-learned[2]; mine > others+1 {
			t.Errorf("%s: path 1 resends %d times with its new port, path 2 %d times", name, mine, others)
		}
	}
}
