// SPDX-License-Identifier: Apache-2.0

package stream

import "github.com/openmetaroce/metaroce/engine/internal/fifo"

// Memory is what the incoming streams of a connection lend one another: a stream on which nothing is under way holds none
// of it.
type Memory struct {
	most     int // bytes for what comes out of order
	held     int // of them in use
	kept     int // bytes of bitmaps in free, as many at the most
	free     []*incoming
	messages fifo.Pool[*incoming]
	receives fifo.Pool[posted]
	arrived  fifo.Pool[Arrived]
}

// NewMemory returns an empty memory, with a number of bytes for what comes out of order.
func NewMemory(most int) Memory {
	return Memory{most: most, messages: fifo.Pool[*incoming]{Most: max(most/slotBytes, 1)}}
}

// take returns a message without chunks that holds a number of bytes.
func (y *Memory) take(bytes int) *incoming {
	m := y.obtain()
	y.hold(m, bytes)
	return m
}

func (y *Memory) obtain() *incoming {
	n := len(y.free)
	if n == 0 {
		return new(incoming)
	}
	m := y.free[n-1]
	y.free = y.free[:n-1]
	y.kept -= m.got.bytes()
	return m
}

// give keeps a message's memory for a later one.
func (y *Memory) give(m *incoming) {
	y.hold(m, -m.held)
	m.got, m.count, m.complete = m.got.emptied(), 0, false
	if y.kept+m.got.bytes() > y.most {
		m.got = chunkSet{}
	}
	y.kept += m.got.bytes()
	y.free = append(y.free, m)
}

// Rest gives back the memory that no stream needs now.
func (y *Memory) Rest() {
	held := y.held
	*y = NewMemory(y.most)
	y.held = held
}
