// SPDX-License-Identifier: Apache-2.0

package model

import "fmt"

// Outbox is the sending end of a stream whose operations all succeed.
type Outbox struct {
	posted []operation
	done   int
}

// operation is a message as the application has posted it.
type operation struct {
	id     uint64
	chunks int
	acked  map[int]bool // offsets
	waits  bool         // for a reply
}

// Post queues an operation that is cut into chunks. Its message number is its place in the queue.
func (b *Outbox) Post(id uint64, chunks int) {
	b.posted = append(b.posted, operation{id: id, chunks: chunks, acked: map[int]bool{}})
}

// PostRequest queues an operation that is complete when its reply has come, too.
func (b *Outbox) PostRequest(id uint64) {
	b.posted = append(b.posted, operation{id: id, chunks: 1, acked: map[int]bool{}, waits: true})
}

// Acked takes in that the chunk at an offset has been acknowledged.
func (b *Outbox) Acked(number int64, offset int) error {
	if number < 0 || number >= int64(len(b.posted)) {
		return fmt.Errorf("message %d is acknowledged, %d were posted", number, len(b.posted))
	}
	b.posted[number].acked[offset] = true
	return nil
}

// Replied takes in that the whole reply has come.
func (b *Outbox) Replied(number int64) { b.posted[number].waits = false }

// Complete returns the operations that have completed since, in the order of posting.
func (b *Outbox) Complete() (ids []uint64) {
	for b.done < len(b.posted) {
		o := &b.posted[b.done]
		if len(o.acked) < o.chunks || o.waits {
			break
		}
		ids = append(ids, o.id)
		b.done++
	}
	return ids
}

// Left is the number of operations that have not completed.
func (b *Outbox) Left() int { return len(b.posted) - b.done }
