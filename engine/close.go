// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Close ends a connection once all that was posted is acknowledged, or gives up opening one. Its Closed event is the last one.
func (e *Endpoint) Close(now Time, id ConnID) error {
	e.now = now
	if c := e.table.byID[id]; c != nil && c.phase < open {
		e.finish(c, nil)
		return nil
	}
	c, err := e.get(id)
	if err != nil {
		return err
	}
	c.phase = draining
	e.drained(c)
	e.wake(c)
	return nil
}

// drained sends CLOSE when nothing is left to do.
//
//mr:req MR-CONN-008
func (e *Endpoint) drained(c *conn) {
	if c.phase == draining && c.idle() {
		c.phase = closing
		c.clock.retries = 0
		e.schedule(c, 0)
	}
}

// handleClose answers CLOSE with CLOSED, as often as it comes, and stays for a while to do so.
//
//mr:req MR-CONN-009
func (e *Endpoint) handleClose(c *conn, p *path.Path) {
	c.answers.closed = true
	c.named = p.ID
	if c.phase == lingering {
		return
	}
	e.flush(c, ErrClosed)
	e.farewell(c, nil)
	c.phase = lingering
	e.schedule(c, 3*c.patience())
}

// handleClosed ends the closing side.
func (e *Endpoint) handleClosed(c *conn) {
	if c.phase != closing {
		e.drop(DropPhase)
		return
	}
	e.finish(c, nil)
}

// expireControl repeats a control packet, or gives up.
//
//mr:req MR-CONN-025 MR-CONN-014 MR-CONN-021
func (e *Endpoint) expireControl(c *conn) {
	switch {
	case c.phase == lingering:
		e.remove(c)
	case c.phase <= accepting && e.now.Sub(c.clock.progress) >= e.cfg.DeadAfter:
		e.finish(c, ErrDead)
	case c.phase == closing && c.clock.retries >= mostCloses:
		e.finish(c, nil)
	}
}

// mostCloses is how often CLOSE is sent. All data is acknowledged by then: nothing is lost with the answer.
const mostCloses = 8

// abort tells the peer, as well as one packet can, that the connection is over.
//
//mr:req MR-CONN-022
func (e *Endpoint) abort(c *conn, code wire.CloseReason) {
	c.answers.abort = code
	err := c.ending.cause
	e.flush(c, err)
	e.farewell(c, err)
	c.phase = lingering
	e.schedule(c, time.Millisecond)
}

// finish ends a connection at once.
func (e *Endpoint) finish(c *conn, err error) {
	if c.phase == over {
		return
	}
	if c.phase != lingering && c.phase != accepting {
		reason := err
		if reason == nil {
			reason = ErrClosed
		}
		e.flush(c, reason)
		e.farewell(c, err)
	}
	e.remove(c)
}

// flush ends every operation and posted receive, each with its one event.
//
//mr:req MR-CONN-023
func (e *Endpoint) flush(c *conn, err error) {
	for _, s := range c.outgoing.list {
		s.Fail(err, wire.StatusOk)
		e.complete(c, s)
	}
	for _, s := range c.incoming.list {
		s.Flush(err)
		e.deliver(c, s)
	}
}

// farewell is how far the application has heard of a connection's end. Its counters can be read until then.
type farewell uint8

const (
	unsaid farewell = iota
	queued
	taken
)

// farewell queues the Closed event.
//
//mr:req MR-CONN-023
func (e *Endpoint) farewell(c *conn, err error) {
	c.ending.farewell = queued
	e.events.Push(Event{Kind: Closed, Conn: c.id, Err: err})
}

// bury forgets a connection that is over once its Closed event has been taken and another event is asked for.
func (e *Endpoint) bury() {
	c := e.table.byID[e.table.parting]
	e.table.parting = 0
	if c == nil {
		return
	}
	c.ending.farewell = taken
	if c.phase == over {
		delete(e.table.byID, c.id)
	}
}
