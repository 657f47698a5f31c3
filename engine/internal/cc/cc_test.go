// SPDX-License-Identifier: Apache-2.0

package cc

import (
	"testing"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"pgregory.net/rapid"
)

const rtt = int64(1_000_000)

func config() *Config { return &Config{Initial: 40_000, Least: 4_160, Most: 1 << 20, Step: 4_160} }

// At most one decrease in each round trip, however many ACKs carry marks.
//
//mr:prop P30
//mr:test MR-CC-003
func TestWindowFallsOncePerRound(t *testing.T) {
	a := newAIMD(config())
	before := a.Window()
	for i := range 10 {
		a.OnAck(mono.Time(i), Feedback{Bytes: 4160, InFlight: before, Packets: 1, Marked: 1, RTT: rtt})
	}
	if got := a.Window(); got != before/2 {
		t.Fatalf("window %d after a round of marks, want %d", got, before/2)
	}
	a.OnAck(mono.Time(rtt)+1, Feedback{Bytes: 4160, InFlight: before, Packets: 1, Marked: 1, RTT: rtt})
	if got := a.Window(); got >= before/2 {
		t.Fatalf("window %d after the second round, want less than %d", got, before/2)
	}
}

//mr:test MR-CC-010
func TestWindowGrowsOnePacketPerRoundAfterAMark(t *testing.T) {
	a := newAIMD(config())
	a.OnAck(0, Feedback{Bytes: 4160, InFlight: 40_000, Packets: 1, Marked: 1, RTT: rtt})
	before := a.Window()
	for sent := 0; sent < before; sent += 2000 {
		a.OnAck(mono.Time(rtt), Feedback{Bytes: 2000, InFlight: before, Packets: 1, RTT: rtt})
	}
	if got := a.Window(); got != before+4160 {
		t.Fatalf("window grew from %d to %d in one round, want %d", before, got, before+4160)
	}
}

//mr:test MR-CC-005
func TestWindowDoesNotGrowWhenUnused(t *testing.T) {
	a := newAIMD(config())
	a.OnAck(0, Feedback{Bytes: 4160, InFlight: 4160, Packets: 1, RTT: rtt})
	if got := a.Window(); got != 40_000 {
		t.Fatalf("window %d of an application-limited path, want 40000", got)
	}
}

// Whatever the feedback says, the window stays between one packet and its ceiling.
//
//mr:prop P31
//mr:test MR-CC-011
func TestWindowStaysInBounds(t *testing.T) { rapid.Check(t, playWindow) }

func playWindow(t *rapid.T) {
	cfg := config()
	a := newAIMD(cfg)
	now := mono.Time(0)
	for range rapid.IntRange(1, 200).Draw(t, "acks") {
		now += mono.Time(rapid.Int64Range(0, 3*rtt).Draw(t, "gap"))
		a.OnAck(now, Feedback{
			Bytes:    rapid.IntRange(0, 1<<22).Draw(t, "bytes"),
			InFlight: rapid.IntRange(0, 1<<22).Draw(t, "inflight"),
			Packets:  rapid.Uint32().Draw(t, "packets"),
			Marked:   rapid.Uint32().Draw(t, "marked"),
			RTT:      rapid.Int64Range(0, 1<<40).Draw(t, "rtt"),
		})
		if w := a.Window(); w < cfg.Least || w > cfg.Most {
			t.Fatalf("window %d outside %d..%d", w, cfg.Least, cfg.Most)
		}
	}
}
