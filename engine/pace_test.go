// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// twoSenders lets two connections write n bytes each to an endpoint of a capacity, and returns how long that takes.
func twoSenders(t *testing.T, capacity uint64, n int) time.Duration {
	t.Helper()
	p := newPair(t, engine.Config{Chunk: 1024, Capacity: capacity})
	var ids [2]engine.ConnID
	for i := range ids {
		id, err := p.ends[0].Open(p.now, routes(4))
		p.must(err)
		ids[i] = id
	}
	p.run("open", func() bool { return p.count(0, engine.Opened) == 2 && p.count(1, engine.Opened) == 2 })
	key, err := p.ends[1].Register(make([]byte, n), engine.RemoteWrite)
	p.must(err)
	began := p.now
	for i, id := range ids {
		p.must(p.ends[0].Post(p.now, id, engine.Work{Op: engine.OpWrite, ID: uint64(i), Key: key, Data: make([]byte, n)}))
	}
	p.run("writes", func() bool { return p.count(0, engine.Completed) == 2 })
	return p.now.Sub(began)
}

// Two senders share what the receiver grants, and no more; without a capacity nothing holds them back.
//
//mr:prop P33
//mr:test MR-CC-007 MR-CC-013
func TestSendersObeyTheGrant(t *testing.T) {
	const n = 1 << 20
	free := twoSenders(t, 0, n)
	for _, gbit := range []uint64{1, 4} {
		ideal := time.Duration(2*8*n) * time.Nanosecond / time.Duration(gbit)
		took := twoSenders(t, gbit*1_000_000, n)
		t.Logf("%d Gbit/s: %v, ideal %v, without grants %v", gbit, took, ideal, free)
		if took < ideal*9/10 || took > ideal*5/4 {
			t.Errorf("at %d Gbit/s it took %v, ideal is %v", gbit, took, ideal)
		}
		if took < free {
			t.Errorf("a grant made the senders faster: %v instead of %v", took, free)
		}
	}
}

// A grant of next to nothing slows a sender down to a packet in 64 base round trips, and never stops it.
//
//mr:prop P33
//mr:test MR-CC-013
func TestTinyGrantLeavesProgress(t *testing.T) {
	const n = 64 << 10
	took := twoSenders(t, 1, n)
	slowest := 2 * n / 1024 * 64 * 2 * wireDelay
	if took > slowest {
		t.Errorf("it took %v, the floor allows %v", took, slowest)
	}
}
