// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/openmetaroce/metaroce/engine/internal/cc"
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/engine/internal/stream"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// scratch is memory that calls borrow, so that none allocates.
type scratch struct {
	acked []path.Ref
	moved []path.Moved
	chunk stream.Chunk
}

// handleAck applies an ACK: all of its blocks, or none.
//
//mr:req MR-ACK-005
//mr:req MR-WIRE-015
func (e *Endpoint) handleAck(c *conn, ack *wire.BodyAck) {
	if !c.live() {
		e.drop(DropPhase)
		return
	}
	for i := range ack.Blocks {
		p := c.paths.Get(ack.Blocks[i].Path)
		if p == nil || !p.Valid(&ack.Blocks[i]) {
			e.drop(DropAck)
			return
		}
	}
	progress, heard := false, false
	sum := cc.Feedback{InFlight: c.flying}
	c.control.hint(e.now, &ack.Ack)
	for i := range ack.Blocks {
		b := &ack.Blocks[i]
		p := c.paths.Get(b.Path)
		before := p.InFlight()
		acked, v := p.Ack(e.now, b, ack.Ack.SentAt, e.scratch.acked[:0])
		e.scratch.acked = acked
		c.settle(p, before)
		e.touch(c, p.Deadline())
		progress = progress || len(acked) > 0
		heard = heard || v.Progress
		gather(&sum, &v.Feedback)
		if v.Progress {
			c.pairOn(p).heard = e.now
		}
		if v.Lost > 0 {
			c.failing.tailUntil = e.now.Add(lossMatters * p.PTO())
		}
		c.failing.ackedSent = max(c.failing.ackedSent, v.SentAt)
		e.judgeFraction(c, p)
		for _, ref := range acked {
			e.retire(c, ref)
		}
	}
	c.control.learn(e.now, sum)
	if progress {
		c.clock.progress = e.now
	}
	if heard {
		e.judgePlanes(c)
		e.judge(c)
	}
}

// retire hands an acknowledged chunk to its stream.
func (e *Endpoint) retire(c *conn, ref path.Ref) {
	if ref.Reply {
		c.incoming.replies.Retire(replyRef(ref))
		return
	}
	s := c.outgoing.get(ref.Stream)
	s.Retire(streamRef(ref))
	e.complete(c, s)
	c.outgoing.activate(s)
}

// complete turns what a stream has finished into events, in message order.
func (e *Endpoint) complete(c *conn, s *sender) {
	for s.HasDone() {
		d, _ := s.NextDone()
		ev := e.events.Extend()
		ev.Conn, ev.Stream = c.id, s.ID
		if d.End {
			ev.Kind = StreamClosed
			continue
		}
		ev.Kind, ev.ID, ev.Err, ev.Result = Completed, d.ID, d.Err, d.Result
		if d.Status != wire.StatusOk {
			ev.Err = &OpError{Conn: c.id, Stream: s.ID, Message: d.Message, Path: NoPath, Code: wire.NoticeCode(d.Status)}
		}
	}
	c.outgoing.recount()
}

// handleNotice takes in a refusal. It counts only while its PSN is outstanding for the very message that it names.
//
//mr:req MR-STREAM-008
func (e *Endpoint) handleNotice(c *conn, n *wire.Notice) {
	p := c.paths.Get(n.Path)
	if p == nil || !c.live() {
		e.drop(DropNotice)
		return
	}
	if n.Code == wire.NoticeCodePathBad {
		e.pathBad(c, p, n.Info)
		return
	}
	ref, ok := p.Outstanding(n.Psn)
	if !ok || ref.Reply || ref.Stream != n.Stream || ref.Message != n.Message {
		e.drop(DropNotice)
		return
	}
	s := c.outgoing.get(ref.Stream)
	switch {
	case n.Code == wire.NoticeCodeNoReceive:
		s.Park(e.now, streamRef(ref), n.Info)
		e.touch(c, s.Unblocks(e.now))
	case n.Code == wire.NoticeCodeBusy:
		s.Busy(e.now, streamRef(ref))
		e.touch(c, s.Unblocks(e.now))
	case n.Code >= wire.NoticeCodeTooLong && n.Code < wire.NoticeCodePathBad:
		err := &OpError{Conn: c.id, Stream: s.ID, Message: n.Message, Path: n.Path, Code: n.Code, Info: n.Info}
		s.Refused(n.Message, err, wire.Status(n.Code))
		e.complete(c, s)
	case n.Code == wire.NoticeCodeTrimmed:
		e.loseTrimmed(c, p, n)
		return
	default:
		return
	}
	if _, wanted := s.Wanted(streamRef(ref)); !wanted {
		before := p.InFlight()
		p.Abandon(n.Psn)
		c.settle(p, before)
		e.touch(c, p.Deadline())
	}
	c.outgoing.recount()
	c.outgoing.activate(s)
}

// handleReady lets parked messages go on.
func (e *Endpoint) handleReady(c *conn, r *wire.Ready) {
	s := c.outgoing.get(r.Stream)
	if s == nil {
		e.drop(DropNotice)
		return
	}
	s.Ready(r.Start, r.Posted)
	c.outgoing.activate(s)
}
