// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBits256FollowsSetOfInts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Bits256
		model := map[int]bool{}
		for _, i := range rapid.SliceOf(rapid.IntRange(0, 255)).Draw(t, "set") {
			b.Set(i)
			model[i] = true
		}
		for _, i := range rapid.SliceOf(rapid.IntRange(0, 255)).Draw(t, "clear") {
			b.Clear(i)
			delete(model, i)
		}
		var want, got []int
		for i := range 256 {
			if b.Test(i) != model[i] {
				t.Fatalf("bit %d is %v", i, b.Test(i))
			}
			if model[i] {
				want = append(want, i)
			}
		}
		for i := b.First(); i >= 0; i = b.Next(i) {
			got = append(got, i)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("visited (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, slices.Collect(b.All())); diff != "" {
			t.Fatalf("All (-want +got):\n%s", diff)
		}
		if b.Count() != len(want) || b.Any() != (len(want) > 0) {
			t.Fatalf("Count %d, Any %v; want %d", b.Count(), b.Any(), len(want))
		}
		var octets [32]byte
		b.store(&octets)
		for i := range 256 {
			if octets[i/8]&(0x80>>(i%8)) != 0 != model[i] {
				t.Fatalf("bit %d lies elsewhere on the wire: %x", i, octets)
			}
		}
		if loadBits256(&octets) != b {
			t.Fatalf("loading gives another vector")
		}
	})
}

func TestBits256RefusesIndexesOutside(t *testing.T) {
	for _, i := range []int{-1, 256} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Test(%d) does not panic", i)
				}
			}()
			Bits256{}.Test(i)
		}()
	}
}
