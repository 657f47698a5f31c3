// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// A network that drops whatever carries an ECN codepoint, in one direction or both, costs a few timeouts: the connection opens, and
// its data goes on without the codepoint.
//
//mr:test MR-CC-017 MR-CONN-025
func TestNetworkThatDropsECTIsSurvived(t *testing.T) {
	for name, dead := range map[string][2]bool{"forward": {true, false}, "backward": {false, true}, "both ways": {true, true}} {
		p := newPair(t, engine.Config{Chunk: 1024})
		p.drop = func(from int, d engine.Datagram) bool { return dead[from] && d.ECN != engine.NotECT }
		began := p.now
		ids := p.connect(4)
		for from := range ids {
			key, err := p.ends[1-from].Register(make([]byte, 1<<20), engine.RemoteWrite)
			p.must(err)
			p.must(p.ends[from].Post(p.now, ids[from], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
		}
		p.run("the Writes", func() bool { return p.count(0, engine.Completed) == 1 && p.count(1, engine.Completed) == 1 })
		for from := range ids {
			if ev, _ := p.find(from, engine.Completed); ev.Err != nil {
				t.Errorf("%s: the Write of end %d: %v", name, from, ev.Err)
			}
			s, _ := p.ends[from].ConnStats(ids[from])
			if dead[from] && !slices.ContainsFunc(s.Paths, func(path engine.PathStats) bool { return path.Blind }) {
				t.Errorf("%s: no path of end %d has given up the codepoint: %+v", name, from, s.Paths)
			}
		}
		if took := p.now.Sub(began); took > 20*time.Millisecond {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

// Loss by chance blinds no path.
//
//mr:test MR-CC-017
func TestLossByChanceLeavesMarksAlone(t *testing.T) {
	for seed := range uint64(20) {
		p := newPair(t, engine.Config{Chunk: 1024})
		ids := p.connect(4)
		p.lose(seed, 0.1)
		key, err := p.ends[1].Register(make([]byte, 1<<16), engine.RemoteWrite)
		p.must(err)
		for n := range 50 { // each has a tail
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 5000)}))
			p.run("a Write", func() bool { return p.count(0, engine.Completed) == n+1 })
		}
		s, _ := p.ends[0].ConnStats(ids[0])
		for _, path := range s.Paths {
			if path.Blind {
				t.Errorf("seed %d: path %d is blind", seed, path.ID)
			}
		}
	}
}
