// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/fuzz/model"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// lossesAtMost is how often a PSN is lost before its chunk moves.
const lossesAtMost = 8

// sent looks at a packet that an end has sent.
func (a *arena) sent(from int, d engine.Datagram) *parcel {
	var w wire.Packet
	if _, err := w.Decode(d.Bytes); err != nil {
		a.t.Fatalf("end %d sends what does not decode: %v", from, err)
	}
	p := &parcel{from: from, d: d, opcode: w.Base.Opcode, path: int(w.Base.Path)}
	switch p.opcode {
	case wire.OpcodeOpen:
		a.first[from] = w.Plain.Open.Open.First
		return p
	case wire.OpcodeAccept:
		a.first[from] = w.Plain.Accept.Accept.First
		return p
	case wire.OpcodeRetry:
		return p
	}
	ledger := a.halves[from][p.path].ledger
	p.packet = model.Packet{
		PSN: a.near(from, ledger.Next(), w.Base.Psn), TSN: a.near(from, ledger.TSN(), w.Base.Tsn), NotECT: d.ECN == engine.NotECT,
	}
	p.packet.Floor = p.packet.PSN
	if p.opcode < wire.OpcodeAck {
		a.sentChunk(p, &w)
	} else if err := ledger.Use(p.packet.TSN); err != nil {
		a.fail(p, "%v", err)
	}
	a.checkFloor(p)
	if p.opcode == wire.OpcodeAck {
		a.sentAck(p, &w.Plain.Ack)
	}
	return p
}

// sentChunk compares a packet with a PSN.
func (a *arena) sentChunk(p *parcel, w *wire.Packet) {
	m := a.describe(p, w)
	p.packet.Sequenced = true
	p.packet.Floor = p.packet.PSN - int64(m.Floor)
	ledger := a.halves[p.from][p.path].ledger
	id := chunkID{p.from, p.path, p.packet.PSN}
	ref := chunkRef{m.Stream, int64(m.Message), int(m.Offset), p.opcode == wire.OpcodeReadReply || p.opcode == wire.OpcodeAtomicReply}
	if known, ok := a.chunks[id]; ok && known != ref {
		a.fail(p, "names %+v and named %+v before", ref, known)
	}
	a.chunks[id] = ref
	note := ledger.Note
	if a.strict {
		a.giveUp(p)
		a.checkWindow(p)
		note = ledger.Send
	}
	if err := note(p.packet.PSN, p.packet.TSN, len(p.d.Bytes)); err != nil {
		a.fail(p, "%v", err)
	}
}

// checkWindow checks that a packet fits into the window of its path. One packet may always be in flight.
func (a *arena) checkWindow(p *parcel) {
	flying := a.halves[p.from][p.path].ledger.InFlight()
	for _, s := range a.stats(p.from) {
		if int(s.ID) == p.path && flying > 0 && flying+len(p.d.Bytes) > s.Window {
			a.fail(p, "makes %d bytes in flight, the window is %d", flying+len(p.d.Bytes), s.Window)
		}
	}
}

func (a *arena) giveUp(p *parcel) {
	if err := a.halves[p.from][p.path].ledger.GiveUpBelow(p.packet.Floor, lossesAtMost); err != nil {
		a.fail(p, "%v", err)
	}
}

// checkFloor compares the floor that a packet names with the lowest outstanding PSN.
func (a *arena) checkFloor(p *parcel) {
	if !a.strict {
		return
	}
	a.giveUp(p)
	if want := a.halves[p.from][p.path].ledger.Floor(); p.packet.Floor != want {
		a.fail(p, "names the floor %d, want %d", p.packet.Floor, want)
	}
}

// describe takes a sequenced packet apart.
func (a *arena) describe(p *parcel, w *wire.Packet) *wire.Message {
	body := &w.Plain
	m := &body.Write.Message
	c := model.Chunk{Receive: -1}
	switch p.opcode {
	case wire.OpcodeWrite:
		c.Written, c.Payload = true, len(body.Write.Data)
		if m.Immediate {
			c.Receive, c.Value, c.Flag = int64(body.Write.Immediate.Receive), body.Write.Immediate.Value, true
		}
	case wire.OpcodeSend:
		s := &body.Send
		m = &s.Message
		c.Payload, c.Receive, c.Match = len(s.Data), int64(s.SendTarget.Receive), s.SendTarget.Match
		c.Value, c.Flag = s.SendTarget.Value, m.Immediate
	case wire.OpcodeStreamEnd:
		m = &body.StreamEnd.Message
		c.Ends = true
	case wire.OpcodeReadRequest:
		m = &body.ReadRequest.Message
	case wire.OpcodeAtomicRequest:
		m = &body.AtomicRequest.Message
	case wire.OpcodeReadReply:
		m = &body.ReadReply.Message
		c.Payload = len(body.ReadReply.Data)
	case wire.OpcodeAtomicReply:
		m = &body.AtomicReply.Message
		c.Payload = 8
	}
	c.Message, c.Offset, c.Length = int64(m.Message), int(m.Offset), int(m.Length)
	if p.opcode == wire.OpcodeReadRequest || p.opcode == wire.OpcodeAtomicRequest {
		c.Length = 0
	}
	p.chunk, p.stream = c, m.Stream
	return m
}

// sentAck compares every block of an ACK with the board of its path.
func (a *arena) sentAck(p *parcel, ack *wire.BodyAck) {
	sender := 1 - p.from
	for i := range ack.Blocks {
		b := &ack.Blocks[i]
		block, counts := a.halves[sender][b.Path].board.Report()
		want := wire.PathAck{
			Path: b.Path, Epoch: b.Epoch, ReceivedAt: b.ReceivedAt, HasCounters: b.HasCounters,
			Base: a.wireNumber(sender, block.Base), Largest: a.wireNumber(sender, block.Largest),
			Packets: uint32(counts.Packets), Ce: uint32(counts.CE), HasSack: len(block.Sack) > 0,
		}
		for _, psn := range block.Sack {
			want.Sack.Set(int(psn - block.Base))
		}
		if b.HasCounters {
			want.Counters = wire.PathCounters{
				NotEct: uint32(counts.NotECT), Duplicates: uint32(counts.Duplicates), Refused: uint32(counts.Refused), Copies: uint32(counts.Copies),
			}
			if counts.Duplicates > 0 {
				want.Counters.LastDuplicate = a.wireNumber(sender, counts.LastDuplicate)
			}
		}
		got := *b
		if !b.HasSack {
			got.Sack = wire.Bits256{}
		}
		if !b.HasCounters {
			got.Counters = wire.PathCounters{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			a.fail(p, "block %d (-model +engine):\n%s", i, diff)
		}
		p.blocks = append(p.blocks, report{int(b.Path), block, counts})
	}
}

// arrived lets the model take in a packet that the engine has taken in.
func (a *arena) arrived(to int, p *parcel, before []int) {
	board := a.halves[p.from][p.path].board
	switch board.Arrive(p.packet) {
	case model.Copy:
		// A copy of an unsequenced packet is looked at again: its fields are state.
		if p.packet.Sequenced {
			return
		}
	case model.Outside:
		a.fail(p, "lies outside the window")
	case model.New:
		if a.place(p) {
			board.Place(p.packet.PSN)
		} else {
			board.Refuse()
		}
	}
	if p.opcode == wire.OpcodeAck {
		a.acked(to, p, before)
	}
}

// acked lets the ledgers take in an ACK.
func (a *arena) acked(to int, p *parcel, before []int) {
	a.revivals(to)
	for _, b := range p.blocks {
		h := &a.halves[to][b.path]
		if !h.ledger.Possible(b.block) {
			a.fail(p, "acknowledges what was never sent: %+v", b.block)
		}
		acked, lost := h.ledger.Ack(b.block)
		bytes := 0
		for _, psn := range acked {
			bytes += h.ledger.Size(psn)
			a.acknowledged(to, a.chunks[chunkID{to, b.path, psn}])
		}
		h.seen.Acked += uint64(len(acked))
		h.seen.Lost += uint64(len(lost))
		a.congestion(to, b, model.Signal{Bytes: bytes, InFlight: before[b.path]})
	}
	if !a.strict {
		return
	}
	for _, s := range a.stats(to) {
		if h := &a.halves[to][s.ID]; s.Acked != h.seen.Acked || s.Lost != h.seen.Lost {
			a.fail(p, "path %d: %d acknowledged and %d lost, the model says %d and %d", s.ID, s.Acked, s.Lost, h.seen.Acked, h.seen.Lost)
		}
	}
}

// congestion compares windows. Only on a wire that loses no chunk, since mass losses are another rule's business.
func (a *arena) congestion(end int, b report, s model.Signal) {
	h := &a.halves[end][b.path]
	if fresh := b.counts.Packets - h.counts.Packets; fresh > 0 {
		s.Packets, s.Marked = fresh, min(b.counts.CE-h.counts.CE, fresh)
		h.counts = b.counts
	}
	if !a.strict || h.window == nil || s.Bytes == 0 && s.Packets == 0 {
		return
	}
	for _, stats := range a.stats(end) {
		if int(stats.ID) != b.path {
			continue
		}
		if stats.Lost > 0 {
			h.window = nil
			return
		}
		s.Now, s.RTT = int64(a.now), int64(stats.RTT)
		h.window.Ack(s)
		if off := stats.Window - h.window.Bytes(); off < -1 || off > 1 {
			a.t.Fatalf("end %d, path %d: window %d, the model says %d after %+v", end, b.path, stats.Window, h.window.Bytes(), s)
		}
		h.window.Settle(stats.Window)
	}
}
