// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

func (e *Endpoint) drop(d Drop) { e.stats.Drops[d]++ }

// HandleDatagram takes in one datagram and keeps nothing of its bytes. It returns nothing: a peer cannot make our call
// fail, it can only move a counter of drops.
//
//mr:req MR-WIRE-001 MR-WIRE-009 MR-WIRE-012 MR-WIRE-013 MR-WIRE-014 MR-ERR-006
func (e *Endpoint) HandleDatagram(now Time, d Datagram) {
	e.now = now
	if len(d.Bytes) < wire.BaseSize+4 {
		e.drop(DropMalformed)
		return
	}
	if d.Bytes[0]>>4 != wireVersion {
		e.otherVersion(d)
		return
	}
	if wire.VerifyPacket(d.Bytes) != nil {
		e.drop(DropChecksum)
		e.trimmed(d)
		return
	}
	if _, err := e.in.Decode(d.Bytes); err != nil {
		e.drop(DropMalformed)
		return
	}
	base := &e.in.Base
	if base.Secure {
		e.drop(DropSecure)
		return
	}
	e.stats.Received[base.Opcode]++
	if base.Tag == 0 {
		e.handleOpen(d)
		return
	}
	c := e.table.byLocal[base.Tag]
	switch {
	case c == nil:
		e.unknownTag(d)
	case e.admit(c, &d):
		e.dispatch(c, &d)
		e.attend(c)
	}
}

// dispatch hands a packet to the part that it concerns.
//
//mr:req MR-ERR-004
func (e *Endpoint) dispatch(c *conn, d *Datagram) {
	switch e.in.Base.Opcode {
	case wire.OpcodeRetry:
		e.handleRetry(c, *d)
	case wire.OpcodeAccept:
		e.handleAccept(c, d)
	case wire.OpcodeReject:
		e.handleReject(c)
	case wire.OpcodeVersions:
		e.handleVersions(c)
	default:
		if c.phase == opening {
			e.drop(DropPhase)
			return
		}
		if p := e.arrive(c, d); p != nil {
			e.onPath(c, p, d)
		}
	}
}

// arrive finds the path of a packet, or nil. An acceptor learns of a path, and of its port, from the first packet on it.
//
//mr:req MR-PATH-002
//mr:req MR-CONN-007
func (e *Endpoint) arrive(c *conn, d *Datagram) *path.Path {
	base := &e.in.Base
	if int(base.Path) >= c.paths.Len() {
		e.drop(DropPath)
		return nil
	}
	p := c.paths.Get(base.Path)
	if p == nil {
		p = e.newPath(c, base.Path, e.from)
	}
	c.clock.heard, c.clock.asks = e.now, 0
	if c.phase == accepting {
		e.opened(c)
	}
	return p
}

// arrival fills in what the packet under way says of its path.
func (e *Endpoint) arrival(a *path.Arrival, d *Datagram) {
	base := &e.in.Base
	a.At, a.Route, a.Epoch, a.ECN = e.now, e.from, base.Epoch, d.ECN
	a.PSN, a.TSN = base.Psn, base.Tsn
}

// follow lets an acceptor answer where the path's latest packet came from: only openers choose ports.
//
//mr:req MR-PATH-012 MR-PATH-013
func (e *Endpoint) follow(c *conn, p *path.Path, a *path.Arrival) {
	if !c.opener() && p.Follow(a) {
		c.paths.Inherit(e.now, p)
		e.touch(c, p.Deadline())
	}
}

// onPath handles a packet that belongs to a path.
//
//mr:req MR-CONN-022
func (e *Endpoint) onPath(c *conn, p *path.Path, d *Datagram) {
	body, base := &e.in.Plain, &e.in.Base
	if base.FeedbackHere {
		c.acks.feedback(base.Path)
	}
	if base.Opcode < wire.OpcodeAck {
		e.handleSequenced(c, p, d)
		return
	}
	var a path.Arrival
	e.arrival(&a, d)
	if p.Tracker().Hear(a) {
		e.follow(c, p, &a)
	}
	switch base.Opcode {
	case wire.OpcodeAck:
		e.handleAck(c, &body.Ack)
	case wire.OpcodeNotice:
		e.handleNotice(c, &body.Notice)
	case wire.OpcodeReceiveReady:
		e.handleReady(c, &body.ReceiveReady)
	case wire.OpcodeProbe:
		e.handleProbe(c, p, d)
	case wire.OpcodeProbeReply:
		e.handleProbeReply(c)
	case wire.OpcodeConfirm:
		// Having been heard is all it says.
	case wire.OpcodeClose:
		e.handleClose(c, p)
	case wire.OpcodeClosed:
		e.handleClosed(c)
	case wire.OpcodeAbort:
		e.finish(c, ErrAborted)
	default:
		e.drop(DropMalformed)
	}
}

// handleProbe answers what a probe asks for: an ACK on its path, and its token.
//
//mr:req MR-WIRE-007 MR-ACK-013
func (e *Endpoint) handleProbe(c *conn, p *path.Path, d *Datagram) {
	if e.in.Base.AckRequest {
		c.acks.request(p.ID)
	}
	if probe := e.in.Plain.Probe.Probe; probe.Token != 0 {
		if !c.answers.reply(p.ID, wire.Probe{Token: probe.Token, Ecn: d.ECN}) {
			e.drop(DropQueue)
		}
	}
}

// attend lets a connection send and be woken, after something has come in for it.
func (e *Endpoint) attend(c *conn) {
	if c.phase == over {
		return
	}
	e.drained(c)
	if c.acks.due > e.now {
		e.touch(c, c.acks.due)
	}
	e.wake(c)
}
