// SPDX-License-Identifier: Apache-2.0

package stream

import "github.com/openmetaroce/metaroce/engine/internal/fifo"

// Budget is what the streams of a connection share of the peer's limits: messages that may be begun and incomplete, and
// requests that may wait for a reply. Messages that the peer has refused, and holds nothing of, do not count. They share
// memory, too: a stream on which nothing is under way holds none.
type Budget struct {
	Messages int // the peer's limits
	Requests int
	messages int
	requests int
	freed    bool
	free     []*outgoing
	queues   fifo.Pool[*outgoing]
	gathered []byte // scratch for chunks that span pieces
}

// obtain returns an empty message.
func (b *Budget) obtain() *outgoing {
	n := len(b.free)
	if n == 0 {
		return new(outgoing)
	}
	m := b.free[n-1]
	b.free = b.free[:n-1]
	return m
}

// release keeps a message's memory for a later one, and nothing of the application's.
func (b *Budget) release(m *outgoing) {
	if m.Op.Request() {
		m.reply = reply{got: m.reply.got.emptied()}
	}
	m.Data, m.Pieces, m.Into = nil, nil, nil
	m.progress = progress{acked: m.acked.emptied()}
	b.free = append(b.free, m)
}

// Rest gives back the memory that no stream needs now.
func (b *Budget) Rest() {
	b.free, b.queues, b.gathered = nil, fifo.Pool[*outgoing]{}, nil
}

// Freed tells, once, that something has become available since it was asked last.
func (b *Budget) Freed() bool {
	freed := b.freed
	b.freed = false
	return freed
}

// allows tells whether a message may begin.
//
//mr:req MR-STREAM-004
func (b *Budget) allows(m *outgoing) bool {
	switch {
	case m.counted || m.Op == end:
		return true
	case m.Op.Request():
		return b.requests < b.Requests
	}
	return b.messages < b.Messages
}

// take counts a message that begins, again if it was refused before.
func (b *Budget) take(m *outgoing) {
	if m.counted || m.Op == end {
		return
	}
	m.counted = true
	if m.Op.Request() {
		b.requests++
	} else {
		b.messages++
	}
}

// give counts a message that has ended, or that the peer holds nothing of.
func (b *Budget) give(m *outgoing) {
	if !m.counted {
		return
	}
	m.counted = false
	b.freed = true
	if m.Op.Request() {
		b.requests--
	} else {
		b.messages--
	}
}
