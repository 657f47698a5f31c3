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
	Path    uint16
	Code    wire.NoticeCode
	Info    uint32
}

func (e *OpError) Error() string {
	return fmt.Sprintf("engine: connection %d, stream %d: peer refused message %d on path %d: %v (%d)",
		e.Conn, e.Stream, e.Message, e.Path, e.Code, e.Info)
}

// Unwrap returns ErrRefused.
func (e *OpError) Unwrap() error { return ErrRefused }
