// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"

	"github.com/openmetaroce/metaroce/engine"
)

// completed judges the end of an operation at its sender.
func (r *run) completed(s *session, l *lane, e engine.Event) error {
	i, ok := l.unnamed(e.ID)
	if !ok || i >= l.sender.posted || l.operations[i].over {
		return violation("stream %d: operation %#x completes, %d of %d posted ones were complete", l.id, e.ID, l.sender.completed, l.sender.posted)
	}
	o := &l.operations[i]
	if e.Err != nil {
		if err := r.mayFail(s, l, e.Err); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		r.failed(l, o, e.Err)
	} else if err := r.succeeded(l, i, e.Result); err != nil {
		return err
	}
	o.over = true
	(o.pattern ^ reused).fill(o.source)
	o.source = nil
	l.sender.completed++
	if l.sender.completed == len(l.operations) {
		l.sender.finished = r.now
	}
	return nil
}

// succeeded judges an operation that has completed: in order, and with all its bytes in place.
func (r *run) succeeded(l *lane, i int, result uint64) error {
	o := &l.operations[i]
	for k := l.sender.succeeded; k < i; k++ {
		if !l.operations[k].over {
			return violation("stream %d: operation %d completes before operation %d", l.id, i, k)
		}
	}
	l.sender.succeeded = i
	if !l.troubled && o.receive >= l.receiver.posted {
		return violation("stream %d: operation %d completes before its receive is posted", l.id, i)
	}
	if err := l.landed(o, result); err != nil {
		return fmt.Errorf("operation %d completes: %w", i, err)
	}
	return nil
}

// mayFail judges an error of an operation or a receive: only what was done to the stream or to a host can be its reason.
func (r *run) mayFail(s *session, l *lane, reason error) error {
	switch {
	case s.broken:
		return nil
	case !l.shaken:
	case errors.Is(reason, engine.ErrCanceled), errors.Is(reason, engine.ErrDeadline), errors.Is(reason, engine.ErrRefused),
		errors.Is(reason, engine.ErrEnded), s.closing && errors.Is(reason, engine.ErrClosed):
		return nil
	}
	return violation("stream %d fails: %w", l.id, reason)
}

// failed takes note of an operation that has not been carried out, or not as a whole.
func (r *run) failed(l *lane, o *operation, reason error) {
	switch {
	case errors.Is(reason, engine.ErrCanceled):
		r.result.Met[metCanceled]++
	case errors.Is(reason, engine.ErrDeadline):
		r.result.Met[metLate]++
	case errors.Is(reason, engine.ErrRefused) && l.withdrawn:
		r.result.Met[metDeregistered]++
	}
	o.failed = true
	switch o.Op {
	case engine.OpRead:
		l.into.give(o.slot) // the application's again, whatever has arrived there
	case engine.OpFetchAdd, engine.OpCompareSwap:
		l.words.doubt(o)
	}
}

// landed judges what a complete operation leaves behind, and uses that memory again when it belongs to the application.
func (l *lane) landed(o *operation, result uint64) error {
	to := l.landing(o)
	switch {
	case to == nil:
		return l.words.completed(o, result)
	case o.Op == engine.OpSend && l.troubled:
		return nil // the receiver tells in which buffer
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
func (r *run) received(s *session, l *lane, e engine.Event) (called bool, err error) {
	k := l.receiver.filled
	if k >= l.receiver.posted || e.ID != l.name(k) {
		return false, violation("stream %d: receive %#x is filled, %d of %d posted ones were", l.id, e.ID, k, l.receiver.posted)
	}
	l.receiver.filled++
	if e.Err != nil {
		l.inbox.give(k)
		return false, r.mayFail(s, l, e.Err)
	}
	i, ok := l.consumer(k, e)
	if !ok {
		return false, violation("stream %d: receive %d tells %+v, which is none of the operations to come", l.id, k, e)
	}
	o := &l.operations[i]
	wrong := int64(e.Length) != int64(o.Size) || e.Immediate != o.Immediate || e.Written != (o.Op == engine.OpWrite) ||
		e.Immediate && e.Value != o.value || !e.Written && e.Match != o.match
	if wrong {
		return false, violation("stream %d: receive %d tells %+v, sent was %+v with value %d, match %d", l.id, k, e, o.Message, o.value, o.match)
	}
	if err := l.before(i); err != nil {
		return false, fmt.Errorf("receive %d is filled: %w", k, err)
	}
	if s.broken || l.receiver.ended {
		return false, nil
	}
	n := l.wanted()
	if l.Pause == 0 {
		return n > 0, r.receive(l, n)
	}
	for range n {
		l.receiver.paused++
		r.agenda.plan(r.now+instantOf(l.Pause), eventReceive, l.index)
	}
	return false, nil
}

// consumer finds the operation that has filled receive k. On a stream of which operations have been cancelled, it is the next
// one that fits.
func (l *lane) consumer(k int, e engine.Event) (i int, ok bool) {
	if !l.troubled {
		return l.consumers[k], true
	}
	for ; l.receiver.next < len(l.consumers); l.receiver.next++ {
		i = l.consumers[l.receiver.next]
		o := &l.operations[i]
		if e.Written == (o.Op == engine.OpWrite) && (e.Written && e.Value == o.value || !e.Written && e.Match == o.match) {
			l.receiver.next++
			if o.Op == engine.OpSend {
				o.slot = k
				l.inbox.extents[k].size, l.inbox.extents[k].pattern = o.Size, o.pattern
			}
			return i, true
		}
	}
	return 0, false
}

// before judges all messages of a stream up to one that the receiver has been told of: they are in place, but for those that
// were given up before they had begun.
func (l *lane) before(last int) error {
	for ; l.receiver.verified <= last; l.receiver.verified++ {
		o := &l.operations[l.receiver.verified]
		if o.Op != engine.OpWrite && o.Op != engine.OpSend {
			continue // what it leads to is known at the sender only
		}
		if l.troubled && l.receiver.verified != last && (o.failed || o.doomed || o.Op == engine.OpSend) {
			continue
		}
		if err := l.landing(o).complete(o.slot); err != nil {
			return err
		}
		l.landing(o).reuse(o.slot)
	}
	return nil
}

// ended judges the end of an incoming stream.
func (r *run) ended(s *session, l *lane, e engine.Event) error {
	switch {
	case e.Err != nil:
		r.result.Met[metAborted]++
		if err := r.mayFail(s, l, e.Err); err != nil {
			return err
		}
	case l.receiver.ended:
		return violation("stream %d ends twice", l.id)
	case !l.sender.ended:
		return violation("stream %d ends, but its sender has not ended it", l.id)
	case !l.troubled && l.receiver.filled != len(l.consumers):
		return violation("stream %d ends with %d of %d receives filled", l.id, l.receiver.filled, len(l.consumers))
	}
	if l.receiver.ended {
		return violation("stream %d ends twice", l.id)
	}
	l.receiver.ended = true
	return nil
}

// streamClosed judges the end of an outgoing stream, seen from its sender.
func (l *lane) streamClosed(e engine.Event) error {
	switch {
	case e.Err != nil:
		return violation("stream %d closes: %w", l.id, e.Err)
	case l.sender.closed:
		return violation("stream %d closes twice", l.id)
	case l.sender.completed != l.sender.posted:
		return violation("stream %d closes with %d of %d operations complete", l.id, l.sender.completed, l.sender.posted)
	case !l.shaken && (!l.sender.ended || l.sender.completed != len(l.operations)):
		return violation("stream %d closes with %d of %d operations complete", l.id, l.sender.completed, len(l.operations))
	}
	l.sender.closed = true
	return nil
}

// verify looks at everything that a lane's operations may have touched.
func (l *lane) verify(s *session) error {
	for _, o := range l.operations {
		if to := l.landing(&o); to != nil && to != l.inbox && (o.failed || !o.over) {
			to.loosen(o.slot)
		}
	}
	for k := range l.inbox.extents {
		if l.troubled || s.broken {
			l.inbox.loosen(k)
		}
	}
	for _, m := range []*shadow{l.region, l.inbox, l.library, l.into} {
		if err := m.verify(); err != nil {
			return err
		}
	}
	if err := l.words.verify(); err != nil {
		return fmt.Errorf("stream %d: %w", l.id, err)
	}
	return nil
}
