// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"errors"
	"fmt"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/udp"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Errors of connections and operations, as the engine names them.
var (
	// ErrClosed: the connection, Listener or Dialer was closed, here or by the peer.
	ErrClosed = engine.ErrClosed
	// ErrDead: the peer has acknowledged nothing for Config.DeadAfter.
	ErrDead = engine.ErrDead
	// ErrMTU: full packets vanish on the way while small ones arrive; the error is an *MTUError.
	ErrMTU = engine.ErrMTU
	// ErrRejected: the peer has refused the connection.
	ErrRejected = engine.ErrRejected
	// ErrAborted: the peer has aborted the connection, or does not know it any more.
	ErrAborted = engine.ErrAborted
	// ErrRefused: the peer has refused an operation; the error is an *OpError.
	ErrRefused = engine.ErrRefused
	// ErrStream: the peer accepts no more streams.
	ErrStream = engine.ErrStream
	// ErrEnded: the stream has ended.
	ErrEnded = engine.ErrEnded
	// ErrTooLong: a message is longer than 4 GiB - 1.
	ErrTooLong = engine.ErrTooLong
	// ErrNoReceive: the peer has posted no receive for the message in time.
	ErrNoReceive = engine.ErrNoReceive
	// ErrCanceled: the operation was canceled.
	ErrCanceled = engine.ErrCanceled
	// ErrDeadline: the operation did not end within its time.
	ErrDeadline = engine.ErrDeadline
	// ErrWork: the operation cannot be performed as it is.
	ErrWork = engine.ErrWork
)

// OpError says which operation the peer refused, where and why.
type OpError = engine.OpError

// Codes of an OpError.
const (
	TooLong   = wire.NoticeCodeTooLong   // a message is longer than its receive, whose length is OpError.Info
	BadKey    = wire.NoticeCodeBadKey    // no region of the peer has the key
	Bounds    = wire.NoticeCodeBounds    // the bytes lie outside the region
	Right     = wire.NoticeCodeRight     // the region does not grant the right
	BadStream = wire.NoticeCodeBadStream // the peer accepts no stream of that number
	Geometry  = wire.NoticeCodeGeometry  // the chunks of a message contradict each other
	Stopped   = wire.NoticeCodeStopped   // a chunk was lost too often, or the peer has stopped
)

// MTUError says which packets a path does not carry.
type MTUError = engine.MTUError

// stopped turns the end of a loop into what its users should read.
func stopped(cause error) error {
	if cause == nil || errors.Is(cause, udp.ErrStopped) {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, cause)
}
