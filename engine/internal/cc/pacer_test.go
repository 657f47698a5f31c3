// SPDX-License-Identifier: Apache-2.0

package cc

import (
	"math/big"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"pgregory.net/rapid"
)

// Gaps and rates equal exact arithmetic, up to terabits and over hours.
//
//mr:prop P31
func TestGapEqualsExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 1<<30).Draw(t, "size")
		rate := rapid.Uint64Range(1, 1<<62).Draw(t, "rate")
		exact := new(big.Int).Mul(big.NewInt(int64(size)), big.NewInt(8*int64(time.Second)))
		exact.Div(exact, new(big.Int).SetUint64(rate))
		want := longestGap
		if exact.IsInt64() {
			want = min(want, time.Duration(exact.Int64()))
		}
		if got := Gap(size, rate); got != want {
			t.Fatalf("%d bytes at %d bit/s take %v, want %v", size, rate, got, want)
		}
		rtt := time.Duration(rapid.Int64Range(-1, int64(2*time.Hour)).Draw(t, "rtt"))
		most := new(big.Int).SetUint64(^uint64(0))
		per := most
		if rtt > 0 {
			if per = new(big.Int).Div(new(big.Int).Mul(big.NewInt(int64(size)), big.NewInt(8*int64(time.Second))), big.NewInt(int64(rtt))); per.Cmp(most) > 0 {
				per = most
			}
		}
		if got := Rate(size, rtt); got != per.Uint64() {
			t.Fatalf("%d bytes in %v are %d bit/s, want %v", size, rtt, got, per)
		}
	})
}

// After an hour without packets no more of them leave together than after a moment, at rates up to terabits.
//
//mr:prop P31
//mr:test MR-CC-013
func TestIdlePacerSavesNoCredit(t *testing.T) {
	for _, rate := range []uint64{1_000_000, 100_000_000_000, 1_600_000_000_000} {
		var p Pacer
		p.Sent(0, 4160, rate)
		now := mono.Time(time.Hour)
		sent := 0
		for p.Next() <= now {
			p.Sent(now, 4160, rate)
			sent++
		}
		if sent != creditPackets {
			t.Errorf("%d packets leave together at %d bit/s", sent, rate)
		}
	}
}

//mr:test MR-CC-013
func TestPacerKeepsItsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Pacer
		const size, rate = 1000, 8_000_000 // one packet per millisecond
		now, sent := mono.Time(0), 0
		for range 200 {
			now += mono.Time(rapid.Int64Range(0, int64(3*time.Millisecond)).Draw(t, "pause"))
			for p.Next() <= now {
				p.Sent(now, size, rate)
				sent++
			}
			if most := int(now/1_000_000) + creditPackets; sent > most {
				t.Fatalf("%d packets in %v, at most %d", sent, time.Duration(now), most)
			}
		}
	})
}

//mr:test MR-CC-012 MR-CC-006
func TestMassLossWithQueueingIsCongestion(t *testing.T) {
	cases := []struct {
		name string
		f    Feedback
		cut  bool
	}{
		{"a few losses", Feedback{Lost: 1, Packets: 20, RTT: 3 * rtt, Base: rtt}, false},
		{"many without queueing", Feedback{Lost: 10, Packets: 20, RTT: rtt, Base: rtt}, false},
		{"many with queueing", Feedback{Lost: 10, Packets: 20, RTT: 3 * rtt, Base: rtt}, true},
		{"one on a blind path", Feedback{Lost: 1, Packets: 20, RTT: 2 * rtt, Base: rtt, Blind: true}, true},
		{"one on a blind path without queueing", Feedback{Lost: 1, Packets: 20, RTT: rtt, Base: rtt, Blind: true}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := newAIMD(config())
			before := a.Window()
			a.OnAck(1, c.f)
			if cut := a.Window() < before; cut != c.cut {
				t.Errorf("window %d after %d", a.Window(), before)
			}
		})
	}
}
