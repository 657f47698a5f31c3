// SPDX-License-Identifier: Apache-2.0

package stream

import "github.com/openmetaroce/metaroce/engine/internal/fifo"

// Memory is what the incoming streams of a connection lend one another: a stream on which nothing is under way holds none
// of it. The zero value is empty.
type Memory struct {
	free     []*incoming
	messages fifo.Pool[*incoming]
	receives fifo.Pool[posted]
	arrived  fifo.Pool[Arrived]
}

// take returns a message without chunks.
func (y *Memory) take() *incoming {
	n := len(y.free)
	if n == 0 {
		return new(incoming)
	}
	m := y.free[n-1]
	y.free = y.free[:n-1]
	return m
}

// give keeps a message's memory for a later one.
func (y *Memory) give(m *incoming) {
	m.got, m.count, m.complete = m.got.emptied(), 0, false
	y.free = append(y.free, m)
}

// Rest gives back the memory that no stream needs now.
func (y *Memory) Rest() { *y = Memory{} }
