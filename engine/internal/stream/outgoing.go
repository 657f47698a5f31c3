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
	Immediate bool
	Fence     bool // starts only when all earlier messages of the stream are complete
	Value     uint32
	ID        uint64
	Data      []byte
	Pieces    [][]byte // instead of Data: bytes to be sent one after the other
	Into      []byte   // Read: where the bytes belong
	Key, At   uint64   // region of the peer and offset in it
	Match     uint64   // Send
	Operand   uint64   // atomic operations
	Compare   uint64
	Deadline  mono.Time // 0 = none
}

// needsReceive tells whether the message consumes a posted receive of the peer.
func (m *Message) needsReceive() bool { return m.Op == Send || m.Op == Write && m.Immediate }

// size is the length of the message in bytes: of what is sent, or of what is asked for.
func (m *Message) size() (n uint64) {
	switch {
	case m.Op == Read:
		return uint64(len(m.Into))
	case m.Op.Request():
		return 8
	case m.Pieces == nil:
		return uint64(len(m.Data))
	}
	for _, piece := range m.Pieces {
		n += uint64(len(piece))
	}
	return n
}

// Ref names a chunk of a message for ever. Try tells apart attempts before and after parking.
type Ref struct {
	Message, Chunk uint32
	Try            uint16
}

// Chunk is what one packet carries. Its payload is valid until the next call.
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
	progress
	reply reply
}

// progress is how a message is cut, and how far it has come.
type progress struct {
	length  uint32
	number  uint32 // valid once begun
	receive uint32
	chunks  uint32
	next    uint32      // first chunk not yet sent in this try
	count   uint32      // chunks acknowledged
	code    wire.Status // end
	try     uint16
	begun   bool // numbered: sent once
	counted bool // in the budget
	acked   chunkSet
}

// reply is what has come back for a request.
type reply struct {
	got      chunkSet
	arrived  uint32 // chunks of a read
	complete bool
	status   wire.Status
	result   uint64
}

// done tells whether nothing is left to wait for: every chunk is acknowledged, and a request has its reply.
func (m *outgoing) done() bool {
	return m.count == m.chunks && (m.reply.complete || !m.Op.Request())
}

// Outgoing is the sending end of a stream.
type Outgoing struct {
	ID       uint16
	ending   bool
	number   uint32 // next message number
	receives uint32 // next receive index
	posted   uint32 // receives that the peer is known to have posted
	start    uint32 // first message number of this incarnation
	cfg      *Config
	budget   *Budget
	queue    fifo.Queue[*outgoing] // oldest incomplete first
	cursor   int                   // first message of queue that may have unsent chunks
	data     int                   // Writes and Sends begun and not wholly acknowledged
	parking  parking
	busy     busy
	deadline mono.Time         // lower bound of the operations' deadlines
	failed   error             // operations end with it
	flushed  *fifo.Queue[Done] // ended by failure; nil = none
}

// Done is an operation that has ended.
type Done struct {
	ID      uint64
	Err     error
	Status  wire.Status // of a request that the peer has refused
	Message uint32
	Result  uint64 // atomic operations: the word before
	End     bool   // the stream itself has ended, and its id may be used again
}

// NewOutgoing returns an empty stream.
func NewOutgoing(id uint16, cfg *Config, budget *Budget) *Outgoing {
	return &Outgoing{ID: id, cfg: cfg, budget: budget, deadline: mono.Never}
}

// Post queues a message.
//
//mr:req MR-STREAM-027
func (s *Outgoing) Post(m *Message) error {
	if s.ending || s.failed != nil {
		return fmt.Errorf("%w: stream %d", ErrEnded, s.ID)
	}
	length := m.size()
	if length > math.MaxUint32 {
		return fmt.Errorf("%w: stream %d, %d bytes", ErrTooLong, s.ID, length)
	}
	chunks := uint32(1)
	if !m.Op.Request() {
		chunks = s.cfg.chunks(uint32(length))
	}
	if m.Deadline != 0 {
		s.deadline = min(s.deadline, m.Deadline)
	}
	q := s.push()
	q.Message, q.length, q.chunks = *m, uint32(length), chunks
	return nil
}

// End queues the stream's end behind all that is posted.
//
//mr:req MR-STREAM-023
func (s *Outgoing) End(code wire.Status) error {
	if s.ending {
		return fmt.Errorf("%w: stream %d", ErrEnded, s.ID)
	}
	s.ending = true
	s.pushEnd(code)
	return nil
}

func (s *Outgoing) pushEnd(code wire.Status) {
	q := s.push()
	q.Message, q.chunks, q.code = Message{Op: end}, 1, code
}

// push adds an empty message to the queue.
func (s *Outgoing) push() *outgoing {
	s.budget.queues.Lend(&s.queue)
	m := s.budget.obtain()
	s.queue.Push(m)
	return m
}

// Len is the number of messages that have not completed.
func (s *Outgoing) Len() int { return s.queue.Len() }

// find returns a begun message by number.
func (s *Outgoing) find(number uint32) *outgoing {
	queue := s.queue.Items()
	if len(queue) == 0 || !queue[0].begun {
		return nil
	}
	i := numbers.Diff(number, queue[0].number)
	if i < 0 || i >= int64(len(queue)) || !queue[i].begun {
		return nil
	}
	return queue[i]
}

// Retire marks a chunk as acknowledged; repeating it changes nothing.
func (s *Outgoing) Retire(r Ref) {
	m := s.find(r.Message)
	if m == nil || r.Chunk >= m.chunks {
		return
	}
	if m.acked.add(r.Chunk, min(m.chunks, s.cfg.Span)) {
		m.count++
		s.busy = busy{}
		if m.count == m.chunks && m.isData() {
			s.data--
			s.budget.give(m)
		}
	}
	if m.needsReceive() && numbers.Diff(s.learn(m.receive+1), s.parking.limit) > 0 {
		s.parking = parking{} // the peer has taken it: it has posted more
	}
}

// isData tells whether requests wait for the message: it writes at the peer.
func (m *outgoing) isData() bool { return m.Op == Write || m.Op == Send }

// HasDone tells whether NextDone has something to return.
func (s *Outgoing) HasDone() bool {
	return s.flushed != nil || s.queue.Len() > 0 && s.queue.Front().done()
}

// NextDone returns the operations that have ended, in message order.
//
//mr:req MR-STREAM-006
func (s *Outgoing) NextDone() (Done, bool) {
	switch {
	case !s.HasDone():
		return Done{}, false
	case s.flushed != nil:
		d, _ := s.flushed.Pop()
		if s.flushed.Len() == 0 {
			s.flushed = nil
		}
		return d, true
	}
	m := s.queue.Front()
	s.queue.Discard()
	s.budget.queues.Reclaim(&s.queue)
	s.budget.give(m)
	s.cursor = max(s.cursor-1, 0)
	d := Done{
		ID: m.ID, End: m.Op == end, Message: m.number, Status: m.reply.status, Result: m.reply.result,
	}
	if d.End {
		s.reopen()
	}
	s.budget.release(m)
	return d, true
}

// reopen makes the id usable again. Message numbers continue, so that late duplicates stay old; receives start anew.
//
//mr:req MR-STREAM-025
func (s *Outgoing) reopen() {
	s.ending, s.failed = false, nil
	s.receives, s.posted, s.start = 0, 0, s.number
	s.parking, s.busy = parking{}, busy{}
}
