// SPDX-License-Identifier: Apache-2.0

package cc

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/fuzz/model"
	"pgregory.net/rapid"
)

// governed is a window and the same in exact fractions.
type governed struct {
	t     rapid.TB
	now   int64
	aimd  AIMD
	exact *model.Window
	cuts  int
	grown int
}

func newGoverned(t rapid.TB) *governed {
	cfg := config()
	return &governed{
		t: t, aimd: *newAIMD(cfg), exact: model.NewWindow(model.Limits{First: cfg.Initial, Least: cfg.Least, Most: cfg.Most, Step: cfg.Step}),
	}
}

// hear lets both take in a signal. They may differ by the rounding of one byte.
func (g *governed) hear(gap int64, s model.Signal) {
	g.now += gap
	s.Now, s.Marked = g.now, min(s.Marked, s.Packets)
	before, exact := g.aimd.Window(), g.exact.Bytes()
	g.exact.Ack(s)
	g.aimd.OnAck(mono.Time(g.now), Feedback{
		Bytes: s.Bytes, InFlight: s.InFlight, Packets: uint32(s.Packets), Marked: uint32(s.Marked), Lost: int(s.Lost),
		RTT: s.RTT, Base: s.Base, Blind: s.Blind,
	})
	got, want := g.aimd.Window(), g.exact.Bytes()
	if got-want > 1 || want-got > 1 {
		g.t.Fatalf("window %d (was %d), in exact fractions %d (was %d), after %+v", got, before, want, exact, s)
	}
	if cfg := config(); got < cfg.Least || got > cfg.Most {
		g.t.Fatalf("window %d outside %d..%d", got, cfg.Least, cfg.Most)
	}
	if growth := max(config().Step, s.Bytes); got > before+growth || s.Marked > 0 && got > before {
		g.t.Fatalf("window %d after %d and %+v", got, before, s)
	}
	switch {
	case got < before:
		g.cuts++
	case got > before:
		g.grown++
	}
	g.exact.Settle(got)
}

// A window that hears of acknowledgments, marks, losses and round-trip times of any kind is that of exact fractions: one decrease
// in a round at most, growth of one step per window, and none when it was not used.
//
//mr:prop P30 P31
//mr:test MR-CC-002 MR-CC-003 MR-CC-005 MR-CC-006 MR-CC-010 MR-CC-011 MR-CC-012
func TestWindowEqualsExactFractions(t *testing.T) {
	cuts, grown := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g := newGoverned(t)
		for range rapid.IntRange(1, 120).Draw(t, "signals") {
			g.hear(rapid.Int64Range(0, 2*rtt).Draw(t, "gap"), model.Signal{
				Bytes: rapid.IntRange(0, 50_000).Draw(t, "bytes"), InFlight: rapid.IntRange(0, 1<<20).Draw(t, "in flight"),
				Packets: rapid.Int64Range(0, 300).Draw(t, "packets"),
				Marked:  rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 300)).Draw(t, "marked"),
				Lost:    rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 100)).Draw(t, "lost"),
				RTT:     rapid.Int64Range(rtt/2, 4*rtt).Draw(t, "rtt"), Base: rapid.SampledFrom([]int64{0, rtt / 2, rtt}).Draw(t, "base"),
				Blind: rapid.IntRange(0, 5).Draw(t, "blind") == 0,
			})
		}
		cuts, grown = cuts+g.cuts, grown+g.grown
	})
	if cuts == 0 || grown == 0 {
		t.Errorf("%d decreases, %d increases", cuts, grown)
	}
}

// event is one signal in bytes.
const event = 16

// FuzzWindow: whatever an ACK says of marks, losses and times, the window is that of exact fractions, within its bounds.
//
//mr:prop P30 P31 P46
func FuzzWindow(f *testing.F) {
	rng := rand.New(rand.NewPCG(11, 11))
	for n := range 12 {
		program := make([]byte, event*(1<<(n%6)))
		for i := range program {
			program[i] = byte(rng.Uint32() >> (n % 3 * 8))
		}
		f.Add(program)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		g := newGoverned(t)
		for n := 0; len(program) >= event && n < 300; n++ {
			word := func(at int) int64 { return int64(binary.BigEndian.Uint16(program[at:])) }
			g.hear(word(0)*100, model.Signal{
				Bytes: int(word(2)), InFlight: int(word(4)) * 20, Packets: word(6) % 512, Marked: word(8) % 512 * int64(program[15]&1),
				Lost: word(10) % 128 * int64(program[15]>>1&1), RTT: 1 + word(12)*100, Base: int64(program[14]) * 10_000, Blind: program[15]>>2&3 == 3,
			})
			program = program[event:]
		}
	})
}
