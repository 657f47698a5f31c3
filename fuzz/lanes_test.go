// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/fuzz/model"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"pgregory.net/rapid"
)

// lane is a stream in one direction with its model, and the memory of its operations.
type lane struct {
	id       uint16
	out      model.Outbox
	in       *model.Inbox
	works    []work // by message number
	done     int    // operations whose end the sender has heard of
	complete int    // the same, as the model has it
	buffers  map[uint64][]byte
	heard    []uint64        // receives that have ended
	expected []model.Arrived // at the receiver, not yet heard of
	region   []byte          // at the receiver, for this lane alone
	want     []byte          // what it should hold
	key      engine.Key
	words    []byte // at the receiver, for atomic operations
	wordsKey engine.Key
	results  map[uint64]bool // words before, that additions have returned
	end      int             // of the sender
}

// work is an operation as it was posted.
type work struct {
	engine.Work
	arrived map[int]int // bytes of the reply by offset
}

const (
	laneBytes = 1 << 14
	scribble  = 0xEE // what an application writes over memory that it has got back
)

// lane returns a stream of a sender, new if need be.
func (a *arena) lane(from int, id uint16) *lane {
	if l := a.streams[from][id]; l != nil {
		return l
	}
	l := &lane{
		id: id, in: model.NewInbox(), buffers: map[uint64][]byte{}, region: make([]byte, laneBytes), want: make([]byte, laneBytes),
		words: make([]byte, 8), results: map[uint64]bool{}, end: from,
	}
	var err error
	if l.key, err = a.ends[1-from].Register(l.region, engine.RemoteWrite|engine.RemoteRead); err != nil {
		a.t.Fatal(err)
	}
	if l.wordsKey, err = a.ends[1-from].Register(l.words, engine.RemoteAtomic); err != nil {
		a.t.Fatal(err)
	}
	a.streams[from][id] = l
	return l
}

// post adds an operation to a lane. Writes go one behind the other, so that none overwrites another; Reads fetch the
// beginning, fenced, when all that was written before is there.
func (a *arena) post(l *lane, op engine.Op, size int) {
	n := len(l.works)
	at := 0
	for _, w := range l.works {
		at += len(w.Data)
	}
	if n >= 40 || at+size > laneBytes {
		return
	}
	w := engine.Work{Stream: l.id, Op: op, ID: uint64(n), Match: uint64(n) << 33}
	chunks := 1
	switch op {
	case engine.OpWrite, engine.OpSend:
		w.Data = bytes.Repeat([]byte{byte(n + 1)}, size)
		chunks = max((size+a.chunk-1)/a.chunk, 1)
		if op == engine.OpWrite {
			w.Key, w.At, w.Match = l.key, uint64(at), 0
			copy(l.want[at:], w.Data)
		}
		w.Immediate = rapid.Bool().Draw(a.t, "immediate")
		w.Value = uint32(n) * 3
		if !w.Immediate {
			w.Value = 0
		}
		l.out.Post(w.ID, chunks)
	case engine.OpRead:
		w.Key, w.Into, w.Fence, w.Match = l.key, make([]byte, size), true, 0
		l.out.PostRequest(w.ID)
	case engine.OpFetchAdd:
		w.Key, w.Operand, w.Match = l.wordsKey, 1, 0
		l.out.PostRequest(w.ID)
	}
	if err := a.ends[l.end].Post(a.now, a.conns[l.end], w); err != nil {
		a.t.Fatal(err)
	}
	l.works = append(l.works, work{w, map[int]int{}})
	a.pump(l.end)
}

// receive posts a receive for a lane, long enough for every message.
func (a *arena) receive(l *lane) {
	id := uint64(len(l.buffers)) + 100
	l.buffers[id] = make([]byte, laneBytes/4)
	if err := a.ends[1-l.end].PostReceive(a.now, a.conns[1-l.end], engine.Receive{Stream: l.id, ID: id, Buffer: l.buffers[id]}); err != nil {
		a.t.Fatal(err)
	}
	l.in.Post(id)
	a.pump(1 - l.end)
}

// place lets the model place a chunk. It returns false when it is refused.
func (a *arena) place(p *parcel) bool {
	if p.opcode == wire.OpcodeReadReply || p.opcode == wire.OpcodeAtomicReply {
		l := a.lane(1-p.from, p.stream)
		l.works[p.chunk.Message].arrived[p.chunk.Offset] = p.chunk.Payload
		got := 0
		for _, n := range l.works[p.chunk.Message].arrived {
			got += n
		}
		if got == p.chunk.Length {
			l.out.Replied(p.chunk.Message)
		}
		return true
	}
	l := a.lane(p.from, p.stream)
	if l.in.Arrive(p.chunk) == model.Refused {
		return false
	}
	l.expected = append(l.expected, l.in.Deliver()...)
	return true
}

// acknowledged notes a chunk that the sender knows to be placed.
func (a *arena) acknowledged(end int, ref chunkRef) {
	if ref.reply {
		return
	}
	if err := a.lane(end, ref.stream).out.Acked(ref.message, ref.offset); err != nil {
		a.t.Fatal(err)
	}
}

// events compares what an application hears with what the model expects at that very moment.
func (a *arena) events(end int) {
	for {
		ev, ok := a.ends[end].NextEvent()
		if !ok {
			break
		}
		switch ev.Kind {
		case engine.Opened:
			a.conns[end] = ev.Conn
		case engine.Completed:
			a.completed(a.lane(end, ev.Stream), &ev)
		case engine.Received:
			a.received(a.lane(1-end, ev.Stream), &ev)
		case engine.StreamOpened:
		default:
			a.t.Fatalf("end %d: unexpected event %+v", end, ev)
		}
	}
	for _, l := range a.lanes() {
		if len(l.expected) > 0 && l.end == 1-end {
			a.t.Fatalf("stream %d: the model has delivered %+v, the engine has not", l.id, l.expected)
		}
		if l.end != end {
			continue
		}
		l.complete += len(l.out.Complete())
		if a.strict && l.complete != l.done {
			a.t.Fatalf("stream %d: %d operations have ended, the model says %d", l.id, l.done, l.complete)
		}
	}
}

// completed checks the end of an operation.
func (a *arena) completed(l *lane, ev *engine.Event) {
	w := &l.works[l.done]
	if ev.ID != w.ID || ev.Err != nil {
		a.t.Fatalf("stream %d: operation %d ends with %v, want %d", l.id, ev.ID, ev.Err, w.ID)
	}
	if !l.in.Complete(int64(l.done)) {
		a.t.Fatalf("stream %d: operation %d ends before its message is placed", l.id, ev.ID)
	}
	l.done++
	switch w.Op {
	case engine.OpWrite:
		at := w.At
		if !bytes.Equal(l.region[at:at+uint64(len(w.Data))], w.Data) {
			a.t.Fatalf("stream %d: the bytes of Write %d are not there", l.id, ev.ID)
		}
		if !a.readLater(l) {
			fill(l.region[at:at+uint64(len(w.Data))], scribble)
			fill(l.want[at:at+uint64(len(w.Data))], scribble)
		}
	case engine.OpRead:
		if !bytes.Equal(w.Into, l.region[:len(w.Into)]) {
			a.t.Fatalf("stream %d: Read %d fetched other bytes", l.id, ev.ID)
		}
	case engine.OpFetchAdd:
		if l.results[ev.Result] {
			a.t.Fatalf("stream %d: two additions saw %d", l.id, ev.Result)
		}
		l.results[ev.Result] = true
	}
}

// readLater tells whether a Read will compare the lane's bytes.
func (a *arena) readLater(l *lane) bool {
	for _, w := range l.works[l.done:] {
		if w.Op == engine.OpRead {
			return true
		}
	}
	return false
}

// received checks the end of a receive. Then the application uses the buffer for something else.
func (a *arena) received(l *lane, ev *engine.Event) {
	got := model.Arrived{ID: ev.ID, Length: int(ev.Length), Match: ev.Match, Value: ev.Value, Flag: ev.Immediate, Written: ev.Written}
	if len(l.expected) == 0 || ev.Err != nil {
		a.t.Fatalf("stream %d: unexpected %+v", l.id, *ev)
	}
	if diff := cmp.Diff(l.expected[0], got); diff != "" {
		a.t.Fatalf("stream %d: received (-model +engine):\n%s", l.id, diff)
	}
	l.expected = l.expected[1:]
	buffer := l.buffers[ev.ID]
	if !ev.Written {
		n := byte(ev.Match>>33) + 1
		if !bytes.Equal(buffer[:ev.Length], bytes.Repeat([]byte{n}, int(ev.Length))) {
			a.t.Fatalf("stream %d: the buffer of message %d holds other bytes", l.id, n-1)
		}
	}
	fill(buffer, scribble)
	l.heard = append(l.heard, ev.ID)
}

func fill(b []byte, with byte) {
	for i := range b {
		b[i] = with
	}
}

// lanes are the streams of both directions, in order.
func (a *arena) lanes() (all []*lane) {
	for from := range a.streams {
		for id := range uint16(4) {
			if l := a.streams[from][id]; l != nil {
				all = append(all, l)
			}
		}
	}
	return all
}

// finish lets all arrive until every operation has ended, and compares memory.
func (a *arena) finish() {
	for _, l := range a.lanes() {
		for range len(l.works) {
			a.receive(l)
		}
	}
	for turns := 0; a.left() > 0; turns++ {
		if turns > 5000 {
			a.t.Fatalf("%d operations never end", a.left())
		}
		for from := range a.wire {
			for path := range a.wire[from] {
				for len(a.wire[from][path]) > 0 {
					a.deliver(a.take(from, path))
				}
			}
		}
		next := min(a.ends[0].NextTimeout(), a.ends[1].NextTimeout())
		a.advance(max(a.now.Add(1000), min(next, a.now.Add(1e9))))
	}
	for _, l := range a.lanes() {
		if !bytes.Equal(l.region, l.want) {
			a.t.Fatalf("stream %d: the region differs from the model's at the end: %s", l.id, firstDifference(l.want, l.region))
		}
		for _, id := range l.heard {
			if !bytes.Equal(l.buffers[id], bytes.Repeat([]byte{scribble}, len(l.buffers[id]))) {
				a.t.Fatalf("stream %d: the buffer of receive %d changes after its end", l.id, id)
			}
		}
	}
}

func (a *arena) left() (n int) {
	for _, l := range a.lanes() {
		n += len(l.works) - l.done
	}
	return n
}

func firstDifference(want, got []byte) string {
	for i := range want {
		if want[i] != got[i] {
			return fmt.Sprintf("byte %d is %#x, want %#x", i, got[i], want[i])
		}
	}
	return "none"
}
