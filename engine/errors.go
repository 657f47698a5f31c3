// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"

	"github.com/openmetaroce/metaroce/engine/internal/stream"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Errors of calls, and of operations that end badly.
var (
	// ErrConfig: a configured value is out of range.
	ErrConfig = errors.New("engine: bad configuration")
	// ErrUnknownConn: the connection does not exist, or is over.
	ErrUnknownConn = errors.New("engine: unknown connection")
	// ErrNotOpen: the connection is not established yet, or is closing.
	ErrNotOpen = errors.New("engine: connection is not open")
	// ErrStream: the stream id lies beyond what the peer accepts.
	ErrStream = errors.New("engine: no such stream")
	// ErrBusy: too many operations wait on the stream; post again after a Completed event.
	ErrBusy = errors.New("engine: too many operations posted")
	// ErrClosed: the connection was closed while the operation was outstanding.
	ErrClosed = errors.New("engine: connection closed")
	// ErrDead: the peer has acknowledged nothing for Config.DeadAfter.
	ErrDead = errors.New("engine: peer does not answer")
	// ErrRejected: the peer has refused the connection.
	ErrRejected = errors.New("engine: connection refused by the peer")
	// ErrAborted: the peer has aborted the connection, or does not know it any more.
	ErrAborted = errors.New("engine: connection aborted by the peer")
	// ErrRefused: the peer has refused an operation; see OpError.
	ErrRefused = errors.New("engine: operation refused by the peer")
)

// Errors that streams report.
var (
	ErrEnded     = stream.ErrEnded
	ErrTooLong   = stream.ErrTooLong
	ErrNoReceive = stream.ErrNoReceive
	ErrCanceled  = stream.ErrCanceled
	ErrDeadline  = stream.ErrDeadline
)

// ErrWork: the operation cannot be posted as it is.
var ErrWork = errors.New("engine: impossible operation")

// OpError says which operation the peer refused, where and why. It unwraps to ErrRefused.
type OpError struct {
	Conn    ConnID
	Stream  uint16
	Message uint32
	Path    uint16 // of the packet that was refused; NoPath when the refusal is a reply
	Code    wire.NoticeCode
	Info    uint32 // TooLong: bytes of the receive; BadStream: streams accepted; Stopped: losses of a chunk
}

// NoPath is no path's number.
const NoPath = 1<<16 - 1

func (e *OpError) Error() string {
	on := ""
	if e.Path != NoPath {
		on = fmt.Sprintf(" on path %d", e.Path)
	}
	return fmt.Sprintf("engine: connection %d, stream %d: peer refused message %d%s: %v: %s",
		e.Conn, e.Stream, e.Message, on, e.Code, e.reason())
}

// reason is what the code means.
func (e *OpError) reason() string {
	switch e.Code {
	case wire.NoticeCodeTooLong:
		return fmt.Sprintf("it is longer than its receive of %d bytes", e.Info)
	case wire.NoticeCodeBadKey:
		return "no region has the key"
	case wire.NoticeCodeBounds:
		return "it reaches beyond the region"
	case wire.NoticeCodeRight:
		return "the region does not grant the right"
	case wire.NoticeCodeBadStream:
		return fmt.Sprintf("the stream or receive is not its own (%d)", e.Info)
	case wire.NoticeCodeGeometry:
		return "its chunks contradict each other"
	case wire.NoticeCodeStopped:
		return fmt.Sprintf("it was given up (%d losses of a chunk)", e.Info)
	}
	return fmt.Sprintf("info %d", e.Info)
}

// Unwrap returns ErrRefused.
func (e *OpError) Unwrap() error { return ErrRefused }
