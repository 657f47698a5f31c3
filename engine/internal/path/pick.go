// SPDX-License-Identifier: Apache-2.0

package path

import "math/rand/v2"

// Set is the paths of a connection and the choice among them: in turn, in a seeded order, Burst packets at a time.
type Set struct {
	byID  []*Path // nil = not in use
	order []uint16
	at    int // place of the current path in order
	left  int // packets that it may still take
	burst int
}

// NewSet returns a set for path ids below n, all unused.
func NewSet(n, burst int, rng *rand.Rand) Set {
	s := Set{byID: make([]*Path, n), order: make([]uint16, n), burst: burst}
	for i := range s.order {
		s.order[i] = uint16(i)
	}
	rng.Shuffle(n, func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
	return s
}

// Len is the number of path ids.
func (s *Set) Len() int { return len(s.byID) }

// Get returns a path in use, or nil.
func (s *Set) Get(id uint16) *Path {
	if int(id) >= len(s.byID) {
		return nil
	}
	return s.byID[id]
}

// Add puts a path into use.
func (s *Set) Add(p *Path) { s.byID[p.ID] = p }

// All returns the paths by id; nil where none is in use.
func (s *Set) All() []*Path { return s.byID }

// Turn ends the turn of the current path: what has lost its path does not go back there at once.
func (s *Set) Turn() { s.left = 0 }

// Pick returns a path with room for a new packet, or nil.
//
//mr:req MR-PATH-010
func (s *Set) Pick(sizeBytes int) *Path {
	if s.left > 0 {
		s.left--
		if p := s.byID[s.order[s.at]]; p != nil && p.Room(sizeBytes) {
			return p
		}
	}
	for range s.order {
		s.at++
		if s.at == len(s.order) {
			s.at = 0
		}
		if p := s.byID[s.order[s.at]]; p != nil && p.Room(sizeBytes) {
			s.left = s.burst - 1
			return p
		}
	}
	return nil
}
