// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Fault is what a driver has learned of a route from its own system.
type Fault uint8

// The faults of routes.
const (
	Unreachable Fault = iota + 1 // the system has no way to the address
	TooBig                       // the packet exceeds the route's MTU
)

// RouteError tells the endpoint that a datagram could not be sent. The paths over that route go out of service at once.
//
//mr:req MR-FAIL-008
func (e *Endpoint) RouteError(now Time, route Route, fault Fault) {
	e.now = now
	for _, c := range e.table.conns {
		if !c.live() {
			continue
		}
		hit, ok := c.locate(&route)
		for _, p := range c.paths.All() {
			if p == nil || !ok || p.Route != hit || p.Down() {
				continue
			}
			if fault == TooBig {
				p.TooBig(c.limits.chunk + Overhead)
			}
			e.failPath(c, p)
		}
	}
}

// judge takes out of service the paths that have gone silent while others are heard.
func (e *Endpoint) judge(c *conn) {
	for id, ok := c.failing.silent.next(0); ok; id, ok = c.failing.silent.next(int(id) + 1) {
		p := c.paths.Get(id)
		suspect, at := p.Suspect(e.now, c.failing.ackedSent)
		if suspect {
			e.failPath(c, p)
		} else if at > e.now {
			e.touch(c, at)
		}
	}
}

// Bounds of the verdict by fraction.
const (
	hopeless = 0.5 // of a path's transmissions lost
	healthy  = 0.1 // median of the others
	unknown  = -1  // no sample yet
)

// judgeFraction takes a path out of service that loses most of what it is given while the others do not.
//
//mr:req MR-FAIL-002
func (e *Endpoint) judgeFraction(c *conn, p *path.Path) {
	fraction, fresh := p.LossFraction()
	if !fresh {
		return
	}
	c.failing.fractions[p.ID] = fraction
	if fraction < hopeless {
		return
	}
	var others []float64
	for _, q := range c.paths.All() {
		if q != nil && q != p && !q.Down() && c.failing.fractions[q.ID] != unknown {
			others = append(others, c.failing.fractions[q.ID])
		}
	}
	slices.Sort(others)
	if len(others) > 0 && others[len(others)/2] < healthy {
		e.failPath(c, p)
	}
}

// failPath moves a path's chunks to others, if there is one in service, and probes it over another port from now on.
//
//mr:req MR-FAIL-003
func (e *Endpoint) failPath(c *conn, p *path.Path) {
	if !c.otherInService(p) {
		return
	}
	before := p.InFlight()
	e.scratch.moved = p.Fail(e.now, c.nextRoute(p), e.scratch.moved[:0])
	c.paths.Inherit(e.now, p)
	for _, m := range e.scratch.moved {
		c.failing.moved.Push(m)
	}
	c.settle(p, before)
	if c.named == p.ID {
		c.renameFeedback(p.ID)
	}
	e.complain(c, p)
	e.touch(c, p.Deadline())
	e.wake(c)
}

func (c *conn) otherInService(p *path.Path) bool {
	for _, q := range c.paths.All() {
		if q != nil && q != p && !q.Down() {
			return true
		}
	}
	return false
}

// opener tells whether this side chose the ports.
func (c *conn) opener() bool { return len(c.greeting.routes) > 0 }

// nextRoute is the route that a failed path tries next: the opener's next port between the same addresses.
//
//mr:req MR-FAIL-007
func (c *conn) nextRoute(p *path.Path) path.Route {
	if !c.opener() {
		return p.Route
	}
	for range c.greeting.routes {
		c.greeting.next = (c.greeting.next + 1) % len(c.greeting.routes)
		route := c.greeting.routes[c.greeting.next]
		if route != p.Route && route.Plane == p.Route.Plane {
			return route
		}
	}
	return p.Route
}

// reroute gives a path another port, if there is one, with the guard of the others: it has learned nothing about it yet.
//
//mr:req MR-LOSS-015
func (e *Endpoint) reroute(c *conn, p *path.Path) {
	if p.Rebind(e.now, c.nextRoute(p)) {
		c.paths.Inherit(e.now, p)
	}
}

// complain asks the opener for another port of a path on which an acceptor gets nothing through. The notice names the epoch
// that it speaks of, so that repeating it changes the port once.
//
//mr:req MR-FAIL-004
func (e *Endpoint) complain(c *conn, p *path.Path) {
	if !c.opener() && !c.answers.notice(wire.Notice{Code: wire.NoticeCodePathBad, Path: p.ID, Info: uint32(p.Epoch)}) {
		e.drop(DropQueue)
	}
}

// pathBad changes the port of a path on which the peer hears nothing.
//
//mr:req MR-FAIL-004
func (e *Endpoint) pathBad(c *conn, p *path.Path, epoch uint32) {
	if !c.opener() || epoch != uint32(p.Epoch) {
		e.drop(DropNotice)
		return
	}
	if !p.Down() && c.otherInService(p) {
		e.failPath(c, p) // what is in flight on the old route would be judged by the new one
		return
	}
	e.reroute(c, p)
	p.WantProbe()
	c.settle(p, p.InFlight())
	e.touch(c, p.Deadline())
}

// turnSilent gives silent paths another port when nothing is heard anywhere, so that none can be blamed: one path of each
// plane in turn, each time that the timer of one runs out.
//
//mr:req MR-FAIL-009
func (e *Endpoint) turnSilent(c *conn) {
	if !c.opener() {
		return
	}
	for id, ok := c.failing.silent.next(0); ok; id, ok = c.failing.silent.next(int(id) + 1) {
		p := c.paths.Get(id)
		q := c.pairOn(p)
		if p.Mute() && p.RanOut(e.now) && e.now.Sub(q.turned) >= p.RTO()/2 {
			q.turned = e.now
			e.turnNext(c, q)
		}
	}
}

// turnNext changes the port of the silent path of a plane that comes after the one that was last.
func (e *Endpoint) turnNext(c *conn, q *pair) {
	for i := range c.paths.Len() {
		id := uint16((q.turn + 1 + i) % c.paths.Len())
		if p := c.paths.Get(id); p != nil && p.Silent() && c.pairOn(p) == q {
			q.turn = int(id)
			e.reroute(c, p)
			e.touch(c, p.Deadline())
			return
		}
	}
}

// mostLosses is how often a chunk may be lost, on all paths together, before its operation fails.
const mostLosses = 64

// nextMoved sends a chunk that has lost its path on another one.
//
//mr:req MR-LOSS-004
func (e *Endpoint) nextMoved(c *conn) (*path.Path, bool) {
	for c.failing.moved.Len() > 0 {
		m := c.failing.moved.Front()
		if !e.wanted(c, m.Ref) {
			c.failing.moved.Pop()
			continue
		}
		if m.Losses >= mostLosses {
			c.failing.moved.Pop()
			e.giveUp(c, m)
			continue
		}
		c.paths.Turn()
		p := e.pick(c, m.Size)
		if p == nil {
			return nil, false
		}
		c.failing.moved.Pop()
		before := p.InFlight()
		s := sending{m.Ref.Stream, p.Record(e.now, m), true}
		c.count.moved++
		c.settle(p, before)
		e.writeAgain(c, p, m.Ref, s)
		e.touch(c, p.Deadline())
		return p, true
	}
	return nil, false
}

// giveUp fails the stream of a chunk that no path delivers. Of a reply only the bytes are given up: that they do not come is
// a reply, too.
//
//mr:req MR-LOSS-004 MR-FAIL-011
func (e *Endpoint) giveUp(c *conn, m path.Moved) {
	if m.Ref.Reply {
		ref := replyRef(m.Ref)
		c.incoming.replies.Spoil(ref, wire.Status(wire.NoticeCodeStopped))
		k, _ := c.incoming.replies.Wanted(ref)
		c.failing.moved.Push(path.Moved{Ref: m.Ref, Size: replySize(&k)})
		return
	}
	s := c.outgoing.get(m.Ref.Stream)
	err := e.tooLong(c, m.Size, mostLosses)
	if err == nil {
		err = &OpError{Conn: c.id, Stream: s.ID, Message: m.Ref.Message, Path: NoPath, Code: wire.NoticeCodeStopped, Info: mostLosses}
	}
	s.Fail(err, wire.Status(wire.NoticeCodeStopped))
	e.complete(c, s)
	c.outgoing.activate(s)
}

// compare asks another path for a sign of life when one has gone silent: the answer tells a dead path from a dead peer,
// also when there is nothing else to send.
//
//mr:req MR-FAIL-006
func (e *Endpoint) compare(c *conn, silent *path.Path) {
	q := c.paths.Get(c.named)
	if silent.Silent() && q != nil && q != silent && !q.Down() {
		q.WantProbe()
		c.settle(q, q.InFlight())
	}
}
