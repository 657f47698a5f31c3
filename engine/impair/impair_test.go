// SPDX-License-Identifier: Apache-2.0

package impair

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

func pcg(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func datagram(o wire.Opcode, n byte) []byte { return []byte{0x10, byte(o), n} }

func TestConfigRefusesWhatIsNoProbability(t *testing.T) {
	for _, p := range []float64{-0.01, 1.01, math.NaN(), math.Inf(1)} {
		for _, c := range []Config{{Loss: p}, {Duplicate: p}} {
			if err := c.Validate(); !errors.Is(err, ErrConfig) {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
	for _, c := range []Config{{}, {Loss: 1, Duplicate: 1, DataOnly: true}} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestDiceKeepsItsProbabilities(t *testing.T) {
	const rolls = 100_000
	d := NewDice(Config{Loss: 0.1, Duplicate: 0.2}, pcg(1))
	for range rolls {
		d.Roll(datagram(wire.OpcodeWrite, 0))
	}
	if got := float64(d.Dropped) / rolls; math.Abs(got-0.1) > 0.005 {
		t.Errorf("%.4f lost, want 0.1", got)
	}
	if got := float64(d.Duplicated) / float64(d.Passed); math.Abs(got-0.2) > 0.005 {
		t.Errorf("%.4f doubled, want 0.2", got)
	}
	if d.Dropped+d.Passed != rolls || d.DroppedData != d.Dropped {
		t.Errorf("counts: %+v", d.Counts)
	}
}

func TestDiceSparesAllButData(t *testing.T) {
	d := NewDice(Config{Loss: 1, DataOnly: true}, pcg(1))
	for o := range 256 {
		want := Pass
		if o >= 1 && o <= 7 {
			want = Drop
		}
		if got := d.Roll(datagram(wire.Opcode(o), 0)); got != want {
			t.Errorf("opcode %#02x: fate %d, want %d", o, got, want)
		}
	}
	for _, short := range [][]byte{nil, {0x10}} {
		if got := d.Roll(short); got != Pass {
			t.Errorf("%d bytes: fate %d", len(short), got)
		}
	}
}

// fates rolls 1000 times and returns which datagrams were lost, and which of those that were rolled for were doubled.
func fates(cfg Config) (lost, doubled []bool) {
	d := NewDice(cfg, pcg(7))
	for range 1000 {
		f := d.Roll(datagram(wire.OpcodeSend, 0))
		lost = append(lost, f == Drop)
		if f != Drop {
			doubled = append(doubled, f == Twice)
		}
	}
	return lost, doubled
}

func TestOneFaultDoesNotShiftAnother(t *testing.T) {
	onlyLoss, _ := fates(Config{Loss: 0.3})
	bothLost, bothDoubled := fates(Config{Loss: 0.3, Duplicate: 0.3})
	_, onlyDoubled := fates(Config{Duplicate: 0.3})
	if diff := cmp.Diff(onlyLoss, bothLost); diff != "" {
		t.Errorf("duplication shifts loss:\n%s", diff)
	}
	if diff := cmp.Diff(onlyDoubled[:len(bothDoubled)], bothDoubled); diff != "" {
		t.Errorf("loss shifts duplication:\n%s", diff)
	}
}

func TestRollDoesNotAllocate(t *testing.T) {
	d := NewDice(Config{Loss: 0.3, Duplicate: 0.3}, pcg(7))
	b := datagram(wire.OpcodeWrite, 0)
	if n := testing.AllocsPerRun(1000, func() { d.Roll(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
