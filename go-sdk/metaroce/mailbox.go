// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"sync"
)

// mailbox hands items from one goroutine to others, in order, until it is closed with a reason. It never blocks the one
// that puts.
type mailbox[T any] struct {
	mu    sync.Mutex
	items []T
	err   error
	// news holds a token while there may be something for a waiting taker.
	news chan struct{}
}

func newMailbox[T any]() *mailbox[T] { return &mailbox[T]{news: make(chan struct{}, 1)} }

// put adds an item. Items put after close are dropped.
func (m *mailbox[T]) put(item T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.items = append(m.items, item)
		m.signal()
	}
}

// len returns how many items wait.
func (m *mailbox[T]) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.items)
}

// close makes takers fail with err once the items are gone. The first reason stays.
func (m *mailbox[T]) close(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
		m.signal()
	}
}

func (m *mailbox[T]) signal() {
	select {
	case m.news <- struct{}{}:
	default:
	}
}

// poll takes the oldest item. ok is false when there is none; err is then the reason of the end, if it has ended.
func (m *mailbox[T]) poll() (item T, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.items) == 0 {
		if m.err != nil {
			m.signal() // for the other takers
		}
		return item, false, m.err
	}
	item = m.items[0]
	var zero T
	m.items[0] = zero
	m.items = m.items[1:]
	if len(m.items) > 0 || m.err != nil {
		m.signal()
	}
	return item, true, nil
}

// take waits for the oldest item, the end, or the end of ctx.
func (m *mailbox[T]) take(ctx context.Context) (T, error) {
	for {
		item, ok, err := m.poll()
		if ok || err != nil {
			return item, err
		}
		select {
		case <-m.news:
		case <-ctx.Done():
			return item, ctx.Err()
		}
	}
}
