// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"

	"github.com/openmetaroce/metaroce/engine"
)

// port is the state of a Hop: the end of what it has taken on says how long its queue is.
type port struct {
	*Hop
	busy instant
}

// enter puts a packet into the queue. It returns when the packet reaches the other end of the link and what the queue
// did with it: nothing, or markOverflowed. A packet that can carry a CE mark may get one.
func (o *port) enter(now instant, p *packet, marks *rand.Rand) (instant, mark) {
	size := len(p.data) + wireOverhead
	start := max(o.busy, now)
	backlog := o.Rate.bytes(start - now)
	if o.Queue > 0 && backlog+size > o.Queue {
		return never, markOverflowed
	}
	if o.MarkTo > 0 && p.ecn != engine.NotECT && o.marks(backlog, marks) {
		p.ecn = engine.CE
	}
	o.busy = start + o.Rate.lasts(size)
	return o.busy + instantOf(o.Latency), 0
}

// marks draws whether a packet that finds backlog bytes is marked.
func (o *port) marks(backlog int, rng *rand.Rand) bool {
	switch {
	case backlog <= o.MarkFrom:
		return false
	case backlog >= o.MarkTo:
		return true
	}
	return rng.Float64()*float64(o.MarkTo-o.MarkFrom) < float64(backlog-o.MarkFrom)
}
