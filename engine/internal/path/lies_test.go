// SPDX-License-Identifier: Apache-2.0

package path

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Whatever a peer says of when packets arrived and when it answered, round-trip times are at most what has really passed,
// and never negative; so the timer stays within what has been measured.
//
//mr:test MR-LOSS-008
//mr:prop P35
func TestLiesAboutTimesStayWithinWhatPassed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := New(0, Route{}, testConfig(32, 0))
	now := mono.Time(time.Second)
	for n := range 10_000 {
		s := p.Record(now, Moved{Size: 1000})
		passed := time.Duration(1 + rng.IntN(2_000_000))
		now = now.Add(passed)
		block := wire.PathAck{Base: s.PSN + 1, Largest: s.TSN, ReceivedAt: rng.Uint32(), Packets: uint32(n)}
		sentAt := rng.Uint32()
		if n%3 == 0 {
			sentAt = block.ReceivedAt + uint32(rng.IntN(4_000_000))
		}
		p.Ack(now, &block, sentAt, nil)
		if e := &p.rtt; e.smoothed <= 0 || e.smoothed > 2*time.Millisecond || e.variance < 0 || e.least < 0 {
			t.Fatalf("after %v and an answer held for %v: %+v", passed, time.Duration(sentAt-block.ReceivedAt), *e)
		}
		if pto := p.PTO(); pto < p.cfg.Granularity+p.cfg.PeerDelay || pto > 20*time.Millisecond {
			t.Fatalf("PTO %v", pto)
		}
	}
}

// Whatever a peer counts, no window leaves its bounds, and counts that run backward, or above what was sent, are no
// licence to send more than the bytes that it has acknowledged allow.
//
//mr:test MR-ACK-006 MR-CC-011
//mr:prop P32 P29 P31
func TestLiesAboutCountsOpenNoWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	cfg := testConfig(32, 0)
	cfg.Congestion.Initial, cfg.Congestion.Most = 8000, 100_000
	honest, lied := New(0, Route{}, cfg), New(0, Route{}, cfg)
	now := mono.Time(time.Second)
	for range 5000 {
		for _, p := range []*Path{honest, lied} {
			s := p.Record(now, Moved{Size: 1000})
			block := wire.PathAck{Base: s.PSN + 1, Largest: s.TSN, Packets: p.reported.packets + 1}
			if p == lied {
				block.Packets, block.Ce, block.HasCounters = rng.Uint32(), rng.Uint32(), true
				block.Counters = wire.PathCounters{
					NotEct: rng.Uint32(), Duplicates: rng.Uint32(), LastDuplicate: rng.Uint32(), Refused: rng.Uint32(), Copies: rng.Uint32(),
				}
			}
			if !p.Valid(&block) {
				t.Fatal("a block that names what was sent is invalid")
			}
			p.Ack(now.Add(time.Millisecond), &block, 0, nil)
			if w := p.Window(); w < 1000 || w > 100_000 {
				t.Fatalf("window %d", w)
			}
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Millisecond)
		if lied.Window() > honest.Window() {
			t.Fatalf("lies make a window of %d, honesty one of %d", lied.Window(), honest.Window())
		}
	}
}

// Probes may be answered late, twice, out of order, after the path has failed, and after their TSNs are long forgotten:
// nothing breaks, nothing comes back to life that was given up, and only the answer to a probe since the failure counts.
//
//mr:test MR-LOSS-012 MR-FAIL-005
//mr:prop P46
func TestLateAnswersToProbesBreakNothing(t *testing.T) {
	const probes = 2 * remembered
	p := New(0, Route{}, testConfig(32, math.MaxUint32-50))
	now := mono.Time(time.Second)
	first := p.Record(now, Moved{Ref: Ref{Message: 1}, Size: 1000})
	var sent []Stamp
	for range probes {
		now = now.Add(time.Millisecond)
		p.Expire(now) // declares the chunk lost, again and again
		if p.HasLost() {
			_, psn, _ := p.NextLost()
			p.Resend(now, psn)
		}
		sent = append(sent, p.Probe(now))
	}
	moved := p.Fail(now, Route{}, nil)
	if len(moved) != 1 {
		t.Fatalf("%d chunks move", len(moved))
	}
	answer := func(i int) int {
		block := wire.PathAck{Base: first.PSN, Largest: sent[i].TSN}
		if !p.Valid(&block) {
			t.Fatalf("the answer to probe %d is invalid", i)
		}
		out, _ := p.Ack(now, &block, 0, nil)
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		return len(out)
	}
	for _, i := range []int{0, probes - 1, 3, probes / 2, 0, probes - 1} {
		if n := answer(i); n != 0 || !p.Down() {
			t.Errorf("the answer to probe %d acknowledges %d chunks; down %v", i, n, p.Down())
		}
	}
	sent = append(sent, p.Probe(now))
	if answer(probes); p.Down() {
		t.Error("the answer to the last probe does not bring the path back")
	}
	answer(3)
	if p.InFlight() != 0 || !p.Idle() {
		t.Errorf("%d bytes in flight, idle %v", p.InFlight(), p.Idle())
	}
}
