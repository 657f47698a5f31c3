// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"

	"pgregory.net/rapid"
)

//mr:test MR-PATH-014
func TestSpaceOrdersAcrossTheWrap(t *testing.T) {
	tests := []struct {
		space Space
		a, b  uint32
		diff  int64
	}{
		{Serial32, 0, 0, 0},
		{Serial32, 1, 0, 1},
		{Serial32, 0, 0xffffffff, 1},
		{Serial32, 0xffffffff, 0, -1},
		{Serial32, 0x7fffffff, 0, 0x7fffffff},
		{Serial32, 0x80000000, 0, -0x80000000},
		{Serial32, 0, 0x80000000, -0x80000000},
		{Serial16, 2, 0xfffe, 4},
		{Serial16, 0x12340002, 0xfffe, 4},
		{Space(4), 7, 0, 7},
		{Space(4), 8, 0, -8},
		{Space(4), 0, 15, 1},
	}
	for _, tt := range tests {
		if got := tt.space.Diff(tt.a, tt.b); got != tt.diff {
			t.Errorf("Space(%d).Diff(%#x, %#x) = %d, want %d", tt.space, tt.a, tt.b, got, tt.diff)
		}
		if got := tt.space.Less(tt.a, tt.b); got != (tt.diff < 0) {
			t.Errorf("Space(%d).Less(%#x, %#x) = %v", tt.space, tt.a, tt.b, got)
		}
	}
}

func TestSpaceAddUndoesDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Space(rapid.IntRange(2, 32).Draw(t, "bits"))
		a := rapid.Uint32().Draw(t, "a") & s.Mask()
		b := rapid.Uint32().Draw(t, "b") & s.Mask()
		if got := s.Add(b, s.Diff(a, b)); got != a {
			t.Fatalf("Space(%d): %d + Diff(%d, %d) = %d", s, b, a, b, got)
		}
	})
}

func TestSpaceHalvesAreOrderedBothWays(t *testing.T) {
	s := Space(8)
	for a := uint32(0); a < 256; a++ {
		b := s.Add(a, 128)
		if !s.Less(a, b) || !s.Less(b, a) {
			t.Fatalf("%d and %d are half the space apart, yet one does not come before the other", a, b)
		}
	}
}
