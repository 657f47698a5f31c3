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
func (e *Endpoint) handleSequenced(c *conn, p *path.Path, a path.Arrival) {
	if !c.live() {
		e.drop(DropPhase)
		return
	}
	k := e.chunkOf()
	a.Floor = k.message.Floor
	verdict, newest, urgent := p.Tracker().Admit(a)
	if newest {
		e.follow(c, p, a)
	}
	switch verdict {
	case path.Copy:
		e.drop(DropCopy)
		return
	case path.Outside:
		e.drop(DropWindow)
		return
	case path.Fresh:
		if !e.place(c, p, placement{k, a}) {
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

// chunkOf describes the packet just decoded. A reply has a message only.
func (e *Endpoint) chunkOf() (k chunk) {
	body := &e.in.Plain
	switch e.in.Base.Opcode {
	case wire.OpcodeWrite:
		w := &body.Write
		k = chunk{message: &w.Message, target: w.WriteTarget, data: w.Data}
		k.header = headerOf(stream.Write, &w.Message, len(w.Data))
		if w.Message.Immediate {
			k.header.Receive, k.header.Value = w.Immediate.Receive, w.Immediate.Value
		}
	case wire.OpcodeSend:
		s := &body.Send
		k = chunk{message: &s.Message, data: s.Data}
		k.header = headerOf(stream.Send, &s.Message, len(s.Data))
		k.header.Receive, k.header.Value, k.header.Match = s.SendTarget.Receive, s.SendTarget.Value, s.SendTarget.Match
	case wire.OpcodeStreamEnd:
		k = chunk{message: &body.StreamEnd.Message}
		k.header = stream.HeaderOfEnd(k.message.Message, body.StreamEnd.End.Code)
	case wire.OpcodeReadRequest:
		r := &body.ReadRequest
		k = chunk{message: &r.Message, target: wire.WriteTarget(r.ReadTarget), header: headerOf(stream.Read, &r.Message, 0)}
	case wire.OpcodeAtomicRequest:
		r := &body.AtomicRequest
		k = chunk{message: &r.Message, target: wire.WriteTarget{Key: r.Atomic.Key, At: r.Atomic.At}}
		k.header = headerOf(stream.FetchAdd, &r.Message, 0)
	case wire.OpcodeReadReply:
		k.message = &body.ReadReply.Message
	case wire.OpcodeAtomicReply:
		k.message = &body.AtomicReply.Message
	}
	return k
}

func headerOf(op stream.Op, m *wire.Message, payload int) stream.Header {
	return stream.Header{
		Op: op, Number: m.Message, Offset: m.Offset, Length: m.Length, Payload: uint32(payload), Immediate: m.Immediate,
	}
}

// placement is a chunk and how it arrived.
type placement struct {
	chunk   chunk
	arrival path.Arrival
}

// place puts a chunk where it belongs. It returns false when nobody should hear of the packet.
//
//mr:req MR-STREAM-001
//mr:req MR-STREAM-012
func (e *Endpoint) place(c *conn, p *path.Path, in placement) bool {
	k, a := in.chunk, in.arrival
	if k.header.Op == 0 {
		if !e.placeReply(c) {
			return false
		}
		p.Tracker().Placed(a.PSN)
		return true
	}
	if int(k.message.Stream) >= e.cfg.Streams {
		e.refuse(c, p, a, refusal{chunk: k, code: wire.NoticeCodeBadStream, info: uint32(e.cfg.Streams)})
		return true
	}
	s := c.incoming.get(k.message.Stream)
	f := s.Examine(&k.header)
	if (f.Verdict == stream.Place || f.Verdict == stream.Refuse) && s.Opens(&k.header) {
		e.announce(c, s)
	}
	if f.Verdict == stream.Place {
		f = e.copyIn(c, s, &k, f)
	}
	switch f.Verdict {
	case stream.Drop:
		e.drop(DropLimit)
		return false
	case stream.Refuse:
		e.refuse(c, p, a, refusal{chunk: k, code: f.Code, info: f.Info, from: s})
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
	p.Tracker().Placed(a.PSN)
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
	chunk chunk
	code  wire.NoticeCode
	info  uint32
	from  *receiver // nil when there is no such stream
}

// refuse leaves a chunk unacknowledged and tells the sender, on the same path and before the ACK that covers it.
//
//mr:req MR-STREAM-007
//mr:req MR-STREAM-019
func (e *Endpoint) refuse(c *conn, p *path.Path, a path.Arrival, r refusal) {
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
		Code: r.code, Path: p.ID, Psn: a.PSN, Tsn: a.TSN,
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
	for {
		a, ok := s.NextArrived()
		if !ok {
			return
		}
		ev := Event{
			Kind: Received, Conn: c.id, Stream: s.ID, ID: a.ID, Length: a.Length, Match: a.Match,
			Value: a.Value, Immediate: a.Immediate, Written: a.Written, Err: a.Err,
		}
		if a.Ended {
			ev.Kind = StreamEnded
			s.announced = false
		}
		e.events.Push(ev)
	}
}
