// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"errors"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// Operation is a message or request under way.
type Operation struct {
	stream *Stream
	work   engine.Work
	within time.Duration
	done   chan struct{}
	err    error
	result uint64
	over   bool // of the loop's goroutine: it has ended
}

// Done is closed when the operation has ended and its memory is the caller's again.
func (o *Operation) Done() <-chan struct{} { return o.done }

// Err returns nil while the operation is under way and when it has succeeded, else why it failed. A write or send has
// succeeded when the peer has placed all of it.
func (o *Operation) Err() error {
	select {
	case <-o.done:
		return o.err
	default:
		return nil
	}
}

// Result returns what the word of an atomic operation was before. It waits for the operation's end.
func (o *Operation) Result() uint64 {
	<-o.done
	return o.result
}

// Wait waits for the operation's end and returns Err. When ctx ends first it returns the context's error; the operation goes
// on and keeps its memory.
func (o *Operation) Wait(ctx context.Context) error {
	select {
	case <-o.done:
		return o.err
	default:
	}
	select {
	case <-o.done:
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Cancel ends the operation with ErrCanceled, soon, unless it ends by itself before. When it has begun, its stream ends with
// it, since the peer may hold half of it.
func (o *Operation) Cancel() {
	// A loop that has stopped ends all operations.
	_ = o.stream.conn.endpoint.runner.Do((*cancellation)(o))
}

// finish ends the operation. It runs on the loop's goroutine, or after the loop's end.
func (o *Operation) finish(err error, result uint64) {
	o.over, o.err, o.result = true, err, result
	o.work.Data, o.work.Pieces, o.work.Into = nil, nil, nil
	close(o.done)
	<-o.stream.conn.depth
}

// post is an Operation on its way to the engine.
type post Operation

// Run posts the operation.
func (p *post) Run(now engine.Time, e *engine.Endpoint) {
	o, s := (*Operation)(p), p.stream
	c := s.conn
	switch {
	case c.over:
		o.finish(c.err, 0)
		return
	case c.leaving:
		o.finish(ErrClosed, 0)
		return
	case s.gone:
		o.finish(s.ended(), 0)
		return
	}
	if o.within > 0 {
		o.work.Deadline = now.Add(o.within)
	}
	if c.outgoing[s.id] != s {
		c.outgoing[s.id] = s
	}
	o.work.ID = c.operations.put(o)
	if err := e.Post(now, c.id, o.work); err != nil {
		c.operations.take(o.work.ID)
		if errors.Is(err, ErrEnded) {
			err = s.ended()
		}
		o.finish(err, 0)
	}
}

// cancellation is an Operation that should end.
type cancellation Operation

// Run cancels the operation. Its end is an event like any other.
func (p *cancellation) Run(now engine.Time, e *engine.Endpoint) {
	if o := (*Operation)(p); !o.over {
		_ = e.Cancel(now, o.stream.conn.id, o.work.Stream, o.work.ID)
	}
}
