// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/engine/internal/stream"
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
				e.rotate(c)
				return e.emit(buf, route), true
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

// next is the ladder: what a connection sends first. Each rung fills in e.out.
func (e *Endpoint) next(c *conn) (Route, bool) {
	if route, ok := e.nextControl(c); ok {
		return route, true
	}
	if c.phase < open {
		return Route{}, false
	}
	if p, ok := e.nextNotice(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextAck(c); ok {
		e.base(c, wire.OpcodeAck, p, p.Transmit(e.now))
		return p.Route, true
	}
	if !c.live() {
		return Route{}, false
	}
	if p, ok := e.nextLost(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextProbe(c); ok {
		return p.Route, true
	}
	if p, ok := e.nextNew(c); ok {
		return p.Route, true
	}
	return Route{}, false
}

// base begins a packet on a path.
func (e *Endpoint) base(c *conn, opcode wire.Opcode, p *path.Path, s path.Stamp) {
	e.out.Base = wire.Base{
		Version:      wireVersion,
		FeedbackHere: p.ID == c.named,
		Opcode:       opcode,
		Path:         p.ID,
		Epoch:        p.Epoch,
		Tag:          c.tags.remote,
		Psn:          s.PSN,
		Tsn:          s.TSN,
	}
}

// emit encodes e.out.
func (e *Endpoint) emit(buf []byte, route Route) Datagram {
	b, err := e.out.Append(buf[:0])
	if err != nil {
		panic("engine: a packet does not encode: " + err.Error())
	}
	if len(b) > len(buf) {
		panic("engine: a packet exceeds the driver's buffer")
	}
	e.stats.Sent[e.out.Base.Opcode]++
	return Datagram{Route: route, ECN: ECT0, Bytes: b}
}

// nextNotice sends what the peer must hear before the ACK that covers it, and small answers.
func (e *Endpoint) nextNotice(c *conn) (*path.Path, bool) {
	if n, ok := c.answers.notices.Pop(); ok {
		e.out.Plain.Notice = n
		return e.unsequenced(c, wire.OpcodeNotice, n.Path), true
	}
	if r, ok := c.answers.readies.Pop(); ok {
		e.out.Plain.ReceiveReady = r
		return e.unsequenced(c, wire.OpcodeReceiveReady, c.anyPath()), true
	}
	if r, ok := c.answers.replies.Pop(); ok {
		e.out.Plain.ProbeReply = r.probe
		return e.unsequenced(c, wire.OpcodeProbeReply, r.path), true
	}
	return nil, false
}

// unsequenced begins a packet that takes a TSN only.
func (e *Endpoint) unsequenced(c *conn, opcode wire.Opcode, id uint16) *path.Path {
	p := c.paths.Get(id)
	e.base(c, opcode, p, p.Transmit(e.now))
	return p
}

// anyPath is a path in use: the one on which feedback is asked for, if possible.
func (c *conn) anyPath() uint16 {
	if c.paths.Get(c.named) != nil {
		return c.named
	}
	for _, p := range c.paths.All() {
		if p != nil {
			return p.ID
		}
	}
	panic("engine: an open connection without a path")
}

// nextLost sends lost chunks again: first in line, on the same path, under the same PSN. What nobody waits for any more
// is abandoned instead.
//
//mr:req MR-LOSS-003
func (e *Endpoint) nextLost(c *conn) (*path.Path, bool) {
	for id, ok := c.lost.next(0); ok; id, ok = c.lost.next(int(id) + 1) {
		p := c.paths.Get(id)
		for {
			ref, psn, fits := p.NextLost()
			if !p.HasLost() {
				break
			}
			k, wanted := c.outgoing.byID[ref.Stream].Wanted(streamRef(ref))
			before := p.InFlight()
			if !wanted {
				p.Abandon(psn)
				c.settle(p, before)
				continue
			}
			if !fits {
				break
			}
			s := p.Resend(e.now, psn)
			c.settle(p, before)
			e.write(c, p, &k, sending{ref.Stream, s, true})
			e.touch(c, p.Deadline())
			return p, true
		}
	}
	return nil, false
}

// nextProbe asks a path for an ACK.
//
//mr:req MR-LOSS-005
func (e *Endpoint) nextProbe(c *conn) (*path.Path, bool) {
	id, ok := c.probing.next(0)
	if !ok {
		return nil, false
	}
	p := c.paths.Get(id)
	s := p.Probe(e.now)
	c.probing.remove(id)
	e.base(c, wire.OpcodeProbe, p, s)
	e.out.Base.AckRequest = true
	e.out.Plain.Probe = wire.BodyProbe{Probe: wire.Probe{Ecn: ECT0}}
	e.touch(c, p.Deadline())
	return p, true
}

// nextNew sends a chunk for the first time: of the next stream that may send, on the next path with room.
//
//mr:req MR-PATH-003
func (e *Endpoint) nextNew(c *conn) (*path.Path, bool) {
	if c.phase > draining {
		return nil, false
	}
	for c.outgoing.active.Len() > 0 {
		s := c.outgoing.active.Front()
		k, ok := s.Next(e.now)
		if !ok {
			c.outgoing.active.Pop()
			s.queued = false
			if at := s.Unblocks(); at > e.now {
				e.touch(c, at)
			}
			continue
		}
		size := packetSize(&k)
		if c.flying+size > e.cfg.MaxWindow && c.flying > 0 {
			return nil, false
		}
		p := c.paths.Pick(size)
		if p == nil {
			return nil, false
		}
		if c.flying == 0 {
			c.clock.progress = e.now
		}
		before := p.InFlight()
		stamp := p.Record(e.now, path.Ref{Stream: s.ID, Message: k.Ref.Message, Chunk: k.Ref.Chunk, Try: k.Ref.Try}, size)
		c.settle(p, before)
		s.Take(e.now)
		c.count.sent += uint64(len(k.Payload))
		// The last packet for a while, be it for want of data or of window, asks for an ACK at once.
		last := c.outgoing.active.Len() == 1 && !s.More() || c.flying+size > e.cfg.MaxWindow
		e.write(c, p, &k, sending{s.ID, stamp, last})
		c.outgoing.active.Pop()
		c.outgoing.active.Push(s)
		e.touch(c, p.Deadline())
		return p, true
	}
	return nil, false
}

// packetSize is the length of the packet that carries a chunk, in bytes of UDP payload.
func packetSize(k *stream.Chunk) int {
	const frame = wire.BaseSize + wire.MessageSize + 4
	switch {
	case k.End():
		return frame + wire.EndSize
	case k.Op() == stream.Send:
		return frame + wire.SendTargetSize + len(k.Payload)
	case k.Message.Immediate:
		return frame + wire.WriteTargetSize + wire.ImmediateSize + len(k.Payload)
	}
	return frame + wire.WriteTargetSize + len(k.Payload)
}

// sending is the stream and the stamp of a sequenced packet.
type sending struct {
	stream uint16
	stamp  path.Stamp
	askAck bool
}

// write fills in a sequenced packet.
func (e *Endpoint) write(c *conn, p *path.Path, k *stream.Chunk, s sending) {
	body := &e.out.Plain
	m := wire.Message{
		Stream: s.stream, Immediate: k.Message.Immediate, Floor: s.stamp.Floor,
		Message: k.Ref.Message, Offset: k.Offset, Length: k.Length,
	}
	opcode := wire.OpcodeWrite
	switch {
	case k.End():
		opcode = wire.OpcodeStreamEnd
		body.StreamEnd = wire.BodyStreamEnd{Message: m, End: wire.End{Code: k.Code}}
	case k.Op() == stream.Send:
		opcode = wire.OpcodeSend
		body.Send.Message, body.Send.Data = m, k.Payload
		body.Send.SendTarget = wire.SendTarget{Receive: k.Receive, Match: k.Message.Match}
		if m.Immediate {
			body.Send.SendTarget.Value = k.Message.Value
		}
	default:
		body.Write.Message, body.Write.Data = m, k.Payload
		body.Write.WriteTarget = wire.WriteTarget{Key: k.Message.Key, At: k.Message.At + uint64(k.Offset)}
		body.Write.Immediate = wire.Immediate{Value: k.Message.Value, Receive: k.Receive}
	}
	e.base(c, opcode, p, s.stamp)
	e.out.Base.AckRequest = s.askAck
}
