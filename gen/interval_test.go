// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// drawInterval draws an interval and a point in it.
func drawInterval(t *rapid.T, name string, lo, hi int64) (interval, *big.Int) {
	a := rapid.Int64Range(lo, hi).Draw(t, name+" from")
	b := rapid.Int64Range(a, hi).Draw(t, name+" to")
	x := rapid.Int64Range(a, b).Draw(t, name)
	return interval{big.NewInt(a), big.NewInt(b)}, big.NewInt(x)
}

func TestIntervalsContainEveryResult(t *testing.T) {
	limits := map[Op][4]int64{
		OpAdd: {-1000, 1000, -1000, 1000}, OpSub: {-1000, 1000, -1000, 1000}, OpMul: {-1000, 1000, -1000, 1000},
		OpDiv: {-1000, 1000, 1, 50}, OpMod: {-1000, 1000, 1, 50}, OpShl: {-1000, 1000, 0, 63}, OpShr: {0, 1 << 40, 0, 63},
		OpAnd: {0, 5000, 0, 5000}, OpOr: {0, 5000, 0, 5000}, OpXor: {0, 5000, 0, 5000},
	}
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]Op{OpAdd, OpSub, OpMul, OpDiv, OpMod, OpShl, OpShr, OpAnd, OpOr, OpXor}).Draw(t, "op")
		l := limits[op]
		a, x := drawInterval(t, "a", l[0], l[1])
		b, y := drawInterval(t, "b", l[2], l[3])
		if r, v := arithInterval(op, a, b), fold(op, x, y); !r.has(v) {
			t.Fatalf("%v %s %v = %v lies outside %v..%v", x, signs[op], y, v, r.lo, r.hi)
		}
	})
}

func TestFoldAgreesWithTheInterpreter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(0, 1<<30).Draw(t, "a"), rapid.Int64Range(1, 60).Draw(t, "b")
		for op := range signs {
			if op == OpAndAnd || op == OpOrOr {
				continue
			}
			x := &Expr{Op: op, Args: []*Expr{constExpr(big.NewInt(a)), constExpr(big.NewInt(b))}}
			if got, want := fold(op, big.NewInt(a), big.NewInt(b)), (Scope{}).Eval(x); got.Cmp(want) != 0 {
				t.Fatalf("%d %s %d: folded %v, interpreted %v", a, signs[op], b, got, want)
			}
		}
	})
}

func TestFirstGapFindsWhatASwitchLeavesOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set []Range
		covered := [64]bool{}
		for range rapid.IntRange(0, 6).Draw(t, "ranges") {
			a := rapid.Uint64Range(0, 63).Draw(t, "first")
			b := rapid.Uint64Range(a, 63).Draw(t, "last")
			set = append(set, Range{a, b})
			for i := a; i <= b; i++ {
				covered[i] = true
			}
		}
		lo := rapid.Uint64Range(0, 63).Draw(t, "lo")
		hi := rapid.Uint64Range(lo, 63).Draw(t, "hi")
		want := -1
		for i := lo; i <= hi && want < 0; i++ {
			if !covered[i] {
				want = int(i)
			}
		}
		gap, open := firstGap(merged(set), []Range{{lo, hi}})
		if open != (want >= 0) || open && gap.First != uint64(want) {
			t.Fatalf("gap %v %t, want from %d", gap, open, want)
		}
		for i := gap.First; open && i <= gap.Last; i++ {
			if covered[i] || i > hi {
				t.Fatalf("%d is in the gap %v", i, gap)
			}
		}
	})
}

func TestFirstGapReachesTheLastNumber(t *testing.T) {
	if gap, open := firstGap([]Range{{0, 1<<64 - 1}}, []Range{{0, 1<<64 - 1}}); open {
		t.Errorf("gap %v in everything", gap)
	}
	if gap, open := firstGap([]Range{{0, 1<<64 - 2}}, []Range{{0, 1<<64 - 1}}); !open || gap.First != 1<<64-1 {
		t.Errorf("gap %v %t", gap, open)
	}
}
