// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/openmetaroce/metaroce/engine"
)

// operation is a Message with all that was drawn for it.
type operation struct {
	Message
	source  []byte
	pattern pattern
	match   uint64
	value   uint32
	slot    int // its extent: a Write's in lane.region, a Send's in lane.inbox, a Read's in lane.library and lane.into; an atomic operation's word
	receive int // the posted receive it consumes, or -1
	effect  effect
	over    bool // it has ended
	failed  bool // with an error
	doomed  bool // the application has given it up, or has set it a deadline
}

// lane is one stream, as its two applications and the judge see it.
type lane struct {
	Stream
	index      int // among those of all sessions
	session    int
	id         uint16
	troubles   []Fault // of applications
	troubled   bool    // there are such
	shaken     bool    // one has happened: operations may fail
	withdrawn  bool    // the receiver has taken its memory back
	operations []operation
	consumers  []int // by receive: the operation that consumes it
	memory
	sender   sender
	receiver receiver
}

// memory is what a lane's operations touch.
type memory struct {
	region  *shadow // at the receiver, where Writes land
	inbox   *shadow // at the receiver, the buffers of posted receives
	library *shadow // at the receiver, what Reads ask for
	into    *shadow // at the sender, where Reads land
	words   *words  // at the receiver, what atomic operations change
	keys    struct{ region, library, words engine.Key }
}

// sender is the progress of the sending application.
type sender struct {
	posted, completed int // operations
	ended, closed     bool
	aborted           bool // the stream has failed: nothing more can be posted
	succeeded         int  // the last operation that has
	begun, finished   instant
}

// receiver is the progress of the receiving application.
type receiver struct {
	opened, ended  bool
	posted, filled int // receives
	paused         int // receives that will be posted later
	delayed        uint64
	verified       int // operations known to be in place
	next           int // of consumers, the first that may come next
}

// newLane draws what the messages of stream index hold and where they land.
func newLane(cfg *Config, index int, rng *rand.Rand) *lane {
	s := cfg.Streams[index]
	l := &lane{Stream: s, index: index, id: uint16(index), operations: make([]operation, len(s.Messages))}
	for _, f := range cfg.Faults {
		if f.Kind.ofApplications() && f.Stream == index {
			l.troubles, l.troubled = append(l.troubles, f), true
		}
	}
	var writes, reads, atomics []int // operations
	var rooms []int                  // of receives
	for i := range l.operations {
		o := &l.operations[i]
		*o = operation{Message: s.Messages[i], pattern: pattern(rng.Uint64()), value: rng.Uint32(), match: rng.Uint64(), receive: -1}
		switch o.Op {
		case engine.OpWrite:
			writes = append(writes, i)
		case engine.OpRead:
			reads = append(reads, i)
		case engine.OpFetchAdd, engine.OpCompareSwap:
			atomics = append(atomics, i)
		}
		if o.Op == engine.OpSend || o.Op == engine.OpWrite && o.Immediate {
			o.receive = len(l.consumers)
			l.consumers = append(l.consumers, i)
			room := rng.IntN(32)
			if o.Op == engine.OpSend {
				room += o.Size
			}
			rooms = append(rooms, room)
		}
	}
	if l.troubled && len(rooms) > 0 {
		// Operations may drop out: then others find their receives, which are large enough for any.
		most := slices.Max(rooms)
		for k := range rooms {
			rooms[k] = most
		}
	}
	l.inbox = newShadow(fmt.Sprintf("receives of stream %d", index), rooms)
	for k, i := range l.consumers {
		if o := &l.operations[i]; o.Op == engine.OpSend && !l.troubled {
			o.slot = k
			l.inbox.extents[k].size, l.inbox.extents[k].pattern = o.Size, o.pattern
		}
	}
	l.region = l.shuffle("region", writes, rng)
	l.library = l.shuffle("library", reads, rng)
	l.into = newShadow(fmt.Sprintf("reads of stream %d", index), l.library.rooms())
	copy(l.into.extents, l.library.extents)
	for slot := range l.library.extents {
		l.library.extents[slot].pattern.fill(l.library.bytes(slot))
	}
	l.words = newWords(l, atomics, rng)
	return l
}

// shuffle lays out memory for operations, in an order of its own.
func (l *lane) shuffle(name string, operations []int, rng *rand.Rand) *shadow {
	rng.Shuffle(len(operations), func(i, k int) { operations[i], operations[k] = operations[k], operations[i] })
	rooms := make([]int, len(operations))
	for slot, i := range operations {
		rooms[slot] = l.operations[i].Size
		l.operations[i].slot = slot
	}
	s := newShadow(fmt.Sprintf("%s of stream %d", name, l.index), rooms)
	for slot, i := range operations {
		s.extents[slot].size, s.extents[slot].pattern = rooms[slot], l.operations[i].pattern
	}
	return s
}

// landing returns where an operation's bytes land; nil for atomic operations.
func (l *lane) landing(o *operation) *shadow {
	switch o.Op {
	case engine.OpWrite:
		return l.region
	case engine.OpSend:
		return l.inbox
	case engine.OpRead:
		return l.into
	}
	return nil
}

// bytes is the payload of all messages.
func (l *lane) bytes() (n uint64) {
	for i := range l.operations {
		n += uint64(l.operations[i].Size)
	}
	return n
}

// work makes the next operation, its source bytes included.
func (l *lane) work() engine.Work {
	o := &l.operations[l.sender.posted]
	w := engine.Work{Stream: l.id, Op: o.Op, ID: l.name(l.sender.posted), Fence: o.Fence, Immediate: o.Immediate}
	if o.Immediate {
		w.Value = o.value
	}
	switch o.Op {
	case engine.OpWrite:
		w.Key, w.At = l.keys.region, l.region.offset(o.slot)
	case engine.OpSend:
		w.Match = o.match
	case engine.OpRead:
		w.Key, w.At, w.Into = l.keys.library, l.library.offset(o.slot), l.into.bytes(o.slot)
		return w
	default:
		w.Key, w.At = l.keys.words, 8*uint64(o.slot)
		w.Operand, w.Compare = o.effect.operand, o.effect.compare
		return w
	}
	if o.source == nil {
		o.source = make([]byte, o.Size)
		o.pattern.fill(o.source)
	}
	if o.Pieces == 0 {
		w.Data = o.source
		return w
	}
	for k := range o.Pieces {
		w.Pieces = append(w.Pieces, o.source[k*o.Size/o.Pieces:(k+1)*o.Size/o.Pieces])
	}
	return w
}

// name is the application's id of operation or receive i.
func (l *lane) name(i int) uint64 { return uint64(l.index)<<40 | uint64(i) }

// unnamed is the inverse of name; ok is false when the name is not one of the lane's operations.
func (l *lane) unnamed(id uint64) (i int, ok bool) {
	i = int(id & (1<<40 - 1))
	return i, i < len(l.operations) && l.name(i) == id
}

// hasWork tells whether the sender's application has something to post, or the end of the stream.
func (l *lane) hasWork() bool {
	if l.sender.aborted || l.sender.closed {
		return false
	}
	room := l.Depth == 0 || l.sender.posted-l.sender.completed < l.Depth
	return l.sender.posted < len(l.operations) && room || l.sender.posted == len(l.operations) && !l.sender.ended
}

// wanted is the number of receives to post now; the receiver's application keeps Receives of them ready.
func (l *lane) wanted() int {
	if l.Receives == 0 {
		return len(l.consumers) - l.receiver.posted
	}
	ready := l.receiver.posted + l.receiver.paused - l.receiver.filled
	return min(l.Receives-ready, len(l.consumers)-l.receiver.posted-l.receiver.paused)
}

// receive makes the next posted receive.
func (l *lane) receive() engine.Receive {
	return engine.Receive{Stream: l.id, ID: l.name(l.receiver.posted), Buffer: l.inbox.room(l.receiver.posted)}
}

// over tells whether nothing more is to come of the stream.
func (l *lane) over() bool {
	return l.sender.closed && l.receiver.ended && l.sender.completed == l.sender.posted
}

// registration is memory that the peer may reach, and how.
type registration struct {
	shadow *shadow
	rights engine.Rights
	key    *engine.Key
}

// registered lists what the lane's receiver registers.
func (l *lane) registered() []registration {
	return []registration{
		{l.region, engine.RemoteWrite, &l.keys.region},
		{l.library, engine.RemoteRead, &l.keys.library},
		{l.words.shadow, engine.RemoteAtomic, &l.keys.words},
	}
}

// shadows lists all memory of the lane.
func (l *lane) shadows() [5]*shadow {
	return [...]*shadow{l.region, l.inbox, l.library, l.into, l.words.shadow}
}

// shadowsAt lists the memory that lies at a host.
func (l *lane) shadowsAt(host int) []*shadow {
	all := l.shadows()
	if host == l.From {
		return []*shadow{l.into}
	}
	return []*shadow{all[0], all[1], all[2], all[4]}
}
