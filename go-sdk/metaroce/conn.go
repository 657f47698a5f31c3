// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"sync"

	"github.com/openmetaroce/metaroce/engine"
)

// Conn is a connection. Fields below the line belong to the loop's goroutine, those above are safe for everybody.
type Conn struct {
	endpoint *endpoint
	remote   netip.AddrPort
	// owner: the endpoint was made for this connection alone.
	owner    bool
	id       engine.ConnID
	streams  *mailbox[*IncomingStream]
	depth    chan struct{} // holds a token for each message under way
	opened   chan struct{} // closed when the connection stands
	closed   chan struct{} // closed when it is over; err is valid then
	err      error
	numbers  sync.Mutex
	next     int      // first stream id never used
	returned []uint16 // ids whose streams have ended
	// ---
	over       bool
	leaving    bool // we have closed it
	operations slots[*Operation]
	receives   slots[*receive]
	incoming   map[uint16]*IncomingStream
	outgoing   map[uint16]*Stream // those that the engine knows
	last       ConnStats
}

func newConn(e *endpoint) *Conn {
	return &Conn{
		endpoint: e, streams: newMailbox[*IncomingStream](), depth: make(chan struct{}, e.cfg.Depth),
		opened: make(chan struct{}), closed: make(chan struct{}), incoming: map[uint16]*IncomingStream{},
		outgoing: map[uint16]*Stream{},
	}
}

// RemoteAddr returns the peer's address; of a connection that the peer has opened, the source of its first path.
func (c *Conn) RemoteAddr() netip.AddrPort { return c.remote }

// RegisterRegion makes memory reachable for peers. The region belongs to the Listener or Dialer of the connection and
// outlives it there. The memory must stay allocated, and its contents are the peers', until the Region is closed.
func (c *Conn) RegisterRegion(memory []byte, rights Rights) (*Region, error) {
	return c.endpoint.register(memory, rights)
}

// OpenStream returns the sending end of a new stream. The peer hears of it with its first message. It fails with ErrStream
// while 65,536 streams are open. An id can be used again once its stream is closed, or has failed, and the peer knows.
func (c *Conn) OpenStream() (*Stream, error) {
	select {
	case <-c.closed:
		return nil, c.err
	default:
	}
	c.numbers.Lock()
	defer c.numbers.Unlock()
	if n := len(c.returned); n > 0 {
		id := c.returned[n-1]
		c.returned = c.returned[:n-1]
		return &Stream{conn: c, id: id}, nil
	}
	if c.next == mostStreams {
		return nil, fmt.Errorf("%w: all ids are in use", ErrStream)
	}
	c.next++
	return &Stream{conn: c, id: uint16(c.next - 1)}, nil
}

// AcceptStream waits for the next stream that the peer has opened and returns its receiving end.
func (c *Conn) AcceptStream(ctx context.Context) (*IncomingStream, error) { return c.streams.take(ctx) }

// IncomingStream returns the receiving end of the stream that the peer opens, or has opened, under an id, so that receives
// can be posted before its first message. AcceptStream does not return the stream as well, unless it has already.
func (c *Conn) IncomingStream(id uint16) (s *IncomingStream, err error) {
	c.endpoint.ask(func(engine.Time) {
		if c.over {
			err = c.err
			return
		}
		if s = c.incoming[id]; s == nil {
			s = newIncomingStream(c, id)
			c.incoming[id] = s
		}
	})
	return s, err
}

// Done is closed when the connection is over.
func (c *Conn) Done() <-chan struct{} { return c.closed }

// Err returns nil while the connection stands, and then why it is over: ErrClosed after an orderly end.
func (c *Conn) Err() error {
	select {
	case <-c.closed:
		return c.err
	default:
		return nil
	}
}

// Close ends the connection once all messages under way have ended, and waits for that. Receives that are still posted are
// flushed. It returns nil after an orderly end, also when the peer has closed first.
func (c *Conn) Close() error {
	c.endpoint.ask(func(now engine.Time) {
		if c.over || c.leaving {
			return
		}
		c.leaving = true
		c.snapshot()
		if err := c.endpoint.engine.Close(now, c.id); err != nil {
			delete(c.endpoint.conns, c.id)
			c.finish(err)
		}
	})
	<-c.closed
	var err error
	if c.owner {
		err = c.endpoint.shut(context.Background())
	}
	if c.err != ErrClosed {
		err = c.err
	}
	return err
}

// snapshot keeps the counters for the time after the connection.
func (c *Conn) snapshot() {
	if s, ok := c.endpoint.engine.ConnStats(c.id); ok {
		c.last = s
	}
}

// finish ends the connection and everything that waits on it. It runs on the loop's goroutine, or after the loop's end.
func (c *Conn) finish(err error) {
	if c.over {
		return
	}
	c.over, c.err = true, err
	for _, op := range c.operations.drain() {
		op.finish(err, 0)
	}
	c.receives.drain()
	for _, s := range c.incoming {
		s.filled.close(err)
	}
	c.streams.close(err)
	close(c.closed)
}

// streamOpened takes in the first packet of a stream.
func (c *Conn) streamOpened(id uint16) {
	if c.incoming[id] != nil {
		return
	}
	s := newIncomingStream(c, id)
	c.incoming[id] = s
	c.streams.put(s)
}

// streamEnded takes in the end of an incoming stream.
func (c *Conn) streamEnded(ev engine.Event) {
	s := c.incoming[ev.Stream]
	if s == nil {
		return
	}
	delete(c.incoming, ev.Stream)
	if ev.Err == nil {
		ev.Err = io.EOF
	}
	s.filled.close(ev.Err)
}

// streamClosed makes the id of an outgoing stream free.
func (c *Conn) streamClosed(id uint16) {
	s := c.outgoing[id]
	if s == nil {
		return
	}
	delete(c.outgoing, id)
	s.gone = true
	c.numbers.Lock()
	defer c.numbers.Unlock()
	c.returned = append(c.returned, id)
}

// completed ends an operation.
func (c *Conn) completed(ev engine.Event) {
	if op, ok := c.operations.take(ev.ID); ok {
		if ev.Err != nil {
			op.stream.cause = ev.Err
		}
		op.finish(ev.Err, ev.Result)
	}
}

// received hands on a message. A receive that was flushed is dropped: the stream's end, or the connection's, tells why.
func (c *Conn) received(ev engine.Event) {
	r, ok := c.receives.take(ev.ID)
	if !ok || ev.Err != nil {
		return
	}
	m := Message{Match: ev.Match, Value: ev.Value, Immediate: ev.Immediate, Written: ev.Written, Length: int(ev.Length)}
	if !m.Written {
		m.Data = r.buffer[:ev.Length]
	}
	r.stream.filled.put(m)
}
