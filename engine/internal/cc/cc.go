// SPDX-License-Identifier: Apache-2.0

// Package cc decides how much may be in flight, on a path or on a whole connection, and how fast it leaves. It sees values
// and calls nobody.
package cc

import "github.com/openmetaroce/metaroce/engine/internal/mono"

// Controller keeps one window.
type Controller interface {
	// OnAck adjusts the window to what an ACK says.
	OnAck(now mono.Time, f Feedback)
	// Window is the number of bytes that may be in flight.
	Window() int
	// Restart forgets what was learned: the route has changed.
	Restart()
}

// Config bounds a window. All in bytes.
type Config struct {
	Initial int // first window
	Least   int // never below
	Most    int // never above
	Step    int // additive increase per round
}

// Feedback is what one ACK says about a window.
type Feedback struct {
	Bytes    int    // newly acknowledged
	InFlight int    // bytes before the ACK
	Packets  uint32 // packets that newly arrived at the peer
	Marked   uint32 // of those, marked CE
	Lost     int    // transmissions newly found lost
	RTT      int64  // smoothed, ns
	Base     int64  // least RTT seen, ns
	Blind    bool   // marks do not get through on this path
}

// Kind names a controller.
type Kind uint8

// The controllers.
const (
	// ByMarks is AIMD on ECN marks, the default.
	ByMarks Kind = iota
	// Constant keeps the first window: for networks whose share is assigned, and for experiments.
	Constant
)

// New returns a controller of a kind at its first window. The bounds must not change while it is in use.
func (k Kind) New(cfg *Config) Controller {
	if k == Constant {
		return fixed(min(max(cfg.Initial, cfg.Least), cfg.Most))
	}
	return newAIMD(cfg)
}

// fixed is a window that never changes.
type fixed int

func (f fixed) OnAck(mono.Time, Feedback) {}
func (f fixed) Window() int               { return int(f) }
func (f fixed) Restart()                  {}
