// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"github.com/openmetaroce/metaroce/engine/internal/fifo"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Reply is what a peer's request has led to. It is held until every chunk of it is acknowledged.
type Reply struct {
	Stream  uint16 // of the requester
	Number  uint32 // message of the requester
	Op      Op
	Key, At uint64 // Read: where the bytes are
	Length  uint32 // bytes asked for
	Status  wire.Status
	Result  uint64 // atomic operations: the word before
}

// replying is a reply under way.
type replying struct {
	Reply
	chunks uint32
	next   uint32
	acked  chunkSet
	count  uint32
	live   bool
}

// Replies is the table of a connection's replies. Its size is what was announced as Requests: a peer cannot make it grow.
type Replies struct {
	cfg   *Config
	size  int
	table []replying
	free  []int           // places in table
	queue fifo.Queue[int] // with chunks never sent
}

// ReplyRef names a chunk of a reply.
type ReplyRef struct {
	Stream uint16
	Number uint32
	Chunk  uint32
}

// ReplyChunk is what one packet carries of a reply.
type ReplyChunk struct {
	*Reply
	Chunk   uint32
	Offset  uint32
	Payload uint32 // bytes of this chunk; none unless Status is ok
}

// NewReplies returns a table for a number of replies.
func NewReplies(size int, cfg *Config) Replies {
	return Replies{cfg: cfg, size: size}
}

// Full tells whether no further request can be accepted.
func (r *Replies) Full() bool { return len(r.table)-len(r.free) == r.size }

// Rest gives back the memory of a table that is empty.
func (r *Replies) Rest() {
	if len(r.free) == len(r.table) {
		*r = NewReplies(r.size, r.cfg)
	}
}

// Add enters a reply. The table must not be full.
func (r *Replies) Add(reply Reply) {
	if len(r.free) == 0 {
		r.free = append(r.free, len(r.table))
		r.table = append(r.table, replying{})
	}
	i := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	chunks := uint32(1)
	if reply.Op == Read && reply.Status == wire.StatusOk {
		chunks = r.cfg.chunks(reply.Length)
	}
	r.table[i] = replying{Reply: reply, chunks: chunks, acked: r.table[i].acked.emptied(), live: true}
	r.queue.Push(i)
}

// Next returns the chunk that goes out next, without taking it.
func (r *Replies) Next() (ReplyChunk, bool) {
	for r.queue.Len() > 0 {
		p := &r.table[r.queue.Front()]
		if p.live && p.next < p.chunks {
			if p.next-p.acked.low >= r.cfg.Span {
				return ReplyChunk{}, false
			}
			return r.chunk(p, p.next), true
		}
		r.queue.Pop()
	}
	return ReplyChunk{}, false
}

// Take marks the chunk that Next returned as sent, and lets the next reply have its turn.
func (r *Replies) Take() {
	i, _ := r.queue.Pop()
	r.table[i].next++
	r.queue.Push(i)
}

func (r *Replies) chunk(p *replying, n uint32) ReplyChunk {
	c := ReplyChunk{Reply: &p.Reply, Chunk: n}
	if p.Op == Read && p.Status == wire.StatusOk && p.Length > 0 {
		c.Offset = n * r.cfg.Chunk
		c.Payload = r.cfg.payload(p.Length, n)
	}
	return c
}

// Spoil ends a read that cannot go on: its region is gone. The requester is told so, instead of the bytes.
func (r *Replies) Spoil(ref ReplyRef, status wire.Status) {
	if p := r.find(ref); p != nil {
		p.Status = status
	}
}

func (r *Replies) find(ref ReplyRef) *replying {
	for i := range r.table {
		if p := &r.table[i]; p.live && p.Stream == ref.Stream && p.Number == ref.Number {
			return p
		}
	}
	return nil
}

// Wanted returns a chunk to send again; ok is false when nobody waits for it.
func (r *Replies) Wanted(ref ReplyRef) (ReplyChunk, bool) {
	p := r.find(ref)
	if p == nil || p.acked.has(ref.Chunk) {
		return ReplyChunk{}, false
	}
	return r.chunk(p, ref.Chunk), true
}

// Retire marks a chunk as acknowledged. A reply whose chunks all are leaves the table.
func (r *Replies) Retire(ref ReplyRef) {
	p := r.find(ref)
	if p == nil || ref.Chunk >= p.chunks || !p.acked.add(ref.Chunk, min(p.chunks, r.cfg.Span)) {
		return
	}
	p.count++
	if p.count == p.chunks {
		r.release(p)
	}
}

// Stop drops the replies to a stream that has been aborted.
func (r *Replies) Stop(stream uint16) {
	for i := range r.table {
		if p := &r.table[i]; p.live && p.Stream == stream {
			r.release(p)
		}
	}
}

func (r *Replies) release(p *replying) {
	p.live = false
	for i := range r.table {
		if &r.table[i] == p {
			r.free = append(r.free, i)
		}
	}
}
