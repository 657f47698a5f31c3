// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// An idle connection lives as long as its peer answers, and neither end waits for a dead one.
//
//mr:prop P42
//mr:test MR-CONN-011
func TestIdleConnectionNoticesADeadPeer(t *testing.T) {
	p := newPair(t, engine.Config{})
	p.connect(4)
	alive := p.now.Add(50 * time.Second)
	p.run("an idle while", func() bool { return p.now >= alive })
	if p.count(0, engine.Closed)+p.count(1, engine.Closed) != 0 {
		t.Fatalf("an idle connection ended: %+v", p.events)
	}
	var heard, died [2]engine.Time
	p.drop = func(from int, _ engine.Datagram) bool {
		heard[1-from] = p.now.Add(wireDelay)
		return false
	}
	alive = p.now.Add(10 * time.Second)
	p.run("more of it", func() bool { return p.now >= alive })
	p.drop = func(int, engine.Datagram) bool { return true }
	p.run("death", func() bool {
		for end := range died {
			if died[end] == 0 && p.count(end, engine.Closed) == 1 {
				died[end] = p.now
			}
		}
		return died[0] > 0 && died[1] > 0
	})
	for end := range died {
		if took := died[end].Sub(heard[end]); took != 10*time.Second {
			t.Errorf("end %d waits %v since it has heard anything", end, took)
		}
		if ev, _ := p.find(end, engine.Closed); !errors.Is(ev.Err, engine.ErrDead) {
			t.Errorf("end %d: closed with %v", end, ev.Err)
		}
	}
}

// A peer that has restarted at the same address does not know the connection: the other end learns of it.
//
//mr:test MR-ERR-001 MR-ERR-003
func TestRestartedPeerIsNoticed(t *testing.T) {
	p := newPair(t, engine.Config{})
	ids := p.connect(4)
	p.settle()
	restarted, err := engine.New(engine.Config{Accept: true, Seed: [32]byte{99}})
	p.must(err)
	p.ends[1] = restarted
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpSend, ID: 1, Data: []byte("anybody there?")}))
	began := p.now
	p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 })
	if ev, _ := p.find(0, engine.Closed); !errors.Is(ev.Err, engine.ErrAborted) {
		t.Errorf("closed with %v", ev.Err)
	}
	if took := p.now.Sub(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
}
