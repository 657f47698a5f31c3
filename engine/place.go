// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/engine/internal/region"
	"github.com/openmetaroce/metaroce/engine/internal/stream"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// handleSequenced admits a chunk to its path, and places it unless it has been before.
//
//mr:req MR-ACK-002
//mr:req MR-WIRE-007 MR-ACK-013 MR-PATH-007
func (e *Endpoint) handleSequenced(c *conn, p *path.Path, d *Datagram) {
	if !c.live() {
		e.drop(DropPhase)
		return
	}
	var k chunk
	var a path.Arrival
	e.describe(&k)
	e.arrival(&a, d)
	a.Floor = k.message.Floor
	verdict, newest, urgent := p.Tracker().Admit(a)
	if newest {
		e.follow(c, p, &a)
	}
	switch verdict {
	case path.Copy:
		e.drop(DropCopy)
		return
	case path.Outside:
		e.drop(DropWindow)
		return
	case path.Fresh:
		if !e.place(c, p, &k) {
			return
		}
	}
	if e.in.Base.AckRequest {
		c.acks.request(p.ID)
	}
	every := e.cfg.AckEvery
	if urgent {
		every = 1
	}
	c.acks.elicit(e.now, p.ID, every, e.cfg.MaxAckDelay)
}

// chunk is what place needs to know of a sequenced packet.
type chunk struct {
	message *wire.Message
	header  stream.Header
	target  wire.WriteTarget
	data    []byte
}

// describe fills in a zero chunk from the packet just decoded. A reply has a message only.
func (e *Endpoint) describe(k *chunk) {
	body := &e.in.Plain
	switch e.in.Base.Opcode {
	case wire.OpcodeWrite:
		w := &body.Write
		k.data, k.target = w.Data, w.WriteTarget
		k.begin(stream.Write, &w.Message)
		if w.Message.Immediate {
			k.header.Receive, k.header.Value = w.Immediate.Receive, w.Immediate.Value
		}
	case wire.OpcodeSend:
		s := &body.Send
		k.data = s.Data
		k.begin(stream.Send, &s.Message)
		k.header.Receive, k.header.Value, k.header.Match = s.SendTarget.Receive, s.SendTarget.Value, s.SendTarget.Match
	case wire.OpcodeStreamEnd:
		k.message = &body.StreamEnd.Message
		k.header = stream.HeaderOfEnd(k.message.Message, body.StreamEnd.End.Code)
	case wire.OpcodeReadRequest:
		r := &body.ReadRequest
		k.target = wire.WriteTarget(r.ReadTarget)
		k.begin(stream.Read, &r.Message)
	case wire.OpcodeAtomicRequest:
		r := &body.AtomicRequest
		k.target = wire.WriteTarget{Key: r.Atomic.Key, At: r.Atomic.At}
		k.begin(stream.FetchAdd, &r.Message)
	case wire.OpcodeReadReply:
		k.message = &body.ReadReply.Message
	case wire.OpcodeAtomicReply:
		k.message = &body.AtomicReply.Message
	}
}

// begin fills in what every message has; the data comes first.
func (k *chunk) begin(op stream.Op, m *wire.Message) {
	k.message = m
	h := &k.header
	h.Op, h.Number, h.Immediate = op, m.Message, m.Immediate
	h.Offset, h.Length, h.Payload = m.Offset, m.Length, uint32(len(k.data))
}

// place puts a chunk where it belongs. It returns false when nobody should hear of the packet.
//
//mr:req MR-STREAM-001
//mr:req MR-STREAM-012
func (e *Endpoint) place(c *conn, p *path.Path, k *chunk) bool {
	psn := e.in.Base.Psn
	if k.header.Op == 0 {
		if !e.placeReply(c) {
			return false
		}
		p.Tracker().Placed(psn)
		return true
	}
	if int(k.message.Stream) >= e.cfg.Streams {
		e.refuse(c, p, refusal{chunk: k, code: wire.NoticeCodeBadStream, info: uint32(e.cfg.Streams)})
		return true
	}
	s := c.incoming.obtain(k.message.Stream)
	f := s.Examine(&k.header)
	if (f.Verdict == stream.Place || f.Verdict == stream.Refuse) && s.Opens(&k.header) {
		e.announce(c, s)
	}
	if f.Verdict == stream.Place {
		f = e.copyIn(c, s, k, f)
	}
	switch f.Verdict {
	case stream.Drop:
		e.drop(DropLimit)
		return false
	case stream.Refuse:
		e.refuse(c, p, refusal{chunk: k, code: f.Code, info: f.Info, from: s})
		return true
	case stream.Place:
		before, expected := s.Begun(), s.Expected()
		if k.header.End() && k.header.Code != wire.StatusOk {
			c.incoming.replies.Stop(s.ID)
		}
		s.Placed(&k.header)
		c.incoming.begun += s.Begun() - before
		c.incoming.expected += s.Expected() - expected
		e.observe(c)
		e.deliver(c, s)
	}
	p.Tracker().Placed(psn)
	return true
}

// copyIn copies the payload to its memory, or finds why it must not.
//
//mr:req MR-STREAM-022 MR-STREAM-014
func (e *Endpoint) copyIn(c *conn, s *receiver, k *chunk, f stream.Finding) stream.Finding {
	refuse := func(code wire.NoticeCode) stream.Finding {
		return stream.Finding{Verdict: stream.Refuse, Code: code}
	}
	if f.Begins && !k.header.End() && c.incoming.begun >= c.limits.ownMessages {
		return refuse(wire.NoticeCodeBusy)
	}
	if !c.incoming.memory.Affords(f.Needs) {
		return refuse(wire.NoticeCodeBusy)
	}
	switch k.header.Op {
	case stream.Write:
		memory, code := e.regions.Window(region.Access{
			Key: region.Key(k.target.Key), At: k.target.At, Length: uint64(len(k.data)), Right: region.RemoteWrite,
		})
		if code != region.Allowed {
			return refuse(code)
		}
		copy(memory, k.data)
	case stream.Read, stream.FetchAdd:
		if c.incoming.replies.Full() {
			return refuse(wire.NoticeCodeBusy)
		}
		e.serve(c, k)
	case stream.Send:
		copy(s.Buffer(&k.header), k.data)
	}
	c.count.received += uint64(len(k.data))
	return f
}

// refusal is a chunk that was not placed, and why.
type refusal struct {
	chunk *chunk
	code  wire.NoticeCode
	info  uint32
	from  *receiver // nil when there is no such stream
}

// refuse leaves a chunk unacknowledged and tells the sender, on the same path and before the ACK that covers it.
//
//mr:req MR-STREAM-007
//mr:req MR-STREAM-019
func (e *Endpoint) refuse(c *conn, p *path.Path, r refusal) {
	p.Tracker().Refused()
	if r.from != nil {
		r.from.Refused(r.code)
		if r.code == wire.NoticeCodeNoReceive {
			if e.now < r.from.noticed.Add(e.cfg.MaxAckDelay) {
				return
			}
			r.from.noticed = e.now
		}
	}
	sent := c.answers.notice(wire.Notice{
		Code: r.code, Path: p.ID, Psn: e.in.Base.Psn, Tsn: e.in.Base.Tsn,
		Stream: r.chunk.message.Stream, Message: r.chunk.message.Message, Info: r.info,
	})
	if !sent {
		e.drop(DropQueue)
	}
}

// announce tells the application of a new incoming stream.
func (e *Endpoint) announce(c *conn, s *receiver) {
	if !s.announced {
		s.announced = true
		e.events.Push(Event{Kind: StreamOpened, Conn: c.id, Stream: s.ID})
	}
}

// deliver turns what a stream has completed into events.
func (e *Endpoint) deliver(c *conn, s *receiver) {
	for s.HasArrived() {
		a, _ := s.NextArrived()
		ev := e.events.Extend()
		ev.Kind, ev.Conn, ev.Stream, ev.ID, ev.Err = Received, c.id, s.ID, a.ID, a.Err
		ev.Length, ev.Match, ev.Value, ev.Immediate, ev.Written = a.Length, a.Match, a.Value, a.Immediate, a.Written
		if a.Ended {
			ev.Kind = StreamEnded
			s.announced = false
		}
	}
}
