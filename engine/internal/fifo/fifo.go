// SPDX-License-Identifier: Apache-2.0

// Package fifo is a queue that keeps its memory: once it has been as long as it gets, pushing allocates nothing. Many
// queues that are mostly empty share a Pool instead.
package fifo

// Queue is first in, first out. The zero value is empty.
type Queue[T any] struct {
	items []T // zero from len to cap, and below head
	head  int
}

// Len is the number of items.
func (q *Queue[T]) Len() int { return len(q.items) - q.head }

// Items are the items in order, the first one first. They are valid until the next call.
func (q *Queue[T]) Items() []T { return q.items[q.head:] }

// Push adds an item at the end.
func (q *Queue[T]) Push(item T) { *q.Extend() = item }

// Extend adds a zero item at the end, to be filled in before the next call.
func (q *Queue[T]) Extend() *T {
	n := len(q.items)
	if n == cap(q.items) {
		n = q.makeRoom()
	}
	q.items = q.items[:n+1]
	return &q.items[n]
}

// makeRoom moves the items to the start of their memory, or to more of it when they fill most of it.
func (q *Queue[T]) makeRoom() int {
	live := q.Items()
	if 2*len(live) <= cap(q.items) && q.head > 0 {
		copy(q.items, live)
		clear(q.items[len(live):])
		q.items = q.items[:len(live)]
	} else {
		q.items = append(make([]T, 0, max(2, 2*cap(q.items))), live...)
	}
	q.head = 0
	return len(q.items)
}

// Pop takes the first item.
func (q *Queue[T]) Pop() (item T, ok bool) {
	if q.Len() == 0 {
		return item, false
	}
	item = q.items[q.head]
	q.Discard()
	return item, true
}

// Discard drops the first item; the queue must not be empty.
func (q *Queue[T]) Discard() {
	var zero T
	q.items[q.head] = zero
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
}

// Remove takes out the item at a place in Items.
func (q *Queue[T]) Remove(i int) {
	var zero T
	live := q.Items()
	copy(live[i:], live[i+1:])
	live[len(live)-1] = zero
	q.items = q.items[:len(q.items)-1]
	if q.Len() == 0 {
		q.items, q.head = q.items[:0], 0
	}
}

// Clear drops all items.
func (q *Queue[T]) Clear() {
	clear(q.items)
	q.items, q.head = q.items[:0], 0
}

// Rest gives back the memory of an empty queue.
func (q *Queue[T]) Rest() {
	if q.Len() == 0 {
		q.items = nil
	}
}

// Front is the first item; the queue must not be empty.
func (q *Queue[T]) Front() T { return q.items[q.head] }

// Pool lends memory to queues while something is in them: what many queues cost follows what they hold, not their number.
type Pool[T any] struct {
	Most  int // items that the memory of all queues together may have room for while it waits; 0 = any number
	spare [][]T
	room  int // of spare, in items
}

// Lend gives an empty queue the memory that another one has left, if there is any.
func (p *Pool[T]) Lend(q *Queue[T]) {
	if n := len(p.spare); n > 0 && cap(q.items) == 0 {
		q.items, p.spare[n-1] = p.spare[n-1], nil
		p.spare = p.spare[:n-1]
		p.room -= cap(q.items)
	}
}

// Reclaim takes the memory of a queue that has run empty.
func (p *Pool[T]) Reclaim(q *Queue[T]) {
	if q.Len() == 0 && cap(q.items) > 0 {
		if p.Most == 0 || p.room+cap(q.items) <= p.Most {
			p.spare = append(p.spare, q.items)
			p.room += cap(q.items)
		}
		q.items = nil
	}
}
