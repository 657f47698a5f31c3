// SPDX-License-Identifier: Apache-2.0

package engine

import (
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
	RemoteWrite = region.RemoteWrite
	RemoteRead  = region.RemoteRead
)

// Op is the kind of a Work.
type Op = stream.Op

// The operations of this version.
const (
	OpWrite = stream.Write
	OpSend  = stream.Send
)

// Work is one operation on a stream. Data is borrowed until the operation's Completed event.
type Work struct {
	Stream uint16
	Op     Op
	ID     uint64 // comes back in the Completed event
	Data   []byte
	// Write: where it lands.
	Key Key
	At  uint64
	// Immediate hands Value to the receiver; a Write then consumes a posted receive.
	Immediate bool
	Value     uint32
	// Send: the application's match bits.
	Match uint64
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
)

// Event is something that the application should know.
type Event struct {
	Kind      EventKind
	Conn      ConnID
	Stream    uint16
	ID        uint64
	Length    uint32 // Received: bytes of the message
	Match     uint64 // Received: the sender's match bits
	Value     uint32 // Received: the immediate value
	Immediate bool   // Received: Value is set
	Written   bool   // Received: the message was a Write with immediate, nothing lies in the buffer
	Err       error
}
