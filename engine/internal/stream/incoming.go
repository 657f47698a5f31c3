// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"github.com/openmetaroce/metaroce/engine/internal/fifo"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Header is what a packet says of its message.
type Header struct {
	Op        Op
	Number    uint32
	Offset    uint32
	Length    uint32 // of the whole message
	Payload   uint32 // bytes in this packet
	Receive   uint32 // Send, Write with immediate
	Value     uint32
	Immediate bool
	Match     uint64
	Code      wire.Status // end
}

// HeaderOfEnd describes a packet that ends its stream.
func HeaderOfEnd(number uint32, code wire.Status) Header {
	return Header{Op: end, Number: number, Code: code}
}

// End tells whether the header ends its stream.
func (h *Header) End() bool { return h.Op == end }

func (h *Header) needsReceive() bool { return h.Op == Send || h.Op == Write && h.Immediate }

// Verdict says what to do with a chunk.
type Verdict uint8

// The verdicts.
const (
	Place   Verdict = iota // copy the payload, then call Placed
	Already                // it is placed, or no longer wanted: acknowledge and drop
	Refuse                 // send a Notice with the code
	Drop                   // the sender broke a limit: no answer
)

// Finding is a verdict with its reasons.
type Finding struct {
	Verdict Verdict
	Code    wire.NoticeCode // Refuse
	Info    uint32          // Refuse: what the Notice says
	Begins  bool            // Place: the first chunk of its message
	Needs   int             // Place: bytes of the connection's memory for what comes out of order
}

func refuse(code wire.NoticeCode, info uint32) Finding {
	return Finding{Verdict: Refuse, Code: code, Info: info}
}

// incoming is a message that has begun to arrive.
type incoming struct {
	Header
	chunks   uint32
	count    uint32
	got      chunkSet
	complete bool
	held     int // bytes of the connection's memory for what comes out of order
}

// posted is a receive that the application has posted.
type posted struct {
	id     uint64
	buffer []byte
	taken  bool   // by the message taker
	taker  uint32 // its number
	done   bool   // delivered
}

// Incoming is the receiving end of a stream.
type Incoming struct {
	ID       uint16
	refused  bool   // for want of a receive, since the last Ready
	oldest   uint32 // lowest incomplete message
	consumed uint32
	start    uint32 // first message number of this incarnation
	begun    int
	expected uint64 // bytes of begun messages that have not arrived
	cfg      *Config
	memory   *Memory
	messages fifo.Queue[*incoming] // from number oldest on; nil = not begun; the last one has
	receives fifo.Queue[posted]    // from index consumed on
	arrived  fifo.Queue[Arrived]
}

// Arrived is what the application should hear of.
type Arrived struct {
	ID        uint64 // of the posted receive
	Length    uint32
	Match     uint64
	Value     uint32
	Immediate bool
	Written   bool // a Write with immediate: nothing lies in the buffer
	Ended     bool // the stream has ended; the other fields but Err are zero
	Err       error
}

// NewIncoming returns a stream on which nothing has arrived.
func NewIncoming(id uint16, cfg *Config, memory *Memory) *Incoming {
	return &Incoming{ID: id, cfg: cfg, memory: memory}
}

// Post adds a receive.
func (s *Incoming) Post(id uint64, buffer []byte) {
	s.memory.receives.Lend(&s.receives)
	r := s.receives.Extend()
	r.id, r.buffer = id, buffer
}

// Ready returns what a RECEIVE_READY says, when the peer waits for one. Asking clears the wish.
//
//mr:req MR-STREAM-020
func (s *Incoming) Ready() (start, count uint32, due bool) {
	due = s.refused && s.receives.Len() > 0
	if due {
		s.refused = false
	}
	return s.start, s.count(), due
}

// count is the number of receives posted in this incarnation.
func (s *Incoming) count() uint32 { return s.consumed + uint32(s.receives.Len()) }

// Expected is the number of bytes of begun messages that have not arrived.
func (s *Incoming) Expected() uint64 { return s.expected }

// Begun is the number of messages begun and incomplete.
func (s *Incoming) Begun() int { return s.begun }

// at returns a message that has begun, or nil.
func (s *Incoming) at(number uint32) *incoming {
	i := numbers.Diff(number, s.oldest)
	if i >= int64(s.messages.Len()) {
		return nil
	}
	return s.messages.Items()[i]
}

// Examine judges a chunk and changes nothing. Geometry comes before any memory is spent on the message.
//
//mr:req MR-STREAM-002
//mr:req MR-STREAM-022 MR-STREAM-001
func (s *Incoming) Examine(h *Header) Finding {
	ahead := numbers.Diff(h.Number, s.oldest)
	switch {
	case ahead < 0:
		return Finding{Verdict: Already}
	case ahead >= s.room(h):
		return Finding{Verdict: Drop}
	case h.Op == end:
		return s.examineEnd(h)
	case !s.cfg.fits(h):
		return refuse(wire.NoticeCodeGeometry, h.Offset)
	}
	chunk, low := h.Offset/s.cfg.Chunk, uint32(0)
	m := s.at(h.Number)
	if m != nil {
		switch {
		case !m.agrees(h):
			return refuse(wire.NoticeCodeGeometry, h.Offset)
		case m.got.has(chunk):
			return Finding{Verdict: Already}
		}
		low = m.got.low
	}
	if chunk-low >= s.cfg.Span {
		return Finding{Verdict: Drop}
	}
	if h.needsReceive() {
		if f := s.examineReceive(h); f.Verdict != Place {
			return f
		}
	}
	return Finding{Begins: m == nil, Needs: s.needs(m, h, chunk)}
}

// room is how far ahead of the oldest incomplete message a packet may be: the window, behind it a graceful end, and behind that
// the abort that overrules it.
func (s *Incoming) room(h *Header) int64 {
	switch window := int64(s.cfg.Window); {
	case h.Op != end:
		return window
	case h.Code == wire.StatusOk:
		return window + 1
	default:
		return window + 2
	}
}

// packets is the number of chunks of the message that a packet describes. A request is one packet, whatever it asks for.
func (c *Config) packets(h *Header) uint32 {
	if h.Op.Request() {
		return 1
	}
	return c.chunks(h.Length)
}

// fits tells whether offset, length and payload of a packet agree.
func (c *Config) fits(h *Header) bool {
	if h.Op.Request() {
		return h.Offset == 0 && h.Payload == 0
	}
	return h.Offset%c.Chunk == 0 && h.Payload == c.payload(h.Length, h.Offset/c.Chunk)
}

// agrees tells whether a chunk describes the same message as the ones before it.
func (m *incoming) agrees(h *Header) bool {
	return m.Op == h.Op && m.Length == h.Length && m.Immediate == h.Immediate && m.Receive == h.Receive &&
		m.Value == h.Value && m.Match == h.Match
}

func (s *Incoming) examineEnd(h *Header) Finding {
	if s.at(h.Number) != nil {
		return Finding{Verdict: Already}
	}
	f := Finding{Begins: true}
	if h.Code == wire.StatusOk {
		f.Needs = s.needs(nil, h, 0)
	}
	return f
}

//mr:req MR-STREAM-018 MR-STREAM-019
func (s *Incoming) examineReceive(h *Header) Finding {
	i := numbers.Diff(h.Receive, s.consumed)
	if i >= int64(s.receives.Len()) {
		return refuse(wire.NoticeCodeNoReceive, s.count())
	}
	if i < 0 || s.receive(h).taken && s.receive(h).taker != h.Number {
		return refuse(wire.NoticeCodeBadStream, h.Receive)
	}
	if size := len(s.receive(h).buffer); h.Op == Send && uint64(h.Length) > uint64(size) {
		return refuse(wire.NoticeCodeTooLong, uint32(size))
	}
	return Finding{}
}

// receive is the posted receive that a message consumes; there must be one.
func (s *Incoming) receive(h *Header) *posted {
	return &s.receives.Items()[numbers.Diff(h.Receive, s.consumed)]
}

// Refused notes that the chunk was refused: when it lacked a receive, the peer wants to hear of the next one.
func (s *Incoming) Refused(code wire.NoticeCode) {
	s.refused = s.refused || code == wire.NoticeCodeNoReceive
}

// Buffer is where the payload of a Send belongs. The chunk has been examined.
//
//mr:req MR-STREAM-017
func (s *Incoming) Buffer(h *Header) []byte {
	return s.receive(h).buffer[h.Offset : h.Offset+h.Payload]
}

// Placed enters a chunk that was examined and copied.
func (s *Incoming) Placed(h *Header) {
	if h.Op == end && h.Code != wire.StatusOk {
		s.abort(h)
		return
	}
	m := s.at(h.Number)
	if m == nil {
		m = s.begin(h)
	}
	if s.add(m, h.Offset/s.cfg.Chunk) {
		m.count++
		s.expected -= uint64(h.Payload)
	}
	if m.count == m.chunks {
		m.complete = true
		s.begun--
		s.deliver()
	}
}

// begin enters a message of which the first chunk arrives.
func (s *Incoming) begin(h *Header) *incoming {
	s.memory.messages.Lend(&s.messages)
	i := int(numbers.Diff(h.Number, s.oldest))
	m := s.memory.take(s.ahead(i))
	for s.messages.Len() <= i {
		s.messages.Extend()
	}
	m.Header, m.chunks = *h, s.cfg.packets(h)
	s.messages.Items()[i] = m
	s.begun++
	if !h.Op.Request() {
		s.expected += uint64(h.Length)
	}
	if h.needsReceive() {
		r := s.receive(h)
		r.taken, r.taker = true, h.Number
	}
	return m
}

// deliver reports complete messages, in order: none before all earlier ones of the stream.
//
//mr:req MR-STREAM-005
func (s *Incoming) deliver() {
	for s.messages.Len() > 0 {
		m := s.messages.Front()
		if m == nil || !m.complete {
			return
		}
		s.messages.Discard()
		s.oldest++
		switch {
		case m.Op == end:
			s.finish(nil)
		case m.needsReceive():
			s.consume(m)
		}
		s.memory.give(m)
	}
	s.memory.messages.Reclaim(&s.messages)
}

//mr:req MR-STREAM-016 MR-STREAM-017
func (s *Incoming) consume(m *incoming) {
	r := s.receive(&m.Header)
	r.done = true
	s.report(Arrived{
		ID: r.id, Length: m.Length, Match: m.Match, Value: m.Value, Immediate: m.Immediate, Written: m.Op == Write,
	})
	for s.receives.Len() > 0 && s.receives.Items()[0].done {
		s.receives.Discard()
		s.consumed++
	}
	s.memory.receives.Reclaim(&s.receives)
}

// report keeps for NextArrived what the application should hear of.
func (s *Incoming) report(a Arrived) {
	s.memory.arrived.Lend(&s.arrived)
	s.arrived.Push(a)
}

// abort ends the stream at once: everything below counts as complete.
//
//mr:req MR-STREAM-024
func (s *Incoming) abort(h *Header) {
	if s.leftover(h) {
		s.oldest, s.start = h.Number+1, h.Number+1
		return
	}
	for _, m := range s.messages.Items() {
		if m != nil {
			s.memory.give(m)
		}
	}
	s.messages.Clear()
	s.memory.messages.Reclaim(&s.messages)
	s.begun, s.expected = 0, 0
	s.oldest = h.Number + 1
	s.finish(fmt.Errorf("%w: stream %d aborted by the peer with code %d", ErrEnded, s.ID, h.Code))
}

// leftover tells a STREAM_END with an error that has been overtaken by the graceful one before it: only what has begun is aborted,
// so the first message of an incarnation never is an abort.
func (s *Incoming) leftover(h *Header) bool {
	return h.Op == end && h.Code != wire.StatusOk && h.Number == s.start
}

// Opens tells whether a chunk that is placed or refused opens the stream, if that is not open.
func (s *Incoming) Opens(h *Header) bool { return !s.leftover(h) }

// finish flushes left-over receives and makes the id ready for its next incarnation.
//
//mr:req MR-STREAM-024 MR-STREAM-025
func (s *Incoming) finish(err error) {
	s.Flush(fmt.Errorf("%w: stream %d", ErrEnded, s.ID))
	s.report(Arrived{Ended: true, Err: err})
	s.consumed, s.start, s.refused = 0, s.oldest, false
}

// Flush ends every posted receive with err.
func (s *Incoming) Flush(err error) {
	for i := range s.receives.Items() {
		if r := &s.receives.Items()[i]; !r.done {
			s.report(Arrived{ID: r.id, Err: err})
		}
	}
	s.consumed = s.count()
	s.receives.Clear()
	s.memory.receives.Reclaim(&s.receives)
}

// HasArrived tells whether NextArrived has something to return.
func (s *Incoming) HasArrived() bool { return s.arrived.Len() > 0 }

// NextArrived returns what the application should hear of, in order.
func (s *Incoming) NextArrived() (Arrived, bool) {
	a, ok := s.arrived.Pop()
	s.memory.arrived.Reclaim(&s.arrived)
	return a, ok
}
