// SPDX-License-Identifier: Apache-2.0

package stream

import "github.com/openmetaroce/metaroce/go-sdk/wire"

// Request tells whether the operation asks the peer for a reply.
func (o Op) Request() bool { return o == Read || o == FetchAdd || o == CompareSwap }

// Answer is a chunk of a reply as it arrives.
type Answer struct {
	Op      Op // Read, or an atomic operation
	Number  uint32
	Offset  uint32
	Length  uint32
	Status  wire.Status
	Result  uint64 // atomic operations
	Payload []byte
}

// Answer places a chunk of a reply in the memory of the operation that asked for it: no other memory can be named.
// Unknown replies, and chunks that have been placed, change nothing.
//
//mr:req MR-STREAM-011
func (s *Outgoing) Answer(a *Answer) (Verdict, bool) {
	m := s.find(a.Number)
	if m == nil || !m.Op.Request() || m.reply.complete {
		return Already, false
	}
	switch {
	case (m.Op == Read) != (a.Op == Read):
		return Drop, false
	case a.Status != wire.StatusOk:
		m.reply.status, m.reply.complete = a.Status, true
		return Place, true
	case m.Op != Read:
		m.reply.result, m.reply.complete = a.Result, true
		return Place, true
	}
	return s.place(m, a)
}

// place copies a chunk of a read.
func (s *Outgoing) place(m *outgoing, a *Answer) (Verdict, bool) {
	length := uint32(len(m.Into))
	if a.Length != length || a.Offset%s.cfg.Chunk != 0 || uint32(len(a.Payload)) != s.cfg.payload(length, a.Offset/s.cfg.Chunk) {
		return Drop, false
	}
	chunk := a.Offset / s.cfg.Chunk
	if m.reply.got.has(chunk) {
		return Already, false
	}
	if chunk-m.reply.got.low >= s.cfg.Span {
		return Drop, false
	}
	copy(m.Into[a.Offset:], a.Payload)
	chunks := s.cfg.chunks(length)
	m.reply.got.add(chunk, min(chunks, s.cfg.Span))
	m.reply.arrived++
	m.reply.complete = m.reply.arrived == chunks
	return Place, m.reply.complete
}
