// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"

	"github.com/openmetaroce/metaroce/engine"
)

// What is in flight stays within the window of each path and of the connection, whatever the sum
// of the paths' windows is, and under loss.
//
//mr:prop P29
//mr:test MR-CC-001 MR-CC-004 MR-CC-009
func TestFlightStaysWithinTheWindows(t *testing.T) {
	for name, capacity := range map[string]uint64{"no hints": 0, "hints that grant more than the windows": 1_000_000_000} {
		t.Run(name, func(t *testing.T) { flightWithinWindows(t, capacity) })
	}
}

// flightWithinWindows moves a message to a receiver with an inbound capacity in kbit/s.
func flightWithinWindows(t *testing.T, capacity uint64) {
	t.Helper()
	const chunk, paths, packets = 1024, 8, 20
	most := packets * (chunk + engine.Overhead)
	p := newPair(t, engine.Config{Chunk: chunk, Capacity: capacity, MaxWindow: most, InitialWindow: 10 * (chunk + engine.Overhead)})
	ids := p.connect(paths)
	p.lose(3, 0.05)
	key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
	highest := 0
	p.run("the Write", func() bool {
		s, _ := p.ends[0].ConnStats(ids[0])
		highest = max(highest, s.InFlight)
		for _, path := range s.Paths {
			if path.InFlight > path.Window {
				t.Fatalf("path %d: %d bytes in flight, the window is %d", path.ID, path.InFlight, path.Window)
			}
		}
		return p.count(0, engine.Completed) == 1
	})
	// Resends fit into their path's window, not into the connection's: they are what is missing of it.
	if slack := 2 * (chunk + engine.Overhead); highest > most+slack {
		t.Errorf("%d bytes in flight, the window is %d", highest, most)
	}
	if highest < most/2 {
		t.Errorf("at most %d bytes in flight, the window of %d was never used", highest, most)
	}
}

// When several peers send, a hint that grants less than the windows lowers what each has in flight.
//
//mr:prop P33
//mr:test MR-CC-014 MR-CC-007
func TestGrantLowersTheFlight(t *testing.T) {
	const chunk, kbits = 1024, 1_000_000
	p := newPair(t, engine.Config{Chunk: chunk, Capacity: kbits})
	var ids [2]engine.ConnID
	for i := range ids {
		id, err := p.ends[0].Open(p.now, routes(4))
		p.must(err)
		ids[i] = id
	}
	p.run("open", func() bool { return p.count(0, engine.Opened) == 2 && p.count(1, engine.Opened) == 2 })
	key, err := p.ends[1].Register(make([]byte, 4<<20), engine.RemoteWrite)
	p.must(err)
	for _, id := range ids {
		p.must(p.ends[0].Post(p.now, id, engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 4<<20)}))
	}
	highest, began := 0, engine.Time(0)
	p.run("the Writes", func() bool {
		for _, id := range ids {
			s, _ := p.ends[0].ConnStats(id)
			if s.BytesSent > 2<<20 {
				began = max(began, p.now)
			}
			if began > 0 && p.count(0, engine.Completed) == 0 {
				highest = max(highest, s.InFlight)
			}
		}
		return p.count(0, engine.Completed) == 2
	})
	// 1.5 round trips of 20 µs at half a Gbit/s are 1875 bytes, and a packet. What a window held before the first hint came
	// has left by the second half.
	if most := 1875 + 2*(chunk+engine.Overhead); highest == 0 || highest > most {
		t.Errorf("%d bytes in flight with a grant of half a Gbit/s, at most %d", highest, most)
	}
}

// The PSNs of a path that are in use span 256 at most, and a quarter of a narrower space: old and new ones
// could not be told apart otherwise.
//
//mr:prop P36
func TestNumbersInUseSpanAQuarterOfTheirSpace(t *testing.T) {
	for bits, most := range map[int]uint64{8: 64, 9: 128, 10: 256, 16: 256, 32: 256} {
		p := newPair(t, engine.Config{Chunk: 8, SeqBits: bits, InitialWindow: 1 << 20})
		ids := p.connect(1)
		key, err := p.ends[1].Register(make([]byte, 8192), engine.RemoteWrite)
		p.must(err)
		p.drop = func(from int, _ engine.Datagram) bool { return from == 1 }
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 8192)}))
		p.turn()
		if s, _ := p.ends[0].ConnStats(ids[0]); s.Paths[0].Packets != most {
			t.Errorf("%d bits: %d packets leave before the first ACK, want %d", bits, s.Paths[0].Packets, most)
		}
	}
}
