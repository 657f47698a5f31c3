// SPDX-License-Identifier: Apache-2.0

package path

import (
	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// left is what a change of route leaves behind: transmissions of earlier routes. Order holds within a route only, so nothing
// that travels on the present one can tell whether they are lost. Time can.
type left struct {
	first uint32    // TSN that the present route begins with
	until mono.Time // when what is still unacknowledged of earlier routes counts as lost; Never = there is none
}

// behind tells whether a transmission travelled on an earlier route: it is further back than the first one of the present route,
// counted from the next one, so that half a space of transmissions since then confuses nothing.
func (p *Path) behind(tsn uint32) bool {
	l := &p.ledger
	back := func(n uint32) uint32 { return (l.nextTSN - n) & l.space.Mask() }
	return p.left.until != mono.Never && back(tsn) > back(p.left.first)
}

// leave notes that the route changes now.
//
//mr:req MR-PATH-015
func (p *Path) leave(now mono.Time) {
	if p.ledger.flies() {
		p.left = left{p.ledger.nextTSN, now.Add(p.PTO())}
	}
}

// Overtake declares lost what earlier routes have not delivered in time, and tells whether there was any. A path that hears
// nothing at all waits: its timer sends one chunk at a time.
//
//mr:req MR-PATH-015
func (p *Path) Overtake(now mono.Time) bool {
	if p.watch == nil || now < p.left.until || p.Mute() {
		return false
	}
	l := &p.ledger
	before := p.Sent.Lost
	for l.flies() && p.behind(l.slot(l.flight.head).tsn) {
		l.slot(l.flight.head).forGap = false
		l.lose(l.flight.head)
		p.Sent.Lost++
	}
	p.left.until = mono.Never
	return p.Sent.Lost > before
}

// Rebind gives the path another route, and tells whether it is another one. FIFO order holds within a route only, hence the new
// epoch.
//
//mr:req MR-PATH-013 MR-FAIL-007
func (p *Path) Rebind(now mono.Time, route Route) (changed bool) {
	if p.watch != nil {
		p.outage.asked = 0
	}
	if route == p.Route {
		return false
	}
	p.leave(now)
	p.Route = route
	p.Epoch = (p.Epoch + 1) & 15
	return true
}

// Follow takes over the route and epoch of the peer's latest packet: only one side of a connection chooses ports. It tells
// whether they have changed.
func (p *Path) Follow(a *Arrival) bool {
	if a.Epoch == p.Epoch && a.Route == p.Route {
		return false
	}
	if a.Route != p.Route {
		p.leave(a.At)
	}
	p.Route, p.Epoch = a.Route, a.Epoch
	if p.watch != nil {
		p.outage.asked = 0
		p.outage.next = min(p.outage.next, a.At)
	}
	return true
}
