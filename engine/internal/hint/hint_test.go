// SPDX-License-Identifier: Apache-2.0

package hint

import (
	"math/big"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/fuzz/model"
	"pgregory.net/rapid"
)

//mr:test MR-CC-008 MR-CC-015
func TestShareDividesTheCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Uint64Range(1000, 1_600_000_000).Draw(t, "capacity")
		n := rapid.IntRange(2, 1000).Draw(t, "connections")
		a := New(capacity, time.Millisecond)
		for conn := range n {
			a.Observe(0, uint64(conn), rapid.Uint64Range(1, 1<<40).Draw(t, "remaining"))
		}
		sum, least, most := uint64(0), uint32(None), uint32(0)
		for conn := range n {
			rate, _ := a.Share(0, uint64(conn))
			sum += uint64(rate)
			least, most = min(least, rate), max(most, rate)
		}
		if sum > capacity+uint64(n) || sum+uint64(n) < capacity {
			t.Fatalf("%d connections share %d of %d kbit/s", n, sum, capacity)
		}
		if float64(most) > spread*spread*float64(least+1)+1 {
			t.Fatalf("shares between %d and %d", least, most)
		}
	})
}

//mr:test MR-CC-008 MR-CC-015
func TestShareEndsWithItsMessageAndWithSilence(t *testing.T) {
	a := New(1000, 100)
	a.Observe(0, 1, 50)
	if rate, _ := a.Share(0, 1); rate != None {
		t.Errorf("a lone sender gets %d", rate)
	}
	a.Observe(0, 2, 50)
	first, serial := a.Share(0, 1)
	if first != 500 {
		t.Errorf("one of two equals gets %d", first)
	}
	a.Observe(10, 2, 0)
	if rate, s := a.Share(10, 1); rate != None || s == serial {
		t.Errorf("after the other is done it gets %d, serial %d after %d", rate, s, serial)
	}
	a.Observe(10, 3, 50)
	a.Observe(100, 1, 50)
	if rate, _ := a.Share(mono.Time(111), 1); rate != None {
		t.Errorf("with a silent competitor it gets %d", rate)
	}
	if rate, _ := a.Share(111, 3); rate != None {
		t.Errorf("a silent connection has a share of %d", rate)
	}
}

//mr:test MR-CC-008
func TestUnknownCapacityGivesNoHint(t *testing.T) {
	a := New(0, time.Second)
	a.Observe(0, 1, 50)
	a.Observe(0, 2, 50)
	if rate, _ := a.Share(0, 1); rate != None {
		t.Errorf("share %d of an unknown capacity", rate)
	}
}

// Whoever sends, ends or falls silent: every connection's share is that of exact fractions, and the number of the division goes up
// by one when the set of senders changes, and not otherwise.
//
//mr:prop P33
//mr:test MR-CC-008 MR-CC-015
func TestSharesEqualExactFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.SampledFrom([]int64{0, 1, 1000, 1_000_000, 1_600_000_000}).Draw(t, "capacity")
		const memory = 1000
		a, exact := New(uint64(capacity), memory), model.NewShares(capacity, memory)
		now := mono.Time(0)
		observe := func(conn, lacks uint64) {
			a.Observe(now, conn, lacks)
			exact.Hear(int64(now), conn, int64(lacks))
		}
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) { now += mono.Time(rapid.Int64Range(0, 700).Draw(t, "ns")) },
			"send": func(t *rapid.T) {
				observe(rapid.Uint64Range(0, 9).Draw(t, "conn"), rapid.OneOf(rapid.Uint64Range(1, 10), rapid.Uint64Range(1, 1<<40)).Draw(t, "lacks"))
			},
			"end": func(t *rapid.T) { observe(rapid.Uint64Range(0, 9).Draw(t, "conn"), 0) },
			"": func(t *rapid.T) {
				for conn := range uint64(10) {
					got, serial := a.Share(now, conn)
					want, number := exact.Share(int64(now), conn)
					if off := new(big.Rat).Sub(want, big.NewRat(int64(got), 1)); off.Abs(off).Cmp(big.NewRat(1, 1)) > 0 {
						t.Fatalf("connection %d gets %d kbit/s, exactly %s", conn, got, want.FloatString(3))
					}
					if serial != uint16(number) {
						t.Fatalf("the division has number %d, want %d", serial, number)
					}
				}
			},
		})
	})
}
