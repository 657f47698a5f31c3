// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// dataPacket returns the bytes of a datagram that counts as sequenced.
func dataPacket(n *network, size int) []byte {
	b := n.lend()[:size]
	clear(b)
	b[1] = byte(wire.OpcodeWrite)
	return b
}

func routeOf(from, path int) engine.Route {
	r := engine.Route{
		Local:  netip.AddrPortFrom(address(0, 0), uint16(firstPort+path)),
		Remote: netip.AddrPortFrom(address(0, 1), wire.Port),
	}
	if from == 1 {
		r.Local, r.Remote = r.Remote, r.Local
	}
	return r
}

func testNetwork(t *testing.T, cfg Config) *network {
	t.Helper()
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return newNetwork(&cfg)
}

// carry sends a packet through all hops and returns when it arrives and what became of it.
func carry(n *network, at instant, from, path int) (arrives instant, m mark) {
	index, at, m := n.depart(at, from, engine.Datagram{Route: routeOf(from, path), ECN: engine.ECT0, Bytes: dataPacket(n, 1000)})
	for last := false; m == 0 && !last; {
		at, m, last = n.hop(at, index)
	}
	if m == 0 {
		m, _, _ = n.arrive(at, index)
	}
	n.remove(index)
	return at, m
}

func TestHopSerializesAndDelays(t *testing.T) {
	n := testNetwork(t, Config{Network: Network{
		Rate: 8e9, Latency: time.Microsecond, Paths: 4,
		Hops: []Hop{{Rate: 8e9, Latency: 2 * time.Microsecond}, {Rate: 4e9, Latency: 3 * time.Microsecond}},
	}})
	const wire = instant(1000+wireOverhead) * 1000 // ps at 8 Gb/s
	want := []instant{
		6_000_000 + 3*wire,   // alone: 1 + 2 + 3 µs, one time at 8 Gb/s and one at 4
		6_000_000 + 3*wire*1, // on the way back nobody is ahead
		6_000_000 + 5*wire,   // behind the first
	}
	for i, c := range []struct{ from, path int }{{0, 1}, {1, 1}, {0, 2}} {
		got, m := carry(n, 0, c.from, c.path)
		if got != want[i] || m != markDelivered {
			t.Errorf("packet %d arrives at %d ps with mark %d, want %d", i, got, m, want[i])
		}
	}
}

func TestHopOfItsOwnDoesNotDelayOtherPaths(t *testing.T) {
	n := testNetwork(t, Config{Network: Network{Rate: 8e9, Paths: 2, Hops: []Hop{{Rate: 8e6, Own: true}}}})
	first, _ := carry(n, 0, 0, 0)
	other, _ := carry(n, 0, 0, 1)
	behind, _ := carry(n, 0, 0, 0)
	if first != other || behind != 2*first {
		t.Errorf("arrivals: %d, on the other path %d, behind the first %d", first, other, behind)
	}
}

func TestFullQueueDropsItsTail(t *testing.T) {
	const packets = 5
	n := testNetwork(t, Config{Network: Network{
		Rate: 8e9, Paths: 1, Hops: []Hop{{Rate: 8e9, Queue: packets*(1000+wireOverhead) + 1}},
	}})
	for i := range 2 * packets {
		_, m := carry(n, 0, 0, 0)
		if want := i >= packets; (m == markOverflowed) != want {
			t.Errorf("packet %d: mark %d", i, m)
		}
	}
	if n.stats.Overflowed != packets || n.stats.Delivered != packets {
		t.Errorf("stats: %+v", n.stats)
	}
	// Half a packet later there is room for half a packet only; a whole one later there is room for one.
	if _, m := carry(n, 1042*500, 0, 0); m != markOverflowed {
		t.Errorf("half a packet's time later: mark %d", m)
	}
	if _, m := carry(n, 1042*1000, 0, 0); m != markDelivered {
		t.Errorf("a packet's time later: mark %d", m)
	}
}

func TestMarksGrowLinearlyWithTheQueue(t *testing.T) {
	o := port{Hop: &Hop{MarkFrom: 1000, MarkTo: 3000}}
	rng := rand.New(rand.NewPCG(1, 1))
	const draws = 100_000
	for backlog, want := range map[int]float64{0: 0, 1000: 0, 1500: 0.25, 2000: 0.5, 2900: 0.95, 3000: 1, 9000: 1} {
		marked := 0
		for range draws {
			if o.marks(backlog, rng) {
				marked++
			}
		}
		if got := float64(marked) / draws; math.Abs(got-want) > 0.01 {
			t.Errorf("%d bytes waiting: %.3f marked, want %.2f", backlog, got, want)
		}
	}
}

func TestMarksSpareWhatCannotCarryThem(t *testing.T) {
	hop := Hop{Rate: 1e9, MarkFrom: 0, MarkTo: 1}
	o := port{Hop: &hop, busy: 1_000_000}
	for ecn, want := range map[uint8]uint8{engine.NotECT: engine.NotECT, engine.ECT0: engine.CE, engine.ECT1: engine.CE, engine.CE: engine.CE} {
		p := packet{ecn: ecn, data: make([]byte, 10)}
		o.enter(0, &p, rand.New(rand.NewPCG(1, 1)))
		if p.ecn != want {
			t.Errorf("codepoint %d becomes %d, want %d", ecn, p.ecn, want)
		}
	}
}

func TestSkewReordersAcrossPathsOnly(t *testing.T) {
	n := testNetwork(t, Config{Seed: 3, Network: Network{Rate: 8e9, Paths: 8, Skew: time.Millisecond}})
	var last [8]instant
	for i := range instant(800) {
		path := int(i % 8)
		at, _ := carry(n, i*1000, 0, path)
		if at <= last[path] {
			t.Fatalf("packet %d overtakes on path %d", i, path)
		}
		last[path] = at
	}
	// carry delivers one packet at a time, so nothing counts as reordered; the delays must differ nevertheless.
	seen := map[instant]bool{}
	for _, s := range n.directions[0].skew {
		if s < 0 || s > instantOf(time.Millisecond) {
			t.Errorf("skew of %d ps", s)
		}
		seen[s] = true
	}
	if len(seen) < 8 {
		t.Errorf("only %d different skews", len(seen))
	}
}

func TestCutSwallowsOneDirectionOfOnePathForAWhile(t *testing.T) {
	n := testNetwork(t, Config{
		HealAt: 4 * time.Millisecond,
		Faults: []Fault{{Kind: Cut, Host: 1, Plane: All, Path: 1, Begin: time.Millisecond, End: 5 * time.Millisecond}},
		Network: Network{
			Rate: 8e9, Paths: 2,
		},
	})
	for _, c := range []struct {
		at         time.Duration
		from, path int
		want       mark
	}{
		{999_999, 1, 1, markDelivered},
		{1e6, 1, 1, markCut},
		{1e6, 0, 1, markDelivered},
		{1e6, 1, 0, markDelivered},
		{3_999_999, 1, 1, markCut},
		{4e6, 1, 1, markDelivered}, // healed before the window's end
	} {
		if _, m := carry(n, instantOf(c.at), c.from, c.path); m != c.want {
			t.Errorf("at %v from host %d on path %d: mark %d, want %d", c.at, c.from, c.path, m, c.want)
		}
	}
}

func TestCopyThatIsTooLateIsWithheld(t *testing.T) {
	n := testNetwork(t, Config{
		Engine:  engine.Config{SeqBits: 10},
		Network: Network{Rate: 8e9, Paths: 1},
		Faults:  []Fault{{Kind: Copy, Host: All, Plane: All, Path: All, Chance: 1}},
	})
	for later, want := range map[uint64]mark{0: markCopied, 1: markCopied, 256: markCopied, 257: markStale} {
		index, at, _ := n.depart(0, 0, engine.Datagram{Route: routeOf(0, 0), Bytes: dataPacket(n, 100)})
		m, copied, when := n.arrive(at, index)
		if m != markDelivered || copied < 0 || when <= at {
			t.Fatalf("first arrival: mark %d, copy %d at %d", m, copied, when)
		}
		n.directions[0].order += later
		if _, _, last := n.hop(when, copied); !last {
			t.Fatal("a copy enters a hop")
		}
		if m, again, _ := n.arrive(when, copied); m != want || again >= 0 {
			t.Errorf("%d datagrams later the copy gets mark %d, want %d; copy of a copy: %d", later, m, want, again)
		}
	}
}

func TestDatagramToNowhereIsCountedAndDropped(t *testing.T) {
	n := testNetwork(t, Config{Network: Network{Rate: 8e9, Paths: 1}})
	r := routeOf(0, 0)
	r.Remote = netip.MustParseAddrPort("192.0.2.1:4797")
	if _, _, m := n.depart(0, 0, engine.Datagram{Route: r, Bytes: dataPacket(n, 100)}); m != markStray || n.stats.Stray != 1 {
		t.Errorf("mark %d, %d stray", m, n.stats.Stray)
	}
}

func TestNewPortFindsAnotherPath(t *testing.T) {
	n := testNetwork(t, Config{Network: Network{Rate: 8e9, Paths: 4}})
	for port, want := range map[int]int{0: 0, 3: 3, 4: 0, 4097: 1} {
		if got := n.pathOf(0, 0, routeOf(0, port)); got != want {
			t.Errorf("port %d of the pool takes path %d, want %d", port, got, want)
		}
		if got := n.pathOf(1, 0, routeOf(1, port)); got != want {
			t.Errorf("port %d of the pool takes path %d on the way back, want %d", port, got, want)
		}
	}
}
