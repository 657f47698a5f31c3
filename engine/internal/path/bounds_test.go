// SPDX-License-Identifier: Apache-2.0

package path

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Each proof of reordering doubles the guard, up to 128; it falls by one in 16 round trips.
//
//mr:test MR-LOSS-006
func TestGuardDoublesUpToItsBound(t *testing.T) {
	p := New(0, Route{}, testConfig(32, 0))
	p.rtt.sample(time.Millisecond)
	now, duplicates := mono.Time(time.Second), uint32(0)
	p.guard.since = now
	var widths []int32
	for range 10 {
		s := p.Record(now, Moved{Size: 100})
		after := p.Probe(now)
		p.Ack(now, &wire.PathAck{Base: s.PSN, Largest: after.TSN}, 0, nil)
		again := p.Resend(now, s.PSN)
		duplicates++
		p.Ack(now, &wire.PathAck{
			Base: again.PSN + 1, Largest: again.TSN, HasCounters: true,
			Counters: wire.PathCounters{Duplicates: duplicates, LastDuplicate: again.TSN},
		}, 0, nil)
		widths = append(widths, p.guard.width)
	}
	if diff := cmp.Diff([]int32{1, 2, 4, 8, 16, 32, 64, 128, 128, 128}, widths); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	step := decayAfter * p.rtt.smoothed
	for _, c := range []struct {
		after time.Duration
		want  int32
	}{{step - 1, 128}, {1, 127}, {step, 126}, {200 * step, 0}} {
		now = now.Add(c.after)
		p.learn(now, &wire.PathAck{})
		if p.guard.width != c.want {
			t.Errorf("%v later: %d, want %d", c.after, p.guard.width, c.want)
		}
	}
}

// A loss fraction is taken over 64 transmissions, not over 63, and over each of them once.
//
//mr:test MR-FAIL-002
func TestLossFractionNeedsASample(t *testing.T) {
	p := New(0, Route{}, testConfig(32, 0))
	for n := 1; n <= 130; n++ {
		s := p.Record(mono.Time(n), Moved{Size: 100})
		probe := p.Probe(mono.Time(n))
		block := wire.PathAck{Base: s.PSN + 1, Largest: probe.TSN}
		if n%4 == 0 {
			block.Base = s.PSN // this one is lost
		}
		p.Ack(mono.Time(n+1), &block, 0, nil)
		if p.HasLost() {
			p.Abandon(s.PSN)
		}
		fraction, fresh := p.LossFraction()
		if want := n%64 == 0; fresh != want || fresh && fraction != 0.25 {
			t.Errorf("after %d: fraction %v, fresh %v", n, fraction, fresh)
		}
	}
}

// A PSN that was lost 8 times by send order moves; one that was lost 7 times does not, nor one that a timer has given up 100
// times.
//
//mr:test MR-LOSS-004
func TestChunkMovesAfterEightLosses(t *testing.T) {
	p := New(0, Route{}, testConfig(32, 0))
	s := p.Record(0, Moved{Size: 100})
	for n := 1; n <= 8; n++ {
		probe := p.Probe(0)
		p.Ack(1, &wire.PathAck{Base: s.PSN, Largest: probe.TSN}, 0, nil)
		if p.Stuck(s.PSN) != (n == 8) {
			t.Errorf("after %d losses: %v", n, p.Stuck(s.PSN))
		}
		if n < 8 {
			p.Resend(1, s.PSN)
		}
	}
	p = New(0, Route{}, testConfig(32, 0))
	now := mono.Time(0)
	for s = p.Record(now, Moved{Size: 100}); p.Sent.RTOFired < 100; now = p.Deadline() {
		if p.Expire(now); p.HasLost() {
			p.Resend(now, s.PSN)
		}
	}
	if p.Stuck(s.PSN) {
		t.Error("timers count as losses")
	}
}

// Pauses between probes grow up to a second, of a path that is silent and of one that is out of service, or up to the probe
// timeout when that is longer.
//
//mr:test MR-LOSS-007 MR-FAIL-007
func TestPauseBetweenProbesIsBounded(t *testing.T) {
	for _, c := range []struct{ pto, want time.Duration }{
		{500 * time.Millisecond, time.Second}, {time.Second - 1, time.Second}, {time.Second, time.Second}, {time.Second + 1, time.Second + 1},
		{3 * time.Second, 3 * time.Second},
	} {
		p := New(0, Route{}, testConfig(32, 0))
		p.rtt.smoothed, p.rtt.variance = c.pto-p.cfg.PeerDelay-p.cfg.Granularity, 0
		if p.PTO() != c.pto {
			t.Fatalf("PTO %v, want %v", p.PTO(), c.pto)
		}
		p.Record(1, Moved{Size: 100})
		pauses := func() (last time.Duration) {
			for range 10 {
				now := p.Deadline()
				if p.Expire(now); p.HasLost() {
					p.Resend(now, p.ledger.lost.head)
				}
				pause := p.Deadline().Sub(now)
				if pause < last {
					t.Errorf("PTO %v: a pause of %v after one of %v", c.pto, pause, last)
				}
				last = pause
			}
			return last
		}
		if got := pauses(); got != c.want {
			t.Errorf("PTO %v: pauses of %v on a silent path, want %v", c.pto, got, c.want)
		}
		p.Fail(p.Deadline(), Route{}, nil)
		if got := pauses(); got != c.want {
			t.Errorf("PTO %v: pauses of %v on a failed path, want %v", c.pto, got, c.want)
		}
	}
}
