// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/engine/internal/stream"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// nextLost sends lost chunks again: first in line, on the same path, under the same PSN. What nobody waits for any more
// is abandoned instead.
//
//mr:req MR-LOSS-003
//mr:req MR-LOSS-010 MR-LOSS-004
func (e *Endpoint) nextLost(c *conn) (*path.Path, bool) {
	if c.due.lost.empty() || !e.pacedAgain(c) {
		return nil, false
	}
	for id, ok := c.due.lost.next(0); ok; id, ok = c.due.lost.next(int(id) + 1) {
		p := c.paths.Get(id)
		for p.HasLost() {
			m, psn, fits := p.NextLost()
			ref, before := m.Ref, p.InFlight()
			wanted := !e.parked(c, ref) && e.wanted(c, ref)
			if !wanted || p.Stuck(psn) || m.Losses >= mostLosses {
				p.Abandon(psn)
				c.settle(p, before)
				if wanted {
					c.failing.moved.Push(m)
				}
				continue
			}
			if !fits {
				break
			}
			s := sending{ref.Stream, p.Resend(e.now, psn), true}
			c.settle(p, before)
			e.writeAgain(c, p, ref, s)
			e.touch(c, p.Deadline())
			return p, true
		}
	}
	return nil, false
}

// parked tells whether a lost chunk belongs to a message that waits for a receive; it will be sent anew.
func (e *Endpoint) parked(c *conn, ref path.Ref) bool {
	if ref.Reply {
		return false
	}
	s := c.outgoing.get(ref.Stream)
	if !s.Lost(streamRef(ref)) {
		return false
	}
	c.outgoing.recount()
	c.outgoing.activate(s)
	e.touch(c, max(s.Unblocks(e.now), e.now+1))
	return true
}

// wanted tells whether anybody waits for a chunk.
func (e *Endpoint) wanted(c *conn, ref path.Ref) bool {
	if ref.Reply {
		_, ok := c.incoming.replies.Wanted(replyRef(ref))
		return ok
	}
	_, ok := c.outgoing.get(ref.Stream).Wanted(streamRef(ref))
	return ok
}

// writeAgain fills in a packet for a chunk that was sent before, and is wanted.
func (e *Endpoint) writeAgain(c *conn, p *path.Path, ref path.Ref, s sending) {
	if ref.Reply {
		k, _ := c.incoming.replies.Wanted(replyRef(ref))
		e.writeReply(c, p, &k, s)
		return
	}
	k, _ := c.outgoing.get(ref.Stream).Wanted(streamRef(ref))
	e.write(c, p, &k, s)
}

func streamRef(r path.Ref) stream.Ref {
	return stream.Ref{Message: r.Message, Chunk: r.Chunk, Try: r.Try}
}

func pathRef(id uint16, r stream.Ref) path.Ref {
	return path.Ref{Stream: id, Message: r.Message, Chunk: r.Chunk, Try: r.Try}
}

func replyRef(r path.Ref) stream.ReplyRef {
	return stream.ReplyRef{Stream: r.Stream, Number: r.Message, Chunk: r.Chunk}
}

// nextProbe asks a path for an ACK.
//
//mr:req MR-LOSS-005
func (e *Endpoint) nextProbe(c *conn) (*path.Path, bool) {
	for id, ok := c.due.probing.next(0); ok; id, ok = c.due.probing.next(int(id) + 1) {
		p := c.paths.Get(id)
		q, token := c.pairOn(p), uint64(0)
		if !q.valid {
			var allowed bool
			if token, allowed = e.challenge(q); !allowed {
				c.due.probing.remove(id)
				continue
			}
		}
		e.probe(c, p, token)
		return p, true
	}
	return nil, false
}

// lossMatters is how long, in probe timeouts, a loss makes it likely that the tail has lost something too.
const lossMatters = 8

// nextTail probes a path whose last chunk nothing follows, when there is nothing else to send and chunks have been lost
// lately. The probe is a hundred bytes long, and without it a lost tail costs a timeout.
//
//mr:req MR-LOSS-005
func (e *Endpoint) nextTail(c *conn) (*path.Path, bool) {
	if c.failing.tailUntil < e.now || c.flying == 0 || c.outgoing.active.Len() > 0 || c.failing.moved.Len() > 0 {
		return nil, false
	}
	for _, p := range c.paths.All() {
		if p != nil && !p.Exposed() {
			e.probe(c, p, 0)
			return p, true
		}
	}
	return nil, false
}

// probe fills in a PROBE: with a token a challenge to the address, without one a question to the path.
//
//mr:req MR-FAIL-007
func (e *Endpoint) probe(c *conn, p *path.Path, token uint64) {
	s := p.Probe(e.now)
	c.due.probing.remove(p.ID)
	e.base(c, wire.OpcodeProbe, p, s)
	if s.Plain {
		e.ecn = NotECT
	}
	e.out.Base.AckRequest = true
	e.out.Plain.Probe = wire.BodyProbe{Probe: wire.Probe{Token: token, Ecn: e.ecn}}
	if p.Proving() {
		// What brings a path back must be as long as what will then travel on it.
		e.out.Plain.Probe.Padding = c.limits.chunk + Overhead - wire.BaseSize - wire.ProbeSize - 4
	}
	e.touch(c, p.Deadline())
}

// pick returns a path for a packet with a new PSN, or nil when the window of the connection or of every path is full.
//
//mr:req MR-PATH-003
func (e *Endpoint) pick(c *conn, size int) *path.Path {
	if !e.paced(c, size) {
		return nil
	}
	p := c.paths.Pick(size)
	if p != nil && c.flying == 0 && c.due.lost.empty() && c.failing.moved.Len() == 0 {
		c.clock.progress = e.now // nothing was outstanding
	}
	return p
}

// nextNew sends a chunk for the first time: of the next stream that may send, on the next path with room.
//
//mr:req MR-LOSS-011 MR-STREAM-026
func (e *Endpoint) nextNew(c *conn) (*path.Path, bool) {
	if c.phase > draining {
		return nil, false
	}
	for c.outgoing.active.Len() > 0 {
		s, k := c.outgoing.active.Front(), &e.scratch.chunk
		if hold := s.Next(e.now, k); hold != stream.Free {
			e.deactivate(c, s, hold)
			continue
		}
		size := packetSize(k)
		p := e.pick(c, size)
		if p == nil {
			return nil, false
		}
		before := p.InFlight()
		stamp := p.Record(e.now, path.Moved{Ref: pathRef(s.ID, k.Ref), Size: size})
		c.settle(p, before)
		s.Take(e.now)
		c.count.sent += uint64(len(k.Payload))
		last := c.outgoing.active.Len() == 1 && s.Hold(e.now) != stream.Free || e.stalls(c, p, size)
		e.write(c, p, k, sending{s.ID, stamp, last})
		c.outgoing.active.Pop()
		c.outgoing.active.Push(s)
		e.touch(c, p.Deadline())
		return p, true
	}
	return nil, false
}

// stalls tells whether the sender now has to wait for an ACK that nothing makes due at once: the window is full of too few
// packets. The last packet for a while, be it for want of data or of window, asks for an ACK.
//
//mr:req MR-LOSS-011
func (e *Endpoint) stalls(c *conn, p *path.Path, size int) bool {
	few := c.flying <= e.cfg.AckEvery*size
	return few && (c.flying+size > c.control.limit(e.now) || !p.Room(size))
}

// deactivate takes the front stream out of the active queue: until something happens on it, or on its connection.
func (e *Endpoint) deactivate(c *conn, s *sender, hold stream.Hold) {
	c.outgoing.active.Pop()
	s.queued = false
	if hold == stream.Crowded {
		c.outgoing.waiting.Push(s)
		return
	}
	if at := s.Unblocks(e.now); at > e.now {
		e.touch(c, at)
	}
}

// packetSize is the length of the packet that carries a chunk, in bytes of UDP payload.
func packetSize(k *stream.Chunk) int {
	const frame = wire.BaseSize + wire.MessageSize + 4
	switch {
	case k.End():
		return frame + wire.EndSize
	case k.Op() == stream.Read:
		return frame + wire.ReadTargetSize
	case k.Op().Request():
		return frame + wire.AtomicSize
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
//
//mr:req MR-WIRE-010 MR-STREAM-027
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
	case k.Op() == stream.Read:
		opcode = wire.OpcodeReadRequest
		body.ReadRequest = wire.BodyReadRequest{Message: m, ReadTarget: wire.ReadTarget{Key: k.Message.Key, At: k.Message.At}}
	case k.Op().Request():
		opcode = wire.OpcodeAtomicRequest
		body.AtomicRequest = wire.BodyAtomicRequest{Message: m, Atomic: atomicOf(k.Message)}
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
	c.control.sent(e.now, packetSize(k))
}

func atomicOf(m *stream.Message) wire.Atomic {
	a := wire.Atomic{Key: m.Key, At: m.At, Op: wire.AtomicOpFetchAdd, Operand: m.Operand, Compare: m.Compare}
	if m.Op == stream.CompareSwap {
		a.Op = wire.AtomicOpCompareSwap
	}
	return a
}
