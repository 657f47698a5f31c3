// SPDX-License-Identifier: Apache-2.0

package stream

import "github.com/openmetaroce/metaroce/engine/internal/mono"

// Hold is the reason for which a stream has no chunk to send.
type Hold uint8

// The reasons. A waiting stream goes on when something happens on it, a crowded one when its connection's budget allows.
const (
	Free Hold = iota // there is a chunk
	Waiting
	Crowded
)

// Next describes the chunk that goes out next, without taking it, or tells why there is none.
func (s *Outgoing) Next(now mono.Time, c *Chunk) Hold {
	hold := s.Hold(now)
	if hold == Free {
		m := s.queue.Items()[s.cursor]
		s.describe(c, s.numbered(m), m.next)
	}
	return hold
}

// Hold moves the cursor to the next chunk to send, and tells whether it may go now.
func (s *Outgoing) Hold(now mono.Time) Hold {
	for s.cursor < s.queue.Len() {
		m := s.queue.Items()[s.cursor]
		for m.next < m.chunks && m.acked.has(m.next) {
			m.next++
		}
		if m.next < m.chunks {
			switch {
			case !s.may(now, m):
				return Waiting
			case !s.budget.allows(m):
				return Crowded
			}
			return Free
		}
		s.cursor++
	}
	return Waiting
}

// may tells whether the message's next chunk respects the receiver's limits and the order that the application asked for.
//
//mr:req MR-STREAM-004
//mr:req MR-STREAM-029 MR-STREAM-030
func (s *Outgoing) may(now mono.Time, m *outgoing) bool {
	oldest := s.queue.Front()
	switch {
	case now < s.busy.until && m.Op != end:
		return false
	case m.next-m.acked.low >= s.cfg.Span:
		return false
	case m.Fence && oldest != m:
		return false
	case m.Op.Request() && !m.begun && s.data > 0:
		return false
	case !m.begun && m.Op != end && oldest.begun && numbers.Diff(s.number, oldest.number) >= int64(s.cfg.Window):
		return false
	}
	return !m.needsReceive() || s.parking.may(now, s.receiveOf(m))
}

func (s *Outgoing) receiveOf(m *outgoing) uint32 {
	if m.begun {
		return m.receive
	}
	return s.receives
}

// numbered is the message as its next chunk describes it: with the number and receive index that it has, or will have.
func (s *Outgoing) numbered(m *outgoing) *outgoing {
	if !m.begun {
		m.number, m.receive = s.number, s.receives
	}
	return m
}

// Take marks the chunk that Next returned as sent. With its first chunk a message takes its number.
//
//mr:req MR-STREAM-013
func (s *Outgoing) Take(now mono.Time) {
	m := s.queue.Items()[s.cursor]
	s.budget.take(m)
	if !m.begun {
		m.begun = true
		s.number++
		if m.needsReceive() {
			s.receives++
		}
		if m.isData() {
			s.data++
		}
	}
	m.next++
	if m.needsReceive() {
		s.parking.took(now, m.receive)
	}
}

// Wanted returns a chunk to send again; ok is false when the receiver has it, its message has failed, or it waits
// for a receive and will be sent anew.
func (s *Outgoing) Wanted(r Ref) (c Chunk, ok bool) {
	m := s.find(r.Message)
	if m == nil || m.try != r.Try || m.acked.has(r.Chunk) {
		return Chunk{}, false
	}
	s.describe(&c, m, r.Chunk)
	return c, true
}

func (s *Outgoing) describe(c *Chunk, m *outgoing, n uint32) {
	c.Ref.Message, c.Ref.Chunk, c.Ref.Try = m.number, n, m.try
	c.Message, c.Receive, c.Length, c.Code = &m.Message, m.receive, m.length, m.code
	c.Offset, c.Payload = 0, nil
	if m.length > 0 && !m.Op.Request() {
		c.Offset = n * s.cfg.Chunk
		c.Payload = s.payload(m, c.Offset, s.cfg.payload(m.length, n))
	}
}

// payload returns n bytes of a message. Those that lie in one piece are not copied.
func (s *Outgoing) payload(m *outgoing, from, n uint32) []byte {
	if m.Pieces == nil {
		return m.Data[from : from+n]
	}
	gathered := s.budget.gathered[:0]
	skip := uint64(from)
	for _, piece := range m.Pieces {
		if skip >= uint64(len(piece)) {
			skip -= uint64(len(piece))
			continue
		}
		piece = piece[skip:]
		skip = 0
		want := int(n) - len(gathered)
		if len(gathered) == 0 && len(piece) >= want {
			return piece[:want]
		}
		gathered = append(gathered, piece[:min(want, len(piece))]...)
		if len(gathered) == int(n) {
			break
		}
	}
	s.budget.gathered = gathered
	return gathered
}
