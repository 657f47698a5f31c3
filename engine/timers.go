// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// timers is a heap of connections by the time at which they need attention. A connection's wake time is a lower bound of
// its deadlines: waking it early only makes it look again.
type timers struct {
	heap []*conn
}

// touch makes sure that a connection is woken at t at the latest.
func (e *Endpoint) touch(c *conn, t Time) {
	if t >= c.clock.wake {
		return
	}
	c.clock.wake = t
	h := &e.timers
	if c.clock.heapAt < 0 {
		c.clock.heapAt = len(h.heap)
		h.heap = append(h.heap, c)
	}
	h.up(c.clock.heapAt)
}

func (h *timers) swap(i, j int) {
	h.heap[i], h.heap[j] = h.heap[j], h.heap[i]
	h.heap[i].clock.heapAt, h.heap[j].clock.heapAt = i, j
}

func (h *timers) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if h.heap[parent].clock.wake <= h.heap[i].clock.wake {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *timers) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.heap); child++ {
			if h.heap[child].clock.wake < h.heap[least].clock.wake {
				least = child
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}

// remove takes a connection out of the heap.
func (h *timers) remove(c *conn) {
	i := c.clock.heapAt
	if i < 0 {
		return
	}
	last := len(h.heap) - 1
	h.swap(i, last)
	h.heap[last] = nil
	h.heap = h.heap[:last]
	c.clock.heapAt = -1
	if i < last {
		h.down(i)
		h.up(i)
	}
}

// NextTimeout is when Advance must be called at the latest.
func (e *Endpoint) NextTimeout() Time {
	if len(e.timers.heap) == 0 {
		return Never
	}
	return e.timers.heap[0].clock.wake
}

// Advance lets time pass. It sends nothing.
func (e *Endpoint) Advance(now Time) {
	e.now = now
	for len(e.timers.heap) > 0 && e.timers.heap[0].clock.wake <= now {
		c := e.timers.heap[0]
		e.timers.remove(c)
		c.clock.wake = Never
		e.expire(c)
		e.wake(c)
	}
}

// expire asks each part in turn what its deadline wants, and computes the next wake time exactly.
func (e *Endpoint) expire(c *conn) {
	if c.clock.control <= e.now {
		e.expireControl(c)
	}
	if c.live() {
		e.expirePaths(c)
		e.expireStreams(c)
		e.expireSilence(c)
		e.rest(c)
	}
	if c.phase == over {
		return
	}
	if c.clock.control > e.now {
		e.touch(c, c.clock.control)
	}
	if c.acks.due > e.now {
		e.touch(c, c.acks.due)
	}
}

//mr:req MR-LOSS-009
func (e *Endpoint) expirePaths(c *conn) {
	outstanding := c.failing.moved.Len() > 0
	silent := -1 // a path whose timer has run out
	for _, p := range c.paths.All() {
		if p == nil {
			continue
		}
		outstanding = outstanding || !p.Idle()
		before := p.InFlight()
		if p.Overtake(e.now) {
			c.settle(p, before)
			before = p.InFlight()
		}
		if p.Expire(e.now) {
			c.settle(p, before)
			if silent < 0 {
				silent = int(p.ID)
				c.renameFeedback(p.ID) // once for all that run out together
			}
			e.compare(c, p)
			if p.Hopeless() {
				e.complain(c, p)
			}
		}
		e.touch(c, p.Deadline())
	}
	e.judgePlanes(c)
	e.judge(c)
	e.turnSilent(c)
	if !outstanding {
		c.clock.progress = e.now
		return
	}
	if e.now.Sub(c.clock.progress) >= e.cfg.DeadAfter {
		c.ending.cause = e.deathOf(c)
		e.abort(c, wire.CloseReasonDead)
		return
	}
	e.touch(c, c.clock.progress.Add(e.cfg.DeadAfter))
}

// renameFeedback asks for ACKs on another path: the one that carried them may be dead.
//
//mr:req MR-ACK-014
func (c *conn) renameFeedback(silent uint16) {
	for i := 1; i <= c.paths.Len(); i++ {
		id := uint16((int(c.named) + i) % c.paths.Len())
		if p := c.paths.Get(id); p != nil && id != silent && !p.Down() {
			c.named = id
			return
		}
	}
}

func (e *Endpoint) expireStreams(c *conn) {
	for _, s := range c.outgoing.list {
		if !s.Timed() {
			continue
		}
		s.Expire(e.now)
		if s.Impatient(e.now) {
			s.Fail(ErrNoReceive, wire.Status(wire.NoticeCodeStopped))
		}
		e.complete(c, s)
		c.outgoing.activate(s)
		if at := s.Unblocks(e.now); at > e.now {
			e.touch(c, at)
		}
	}
}

// patience is how long the slowest path's peer may be silent before a stranger is believed.
func (c *conn) patience() time.Duration {
	longest := time.Duration(0)
	for _, p := range c.paths.All() {
		if p != nil {
			longest = max(longest, p.PTO())
		}
	}
	return longest
}

// Bounds of the silence of a peer that owes nothing.
const (
	quietParts = 4 // of Config.DeadAfter, until an idle peer is asked for a sign of life
	mostAsks   = 3 // unanswered ones, at least, before the peer counts as dead
)

// expireSilence asks a silent peer for a sign of life, and ends the connection when none comes: an idle side, too, learns
// that its peer is gone or has forgotten it.
//
//mr:req MR-CONN-011 MR-FAIL-009
func (e *Endpoint) expireSilence(c *conn) {
	if !c.live() {
		return
	}
	quiet := e.cfg.DeadAfter / quietParts
	due := max(c.clock.heard, c.clock.asked).Add(quiet)
	if due > e.now {
		e.touch(c, due)
		return
	}
	if c.clock.asks >= mostAsks && e.now.Sub(c.clock.heard) >= e.cfg.DeadAfter {
		c.ending.cause = ErrDead
		e.abort(c, wire.CloseReasonDead)
		return
	}
	p := c.paths.Get(c.anyPath())
	if c.clock.asks > 0 && p.Idle() {
		e.reroute(c, p) // the last question has stayed unanswered on its present port
	}
	p.WantProbe()
	c.settle(p, p.InFlight())
	c.clock.asked = e.now
	c.clock.asks++
	e.touch(c, e.now.Add(quiet))
}
