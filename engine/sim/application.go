// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"

	"github.com/openmetaroce/metaroce/engine"
)

// listen hands the endpoint's events to the application, unless it is deaf for the time being. called tells whether the
// application has called the endpoint.
func (r *run) listen(h *host) (called bool, err error) {
	if r.now < h.suffering.deaf {
		r.plan(h, h.suffering.deaf)
		return false, nil
	}
	for {
		e, ok := h.endpoint.NextEvent()
		if !ok {
			break
		}
		did, err := r.event(h, e)
		if err != nil {
			return called, fmt.Errorf("host %d: %w", h.index, err)
		}
		called = called || did
	}
	s := r.current()
	if !s.ends[h.index].started || s.ends[h.index].closed {
		return called, nil
	}
	did, err := r.post(h, s)
	if err != nil {
		return called, fmt.Errorf("host %d: %w", h.index, err)
	}
	return called || did, r.finish(s)
}

// event judges what an endpoint tells, and lets the application take note of it.
func (r *run) event(h *host, e engine.Event) (called bool, err error) {
	s := r.sessionOf(h, e)
	if s == nil {
		return false, violation("event %d of connection %d, which nobody has", e.Kind, e.Conn)
	}
	end := &s.ends[h.index]
	if end.closed {
		return false, violation("event %d after Closed", e.Kind)
	}
	switch e.Kind {
	case engine.Opened:
		return false, r.opened(h, s, e)
	case engine.Closed:
		if !s.broken && !s.mayClose(h, e.Err) {
			return false, violation("the connection is over: %v", e.Err)
		}
		return s.broken, r.bury(h, s)
	}
	if int(e.Stream) >= len(s.lanes) {
		return false, violation("event %d of stream %d, which nobody uses", e.Kind, e.Stream)
	}
	l := s.lanes[e.Stream]
	if outgoing := e.Kind == engine.Completed || e.Kind == engine.StreamClosed; outgoing != (l.From == h.index) {
		return false, violation("event %d of stream %d at the wrong end", e.Kind, e.Stream)
	}
	switch e.Kind {
	case engine.StreamOpened:
		if l.receiver.opened {
			return false, violation("stream %d is opened twice", l.id)
		}
		l.receiver.opened = true
		return false, nil
	case engine.Completed:
		return false, r.completed(s, l, e)
	case engine.StreamClosed:
		return false, l.streamClosed(e)
	case engine.Received:
		return r.received(s, l, e)
	case engine.StreamEnded:
		return false, r.ended(s, l, e)
	}
	return false, violation("event of kind %d", e.Kind)
}

// mayClose tells whether a host may hear that the connection is over. When none of its CLOSE packets gets through, host 0 is
// content at last, since all is acknowledged, and host 1 finds out by asking.
func (s *session) mayClose(h *host, reason error) bool {
	asked := errors.Is(reason, engine.ErrAborted) || errors.Is(reason, engine.ErrDead)
	return s.closing && (reason == nil || asked && h.index == 1 && s.ends[0].closed)
}

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrViolation}, args...)...)
}

func (r *run) opened(h *host, s *session, e engine.Event) error {
	end := &s.ends[h.index]
	if end.open {
		return violation("the connection is opened twice")
	}
	if h.index == 0 && e.Conn != end.conn {
		return violation("connection %d is open, ours is %d", e.Conn, end.conn)
	}
	end.open, end.conn = true, e.Conn
	r.agenda.plan(max(r.now, instantOf(r.config.Start)), eventStart, 2*s.number+h.index)
	return nil
}

// start lets a host's application begin with a session, if that is still what the other host wants.
func (r *run) start(index int) error {
	s, h := r.sessions[index/2], r.hosts[index%2]
	end := &s.ends[h.index]
	if s.broken || end.gone || end.closed {
		return nil
	}
	end.started = true
	for _, l := range s.lanes {
		if l.From != h.index {
			if err := r.receive(l, l.wanted()); err != nil {
				return err
			}
		}
	}
	if _, err := r.post(h, s); err != nil {
		return err
	}
	r.plan(h, r.now)
	return r.finish(s)
}

// resume posts a receive that had to wait for the application's pause.
func (r *run) resume(l *lane) error {
	s, h := r.sessions[l.session], r.hosts[1-l.From]
	l.receiver.paused--
	if end := &s.ends[h.index]; end.gone || end.closed || s.broken || l.receiver.ended {
		return nil
	}
	l.receiver.delayed++
	r.plan(h, r.now)
	return r.receive(l, 1)
}

// receive posts n receives.
func (r *run) receive(l *lane, n int) error {
	h := r.hosts[1-l.From]
	for range n {
		err := h.endpoint.PostReceive(r.now.clock(), r.sessions[l.session].ends[h.index].conn, l.receive())
		if err != nil {
			return violation("stream %d: receive %d is refused: %w", l.id, l.receiver.posted, err)
		}
		l.receiver.posted++
	}
	return nil
}

// post gives the endpoint what its application has to do: one operation of each stream in turn.
func (r *run) post(h *host, s *session) (called bool, err error) {
	if s.broken {
		return false, nil
	}
	for more := true; more; {
		more = false
		for _, l := range s.lanes {
			if l.From != h.index || !l.hasWork() {
				continue
			}
			err := r.postOne(h, s, l)
			switch {
			case errors.Is(err, engine.ErrBusy):
				return called, s.mayBeBusy(h)
			case errors.Is(err, engine.ErrEnded) && l.shaken:
				l.sender.aborted = true
			case err != nil:
				return called, violation("stream %d: post %d of %d: %w", l.id, l.sender.posted, len(l.operations), err)
			}
			called, more = true, true
		}
	}
	return called, nil
}

// postOne posts the next operation of a stream, or its end.
func (r *run) postOne(h *host, s *session, l *lane) error {
	if l.sender.posted == 0 {
		l.sender.begun = r.now
	}
	conn := s.ends[h.index].conn
	if l.sender.posted == len(l.operations) {
		err := h.endpoint.EndStream(r.now.clock(), conn, l.id)
		l.sender.ended = err == nil
		return err
	}
	w := l.work()
	deadline := l.deadline()
	if deadline > 0 {
		w.Deadline = (r.now + instantOf(deadline)).clock()
	}
	if err := h.endpoint.Post(r.now.clock(), conn, w); err != nil {
		return err
	}
	if deadline > 0 {
		l.shaken, l.operations[l.sender.posted].doomed = true, true
		r.result.Injected[Expire]++
	}
	r.plotTrouble(l, l.sender.posted)
	l.sender.posted++
	return nil
}

// mayBeBusy verifies that the endpoint has something to be busy with.
func (s *session) mayBeBusy(h *host) error {
	for _, l := range s.lanes {
		if l.From == h.index && l.sender.completed < l.sender.posted {
			return nil
		}
	}
	return violation("host %d is busy although nothing is outstanding", h.index)
}

// finish closes the connection when every stream is over.
func (r *run) finish(s *session) error {
	if s.closing || s.broken || !s.ends[0].started || !s.ends[1].started {
		return nil
	}
	for _, l := range s.lanes {
		if !l.over() {
			return nil
		}
	}
	r.account()
	s.closing = true
	h := r.hosts[0]
	if err := h.endpoint.Close(r.now.clock(), s.ends[0].conn); err != nil {
		return violation("close: %w", err)
	}
	r.plan(h, r.now)
	return nil
}
