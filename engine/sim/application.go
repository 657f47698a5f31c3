// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"

	"github.com/openmetaroce/metaroce/engine"
)

// events hands the endpoint's events to the application and the judge. called tells whether the application has called
// the endpoint.
func (r *run) events(h *host) (called bool, err error) {
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
	if h.started && h.busy {
		did, err := r.post(h)
		return called || did, err
	}
	return called, nil
}

func (r *run) event(h *host, e engine.Event) (called bool, err error) {
	if h.closed {
		return false, violation("event %d after Closed", e.Kind)
	}
	if h.open && e.Conn != h.conn {
		return false, violation("event %d of connection %d, ours is %d", e.Kind, e.Conn, h.conn)
	}
	switch e.Kind {
	case engine.Opened:
		return false, r.opened(h, e)
	case engine.Closed:
		h.closed = true
		if e.Err != nil || !r.closing {
			return false, violation("the connection is over: %v", e.Err)
		}
		return false, nil
	}
	if int(e.Stream) >= len(r.lanes) {
		return false, violation("event %d of stream %d, which nobody uses", e.Kind, e.Stream)
	}
	l := r.lanes[e.Stream]
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
		if err := r.completed(l, e); err != nil {
			return false, err
		}
		return r.post(h)
	case engine.StreamClosed:
		return false, r.streamClosed(l, e)
	case engine.Received:
		return r.received(h, l, e)
	case engine.StreamEnded:
		return r.ended(l, e)
	}
	return false, violation("event of kind %d", e.Kind)
}

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrViolation}, args...)...)
}

func (r *run) opened(h *host, e engine.Event) error {
	if h.open {
		return violation("the connection is opened twice")
	}
	if h.index == 0 && e.Conn != h.conn {
		return violation("connection %d is open, ours is %d", e.Conn, h.conn)
	}
	h.open, h.conn = true, e.Conn
	r.agenda.plan(r.now+instantOf(r.config.Settle), eventStart, h.index)
	return nil
}

// start lets a host's application begin.
func (r *run) start(h *host) error {
	h.started = true
	for _, l := range r.lanes {
		if l.From != h.index {
			if err := r.receive(h, l, l.wanted()); err != nil {
				return err
			}
		}
	}
	if _, err := r.post(h); err != nil {
		return err
	}
	r.plan(h, r.now)
	return r.finish()
}

// resume posts a receive that had to wait for the application's pause.
func (r *run) resume(l *lane) error {
	h := r.hosts[1-l.From]
	l.receiver.paused--
	l.receiver.delayed++
	r.plan(h, r.now)
	return r.receive(h, l, 1)
}

// receive posts n receives.
func (r *run) receive(h *host, l *lane, n int) error {
	for range n {
		if err := h.endpoint.PostReceive(r.now.clock(), h.conn, l.receive()); err != nil {
			return violation("stream %d: receive %d is refused: %w", l.id, l.receiver.posted, err)
		}
		l.receiver.posted++
	}
	return nil
}

// post gives the endpoint what its application has to do: one operation of each stream in turn.
func (r *run) post(h *host) (called bool, err error) {
	h.busy = false
	if !h.started {
		return false, nil
	}
	for more := true; more; {
		more = false
		for _, l := range r.lanes {
			if l.From != h.index || !l.hasWork() {
				continue
			}
			err := r.postOne(h, l)
			if errors.Is(err, engine.ErrBusy) {
				h.busy = true
				return called, r.mayBeBusy(h)
			}
			if err != nil {
				return called, violation("stream %d: post %d of %d: %w", l.id, l.sender.posted, len(l.operations), err)
			}
			called, more = true, true
		}
	}
	return called, nil
}

// postOne posts the next operation of a stream, or its end.
func (r *run) postOne(h *host, l *lane) error {
	if l.sender.posted == 0 {
		l.sender.begun = r.now
	}
	if l.sender.posted == len(l.operations) {
		err := h.endpoint.EndStream(r.now.clock(), h.conn, l.id)
		l.sender.ended = err == nil
		return err
	}
	err := h.endpoint.Post(r.now.clock(), h.conn, l.work())
	if err == nil {
		l.sender.posted++
	}
	return err
}

// mayBeBusy verifies that the endpoint has something to be busy with.
func (r *run) mayBeBusy(h *host) error {
	for _, l := range r.lanes {
		if l.From == h.index && l.sender.completed < l.sender.posted {
			return nil
		}
	}
	return violation("host %d is busy although nothing is outstanding", h.index)
}

// completed judges the end of an operation at its sender.
func (r *run) completed(l *lane, e engine.Event) error {
	i := l.sender.completed
	if i >= l.sender.posted || e.ID != l.name(i) {
		return violation("stream %d: operation %#x completes, %d of %d posted ones were complete", l.id, e.ID, i, l.sender.posted)
	}
	if e.Err != nil {
		return violation("stream %d: operation %d fails: %w", l.id, i, e.Err)
	}
	o := &l.operations[i]
	if o.receive >= l.receiver.posted {
		return violation("stream %d: operation %d completes before its receive is posted", l.id, i)
	}
	if err := l.landed(o, e.Result); err != nil {
		return fmt.Errorf("operation %d completes: %w", i, err)
	}
	(o.pattern ^ reused).fill(o.source)
	o.source = nil
	l.sender.completed++
	if l.sender.completed == len(l.operations) {
		l.sender.finished = r.now
	}
	return r.finish()
}

// landed judges what a complete operation leaves behind, and uses that memory again when it belongs to the application.
func (l *lane) landed(o *operation, result uint64) error {
	to := l.landing(o)
	if to == nil {
		return l.words.completed(o, result)
	}
	if err := to.complete(o.slot); err != nil {
		return err
	}
	if o.Op != engine.OpSend {
		to.reuse(o.slot)
	}
	return nil
}

// received judges the end of a posted receive and of all messages before it.
func (r *run) received(h *host, l *lane, e engine.Event) (called bool, err error) {
	k := l.receiver.filled
	if k >= l.receiver.posted || e.ID != l.name(k) {
		return false, violation("stream %d: receive %#x is filled, %d of %d posted ones were", l.id, e.ID, k, l.receiver.posted)
	}
	if e.Err != nil {
		return false, violation("stream %d: receive %d fails: %w", l.id, k, e.Err)
	}
	o := &l.operations[l.consumers[k]]
	wrong := int64(e.Length) != int64(o.Size) || e.Immediate != o.Immediate || e.Written != (o.Op == engine.OpWrite) ||
		e.Immediate && e.Value != o.value || !e.Written && e.Match != o.match
	if wrong {
		return false, violation("stream %d: receive %d tells %+v, sent was %+v with value %d, match %d", l.id, k, e, o.Message, o.value, o.match)
	}
	for ; l.receiver.verified <= l.consumers[k]; l.receiver.verified++ {
		o := &l.operations[l.receiver.verified]
		if o.Op != engine.OpWrite && o.Op != engine.OpSend {
			continue // what it leads to is known at the sender only
		}
		if err := l.landing(o).complete(o.slot); err != nil {
			return false, fmt.Errorf("receive %d is filled: %w", k, err)
		}
		l.landing(o).reuse(o.slot)
	}
	l.receiver.filled++
	n := l.wanted()
	if l.Pause == 0 {
		return n > 0, r.receive(h, l, n)
	}
	for range n {
		l.receiver.paused++
		r.agenda.plan(r.now+instantOf(l.Pause), eventReceive, l.index)
	}
	return false, nil
}

// ended judges the end of an incoming stream.
func (r *run) ended(l *lane, e engine.Event) (called bool, err error) {
	switch {
	case e.Err != nil:
		return false, violation("stream %d ends: %w", l.id, e.Err)
	case l.receiver.ended:
		return false, violation("stream %d ends twice", l.id)
	case !l.sender.ended:
		return false, violation("stream %d ends, but its sender has not ended it", l.id)
	case l.receiver.filled != len(l.consumers):
		return false, violation("stream %d ends with %d of %d receives filled", l.id, l.receiver.filled, len(l.consumers))
	}
	l.receiver.ended = true
	return false, r.finish()
}

// streamClosed judges the end of an outgoing stream, seen from its sender.
func (r *run) streamClosed(l *lane, e engine.Event) error {
	switch {
	case e.Err != nil:
		return violation("stream %d closes: %w", l.id, e.Err)
	case l.sender.closed:
		return violation("stream %d closes twice", l.id)
	case !l.sender.ended || l.sender.completed != len(l.operations):
		return violation("stream %d closes with %d of %d operations complete", l.id, l.sender.completed, len(l.operations))
	}
	l.sender.closed = true
	return r.finish()
}

// finish closes the connection when every stream is over.
func (r *run) finish() error {
	if r.closing {
		return nil
	}
	for _, h := range r.hosts {
		if !h.started {
			return nil
		}
	}
	for _, l := range r.lanes {
		if !l.over() {
			return nil
		}
	}
	r.count()
	r.closing = true
	h := r.hosts[0]
	if err := h.endpoint.Close(r.now.clock(), h.conn); err != nil {
		return violation("close: %w", err)
	}
	r.plan(h, r.now)
	return nil
}
