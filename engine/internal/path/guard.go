// SPDX-License-Identifier: Apache-2.0

package path

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// guard is how many later transmissions must arrive before an earlier one counts as lost. It is 0 on a route that keeps
// order, which is the rule. Only proof raises it: a chunk that was sent again for a gap, and then arrived twice. So a
// network that sprays or rehashes underneath degrades nothing but the speed of detection.
type guard struct {
	since      mono.Time // of the last change
	width      int32
	duplicates uint32 // reported by the peer
}

// Bounds of the guard.
const (
	widestGuard = 128
	decayAfter  = 16 // round trips for one step down
)

// learn looks for proof in a block's counters.
//
//mr:req MR-LOSS-006
func (p *Path) learn(now mono.Time, b *wire.PathAck) {
	g := &p.guard
	if steps := int64(now.Sub(g.since) / max(decayAfter*p.rtt.smoothed, time.Microsecond)); steps > 0 && g.width > 0 {
		g.width = int32(max(int64(g.width)-steps, 0))
		g.since = now
	}
	if !b.HasCounters || int32(b.Counters.Duplicates-g.duplicates) <= 0 {
		return
	}
	g.duplicates = b.Counters.Duplicates
	if t, ok := p.ledger.transmission(b.Counters.LastDuplicate); ok && t.forGap {
		g.width = min(max(2*g.width, 1), widestGuard)
		g.since = now
	}
}

// Inherit gives a path that is new, or has another route, the guard that most of the connection's paths have needed: the lower
// median over those in service that have carried packets, its own among them. What reorders one route is likely to reorder
// the next one, and 0 would cost a spurious loss for each step up.
//
//mr:req MR-LOSS-015
func (s *Set) Inherit(now mono.Time, p *Path) {
	var paths [widestGuard + 1]uint16 // by the width of their guard
	n := 0
	for _, q := range s.byID {
		if q != nil && q.Sent.Packets > 0 && (q == p || !q.health.down) {
			paths[q.guard.width]++
			n++
		}
	}
	width, below := int32(0), 0
	for below += int(paths[0]); 2*below < n; below += int(paths[width]) {
		width++
	}
	p.guard.width, p.guard.since = width, now
}
