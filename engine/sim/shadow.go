// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// pattern is the seed of bytes that can be made again at any time, and told from every other pattern's.
type pattern uint64

// word returns the i-th 8 bytes.
func (p pattern) word(i int) uint64 {
	z := (uint64(p) + uint64(i+1)) * 0x9e3779b97f4a7c15
	return (z ^ z>>32) * 0xbf58476d1ce4e5b9
}

// fill writes the pattern from its beginning.
func (p pattern) fill(b []byte) {
	for i := range len(b) / 8 {
		binary.LittleEndian.PutUint64(b[8*i:], p.word(i))
	}
	last := p.word(len(b) / 8)
	for i := len(b) &^ 7; i < len(b); i++ {
		b[i] = byte(last)
		last >>= 8
	}
}

// differs returns the index of the first byte that is not the pattern's, or -1.
func (p pattern) differs(b []byte) int {
	for i := range len(b) / 8 {
		if binary.LittleEndian.Uint64(b[8*i:]) != p.word(i) {
			return p.byteDiffers(b, 8*i)
		}
	}
	return p.byteDiffers(b, len(b)&^7)
}

func (p pattern) byteDiffers(b []byte, from int) int {
	for i := from; i < len(b); i++ {
		if b[i] != byte(p.word(i/8)>>(i%8*8)) {
			return i
		}
	}
	return -1
}

// Bytes that nobody may write hold poison; the guards around what is lent to the engine do, too.
const (
	poison     = 0xa5
	guardBytes = 64
	reused     = pattern(0x7265757365) // mixed into the pattern of memory that the application uses again
)

// extent is a part of a shadow that one message fills.
type extent struct {
	at, size int // within the shadow's memory
	pattern  pattern
	over     bool // the message is complete; the application has written something else there
	lost     bool // it never was complete: the application has taken the memory back before
	loose    bool // a part of it may be missing
}

// shadow is memory lent to the engine, with all that is known of its bytes.
// Outside the extents, and past the end of what fills an extent, everything is poison.
type shadow struct {
	name    string
	memory  []byte
	extents []extent // in the order of their places
	sealed  []byte   // if set, what the memory holds for ever
}

// newShadow lays out extents of the given rooms in order, with gaps of guardBytes around each.
func newShadow(name string, rooms []int) *shadow {
	s := &shadow{name: name, extents: make([]extent, len(rooms))}
	at := guardBytes
	for i, room := range rooms {
		s.extents[i].at = at
		at += room + guardBytes
	}
	s.memory = make([]byte, max(at, 2*guardBytes))
	s.memory[0] = poison
	for done := 1; done < len(s.memory); done *= 2 {
		copy(s.memory[done:], s.memory[:done])
	}
	return s
}

// region is what is registered: all but the outer guards.
func (s *shadow) region() []byte {
	end := len(s.memory) - guardBytes
	return s.memory[guardBytes:end:end]
}

// rooms returns the rooms of the extents, which are full.
func (s *shadow) rooms() []int {
	rooms := make([]int, len(s.extents))
	for i := range rooms {
		rooms[i] = s.extents[i].size
	}
	return rooms
}

// offset returns where an extent begins in the region.
func (s *shadow) offset(i int) uint64 { return uint64(s.extents[i].at - guardBytes) }

// room returns an extent with the space behind it, up to the gap.
func (s *shadow) room(i int) []byte {
	end := len(s.memory)
	if i+1 < len(s.extents) {
		end = s.extents[i+1].at
	}
	end -= guardBytes
	return s.memory[s.extents[i].at:end:end]
}

// bytes returns the filled part of an extent.
func (s *shadow) bytes(i int) []byte {
	e := &s.extents[i]
	return s.memory[e.at : e.at+e.size]
}

// complete verifies that an extent holds its message, or held it when it was first asked.
func (s *shadow) complete(i int) error {
	e := &s.extents[i]
	p := e.pattern
	if e.lost {
		return fmt.Errorf("%w: %s: message %d is complete, but was not when its memory was taken back", ErrViolation, s.name, i)
	}
	if e.over {
		p ^= reused
	}
	if at := p.differs(s.bytes(i)); at >= 0 {
		return fmt.Errorf("%w: %s: byte %d of %d of message %d is wrong%s", ErrViolation, s.name, at, e.size, i, e.again())
	}
	return nil
}

func (e *extent) again() string {
	if e.over {
		return ": it was written after its completion"
	}
	return ""
}

// reuse does what an application may do with a complete message's memory: use it for something else.
func (s *shadow) reuse(i int) {
	if e := &s.extents[i]; !e.over && s.sealed == nil {
		e.over = true
		(e.pattern ^ reused).fill(s.bytes(i))
	}
}

// verify looks at every byte. All extents must be complete, but for loose ones, and sealed memory as it was.
func (s *shadow) verify() error {
	if s.sealed != nil {
		return s.unchanged()
	}
	at := 0
	for i := range s.extents {
		e := &s.extents[i]
		if err := s.untouched(at, e.at); err != nil {
			return err
		}
		if e.loose {
			if err := s.partial(i); err != nil {
				return err
			}
			at = e.at + len(s.room(i))
			continue
		}
		if err := s.complete(i); err != nil {
			return err
		}
		at = e.at + e.size
	}
	return s.untouched(at, len(s.memory))
}

// untouched verifies that nobody wrote between two places.
func (s *shadow) untouched(from, to int) error {
	for ; from < to; from += guardBytes {
		part := s.memory[from:min(from+guardBytes, to)]
		if bytes.Equal(part, clean[:len(part)]) {
			continue
		}
		i := from + slices.IndexFunc(part, func(b byte) bool { return b != poison })
		return fmt.Errorf("%w: %s: byte %d of %d, which is nobody's, is %#02x", ErrViolation, s.name, i, len(s.memory), s.memory[i])
	}
	return nil
}

// clean is what guards look like.
var clean = [guardBytes]byte(bytes.Repeat([]byte{poison}, guardBytes))

// guards verifies the outer guards only.
func (s *shadow) guards() error {
	if err := s.untouched(0, guardBytes); err != nil {
		return err
	}
	return s.untouched(len(s.memory)-guardBytes, len(s.memory))
}

// give hands an extent back to the application, whatever has arrived there, and the application uses it again.
func (s *shadow) give(i int) {
	e := &s.extents[i]
	if e.over || s.sealed != nil {
		return
	}
	e.size = len(s.room(i))
	s.reuse(i)
}

// loosen says that a message may have arrived in part only.
func (s *shadow) loosen(i int) {
	if e := &s.extents[i]; !e.over {
		e.loose = true
	}
}

// partial verifies that every byte of an extent is either untouched or its message's. What lies in a room that no message is
// known for may be anything.
func (s *shadow) partial(i int) error {
	e := &s.extents[i]
	for k, b := range s.bytes(i) {
		if b != poison && b != byte(e.pattern.word(k/8)>>(k%8*8)) {
			return fmt.Errorf("%w: %s: byte %d of message %d, which failed, is %#02x", ErrViolation, s.name, k, i, b)
		}
	}
	return nil
}

// reclaim takes all extents back: what has not arrived never will, and the application uses all of them again.
func (s *shadow) reclaim() error {
	for i := range s.extents {
		e := &s.extents[i]
		if e.over {
			continue
		}
		if e.pattern.differs(s.bytes(i)) >= 0 {
			if err := s.partial(i); err != nil {
				return err
			}
			e.lost = true
		}
		s.reuse(i)
	}
	return nil
}

// seal says that the memory will never change again.
func (s *shadow) seal() {
	if s.sealed == nil {
		s.sealed = append([]byte{}, s.memory...)
	}
}

func (s *shadow) unchanged() error {
	for i, b := range s.memory {
		if b != s.sealed[i] {
			return fmt.Errorf("%w: %s: byte %d of %d has changed after the memory was taken back", ErrViolation, s.name, i, len(s.memory))
		}
	}
	return nil
}
