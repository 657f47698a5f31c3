// SPDX-License-Identifier: Apache-2.0

package engine

import "math/bits"

// idSet is a set of path ids below 256.
type idSet [4]uint64

func (s *idSet) add(id uint16)      { s[id>>6&3] |= 1 << (id & 63) }
func (s *idSet) remove(id uint16)   { s[id>>6&3] &^= 1 << (id & 63) }
func (s *idSet) has(id uint16) bool { return s[id>>6&3]&(1<<(id&63)) != 0 }
func (s *idSet) empty() bool        { return *s == idSet{} }

// len is the number of ids in the set.
func (s *idSet) len() int {
	return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) + bits.OnesCount64(s[2]) + bits.OnesCount64(s[3])
}

// next returns the lowest id not below from; ok is false when there is none.
func (s *idSet) next(from int) (id uint16, ok bool) {
	for ; from < 256; from = (from | 63) + 1 {
		if word := s[from>>6] >> (from & 63); word != 0 {
			return uint16(from + bits.TrailingZeros64(word)), true
		}
	}
	return 0, false
}
