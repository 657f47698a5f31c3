// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"
)

// Kind is a class of faults.
type Kind uint8

// The kinds of faults. Those of packets happen to a packet by chance, or to one that is named by its number.
const (
	Lose     Kind = iota + 1 // the packet vanishes
	LoseData                 // the same, but only sequenced packets do
	Burst                    // the packet and up to Size-1 behind it vanish
	Copy                     // a second one arrives up to Span later
	Delay                    // it leaves up to Span later: what was sent behind it on its path overtakes
	Flip                     // a bit is wrong: bit Size, counted from the first byte on and round the packet
	Truncate                 // all but Size bytes are missing, counted round
	Pad                      // up to Size bytes follow it
	Trim                     // a switch cuts the payload of a sequenced packet off, as it does instead of dropping it
	Mark                     // it gets a CE mark that no queue has made
	Bleach                   // its ECN codepoint is cleared
	Unmark                   // a CE mark becomes ECT(0)

	// Faults of paths last from Begin to End.
	Cut    // what Host sends on Path, or on every path of Plane, vanishes
	Hold   // it leaves only at End
	Shrink // of it, only packets of Size bytes or fewer get through
	Unplug // it vanishes, and the system tells the engine so
	Rehash // at Begin the switches of Plane assign ports to paths anew, by the salt Size

	// Faults of hosts last from Begin to End.
	Pause   // the host does nothing; what arrives waits
	Deaf    // its application looks at no events
	Lag     // its timers fire up to Span late
	Stall   // its links take no packet
	Restart // at Begin it forgets everything, and comes back at End with new memory and a new connection

	// Faults of applications happen Span after Operation of Stream was posted.
	Cancel     // its sender cancels the operation
	Expire     // the operation's deadline passes
	Deregister // its receiver takes back the memory that the stream's operations reach

	kinds = iota + 1
)

var kindNames = [kinds]string{
	"", "lose", "lose-data", "burst", "copy", "delay", "flip", "truncate", "pad", "trim", "mark", "bleach", "unmark",
	"cut", "hold", "shrink", "unplug", "rehash", "pause", "deaf", "lag", "stall", "restart", "cancel", "expire", "deregister",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// ofPackets, ofPaths, ofHosts and ofApplications tell what a kind befalls.
func (k Kind) ofPackets() bool      { return k >= Lose && k <= Unmark }
func (k Kind) ofPaths() bool        { return k >= Cut && k <= Rehash }
func (k Kind) ofHosts() bool        { return k >= Pause && k <= Restart }
func (k Kind) ofApplications() bool { return k >= Cancel && k <= Deregister }

// All stands for every host, plane or path.
const All = -1

// Fault is one thing that goes wrong on purpose. Which fields count depends on its Kind.
type Fault struct {
	Kind Kind
	// Host sends the packets concerned, or is the one that suffers; 0, 1 or All.
	Host int
	// Plane and Path say where, counted from 0; All = everywhere.
	Plane, Path int
	// Begin and End bound the fault. End 0 is Config.HealAt, which ends all faults but those of packets named by number.
	Begin, End time.Duration
	// Chance is the probability, 0 to 1, that it happens to a packet.
	Chance float64
	// Packet, if not 0, names the packet instead: by its number among all that Host sends, counted from 1.
	Packet uint64
	// Span is a time, Size a number, as the Kind says. Of packets by chance they are the largest that are drawn, of packets by
	// number they are exact.
	Span time.Duration
	Size int
	// Stream and Operation are indexes of Config.Streams and of its Messages.
	Stream, Operation int
}

// Everywhere returns a fault of a kind with all hosts, planes and paths.
func Everywhere(k Kind) Fault { return Fault{Kind: k, Host: All, Plane: All, Path: All} }

// by tells whether the fault concerns a host.
func (f *Fault) by(host int) bool { return f.Host == All || f.Host == host }

// at tells whether it concerns a path of a plane.
func (f *Fault) at(plane, path int) bool {
	return (f.Plane == All || f.Plane == plane) && (f.Path == All || f.Path == path)
}

// during tells whether it lasts at an instant; it never does from healAt on.
func (f *Fault) during(now, healAt instant) bool {
	return now < healAt && instantOf(f.Begin) <= now && (f.End == 0 || now < instantOf(f.End))
}

// ends is the instant at which it is over.
func (f *Fault) ends(healAt instant) instant {
	if f.End == 0 {
		return healAt
	}
	return min(instantOf(f.End), healAt)
}

// validate returns what is wrong with fault i.
func (c *Config) validate(i int) error {
	f := &c.Faults[i]
	n := &c.Network
	bad := func(what string, value any) error {
		return fmt.Errorf("%w: fault %d, %v: %s is %v", ErrConfig, i, f.Kind, what, value)
	}
	switch {
	case f.Kind < Lose || f.Kind >= kinds:
		return bad("the kind", uint8(f.Kind))
	case f.Host < All || f.Host > 1:
		return bad("host", f.Host)
	case f.Plane < All || f.Plane >= max(n.Planes, 1):
		return bad("plane", f.Plane)
	case f.Path < All || f.Path >= n.Paths:
		return bad("path", f.Path)
	case f.Begin < 0 || f.End < 0 || f.Span < 0 || f.Size < 0:
		return bad("a time or a size", "negative")
	case !(f.Chance >= 0 && f.Chance <= 1):
		return bad("the chance", f.Chance)
	case f.Kind.ofPackets() && f.Packet > 0 && f.Host == All:
		return bad("the packet's host", "missing")
	case f.Kind == Restart && f.Host == All:
		return bad("host", "missing")
	case f.Kind.ofHosts() && f.End == 0 && c.HealAt == never.since():
		return bad("the end", "missing")
	case f.Kind.ofApplications() && (f.Stream < 0 || f.Stream >= len(c.Streams)):
		return bad("stream", f.Stream)
	case f.Kind.ofApplications() && (f.Operation < 0 || f.Operation >= len(c.Streams[f.Stream].Messages)):
		return bad("operation", f.Operation)
	}
	return nil
}
