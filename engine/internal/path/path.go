// SPDX-License-Identifier: Apache-2.0

// Package path owns all that belongs to one route of a connection: the ledger of what was sent on it, the tracker of what
// arrived on it, its round-trip time, its window and its timers.
//
// A path is first-in first-out. That is what makes a gap in its feedback a loss, and why no rule here looks at another path.
package path

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/cc"
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Route is a way between the two addresses of a plane: the ports at its ends, as this host sees them.
type Route struct {
	Plane         uint8 // place in the list of the connection
	Local, Remote uint16
}

// Config is what all paths of a connection share.
type Config struct {
	Space       wire.Space    // of PSN and TSN
	First       uint32        // first PSN and TSN that this side sends
	PeerFirst   uint32        // first PSN and TSN that the peer sends
	PeerDelay   time.Duration // longest time that the peer holds back an ACK
	InitialRTT  time.Duration // before the first sample
	Granularity time.Duration // least variance that timers assume
	Control     cc.Kind
	Congestion  cc.Config
}

// slots is the number of PSNs that one SACK vector describes.
const slots = 256

// window is how far PSNs in flight may lie apart: never more than a quarter of the space, or old and new ones look alike.
func window(s wire.Space) int64 {
	return min(slots, int64(1)<<(s-2))
}

// Counters count over the life of a path.
type Counters struct {
	Packets    uint64 // sequenced packets sent, resends included
	Resent     uint64
	Lost       uint64
	Acked      uint64
	CE         uint64 // own packets that the peer saw marked
	TailProbes uint64
	RTOFired   uint64
}

// Path is one route of a connection.
// A resting path is small: it has no board, no rings and no watch.
//
//mr:req MR-PATH-001
type Path struct {
	ID       uint16
	Route    Route
	Epoch    uint8
	ecn      ecn
	reported reported
	Sent     Counters
	cfg      *Config
	rtt      estimator
	window   cc.Controller
	ledger   ledger
	tracker  Tracker
	health   health
	narrow   narrow
	guard    guard
	*watch   // nil while nothing is in flight or asked for, and the path is in service
}

// watch is what a path that waits for something keeps.
type watch struct {
	timer  timer
	left   left
	outage outage
}

// wake makes sure that the path has a watch.
func (p *Path) wake() {
	if p.watch == nil {
		p.watch = &watch{left: left{until: mono.Never}}
	}
}

// reported is what the peer's blocks said last.
type reported struct {
	packets, ce uint32
}

// New returns a path on which nothing was sent and nothing arrived.
func New(id uint16, route Route, cfg *Config) *Path {
	return &Path{
		ID:      id,
		Route:   route,
		cfg:     cfg,
		ledger:  newLedger(cfg),
		tracker: newTracker(cfg),
		rtt:     newEstimator(cfg.InitialRTT),
		window:  cc.Constant.New(&cfg.Congestion),
	}
}

// Tracker is the path's receiving half.
func (p *Path) Tracker() *Tracker { return &p.tracker }

// Stamp is what a packet carries of its path.
type Stamp struct {
	PSN, TSN uint32
	Floor    uint8 // PSN less the path's floor
	Plain    bool  // the packet leaves as Not-ECT, whatever the path does
}

// Room tells whether a packet with a new PSN may go out. One packet always may when nothing is in flight.
func (p *Path) Room(sizeBytes int) bool {
	return !p.health.down && p.ledger.room() && p.fits(sizeBytes)
}

//mr:req MR-CC-001
func (p *Path) fits(sizeBytes int) bool {
	return !p.ledger.flies() || p.ledger.inFlight+sizeBytes <= p.window.Window()
}

// Record enters a packet with a new PSN. The caller has asked Room.
func (p *Path) Record(now mono.Time, m Moved) Stamp {
	p.wake()
	if p.Sent.Packets == 0 {
		p.window = p.cfg.Control.New(&p.cfg.Congestion) // nothing could be learned before
	}
	tsn := p.ledger.transmit(transmission{at: now})
	psn := p.ledger.record(&m, tsn)
	p.Sent.Packets++
	p.health.sent++
	p.timer.sent(now)
	return p.stamp(psn, tsn)
}

// NextLost returns the lost chunk that is first in line, and whether it fits into the window now; its PSN serves Resend
// and Abandon. There must be one.
func (p *Path) NextLost() (m Moved, psn uint32, fits bool) {
	psn = p.ledger.lost.head
	s := p.ledger.slot(psn)
	return Moved{s.ref, int(s.size), int(s.before) + int(s.losses)}, psn, p.fits(int(s.size))
}

// mostLosses is how often a chunk is lost on one path before it tries another.
const mostLosses = 8

// Stuck tells whether a lost PSN has been lost so often that its chunk should move.
//
//mr:req MR-LOSS-004
func (p *Path) Stuck(psn uint32) bool { return p.ledger.slot(psn).losses >= mostLosses }

// HasLost tells whether a lost chunk waits, be there room or not.
func (p *Path) HasLost() bool { return p.ledger.board != nil && p.ledger.lost.n > 0 }

// Resend enters another transmission of a lost PSN: same chunk, same path, new TSN.
func (p *Path) Resend(now mono.Time, psn uint32) Stamp {
	tsn := p.ledger.transmit(transmission{at: now, forGap: p.ledger.slot(psn).forGap})
	p.ledger.resend(psn, tsn)
	p.Sent.Packets++
	p.Sent.Resent++
	p.health.sent++
	p.timer.sent(now)
	return p.stamp(psn, tsn)
}

// Abandon gives up a PSN: it completes nothing any more and the floor may pass it.
func (p *Path) Abandon(psn uint32) {
	p.ledger.abandon(psn & p.cfg.Space.Mask()) // it may come from the wire
}

// Transmit enters a packet that takes a TSN but no PSN; its PSN field carries the floor.
func (p *Path) Transmit(now mono.Time) Stamp {
	return p.unsequenced(transmission{at: now})
}

// Probe enters a packet that asks for an ACK at once. On a path that is to prove itself it must be a full one.
func (p *Path) Probe(now mono.Time) Stamp {
	p.wake()
	p.timer.sent(now)
	p.timer.wantProbe = false
	p.timer.exposed = true
	s := p.unsequenced(transmission{at: now, probe: true, full: p.Proving(), plain: p.plain()})
	s.Plain = p.plain()
	return s
}

//mr:req MR-PATH-005
func (p *Path) unsequenced(t transmission) Stamp {
	return Stamp{PSN: p.ledger.floor, TSN: p.ledger.transmit(t)}
}

// Exposed tells whether a probe has followed the last chunk: its acknowledgment will expose what is lost.
func (p *Path) Exposed() bool { return !p.ledger.flies() || p.timer.exposed }

// Outstanding returns the chunk that a PSN names while it is neither acknowledged nor abandoned.
func (p *Path) Outstanding(psn uint32) (Ref, bool) {
	psn &= p.cfg.Space.Mask() // it comes from the wire
	if !p.ledger.holds(psn) {
		return Ref{}, false
	}
	s := p.ledger.slot(psn)
	return s.ref, s.state == flying || s.state == lost
}

// InFlight is the number of bytes sent and neither acknowledged, lost nor abandoned.
func (p *Path) InFlight() int {
	if p.ledger.board == nil {
		return 0
	}
	return p.ledger.inFlight
}

// Idle tells whether every PSN is acknowledged or abandoned.
func (p *Path) Idle() bool { return p.ledger.floor == p.ledger.next }

// Rest gives back what an idle path does not need: no RTT sample is taken of what it has sent before.
func (p *Path) Rest() {
	p.tracker.rest()
	p.ledger.rest()
	if p.Idle() && !p.health.down && !p.WantsProbe() && !p.Overdue() {
		p.watch = nil
	}
}

// Window is the congestion window in bytes.
func (p *Path) Window() int { return p.window.Window() }

// RTT is the smoothed round-trip time; 0 before the first sample.
func (p *Path) RTT() time.Duration {
	if p.rtt.least == 0 {
		return 0
	}
	return p.rtt.smoothed
}

//mr:req MR-PATH-005
func (p *Path) stamp(psn, tsn uint32) Stamp {
	return Stamp{PSN: psn, TSN: tsn, Floor: uint8(p.cfg.Space.Diff(psn, p.ledger.floor))}
}
