// SPDX-License-Identifier: Apache-2.0

package model

// Chunk is a packet's part of a message.
type Chunk struct {
	Message int64
	Offset  int
	Length  int // of the whole message
	Payload int
	Receive int64 // index of the receive that the message consumes; -1 = none
	Match   uint64
	Value   uint32
	Flag    bool // Value is handed over
	Written bool // the bytes belong into a region
	Ends    bool // the stream, gracefully
}

// Outcome is what a stream makes of a chunk.
type Outcome int

// The outcomes.
const (
	Placed  Outcome = iota
	Known           // placed before, or of a message that is complete
	Refused         // no receive is posted for it
)

// Arrived is a completed receive.
type Arrived struct {
	ID      uint64
	Length  int
	Match   uint64
	Value   uint32
	Flag    bool
	Written bool
}

// message is what has been placed of a message.
type message struct {
	chunk  Chunk // the first to arrive
	placed map[int]int
}

// complete tells whether every byte is there. An empty message is one empty chunk.
func (m *message) complete() bool {
	bytes := 0
	for _, n := range m.placed {
		bytes += n
	}
	return m != nil && bytes == m.chunk.Length && len(m.placed) > 0
}

// Inbox is the receiving end of a stream's first incarnation.
type Inbox struct {
	messages map[int64]*message
	receives []uint64 // ids, in the order of posting
	told     int64    // messages that have been delivered
	Ended    bool     // all before a graceful end, and the end itself, are delivered
}

// NewInbox returns a stream on which nothing has arrived.
func NewInbox() *Inbox { return &Inbox{messages: map[int64]*message{}} }

// Post adds a receive.
func (b *Inbox) Post(id uint64) { b.receives = append(b.receives, id) }

// Posted is the number of receives posted.
func (b *Inbox) Posted() int64 { return int64(len(b.receives)) }

// Arrive places a chunk, unless it is known or nothing is posted for it.
func (b *Inbox) Arrive(c Chunk) Outcome {
	m := b.messages[c.Message]
	if m != nil {
		if _, known := m.placed[c.Offset]; known {
			return Known
		}
	}
	if c.Receive >= b.Posted() {
		return Refused
	}
	if m == nil {
		m = &message{chunk: c, placed: map[int]int{}}
		b.messages[c.Message] = m
	}
	m.placed[c.Offset] = c.Payload
	return Placed
}

// Complete tells whether every byte of a message is placed.
func (b *Inbox) Complete(number int64) bool {
	m := b.messages[number]
	return m != nil && m.complete()
}

// Deliver returns the receives that have completed since: none before every earlier message of the stream is placed.
func (b *Inbox) Deliver() (done []Arrived) {
	for b.Complete(b.told) {
		c := b.messages[b.told].chunk
		if c.Receive >= 0 {
			done = append(done, Arrived{b.receives[c.Receive], c.Length, c.Match, c.Value, c.Flag, c.Written})
		}
		b.Ended = b.Ended || c.Ends
		b.told++
	}
	return done
}
