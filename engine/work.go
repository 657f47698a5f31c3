// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"

	"github.com/openmetaroce/metaroce/engine/internal/region"
	"github.com/openmetaroce/metaroce/engine/internal/stream"
)

// ConnID names a connection at its Endpoint; never reused.
type ConnID uint64

// Key names a registered region on the wire.
type Key = region.Key

// Rights are what peers may do with a region.
type Rights = region.Rights

// The rights of a region. None is the default.
const (
	RemoteWrite  = region.RemoteWrite
	RemoteRead   = region.RemoteRead
	RemoteAtomic = region.RemoteAtomic
)

// Op is the kind of a Work.
type Op = stream.Op

// The operations.
const (
	OpWrite       = stream.Write
	OpSend        = stream.Send
	OpRead        = stream.Read
	OpFetchAdd    = stream.FetchAdd
	OpCompareSwap = stream.CompareSwap
)

// Work is one operation on a stream. Its memory is borrowed until its Completed event.
type Work struct {
	Stream uint16
	Op     Op
	ID     uint64   // comes back in the Completed event
	Data   []byte   // Write, Send
	Pieces [][]byte // instead of Data: bytes to be sent one after the other
	Into   []byte   // Read
	// Write, Read and atomic operations: region of the peer and offset in it; of atomic operations a multiple of 8.
	Key Key
	At  uint64
	// Immediate hands Value to the receiver of a Write or Send; a Write then consumes a posted receive.
	Immediate bool
	Value     uint32
	// Send: the application's match bits.
	Match uint64
	// FetchAdd: word += Operand. CompareSwap: word = Operand, if it was Compare.
	Operand uint64
	Compare uint64
	// Fence holds the operation back until all earlier ones of its stream are complete.
	Fence bool
	// Deadline ends the operation with ErrDeadline; 0 = none. If it has begun, its stream ends with it.
	Deadline Time
}

// Receive is a posted buffer for one Send, or for the immediate value of one Write, of an incoming stream.
// Buffer is borrowed until the Received event.
type Receive struct {
	Stream uint16
	ID     uint64 // comes back in the Received event
	Buffer []byte
}

// EventKind tells what happened.
type EventKind uint8

// The kinds of events.
const (
	// Opened: the connection is established, on either side.
	Opened EventKind = iota + 1
	// StreamOpened: the first packet of an incoming stream has arrived.
	StreamOpened
	// Completed: the operation ID on the outgoing stream has ended; Err is nil when all of it is placed at the peer.
	Completed
	// Received: the posted receive ID has been filled, or flushed with Err.
	Received
	// StreamEnded: the peer has ended the incoming stream; Err is nil when it ended gracefully.
	StreamEnded
	// Closed: the connection is over; Err is nil after an orderly close. It is the connection's last event.
	Closed
	// StreamClosed: the peer has acknowledged the end of an outgoing stream; its id can be used again.
	StreamClosed
)

// Event is something that the application should know.
type Event struct {
	Kind      EventKind
	Immediate bool // Received: Value is set
	Written   bool // Received: the message was a Write with immediate, nothing lies in the buffer
	Stream    uint16
	Conn      ConnID
	ID        uint64
	Length    uint32 // Received: bytes of the message
	Value     uint32 // Received: the immediate value
	Match     uint64 // Received: the sender's match bits
	Result    uint64 // Completed: the word before an atomic operation
	Err       error
}

// possible tells whether a peer that serves a number of requests can be asked for the operation.
func (w *Work) possible(requests int) error {
	atomic := w.Op == OpFetchAdd || w.Op == OpCompareSwap
	switch {
	case w.Op < OpWrite || w.Op > OpCompareSwap:
		return fmt.Errorf("%w: operation %d on stream %d", ErrWork, w.Op, w.Stream)
	case w.Op.Request() && requests == 0:
		return fmt.Errorf("%w: the peer serves neither reads nor atomic operations", ErrWork)
	case w.Op.Request() && w.Immediate:
		return fmt.Errorf("%w: a request on stream %d has no immediate value", ErrWork, w.Stream)
	case atomic && w.At%8 != 0:
		return fmt.Errorf("%w: atomic operation at %d, not a multiple of 8", ErrWork, w.At)
	case w.Op == OpFetchAdd && w.Compare != 0:
		return fmt.Errorf("%w: fetch-add with a value to compare", ErrWork)
	}
	return nil
}
