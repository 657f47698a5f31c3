// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// NextDatagram writes the next packet that is due into buf and says where it goes; ok is false when none is.
// It is the one door out. buf must hold the largest packet: Config.Chunk + Overhead, and wire.OpenSize.
func (e *Endpoint) NextDatagram(now Time, buf []byte) (d Datagram, ok bool) {
	e.now = now
	if a, ok := e.answers.Pop(); ok {
		return e.writeAnswer(a, buf), true
	}
	for e.ready.Len() > 0 {
		c := e.ready.Front()
		if c.phase != over {
			if route, ok := e.next(c); ok {
				d.Route, d.ECN, d.Bytes = c.spell(route), e.ecn, e.encode(buf)
				e.rotate(c)
				c.paid(route.Plane, len(d.Bytes))
				return d, true
			}
		}
		e.ready.Pop()
		c.clock.ready = false
		e.spell = 0
	}
	return Datagram{}, false
}

// rotate gives the next connection its turn once this one has sent a burst.
func (e *Endpoint) rotate(c *conn) {
	e.spell++
	if e.spell >= e.cfg.Burst {
		e.spell = 0
		e.ready.Pop()
		e.ready.Push(c)
	}
}

// next is the ladder: what a connection sends first, and where to; ok is false when nothing is due. Each rung fills in e.out.
//
//mr:req MR-CC-009
func (e *Endpoint) next(c *conn) (route path.Route, ok bool) {
	if route, ok := e.nextControl(c); ok {
		return route, true
	}
	if c.phase < open {
		return route, false
	}
	if p, ok := e.nextNotice(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextAck(c); ok {
		return e.unsequenced(c, wire.OpcodeAck, p.ID).Route, true
	}
	if !c.live() {
		return route, false
	}
	if p, ok := e.nextLost(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextMoved(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextProbe(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextReply(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextNew(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextTail(c); ok {
		return p.Route, true
	}
	if c.phase == draining && c.idle() {
		e.drained(c)
		return e.nextControl(c)
	}
	return route, false
}

// base begins a packet on a path.
//
//mr:req MR-ACK-014
func (e *Endpoint) base(c *conn, opcode wire.Opcode, p *path.Path, s path.Stamp) {
	b := &e.out.Base
	b.Version, b.Secure, b.KeyPhase, b.AckRequest = wireVersion, false, false, false
	b.Opcode, b.FeedbackHere = opcode, p.ID == c.named
	b.Path, b.Epoch, b.Tag = p.ID, p.Epoch, c.tags.remote
	b.Psn, b.Tsn = s.PSN, s.TSN
	e.ecn = p.ECN()
}

// encode writes e.out to the driver's buffer.
//
//mr:req MR-WIRE-001 MR-WIRE-018
func (e *Endpoint) encode(buf []byte) []byte {
	b, err := e.out.Append(buf[:0])
	if err != nil {
		panic("engine: a packet does not encode: " + err.Error())
	}
	if len(b) > len(buf) {
		panic("engine: a packet exceeds the driver's buffer")
	}
	e.stats.Sent[e.out.Base.Opcode]++
	return b
}

// nextNotice sends what the peer must hear before the ACK that covers it, and small answers.
func (e *Endpoint) nextNotice(c *conn) (*path.Path, bool) {
	if c.answers.empty() {
		return nil, false
	}
	if n, ok := c.answers.notices.Pop(); ok {
		e.out.Plain.Notice = n
		on := n.Path
		if q := c.pairOn(c.paths.Get(on)); n.Code == wire.NoticeCodePathBad || !q.pays(wire.BaseSize+wire.NoticeSize+4) {
			on = c.anyPath() // nothing gets through on the path that it speaks of
		}
		return e.unsequenced(c, wire.OpcodeNotice, on), true
	}
	if r, ok := c.answers.readies.Pop(); ok {
		e.out.Plain.ReceiveReady = r
		return e.unsequenced(c, wire.OpcodeReceiveReady, c.anyPath()), true
	}
	if r, ok := c.answers.replies.Pop(); ok {
		e.out.Plain.ProbeReply = r.probe
		if q := c.pairOn(c.paths.Get(r.path)); !q.pays(wire.BaseSize + wire.ProbeSize + 4) {
			r.path = c.anyPath()
		}
		return e.unsequenced(c, wire.OpcodeProbeReply, r.path), true
	}
	return nil, false
}

// unsequenced begins a packet that takes a TSN only. It answers Not-ECT in kind.
//
//mr:req MR-CC-017
func (e *Endpoint) unsequenced(c *conn, opcode wire.Opcode, id uint16) *path.Path {
	p := c.paths.Get(id)
	e.base(c, opcode, p, p.Transmit(e.now))
	if p.Tracker().Plain() {
		e.ecn = NotECT
	}
	return p
}

// anyPath is a path in use, and in service if one is: the one on which feedback is asked for, if possible.
func (c *conn) anyPath() uint16 {
	if p := c.paths.Get(c.named); p != nil && !p.Down() {
		return c.named
	}
	last := -1
	for _, p := range c.paths.All() {
		if p != nil && !p.Down() {
			return p.ID
		}
		if p != nil {
			last = int(p.ID)
		}
	}
	if last >= 0 {
		return uint16(last)
	}
	panic("engine: an open connection without a path")
}
