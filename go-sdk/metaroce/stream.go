// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"

	"github.com/openmetaroce/metaroce/engine"
)

// Stream is the sending end of a one-way stream.
type Stream struct {
	conn *Conn
	id   uint16
}

// ID returns the stream's number, by which the peer knows it too.
func (s *Stream) ID() uint16 { return s.id }

// WriteRequest is a one-sided write: Source goes to the peer's region Key, At bytes from its start.
type WriteRequest struct {
	Source []byte
	Key    Key
	At     uint64
	// Immediate makes the write consume a receive posted by the peer, whose application gets Value once this message and
	// all before it on the stream are in place.
	Immediate bool
	Value     uint32
}

// SendRequest is a message for a receive posted by the peer.
type SendRequest struct {
	Data []byte
	// Match is for the application: it arrives with the message.
	Match uint64
	// Immediate makes Value arrive with the message.
	Immediate bool
	Value     uint32
}

// Write places src in the peer's region key, at bytes from its start, and returns when it is there.
func (s *Stream) Write(ctx context.Context, src []byte, key Key, at uint64) error {
	op, err := s.StartWrite(ctx, WriteRequest{Source: src, Key: key, At: at})
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// Send fills the next receive that the peer has posted on the stream, and returns when it has.
func (s *Stream) Send(ctx context.Context, data []byte, match uint64) error {
	op, err := s.StartSend(ctx, SendRequest{Data: data, Match: match})
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// StartWrite begins a write and returns its handle. It waits only while Config.Depth messages are under way.
func (s *Stream) StartWrite(ctx context.Context, r WriteRequest) (*Operation, error) {
	return s.start(ctx, engine.Work{
		Op: engine.OpWrite, Data: r.Source, Key: r.Key, At: r.At, Immediate: r.Immediate, Value: r.Value,
	})
}

// StartSend begins a send and returns its handle. It waits only while Config.Depth messages are under way.
func (s *Stream) StartSend(ctx context.Context, r SendRequest) (*Operation, error) {
	return s.start(ctx, engine.Work{
		Op: engine.OpSend, Data: r.Data, Match: r.Match, Immediate: r.Immediate, Value: r.Value,
	})
}

func (s *Stream) start(ctx context.Context, w engine.Work) (*Operation, error) {
	c := s.conn
	select {
	case <-c.closed:
		return nil, c.err
	default:
	}
	select {
	case c.depth <- struct{}{}:
	default:
		select {
		case c.depth <- struct{}{}:
		case <-c.closed:
			return nil, c.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	w.Stream = s.id
	op := &Operation{conn: c, work: w, done: make(chan struct{})}
	if err := c.endpoint.runner.Do((*post)(op)); err != nil {
		<-c.depth
		<-c.closed
		return nil, c.err
	}
	return op, nil
}

// Close ends the stream behind everything that was begun on it. The peer's Receive then returns io.EOF. It does not wait.
func (s *Stream) Close() (err error) {
	c := s.conn
	c.endpoint.ask(func(now engine.Time) {
		if c.over {
			err = c.err
			return
		}
		err = c.endpoint.engine.EndStream(now, c.id, s.id)
	})
	return err
}

// Operation is a message under way.
type Operation struct {
	conn *Conn
	work engine.Work
	done chan struct{}
	err  error
}

// Done is closed when the message has ended and its memory is the caller's again.
func (o *Operation) Done() <-chan struct{} { return o.done }

// Err returns nil while the message is under way and when the peer has placed all of it, else why it failed.
func (o *Operation) Err() error {
	select {
	case <-o.done:
		return o.err
	default:
		return nil
	}
}

// Wait waits for the message's end and returns Err. When ctx ends first it returns the context's error; the message goes on
// and keeps its memory.
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

// finish ends the operation. It runs on the loop's goroutine, or after the loop's end.
func (o *Operation) finish(err error) {
	o.err = err
	o.work.Data = nil
	close(o.done)
	<-o.conn.depth
}

// post is an Operation on its way to the engine.
type post Operation

// Run posts the operation.
func (p *post) Run(now engine.Time, e *engine.Endpoint) {
	o, c := (*Operation)(p), p.conn
	if c.over {
		o.finish(c.err)
		return
	}
	o.work.ID = c.operations.put(o)
	if err := e.Post(now, c.id, o.work); err != nil {
		c.operations.take(o.work.ID)
		o.finish(err)
	}
}
