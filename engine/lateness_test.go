// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// A connection ends, and another one begins between the same addresses and ports. Whatever the network still holds of the first
// one says nothing to the second: neither data nor ACKs, and it is counted.
//
//mr:test MR-CONN-010 MR-ERR-001
func TestPacketsOfAnEarlierConnectionSayNothing(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 512})
	ids := p.connect(2)
	memory := make([]byte, 4096)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	var old []flight
	p.drop = func(from int, d engine.Datagram) bool {
		if op := opcodeAnswered(d); op < wire.OpcodeOpen || op > wire.OpcodeVersions {
			old = append(old, flight{0, 1 - from, seen(d)})
		}
		return false
	}
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: pattern(len(memory), 1)}))
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
	p.must(p.ends[0].Close(p.now, ids[0]))
	p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 && p.count(1, engine.Closed) == 1 })
	p.settle()
	p.drop, p.events = nil, [2][]engine.Event{}
	ids = p.connect(2)
	p.settle()
	clear(memory)
	before := [2]engine.EndpointStats{p.ends[0].Stats(), p.ends[1].Stats()}
	for _, f := range old {
		p.ends[f.to].HandleDatagram(p.now, f.datagram)
	}
	for end := range 2 {
		after := p.ends[end].Stats()
		after.Drops[engine.DropUnknownTag] = before[end].Drops[engine.DropUnknownTag]
		if after.Drops != before[end].Drops {
			t.Errorf("end %d drops for another reason: %v, before %v", end, after.Drops, before[end].Drops)
		}
		s, _ := p.ends[end].ConnStats(ids[end])
		if s.BytesReceived != 0 || s.InFlight != 0 || s.Paths[0].Acked != 0 {
			t.Errorf("end %d: %+v", end, s)
		}
	}
	if len(old) < 10 || !bytes.Equal(memory, make([]byte, len(memory))) {
		t.Errorf("%d packets; placed", len(old))
	}
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: pattern(len(memory), 2)}))
	p.run("another Write", func() bool { return p.count(0, engine.Completed) == 1 })
}

// A round trip of 40 ms is no loss, be it the first one of a connection or a later one, with the defaults that a fast network
// has: nothing is sent twice.
//
//mr:test MR-LOSS-007 MR-LOSS-013
func TestLongRoundTripIsNoLoss(t *testing.T) {
	p := newPair(t, engine.Config{InitialRTT: 10 * time.Millisecond, MinRTO: time.Millisecond})
	p.check = false
	f := newFabric(p, 100, 1<<30, 1<<30)
	f.delay = 20 * time.Millisecond
	ids := p.connect(4)
	key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	for n := range 5 {
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
		p.run("a Write", func() bool { return p.count(0, engine.Completed) == n+1 })
		p.now = p.now.Add(time.Duration(n) * 50 * time.Millisecond)
	}
	s, _ := p.ends[0].ConnStats(ids[0])
	for _, path := range s.Paths {
		if path.Resent+path.Lost+path.RTOFired+path.Downs > 0 {
			t.Errorf("path %d: %+v", path.ID, path)
		}
	}
}

// Packets of the handshake, and those that follow it, arrive in any order, and some of them not at all: one connection comes of
// it, and it works.
//
//mr:test MR-CONN-004 MR-CONN-005 MR-CONN-007 MR-CONN-014 MR-CONN-025
func TestHandshakeSurvivesAnyOrder(t *testing.T) {
	for seed := range uint64(100) {
		p := newPair(t, engine.Config{Chunk: 512})
		rng := rand.New(rand.NewPCG(seed, 3))
		f := newFabric(p, 100, 1<<30, 1<<30)
		p.drop = func(from int, d engine.Datagram) bool {
			if rng.Float64() < 0.1 {
				return true
			}
			for range 1 + rng.IntN(2) {
				f.deliver(flight{p.now.Add(time.Duration(rng.IntN(2_000_000))), 1 - from, seen(d)})
			}
			return true
		}
		ids := p.connect(3)
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 1, Buffer: make([]byte, 3000)}))
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, Data: pattern(3000, seed)}))
		p.run("the Send", func() bool { return p.count(1, engine.Received) == 1 && p.count(0, engine.Completed) == 1 })
		if a, b := p.count(0, engine.Opened), p.count(1, engine.Opened); a != 1 || b != 1 {
			t.Errorf("seed %d: %d and %d connections", seed, a, b)
		}
	}
}
