// SPDX-License-Identifier: Apache-2.0

package metaroce

// slots numbers the things that the engine knows by number, and uses numbers again.
type slots[T any] struct {
	items []T
	used  []bool
	free  []uint64
}

// put gives an item a number.
func (s *slots[T]) put(item T) uint64 {
	if n := len(s.free); n > 0 {
		id := s.free[n-1]
		s.free = s.free[:n-1]
		s.items[id], s.used[id] = item, true
		return id
	}
	s.items, s.used = append(s.items, item), append(s.used, true)
	return uint64(len(s.items) - 1)
}

// take returns the item of a number and frees the number. ok is false when it names nothing.
func (s *slots[T]) take(id uint64) (item T, ok bool) {
	if id >= uint64(len(s.items)) || !s.used[id] {
		return item, false
	}
	item = s.items[id]
	var zero T
	s.items[id], s.used[id] = zero, false
	s.free = append(s.free, id)
	return item, true
}

// drain takes all items, in the order of their numbers.
func (s *slots[T]) drain() (all []T) {
	for id := range s.items {
		if item, ok := s.take(uint64(id)); ok {
			all = append(all, item)
		}
	}
	return all
}
