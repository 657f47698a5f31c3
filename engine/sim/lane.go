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
	slot    int // a Write's extent in lane.region, a Send's in lane.inbox; -1 for an empty hand
	receive int // the posted receive it consumes, or -1
}

// lane is one stream, as its two applications and the judge see it.
type lane struct {
	Stream
	index      int
	id         uint16
	operations []operation
	consumers  []int   // by receive: the operation that consumes it
	region     *shadow // at the receiver, where Writes land
	inbox      *shadow // at the receiver, the buffers of posted receives
	key        engine.Key

	sender   sender
	receiver receiver
}

// sender is the progress of the sending application.
type sender struct {
	posted, completed int // operations
	ended             bool
	begun, finished   instant
}

// receiver is the progress of the receiving application.
type receiver struct {
	opened, ended  bool
	posted, filled int // receives
	paused         int // receives that will be posted later
	delayed        uint64
	verified       int // operations known to be in place
}

// newLane draws what the messages of a stream hold and where they land.
func newLane(index int, s Stream, rng *rand.Rand) *lane {
	l := &lane{Stream: s, index: index, id: uint16(index), operations: make([]operation, len(s.Messages))}
	var writes, receives []int // operations
	var rooms []int            // of receives
	for i := range l.operations {
		o := &l.operations[i]
		*o = operation{Message: s.Messages[i], pattern: pattern(rng.Uint64()), value: rng.Uint32(), match: rng.Uint64(), slot: -1, receive: -1}
		if o.Op == engine.OpWrite {
			writes = append(writes, i)
		}
		if o.Op == engine.OpSend || o.Immediate {
			o.receive = len(receives)
			receives = append(receives, i)
			room := rng.IntN(32)
			if o.Op == engine.OpSend {
				o.slot = o.receive
				room += o.Size
			}
			rooms = append(rooms, room)
		}
	}
	l.consumers = receives
	l.inbox = newShadow(fmt.Sprintf("receives of stream %d", index), rooms)
	for _, i := range receives {
		if o := &l.operations[i]; o.Op == engine.OpSend {
			l.inbox.extents[o.receive].size, l.inbox.extents[o.receive].pattern = o.Size, o.pattern
		}
	}
	places := slices.Clone(writes)
	rng.Shuffle(len(places), func(i, k int) { places[i], places[k] = places[k], places[i] })
	sizes := make([]int, len(places))
	for slot, i := range places {
		sizes[slot] = l.operations[i].Size
		l.operations[i].slot = slot
	}
	l.region = newShadow(fmt.Sprintf("region of stream %d", index), sizes)
	for slot, i := range places {
		l.region.extents[slot].size, l.region.extents[slot].pattern = sizes[slot], l.operations[i].pattern
	}
	return l
}

// shadowOf returns where an operation's bytes land.
func (l *lane) shadowOf(o *operation) *shadow {
	if o.Op == engine.OpWrite {
		return l.region
	}
	return l.inbox
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
	if o.source == nil {
		o.source = make([]byte, o.Size)
		o.pattern.fill(o.source)
	}
	w := engine.Work{
		Stream: l.id, Op: o.Op, ID: l.name(l.sender.posted), Data: o.source,
		Immediate: o.Immediate, Value: o.value, Match: o.match,
	}
	if o.Op == engine.OpWrite {
		w.Match, w.Key, w.At = 0, l.key, uint64(l.region.extents[o.slot].at-guardBytes)
	}
	if !o.Immediate {
		w.Value = 0
	}
	return w
}

// name is the application's id of operation or receive i.
func (l *lane) name(i int) uint64 { return uint64(l.index)<<40 | uint64(i) }

// hasWork tells whether the sender's application has something to post, or the end of the stream.
func (l *lane) hasWork() bool {
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
	e := &l.inbox.extents[l.receiver.posted]
	end := len(l.inbox.memory) - guardBytes
	if l.receiver.posted+1 < len(l.inbox.extents) {
		end = l.inbox.extents[l.receiver.posted+1].at - guardBytes
	}
	return engine.Receive{Stream: l.id, ID: l.name(l.receiver.posted), Buffer: l.inbox.memory[e.at:end:end]}
}

// over tells whether nothing more is to come of the stream.
func (l *lane) over() bool { return l.sender.completed == len(l.operations) && l.receiver.ended }
