// SPDX-License-Identifier: Apache-2.0

// Package fifo is a queue that keeps its memory: once it has been as long as it gets, pushing allocates nothing.
package fifo

// Queue is first in, first out. The zero value is empty.
type Queue[T any] struct {
	items []T
	head  int
}

// Len is the number of items.
func (q *Queue[T]) Len() int { return len(q.items) - q.head }

// Push adds an item at the end.
func (q *Queue[T]) Push(item T) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

// Pop takes the first item.
func (q *Queue[T]) Pop() (item T, ok bool) {
	if q.Len() == 0 {
		return item, false
	}
	var zero T
	item, q.items[q.head] = q.items[q.head], zero
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return item, true
}

// Front is the first item; the queue must not be empty.
func (q *Queue[T]) Front() T { return q.items[q.head] }
