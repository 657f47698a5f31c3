// SPDX-License-Identifier: Apache-2.0

package path

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Counters go out when one of them has changed since the last block that carried them, and otherwise with every 16th block.
//
//mr:test MR-ACK-011
func TestCountersGoOutWhenTheyChangeAndNowAndThen(t *testing.T) {
	p := New(0, Route{}, testConfig(32, 0))
	psn := uint32(0)
	report := func(ecn uint8) bool {
		p.Tracker().Admit(Arrival{PSN: psn, TSN: psn, ECN: ecn})
		p.Tracker().Placed(psn)
		psn++
		var b wire.PathAck
		p.Tracker().Report(&b)
		return b.HasCounters
	}
	for block := 1; block <= 48; block++ {
		if got, want := report(ect0), block%16 == 0; got != want {
			t.Errorf("block %d carries counters: %v", block, got)
		}
	}
	if !report(notECT) {
		t.Error("a changed counter does not go out")
	}
	if report(ect0) {
		t.Error("counters that have not changed go out again at once")
	}
}

// Round-trip times are smoothed as RFC 6298 says: the first sample sets both numbers, each further one moves the mean by an
// eighth and the deviation by a quarter. The time that the peer held the ACK back does not count.
//
//mr:test MR-LOSS-008 MR-LOSS-013
func TestRoundTripTimesAreSmoothed(t *testing.T) {
	p := New(0, Route{}, testConfig(32, 0))
	now := mono.Time(0)
	sample := func(rtt, held time.Duration) {
		s := p.Record(now, Moved{Size: 1000})
		now = now.Add(rtt + held)
		p.Ack(now, &wire.PathAck{Base: s.PSN + 1, Largest: s.TSN, ReceivedAt: 5}, 5+uint32(held), nil)
	}
	expect := func(what string, srtt, rttvar time.Duration) {
		t.Helper()
		if p.rtt.smoothed != srtt || p.rtt.variance != rttvar {
			t.Errorf("%s: srtt %v and rttvar %v, want %v and %v", what, p.rtt.smoothed, p.rtt.variance, srtt, rttvar)
		}
		if got, want := p.PTO(), srtt+max(4*rttvar, 100*time.Microsecond)+10*time.Microsecond; got != want {
			t.Errorf("%s: PTO %v, want %v", what, got, want)
		}
	}
	sample(800*time.Microsecond, 300*time.Microsecond)
	expect("the first sample", 800*time.Microsecond, 400*time.Microsecond)
	sample(1600*time.Microsecond, time.Millisecond)
	expect("the second sample", 900*time.Microsecond, 500*time.Microsecond)
	s := p.Record(now, Moved{Size: 1000})
	p.Ack(now.Add(10*time.Second), &wire.PathAck{Base: s.PSN + 1, Largest: s.TSN, ReceivedAt: 5}, 4, nil)
	expect("an ACK that was held for more than 2 s", 900*time.Microsecond, 500*time.Microsecond)
	p.Ack(now.Add(time.Second), &wire.PathAck{Base: s.PSN + 1, Largest: s.TSN}, 0, nil)
	expect("the same TSN again", 900*time.Microsecond, 500*time.Microsecond)
	for range 100 {
		sample(20*time.Microsecond, 0)
	}
	if got := p.PTO(); got < 130*time.Microsecond || got > 150*time.Microsecond {
		t.Errorf("PTO %v of a short path, the granularity is 100 µs and the peer's delay 10 µs", got)
	}
}

// A path comes back, with the first window, the known srtt and half of it as deviation, when a probe sent since its failure is
// acknowledged, and for nothing else.
//
//mr:test MR-FAIL-005
func TestPathComesBackAsIfNew(t *testing.T) {
	p := New(0, Route{}, testConfig(32, 0))
	first := p.Window()
	s := p.Record(0, Moved{Size: 1000})
	p.Ack(mono.Time(time.Millisecond), &wire.PathAck{Base: 1, Largest: s.TSN, Packets: 1, Ce: 1}, 0, nil)
	if p.Window() >= first {
		t.Fatalf("window %d after a mark, %d before", p.Window(), first)
	}
	for range 40 {
		p.rtt.sample(time.Millisecond)
	}
	old := p.Record(mono.Time(999*time.Millisecond), Moved{Size: 1000})
	p.Fail(mono.Time(time.Second), Route{}, nil)
	p.Ack(mono.Time(time.Second), &wire.PathAck{Base: 1, Largest: old.TSN, Packets: 1, Ce: 1}, 0, nil)
	if !p.Down() {
		t.Fatal("old news bring the path back")
	}
	small := p.Transmit(mono.Time(time.Second))
	p.Ack(mono.Time(time.Second), &wire.PathAck{Base: 2, Largest: small.TSN, Packets: 1, Ce: 1}, 0, nil)
	if !p.Down() {
		t.Fatal("a packet that is not a full one brings the path back")
	}
	probe, late := p.Probe(mono.Time(time.Second)), p.Probe(mono.Time(time.Second))
	p.Ack(mono.Time(time.Second+time.Millisecond), &wire.PathAck{Base: 2, Largest: probe.TSN, Packets: 1, Ce: 1}, 0, nil)
	if p.Down() || p.Window() != first || p.rtt.smoothed != time.Millisecond || p.rtt.variance != time.Millisecond/2 {
		t.Errorf("down %v, window %d of %d, srtt %v, rttvar %v", p.Down(), p.Window(), first, p.rtt.smoothed, p.rtt.variance)
	}
	p.Fail(mono.Time(2*time.Second), Route{}, nil)
	p.Ack(mono.Time(2*time.Second), &wire.PathAck{Base: 2, Largest: late.TSN, Packets: 1, Ce: 1}, 0, nil)
	if !p.Down() {
		t.Error("the late answer to a probe of an earlier failure brings the path back")
	}
}

// When more than half of 16 or more packets arrive as Not-ECT, the network clears the field: the path sends Not-ECT.
//
//mr:prop P32
//mr:test MR-CC-006 MR-WIRE-004
func TestPathWhoseMarksAreClearedSendsNotECT(t *testing.T) {
	for _, c := range []struct {
		packets, notECT uint32
		want            uint8
	}{
		{16, 9, notECT}, {16, 8, ect0}, {15, 15, ect0}, {200, 101, notECT}, {200, 100, ect0},
	} {
		p := New(0, Route{}, testConfig(32, 0))
		if p.ECN() != ect0 {
			t.Fatal("a new path does not send ECT(0)")
		}
		p.Record(0, Moved{Size: 1000})
		p.Ack(1, &wire.PathAck{Packets: c.packets, HasCounters: true, Counters: wire.PathCounters{NotEct: c.notECT}}, 0, nil)
		if got := p.ECN(); got != c.want || p.Blind() != (c.want == notECT) {
			t.Errorf("%d of %d packets arrive as Not-ECT: the path sends %d, want %d", c.notECT, c.packets, got, c.want)
		}
	}
}

// Paths take their turns, each for a burst, in an order that another connection does not share; one without room is left out.
//
//mr:test MR-PATH-010 MR-PATH-003
func TestPathsTakeTheirTurns(t *testing.T) {
	const paths, burst = 8, 2
	orders := map[string]bool{}
	for seed := range uint64(4) {
		s := NewSet(paths, burst, rand.New(rand.NewPCG(seed, 0)))
		for id := range uint16(paths) {
			s.Add(New(id, Route{}, testConfig(32, 0)))
		}
		var order []uint16
		for range paths {
			p := s.Pick(1000)
			if again := s.Pick(1000); again != p {
				t.Errorf("path %d is left for %d within a burst", p.ID, again.ID)
			}
			order = append(order, p.ID)
		}
		orders[string(slices.Clone(asBytes(order)))] = true
		slices.Sort(order)
		if !slices.Equal(order, []uint16{0, 1, 2, 3, 4, 5, 6, 7}) {
			t.Errorf("a round takes paths %v", order)
		}
		s.Get(3).Fail(0, Route{}, nil)
		for range 4 * paths {
			if p := s.Pick(1000); p.ID == 3 {
				t.Fatal("a path out of service is picked")
			}
		}
	}
	if len(orders) < 3 {
		t.Errorf("four connections have %d orders", len(orders))
	}
}

func asBytes(ids []uint16) (b []byte) {
	for _, id := range ids {
		b = append(b, byte(id))
	}
	return b
}

// Counters that cannot be true are not used, and make the path blind: it sends Not-ECT and does not grow by their leave. What a
// receiver can say in good faith, copies that come late included, is used.
//
//mr:prop P32
//mr:test MR-CC-016
func TestImpossibleCountersMakeThePathBlind(t *testing.T) {
	const sent, acked = 100, 40
	before := wire.PathAck{Base: acked, Largest: acked, Packets: 50, Ce: 10}
	for _, c := range []struct {
		name        string
		packets, ce uint32
		lie         bool
	}{
		{"nothing new", 50, 10, false},
		{"older counters", 49, 3, false},
		{"all new ones marked", 60, 20, false},
		{"copies that come late", 2*sent + 256, 10, false},
		{"more marks than packets", 60, 21, true},
		{"fewer marks than before", 60, 9, true},
		{"marks that wrap", 60, 1 << 31, true},
		{"more packets than twice those sent", 2*sent + 257, 10, true},
		{"far more packets", 1 << 30, 1 << 30, true},
	} {
		cfg := testConfig(32, 0)
		cfg.Congestion.Initial = 50_000
		p := New(0, Route{}, cfg)
		for range sent {
			p.Record(0, Moved{Size: 1000})
		}
		p.Ack(1, &before, 0, nil)
		window := p.Window()
		b := wire.PathAck{Base: acked + 5, Largest: acked + 5, Packets: c.packets, Ce: c.ce}
		p.Ack(2, &b, 0, nil)
		if p.Blind() != c.lie || c.lie != (p.ECN() == notECT) {
			t.Errorf("%s: blind %v, codepoint %d", c.name, p.Blind(), p.ECN())
		}
		if p.Window() > window {
			t.Errorf("%s: the window grows from %d to %d", c.name, window, p.Window())
		}
		if want := uint64(min(c.ce-10, c.packets-50)); c.lie && p.Sent.CE != 10 || !c.lie && int32(c.packets-50) > 0 && p.Sent.CE != 10+want {
			t.Errorf("%s: %d marks are counted", c.name, p.Sent.CE)
		}
	}
	p := New(0, Route{}, testConfig(32, 0))
	p.Record(0, Moved{Size: 1000})
	p.Record(0, Moved{Size: 1000})
	p.Ack(1, &wire.PathAck{Base: 2, Largest: 1, Packets: 1}, 0, nil)
	if !p.Blind() {
		t.Error("two PSNs are acknowledged, and one packet has arrived")
	}
}
