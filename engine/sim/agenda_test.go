// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/openmetaroce/metaroce/engine"
)

func TestAgendaHandsOutEventsByTimeThenBySerial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		var model []event
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "take") == 0 {
				got, ok := a.next()
				if ok != (len(model) > 0) {
					t.Fatalf("next: %v with %d events planned", ok, len(model))
				}
				if !ok {
					continue
				}
				if got != model[0] {
					t.Fatalf("got %+v, want %+v", got, model[0])
				}
				model = model[1:]
				continue
			}
			at := instant(rapid.IntRange(0, 20).Draw(t, "at"))
			a.plan(at, eventHop, len(model))
			model = append(model, event{at: at, serial: a.serial, index: int32(len(model)), kind: eventHop})
			slices.SortStableFunc(model, func(x, y event) int { return cmp.Compare(x.at, y.at) })
		}
	})
}

func TestAgendaDoesNotAllocate(t *testing.T) {
	var a agenda
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		a.plan(instant(rng.Int64N(1000)), eventTurn, 0)
	}
	if n := testing.AllocsPerRun(1000, func() {
		e, _ := a.next()
		a.plan(e.at+instant(rng.Int64N(1000)), eventTurn, 0)
	}); n != 0 {
		t.Errorf("%v allocations per event", n)
	}
}

func BenchmarkAgenda(b *testing.B) {
	var a agenda
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		a.plan(instant(rng.Int64N(1000)), eventTurn, 0)
	}
	for b.Loop() {
		e, _ := a.next()
		a.plan(e.at+instant(rng.Int64N(1000)), eventTurn, 0)
	}
}

func TestRateLastsIsExactAtFabricSpeeds(t *testing.T) {
	for _, c := range []struct {
		rate Rate
		size int
		want instant
	}{
		{400e9, 4194, 83_880},
		{400e9, 1, 20},
		{100e9, 1500, 120_000},
		{800e9, 102, 1020},
		{3e9, 1, 2666},
		{1000, 1 << 20, 8_388_608_000_000_000},
		{0, 4194, 0},
	} {
		if got := c.rate.lasts(c.size); got != c.want {
			t.Errorf("%d bytes at %d bit/s last %d ps, want %d", c.size, c.rate, got, c.want)
		}
	}
}

func TestRateBytesInvertsLasts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := Rate(rapid.Int64Range(1e6, 1.6e12).Draw(t, "rate"))
		size := rapid.IntRange(0, 1<<20).Draw(t, "size")
		got := rate.bytes(rate.lasts(size))
		// lasts rounds down by less than a picosecond, in which fewer than 2 bytes pass.
		if got > size || got < size-1 {
			t.Fatalf("%d bytes at %d bit/s come back as %d", size, rate, got)
		}
	})
	if got := Rate(1.6e12).bytes(never); got <= 0 {
		t.Errorf("bytes of the longest span: %d", got)
	}
}

func TestInstantKeepsNever(t *testing.T) {
	if got := wakeOf(engine.Never); got != never {
		t.Errorf("engine.Never becomes %d", got)
	}
	if got := instantOf(math.MaxInt64); got != never {
		t.Errorf("the longest duration becomes %d", got)
	}
	if got := instantOf(3 * time.Microsecond); got != 3_000_000 || got.clock() != 3000 || got.since() != 3*time.Microsecond {
		t.Errorf("3 µs become %d ps, %d ns, %v", got, got.clock(), got.since())
	}
	if got := instant(1999).clock(); got != 1 {
		t.Errorf("a host reads %d ns at 1999 ps", got)
	}
}
