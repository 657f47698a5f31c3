// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"

	"github.com/openmetaroce/metaroce/engine"
)

// IncomingStream is the receiving end of a one-way stream.
type IncomingStream struct {
	conn   *Conn
	id     uint16
	filled *mailbox[Message]
}

func newIncomingStream(c *Conn, id uint16) *IncomingStream {
	return &IncomingStream{conn: c, id: id, filled: newMailbox[Message]()}
}

// Message is what a posted receive has got.
type Message struct {
	// Data is the filled part of the posted buffer, which is the application's again. It is nil when Written is set.
	Data []byte
	// Match is what the sender gave to Send.
	Match uint64
	// Value is the immediate value, when Immediate is set.
	Value     uint32
	Immediate bool
	// Written: the message was a Write with an immediate value; its Length bytes lie in the region, and the posted
	// buffer was not touched.
	Written bool
	Length  int
}

// ID returns the stream's number, by which the peer knows it too.
func (s *IncomingStream) ID() uint16 { return s.id }

// PostReceive lends a buffer to the next message of the stream that needs one: a Send, which fails when it is longer, or a
// Write with an immediate value, for which the buffer may be empty. Receive gives it back.
func (s *IncomingStream) PostReceive(buffer []byte) error {
	select {
	case <-s.conn.closed:
		return s.conn.err
	default:
	}
	if err := s.conn.endpoint.runner.Do(&receive{stream: s, buffer: buffer}); err != nil {
		<-s.conn.closed
		return s.conn.err
	}
	return nil
}

// Receive waits for the next message that has filled a posted receive, in the order of the stream. After the last one it
// returns io.EOF when the peer has closed the stream, else why the stream or the connection is over.
func (s *IncomingStream) Receive(ctx context.Context) (Message, error) { return s.filled.take(ctx) }

// receive is a posted receive.
type receive struct {
	stream *IncomingStream
	buffer []byte
}

// Run posts the receive. What goes wrong is told by Receive.
func (r *receive) Run(now engine.Time, e *engine.Endpoint) {
	c := r.stream.conn
	if c.over {
		return
	}
	id := c.receives.put(r)
	if err := e.PostReceive(now, c.id, engine.Receive{Stream: r.stream.id, ID: id, Buffer: r.buffer}); err != nil {
		c.receives.take(id)
		r.stream.filled.close(err)
	}
}
