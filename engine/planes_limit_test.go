// SPDX-License-Identifier: Apache-2.0

package engine

import "testing"

// A plane that is not valid yet gets three bytes for each one that came from it, and not one more. A valid one gets all.
//
//mr:test MR-PLANE-003
func TestPlanePaysThreeBytesForOne(t *testing.T) {
	for _, c := range []struct {
		in, out uint64
		size    int
		valid   bool
		want    bool
	}{
		{100, 0, 299, false, true}, {100, 0, 300, false, true}, {100, 0, 301, false, false},
		{100, 200, 99, false, true}, {100, 200, 100, false, true}, {100, 200, 101, false, false},
		{100, 300, 0, false, true}, {100, 300, 1, false, false}, {0, 0, 1, false, false}, {0, 0, 1, true, true}, {1, 900, 900, true, true},
	} {
		q := pair{in: c.in, out: c.out, valid: c.valid}
		if got := q.pays(c.size); got != c.want {
			t.Errorf("%d bytes after %d for %d, valid %v: %v", c.size, c.out, c.in, c.valid, got)
		}
	}
}

// Four challenges are free; the fifth is sent when the plane has paid for its 36 bytes.
//
//mr:test MR-PLANE-003
func TestFourChallengesAreFree(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for in, ok := range map[uint64]bool{0: false, 11: false, 12: true, 13: true} {
		q := pair{in: in}
		for n := 1; n <= 5; n++ {
			if token, allowed := e.challenge(&q); allowed != (n <= 4 || ok) || allowed && (token == 0 || token != q.token) {
				t.Errorf("challenge %d of a plane that has sent %d bytes: %v", n, in, allowed)
			}
		}
	}
}
