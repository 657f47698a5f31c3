// SPDX-License-Identifier: Apache-2.0

package path

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// A path takes the lower median of the guards of all that carry packets, its own among them; one that is out of service, or has
// not been used, does not count. It falls from the time of the change on.
//
//mr:test MR-LOSS-015
func TestGuardIsInherited(t *testing.T) {
	const down, unused = -1, -2
	for name, c := range map[string]struct {
		widths []int64 // path 0 inherits
		want   int64
	}{
		"the first path of all":       {[]int64{unused}, 0},
		"the only path":               {[]int64{16}, 16},
		"a new one of five":           {[]int64{unused, 4, 128, 4, 0}, 4},
		"one that reordered, alone":   {[]int64{64, 0, 0}, 0},
		"one that did not":            {[]int64{0, 8, 32}, 8},
		"two in the middle":           {[]int64{2, 8, 4, 16}, 4},
		"the others are down":         {[]int64{unused, down, down}, 0},
		"one other is down":           {[]int64{unused, down, 2}, 2},
		"the others are unused":       {[]int64{32, unused, unused}, 32},
		"all are as wide as can be":   {[]int64{unused, 128, 128}, 128},
		"half of them keep order":     {[]int64{unused, 0, 128}, 0},
		"most of them do not, by 1":   {[]int64{unused, 0, 1, 1}, 1},
		"it is out of service itself": {[]int64{down, 2, 2}, 2},
	} {
		s := NewSet(len(c.widths), 1, rand.New(rand.NewPCG(1, 2)))
		for id, width := range c.widths {
			p := New(uint16(id), Route{}, testConfig(32, 0))
			if width != unused {
				p.Record(0, Moved{Size: 100})
			}
			p.health.down = width == down
			p.guard.width = int32(max(width, 0))
			if width == down {
				p.guard.width = 100
			}
			s.Add(p)
		}
		p := s.Get(0)
		now := mono.Time(time.Second)
		s.Inherit(now, p)
		if int64(p.guard.width) != c.want || p.guard.since != now {
			t.Errorf("%s: %+v, want a width of %d since %d", name, p.guard, c.want, now)
		}
	}
}
