// SPDX-License-Identifier: Apache-2.0

package stream

// What comes out of order waits for what is before it, and waiting takes memory that a peer could make grow: by a message at
// the far end of each window, by a gap in each message. So it comes out of a fixed part of the connection's memory. The next
// message of a stream and the next chunk of a message need none of it: whatever else is refused, streams go on.

// Bytes that are held, at the most.
const (
	recordBytes = 128 // for a message that has begun, or is complete, before an earlier one is
	slotBytes   = 16  // for each number up to it
)

// ahead is what a message holds that begins at a place behind the oldest incomplete one.
func (s *Incoming) ahead(place int) int {
	if place == 0 {
		return 0
	}
	return recordBytes + slotBytes*max(place+1-s.messages.Len(), 0)
}

// needs is what a chunk makes its message hold; nil = it has not begun.
func (s *Incoming) needs(m *incoming, h *Header, chunk uint32) (bytes int) {
	next, ring := uint32(0), 0
	if m != nil {
		next, ring = m.got.low, len(m.got.bits)
	} else {
		bytes = s.ahead(int(numbers.Diff(h.Number, s.oldest)))
	}
	if ring == 0 && chunk != next {
		bytes += 8 * words(min(s.cfg.packets(h), s.cfg.Span))
	}
	return bytes
}

// add enters a chunk of a message, and holds its ring if that is new.
func (s *Incoming) add(m *incoming, chunk uint32) bool {
	before := len(m.got.bits)
	fresh := m.got.add(chunk, min(m.chunks, s.cfg.Span))
	s.memory.hold(m, 8*(len(m.got.bits)-before))
	return fresh
}

// hold counts bytes that a message holds from now on.
func (y *Memory) hold(m *incoming, bytes int) {
	m.held += bytes
	y.held += bytes
}

// Affords tells whether a number of bytes is left for what comes out of order.
//
//mr:req MR-STREAM-033
func (y *Memory) Affords(bytes int) bool { return bytes == 0 || y.held+bytes <= y.most }

// Held is the number of bytes that messages of the stream hold of the connection's memory for what comes out of order.
func (s *Incoming) Held() (bytes int) {
	for _, m := range s.messages.Items() {
		if m != nil {
			bytes += m.held
		}
	}
	return bytes
}

// Held is the number of bytes that messages of all streams hold.
func (y *Memory) Held() int { return y.held }
