// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// Stream is the sending end of a one-way stream. A Write or Send that fails, or an operation that is canceled or late once it has
// begun, ends it: the later ones fail with ErrEnded and the reason. A Read or atomic operation that the peer refuses ends alone.
type Stream struct {
	conn *Conn
	id   uint16
	// Of the loop's goroutine. cause is why the last operation that failed did, or ErrClosed: if the stream has ended, it is why.
	// gone: the peer knows of the end, and the id is free.
	cause error
	gone  bool
}

// ended is the error of an operation on a stream that has ended.
func (s *Stream) ended() error {
	if s.cause == nil {
		return ErrEnded
	}
	return fmt.Errorf("%w: %w", ErrEnded, s.cause)
}

// ID returns the stream's number, by which the peer knows it too.
func (s *Stream) ID() uint16 { return s.id }

// Order says when an operation begins and when it is too late for it.
type Order struct {
	// Fence holds the operation back until all earlier ones of its stream are complete.
	Fence bool
	// Within ends the operation with ErrDeadline when it takes longer; 0 = never.
	Within time.Duration
}

// WriteRequest is a one-sided write: Source goes to the peer's region Key, At bytes from its start.
type WriteRequest struct {
	Source []byte
	// Pieces are written one after the other, instead of Source.
	Pieces [][]byte
	Key    Key
	At     uint64
	// Immediate makes the write consume a receive posted by the peer, whose application gets Value once this message and
	// all before it on the stream are in place.
	Immediate bool
	Value     uint32
	Order
}

// SendRequest is a message for a receive posted by the peer.
type SendRequest struct {
	Data []byte
	// Pieces are sent one after the other, instead of Data.
	Pieces [][]byte
	// Match is for the application: it arrives with the message.
	Match uint64
	// Immediate makes Value arrive with the message.
	Immediate bool
	Value     uint32
	Order
}

// ReadRequest is a one-sided read: Into is filled from the peer's region Key, from At bytes after its start.
type ReadRequest struct {
	Into []byte
	Key  Key
	At   uint64
	Order
}

// AtomicRequest is an operation on the 8-byte word of the peer's region Key, At bytes from its start, a multiple of 8. The
// word has the byte order of the peer's machine.
type AtomicRequest struct {
	Key Key
	At  uint64
	// Operand is added to the word, or stored in it.
	Operand uint64
	// Compare is what the word must be for Operand to be stored; 0 for StartFetchAdd.
	Compare uint64
	Order
}

// Write places src in the peer's region key, at bytes from its start, and returns when it is there.
func (s *Stream) Write(ctx context.Context, src []byte, key Key, at uint64) error {
	op, err := s.StartWrite(ctx, WriteRequest{Source: src, Key: key, At: at})
	return s.see(ctx, op, err)
}

// Send fills the next receive that the peer has posted on the stream, and returns when it has.
func (s *Stream) Send(ctx context.Context, data []byte, match uint64) error {
	op, err := s.StartSend(ctx, SendRequest{Data: data, Match: match})
	return s.see(ctx, op, err)
}

// Read fills into from the peer's region key, from at bytes after its start, and returns when it is full.
func (s *Stream) Read(ctx context.Context, into []byte, key Key, at uint64) error {
	op, err := s.StartRead(ctx, ReadRequest{Into: into, Key: key, At: at})
	return s.see(ctx, op, err)
}

// FetchAdd adds to a word of the peer's and returns what it was before.
func (s *Stream) FetchAdd(ctx context.Context, key Key, at, operand uint64) (before uint64, err error) {
	op, err := s.StartFetchAdd(ctx, AtomicRequest{Key: key, At: at, Operand: operand})
	if err = s.see(ctx, op, err); err != nil {
		return 0, err
	}
	return op.Result(), nil
}

// CompareSwap stores r.Operand in a word of the peer's, if that is r.Compare, and returns what the word was before.
func (s *Stream) CompareSwap(ctx context.Context, r AtomicRequest) (before uint64, err error) {
	op, err := s.StartCompareSwap(ctx, r)
	if err = s.see(ctx, op, err); err != nil {
		return 0, err
	}
	return op.Result(), nil
}

// see waits for an operation. When ctx ends first it cancels the operation, so that its memory is the caller's again.
func (s *Stream) see(ctx context.Context, op *Operation, err error) error {
	if err != nil {
		return err
	}
	if err = op.Wait(ctx); err == nil || op.Err() != nil || ctx.Err() == nil {
		return err
	}
	op.Cancel()
	<-op.done
	if op.err == nil {
		return nil // it was quicker
	}
	return ctx.Err()
}

// StartWrite begins a write and returns its handle. It waits only while Config.Depth messages are under way.
func (s *Stream) StartWrite(ctx context.Context, r WriteRequest) (*Operation, error) {
	return s.start(ctx, r.Order, engine.Work{
		Op: engine.OpWrite, Data: r.Source, Pieces: r.Pieces, Key: r.Key, At: r.At, Immediate: r.Immediate, Value: r.Value,
	})
}

// StartSend begins a send and returns its handle. It waits only while Config.Depth messages are under way.
func (s *Stream) StartSend(ctx context.Context, r SendRequest) (*Operation, error) {
	return s.start(ctx, r.Order, engine.Work{
		Op: engine.OpSend, Data: r.Data, Pieces: r.Pieces, Match: r.Match, Immediate: r.Immediate, Value: r.Value,
	})
}

// StartRead begins a read and returns its handle. It waits only while Config.Depth messages are under way. The read begins
// at the peer when all earlier writes and sends of the stream are in place.
func (s *Stream) StartRead(ctx context.Context, r ReadRequest) (*Operation, error) {
	return s.start(ctx, r.Order, engine.Work{Op: engine.OpRead, Into: r.Into, Key: r.Key, At: r.At})
}

// StartFetchAdd begins an addition to a word of the peer's. Operation.Result is what the word was before.
func (s *Stream) StartFetchAdd(ctx context.Context, r AtomicRequest) (*Operation, error) {
	return s.start(ctx, r.Order, engine.Work{
		Op: engine.OpFetchAdd, Key: r.Key, At: r.At, Operand: r.Operand, Compare: r.Compare,
	})
}

// StartCompareSwap begins a conditional store. Operation.Result is what the word was before: r.Compare when it was stored.
func (s *Stream) StartCompareSwap(ctx context.Context, r AtomicRequest) (*Operation, error) {
	return s.start(ctx, r.Order, engine.Work{
		Op: engine.OpCompareSwap, Key: r.Key, At: r.At, Operand: r.Operand, Compare: r.Compare,
	})
}

// start posts an operation, once there is room for one.
func (s *Stream) start(ctx context.Context, order Order, w engine.Work) (*Operation, error) {
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
	w.Stream, w.Fence = s.id, order.Fence
	op := &Operation{stream: s, work: w, within: order.Within, done: make(chan struct{})}
	if err := c.endpoint.runner.Do((*post)(op)); err != nil {
		<-c.depth
		<-c.closed
		return nil, c.err
	}
	return op, nil
}

// Close ends the stream behind everything that was begun on it. The peer's Receive then returns io.EOF. It does not wait.
// Closing a stream that has ended does nothing.
func (s *Stream) Close() (err error) {
	c := s.conn
	c.endpoint.ask(func(now engine.Time) {
		if c.over {
			err = c.err
			return
		}
		if s.gone {
			return
		}
		c.outgoing[s.id] = s
		switch err = c.endpoint.engine.EndStream(now, c.id, s.id); {
		case err == nil:
			s.cause = ErrClosed
		case errors.Is(err, ErrEnded):
			err = nil
		}
	})
	return err
}
