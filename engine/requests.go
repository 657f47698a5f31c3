// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"

	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/engine/internal/region"
	"github.com/openmetaroce/metaroce/engine/internal/stream"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// serve accepts a read or an atomic operation: what it leads to goes out as a reply, errors included. A request is
// acknowledged once it is accepted, and accepted once: that, and a reply that is sequenced, makes it happen exactly once.
//
//mr:req MR-STREAM-010
//mr:req MR-STREAM-031
func (e *Endpoint) serve(c *conn, k *chunk) {
	reply := stream.Reply{
		Stream: k.message.Stream, Number: k.message.Message, Op: k.header.Op,
		Key: k.target.Key, At: k.target.At, Length: k.message.Length,
	}
	if k.header.Op == stream.Read {
		_, code := e.regions.Window(region.Access{
			Key: region.Key(reply.Key), At: reply.At, Length: uint64(reply.Length), Right: region.RemoteRead,
		})
		reply.Status = wire.Status(code)
	} else {
		word, code := e.regions.Window(region.Access{
			Key: region.Key(reply.Key), At: reply.At, Length: 8, Right: region.RemoteAtomic,
		})
		reply.Status = wire.Status(code)
		if code == region.Allowed {
			reply.Result = execute(word, &e.in.Plain.AtomicRequest.Atomic)
		}
	}
	c.incoming.replies.Add(reply)
}

// execute performs an atomic operation on a word in this host's byte order, and returns the word before. It is atomic
// towards every peer of this endpoint.
//
//mr:req MR-STREAM-032
func execute(word []byte, a *wire.Atomic) (before uint64) {
	before = binary.NativeEndian.Uint64(word)
	switch {
	case a.Op == wire.AtomicOpFetchAdd:
		binary.NativeEndian.PutUint64(word, before+a.Operand)
	case before == a.Compare:
		binary.NativeEndian.PutUint64(word, a.Operand)
	}
	return before
}

// placeReply hands a chunk of a reply to the operation that asked for it.
//
//mr:req MR-STREAM-011
func (e *Endpoint) placeReply(c *conn) bool {
	body := &e.in.Plain
	a := stream.Answer{Op: stream.FetchAdd}
	m := &body.AtomicReply.Message
	if e.in.Base.Opcode == wire.OpcodeReadReply {
		m = &body.ReadReply.Message
		a.Op, a.Status, a.Payload = stream.Read, body.ReadReply.Reply.Status, body.ReadReply.Data
	} else {
		a.Status, a.Result = body.AtomicReply.Reply.Status, body.AtomicReply.AtomicResult.Original
	}
	a.Number, a.Offset, a.Length = m.Message, m.Offset, m.Length
	s := c.outgoing.get(m.Stream)
	if s == nil {
		return true
	}
	verdict, complete := s.Answer(&a)
	if verdict == stream.Drop {
		e.drop(DropLimit)
		return false
	}
	if verdict == stream.Place {
		c.count.received += uint64(len(a.Payload))
	}
	if complete {
		e.complete(c, s)
		c.outgoing.activate(s)
	}
	return true
}

// nextReply sends a chunk of a reply for the first time.
func (e *Endpoint) nextReply(c *conn) (*path.Path, bool) {
	k, ok := c.incoming.replies.Next()
	if !ok {
		return nil, false
	}
	size := replySize(&k)
	p := e.pick(c, size)
	if p == nil {
		return nil, false
	}
	before := p.InFlight()
	stamp := p.Record(e.now, path.Moved{Ref: path.Ref{Stream: k.Stream, Message: k.Number, Chunk: k.Chunk, Reply: true}, Size: size})
	c.settle(p, before)
	c.incoming.replies.Take()
	_, more := c.incoming.replies.Next()
	e.writeReply(c, p, &k, sending{k.Stream, stamp, !more && c.outgoing.active.Len() == 0})
	e.touch(c, p.Deadline())
	return p, true
}

func replySize(k *stream.ReplyChunk) int {
	const frame = wire.BaseSize + wire.MessageSize + wire.ReplySize + 4
	if k.Op == stream.Read {
		return frame + int(k.Payload)
	}
	return frame + wire.AtomicResultSize
}

// writeReply fills in a packet of a reply. Bytes are read when they leave; if their region is gone by then, so is the reply.
//
//mr:req MR-STREAM-031
func (e *Endpoint) writeReply(c *conn, p *path.Path, k *stream.ReplyChunk, s sending) {
	body := &e.out.Plain
	m := wire.Message{Stream: s.stream, Floor: s.stamp.Floor, Message: k.Number, Offset: k.Offset, Length: k.Length}
	opcode := wire.OpcodeReadReply
	if k.Op == stream.Read {
		data, code := e.regions.Window(region.Access{
			Key: region.Key(k.Key), At: k.At + uint64(k.Offset), Length: uint64(k.Payload), Right: region.RemoteRead,
		})
		status := k.Status
		if status == wire.StatusOk && code != region.Allowed {
			status = wire.Status(code)
			c.incoming.replies.Spoil(stream.ReplyRef{Stream: k.Stream, Number: k.Number}, status)
		}
		if status != wire.StatusOk {
			m.Offset, m.Length, data = 0, 0, nil
		}
		body.ReadReply = wire.BodyReadReply{Message: m, Reply: wire.Reply{Status: status}, Data: data}
	} else {
		opcode = wire.OpcodeAtomicReply
		m.Offset, m.Length = 0, 8
		body.AtomicReply = wire.BodyAtomicReply{
			Message: m, Reply: wire.Reply{Status: k.Status}, AtomicResult: wire.AtomicResult{Original: k.Result},
		}
	}
	e.base(c, opcode, p, s.stamp)
	e.out.Base.AckRequest = s.askAck
	c.control.sent(e.now, replySize(k))
}
