// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"math"

	"github.com/openmetaroce/metaroce/engine/internal/fifo"
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Message is one operation as the application posted it.
type Message struct {
	Op        Op
	ID        uint64
	Data      []byte
	Key, At   uint64 // Write: region and offset
	Immediate bool
	Value     uint32
	Match     uint64 // Send
}

// needsReceive tells whether the message consumes a posted receive of the peer.
func (m *Message) needsReceive() bool { return m.Op == Send || m.Op == Write && m.Immediate }

// Ref names a chunk of a message for ever. Try tells apart attempts before and after parking.
type Ref struct {
	Message, Chunk uint32
	Try            uint16
}

// Chunk is what one packet carries.
type Chunk struct {
	Ref     Ref
	Message *Message // op, target, immediate
	Receive uint32   // index of the posted receive, when one is consumed
	Offset  uint32
	Length  uint32 // of the whole message
	Code    wire.Status
	Payload []byte
}

// Op is the kind of the chunk's message; End reports the stream's end.
func (c *Chunk) Op() Op { return c.Message.Op }

// End tells whether the chunk ends its stream.
func (c *Chunk) End() bool { return c.Message.Op == end }

// outgoing is a message in the queue.
type outgoing struct {
	Message
	number  uint32 // valid once numbered
	receive uint32
	chunks  uint32
	next    uint32 // first chunk not yet sent in this try
	acked   chunkSet
	count   uint32 // chunks acknowledged
	try     uint16
	begun   bool // numbered: sent once
	code    wire.Status
}

func (m *outgoing) done() bool { return m.count == m.chunks }

// Outgoing is the sending end of a stream.
type Outgoing struct {
	ID       uint16
	cfg      *Config
	queue    []*outgoing // oldest incomplete first
	memory   []*outgoing // of queue, from its start
	free     []*outgoing
	cursor   int    // first message of queue that may have unsent chunks
	number   uint32 // next message number
	receives uint32 // next receive index
	start    uint32 // first message number of this incarnation
	parking  parking
	ending   bool
	failed   error // operations end with it
	flushed  fifo.Queue[Done]
}

// Done is an operation that has ended.
type Done struct {
	ID  uint64
	Err error
	End bool // the stream itself has ended, and its id may be used again
}

// NewOutgoing returns an empty stream.
func NewOutgoing(id uint16, cfg *Config) *Outgoing {
	return &Outgoing{ID: id, cfg: cfg}
}

// Post queues a message.
func (s *Outgoing) Post(m Message) error {
	if s.ending || s.failed != nil {
		return fmt.Errorf("%w: stream %d", ErrEnded, s.ID)
	}
	if uint64(len(m.Data)) > math.MaxUint32 {
		return fmt.Errorf("%w: stream %d, %d bytes", ErrTooLong, s.ID, len(m.Data))
	}
	s.push(outgoing{Message: m, chunks: s.cfg.chunks(uint32(len(m.Data)))})
	return nil
}

// End queues the stream's end behind all that is posted.
func (s *Outgoing) End(code wire.Status) error {
	if s.ending {
		return fmt.Errorf("%w: stream %d", ErrEnded, s.ID)
	}
	s.ending = true
	s.push(outgoing{Message: Message{Op: end}, chunks: 1, code: code})
	return nil
}

func (s *Outgoing) push(m outgoing) {
	var q *outgoing
	if n := len(s.free); n > 0 {
		q, s.free = s.free[n-1], s.free[:n-1]
	} else {
		q = new(outgoing)
	}
	m.acked = q.acked.emptied()
	*q = m
	s.makeRoom()
	s.queue = append(s.queue, q)
}

// makeRoom moves the queue to the start of its memory, or to more of it, when its end is reached.
func (s *Outgoing) makeRoom() {
	n := len(s.queue)
	if n < cap(s.queue) {
		return
	}
	if 2*n >= cap(s.memory) {
		s.memory = make([]*outgoing, 0, max(8, 4*n))
	}
	s.queue = append(s.memory[:0], s.queue...)
}

// Len is the number of messages that have not completed.
func (s *Outgoing) Len() int { return len(s.queue) }

// Next returns the chunk that goes out next, without taking it. ok is false when nothing may be sent now.
func (s *Outgoing) Next(now mono.Time) (c Chunk, ok bool) {
	for s.cursor < len(s.queue) {
		m := s.queue[s.cursor]
		m.skipAcked()
		if m.next < m.chunks {
			if !s.may(now, m) {
				return Chunk{}, false
			}
			s.begin(m)
			return s.chunk(m, m.next), true
		}
		s.cursor++
	}
	return Chunk{}, false
}

func (m *outgoing) skipAcked() {
	for m.next < m.chunks && m.acked.has(m.next) {
		m.next++
	}
}

// may tells whether the message's next chunk respects the receiver's limits.
//
//mr:req MR-STREAM-004
func (s *Outgoing) may(now mono.Time, m *outgoing) bool {
	if m.next-m.acked.low >= s.cfg.Span {
		return false
	}
	if !m.begun && m.Op != end && len(s.queue) > 0 && s.queue[0].begun &&
		numbers.Diff(s.number, s.queue[0].number) >= int64(s.cfg.Window) {
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

// begin numbers a message when its first chunk goes out.
func (s *Outgoing) begin(m *outgoing) {
	if m.begun {
		return
	}
	m.begun = true
	m.number = s.number
	s.number++
	if m.needsReceive() {
		m.receive = s.receives
		s.receives++
	}
}

func (s *Outgoing) chunk(m *outgoing, n uint32) Chunk {
	c := Chunk{
		Ref:     Ref{Message: m.number, Chunk: n, Try: m.try},
		Message: &m.Message,
		Receive: m.receive,
		Length:  uint32(len(m.Data)),
		Code:    m.code,
	}
	if len(m.Data) > 0 {
		c.Offset = n * s.cfg.Chunk
		c.Payload = m.Data[c.Offset : c.Offset+s.cfg.payload(c.Length, n)]
	}
	return c
}

// Take marks the chunk that Next returned as sent.
func (s *Outgoing) Take(now mono.Time) {
	m := s.queue[s.cursor]
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
	return s.chunk(m, r.Chunk), true
}

// find returns a begun message by number.
func (s *Outgoing) find(number uint32) *outgoing {
	if len(s.queue) == 0 || !s.queue[0].begun {
		return nil
	}
	i := numbers.Diff(number, s.queue[0].number)
	if i < 0 || i >= int64(len(s.queue)) || !s.queue[i].begun {
		return nil
	}
	return s.queue[i]
}

// Retire marks a chunk as acknowledged; repeating it changes nothing.
func (s *Outgoing) Retire(r Ref) {
	m := s.find(r.Message)
	if m == nil || r.Chunk >= m.chunks {
		return
	}
	if m.acked.add(r.Chunk, min(m.chunks, s.cfg.Span)) {
		m.count++
	}
	if m.needsReceive() && numbers.Diff(m.receive, s.parking.limit) >= 0 {
		s.parking = parking{} // the peer has taken it: it has posted more
	}
}

// NextDone returns the operations that have ended, in message order.
func (s *Outgoing) NextDone() (Done, bool) {
	if d, ok := s.flushed.Pop(); ok {
		return d, true
	}
	if len(s.queue) == 0 || !s.queue[0].done() {
		return Done{}, false
	}
	m := s.queue[0]
	s.queue[0] = nil
	s.queue = s.queue[1:]
	s.cursor = max(s.cursor-1, 0)
	d := Done{ID: m.ID, End: m.Op == end}
	if d.End {
		s.reopen()
	}
	*m = outgoing{acked: m.acked}
	s.free = append(s.free, m)
	return d, true
}

// reopen makes the id usable again. Message numbers continue, so that late duplicates stay old; receives start anew.
func (s *Outgoing) reopen() {
	s.ending, s.failed = false, nil
	s.receives, s.start = 0, s.number
	s.parking = parking{}
}

// Fail ends every operation with err and, when the stream is to end at the peer too, queues a STREAM_END with code.
func (s *Outgoing) Fail(err error, code wire.Status) {
	if s.failed != nil {
		return
	}
	s.failed = err
	for _, m := range s.queue {
		if m.Op != end {
			s.flushed.Push(Done{ID: m.ID, Err: err})
		}
	}
	s.queue, s.cursor, s.ending = s.queue[:0], 0, true
	s.parking = parking{}
	if code != wire.StatusOk {
		s.push(outgoing{Message: Message{Op: end}, chunks: 1, code: code})
	}
}

// More tells whether chunks are left that have never been sent.
func (s *Outgoing) More() bool {
	last := len(s.queue) - 1
	return s.cursor < last || s.cursor == last && s.queue[last].next < s.queue[last].chunks
}
