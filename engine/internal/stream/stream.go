// SPDX-License-Identifier: Apache-2.0

// Package stream owns messages: at the sender the queue of operations, the cursor that cuts them into chunks and the order
// in which they complete; at the receiver the posted receives, what of each message has been placed, and the order in which
// the application hears of it. Streams are one-way, and none of them ever waits for another.
package stream

import (
	"errors"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Op is the kind of a message.
type Op uint8

// The kinds of messages.
const (
	Write       Op = iota + 1 // into a region of the peer
	Send                      // into a receive that the peer has posted
	Read                      // out of a region of the peer
	FetchAdd                  // on a word of a region of the peer
	CompareSwap               // likewise
	end                       // the end of the stream
)

// Errors of operations and receives.
var (
	// ErrEnded: the stream has ended, or is ending.
	ErrEnded = errors.New("stream: ended")
	// ErrCanceled: the operation was canceled.
	ErrCanceled = errors.New("stream: operation canceled")
	// ErrDeadline: the operation did not end in time.
	ErrDeadline = errors.New("stream: operation out of time")
	// ErrTooLong: a message is longer than 4 GiB - 1.
	ErrTooLong = errors.New("stream: message too long")
)

// Config is what all streams of a connection share in one direction: the limits that the receiver has announced.
type Config struct {
	Chunk  uint32 // payload bytes of a full packet
	Window uint32 // messages beyond the oldest incomplete one
	Span   uint32 // chunks beyond the oldest missing one of a message
}

// chunks is the number of packets that carry a message. An empty message is one empty chunk.
//
//mr:req MR-STREAM-027
func (c *Config) chunks(length uint32) uint32 {
	if length == 0 {
		return 1
	}
	return (length-1)/c.Chunk + 1
}

// payload is the number of bytes of one chunk.
func (c *Config) payload(length, chunk uint32) uint32 {
	return min(c.Chunk, length-chunk*c.Chunk)
}

// numbers is the serial space of message numbers and receive indexes.
const numbers = wire.Serial32

// chunkSet is a set of chunk numbers that grows from 0: all below low are in it, and some of the span above.
type chunkSet struct {
	low  uint32
	bits []uint64 // ring of span bits above low; empty until a chunk arrives out of order
}

// has tells whether a chunk is in the set. Any chunk may be asked for: beyond the ring none is.
func (s *chunkSet) has(chunk uint32) bool {
	if chunk < s.low || len(s.bits) == 0 {
		return chunk < s.low
	}
	if chunk-s.low >= uint32(len(s.bits)-1)*64 {
		return false
	}
	word, mask := s.place(chunk)
	return s.bits[word]&mask != 0
}

func (s *chunkSet) place(chunk uint32) (word uint32, mask uint64) {
	return chunk / 64 % uint32(len(s.bits)), 1 << (chunk % 64)
}

// add enters a chunk less than span above low. It returns false when the chunk was in.
func (s *chunkSet) add(chunk, span uint32) bool {
	if s.has(chunk) {
		return false
	}
	if chunk == s.low && len(s.bits) == 0 {
		s.low++
		return true
	}
	if len(s.bits) == 0 {
		s.grow(words(span))
	}
	word, mask := s.place(chunk)
	s.bits[word] |= mask
	for {
		word, mask := s.place(s.low)
		if s.bits[word]&mask == 0 {
			return true
		}
		s.bits[word] &^= mask
		s.low++
	}
}

// words is the length of a ring for a span.
func words(span uint32) int { return int(span/64) + 2 }

// grow makes room for a span, in memory that an earlier message has left when there is enough.
func (s *chunkSet) grow(words int) {
	if cap(s.bits) < words {
		s.bits = make([]uint64, words)
		return
	}
	s.bits = s.bits[:words]
	clear(s.bits)
}

// bytes is the length of the ring's memory.
func (s *chunkSet) bytes() int { return 8 * cap(s.bits) }

// emptied returns the empty set in the memory of this one.
func (s *chunkSet) emptied() chunkSet { return chunkSet{bits: s.bits[:0]} }
