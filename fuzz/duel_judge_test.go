// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// listen judges what an end tells.
func (d *duel) listen(end int) {
	for {
		e, ok := d.ends[end].NextEvent()
		if !ok {
			return
		}
		switch e.Kind {
		case engine.Opened:
			d.opened[end]++
			d.conns[end] = e.Conn
			continue
		case engine.Closed:
			d.t.Fatalf("end %d: the connection is over: %v", end, e.Err)
		}
		if int(e.Stream) >= duelStreams {
			d.t.Fatalf("end %d: event of stream %d", end, e.Stream)
		}
		s := &d.streams[e.Stream]
		switch e.Kind {
		case engine.Completed:
			d.completed(s, e)
		case engine.Received:
			d.received(s, e)
		case engine.StreamEnded:
			if s.over++; s.over > 1 || e.Err != nil && !s.shaken {
				d.t.Fatalf("stream %d ends %d times: %v", e.Stream, s.over, e.Err)
			}
		case engine.StreamClosed:
			if s.closed++; s.closed > 1 {
				d.t.Fatalf("stream %d closes twice", e.Stream)
			}
		}
	}
}

// completed judges the end of an operation: once, in order, and all of it in place.
func (d *duel) completed(s *duelStream, e engine.Event) {
	if e.ID >= uint64(len(s.ops)) {
		d.t.Fatalf("operation %d of stream %d was never posted", e.ID, e.Stream)
	}
	o := &s.ops[e.ID]
	o.err = e.Err
	if o.done++; o.done > 1 {
		d.t.Fatalf("operation %d of stream %d ends twice", e.ID, e.Stream)
	}
	if e.Err != nil {
		if !s.shaken {
			d.t.Fatalf("operation %d of stream %d: %v", e.ID, e.Stream, e.Err)
		}
		return
	}
	for i := range s.ops[:e.ID] {
		if s.ops[i].done == 0 {
			d.t.Fatalf("operation %d of stream %d completes before operation %d", e.ID, e.Stream, i)
		}
	}
	switch o.op {
	case engine.OpWrite:
		d.same(s, o, d.memory[1-int(e.Stream)%2][guard+o.at:])
	case engine.OpRead:
		d.same(s, o, o.into)
	}
}

func (d *duel) same(s *duelStream, o *duelOp, got []byte) {
	if !bytes.Equal(got[:len(o.data)], o.data) {
		d.t.Fatalf("an operation of kind %d and %d bytes is complete, and its bytes are not in place", o.op, len(o.data))
	}
}

// received judges a receive: the next Send that was not given up, all of it.
func (d *duel) received(s *duelStream, e engine.Event) {
	if e.ID != uint64(s.filled) || s.filled >= len(s.receives) {
		d.t.Fatalf("stream %d: receive %d ends, %d have", e.Stream, e.ID, s.filled)
	}
	s.filled++
	if e.Err != nil {
		if !errors.Is(e.Err, engine.ErrEnded) {
			d.t.Fatalf("stream %d: receive %d: %v", e.Stream, e.ID, e.Err)
		}
		return
	}
	for ; s.next < len(s.ops); s.next++ {
		o := &s.ops[s.next]
		switch {
		case o.op != engine.OpSend:
		case uint64(s.next) == e.Match:
			if int(e.Length) != len(o.data) {
				d.t.Fatalf("stream %d: %d bytes were received, sent were %d", e.Stream, e.Length, len(o.data))
			}
			d.same(s, o, s.receives[e.ID].buffer)
			s.next++
			return
		case o.err == nil:
			d.t.Fatalf("stream %d: operation %d is passed over", e.Stream, s.next)
		}
	}
	d.t.Fatalf("stream %d: receive %d holds nothing that was sent", e.Stream, e.ID)
}

// finish makes the network perfect and lets everything come to its end.
func (d *duel) finish() {
	for id := range d.streams {
		d.end(id)
	}
	for round := 0; !d.quiet(); round++ {
		for id := range d.streams {
			if s := &d.streams[id]; s.filled == len(s.receives) {
				d.receive(id)
			}
		}
		step := 50 * time.Microsecond
		if round > 200 {
			step = 5 * time.Millisecond
		}
		if d.pass(step); round > 2000 {
			d.t.Fatalf("it does not come to its end: %s", d.state())
		}
	}
	for i := range d.memory {
		m := d.memory[i]
		for _, part := range [][]byte{m[:guard], m[guard+d.used[i]:]} {
			if n := bytes.Count(part, []byte{guardByte}); n != len(part) {
				d.t.Fatalf("end %d: %d bytes that belong to nobody have changed", i, len(part)-n)
			}
		}
	}
}

// quiet tells whether every stream is over at both ends.
func (d *duel) quiet() bool {
	for i := range d.streams {
		s := &d.streams[i]
		if s.closed == 0 || s.over == 0 {
			return false
		}
		for k := range s.ops {
			if s.ops[k].done == 0 {
				return false
			}
		}
	}
	return true
}

func (d *duel) state() (text string) {
	for i := range d.streams {
		s := &d.streams[i]
		done := 0
		for k := range s.ops {
			done += s.ops[k].done
		}
		text += " stream " + string(rune('0'+i))
		if s.closed == 0 || s.over == 0 || done != len(s.ops) {
			text += " open,"
		}
	}
	return text
}

// FuzzTwoEndpoints: whatever network and applications do, each operation ends once, what is complete is in place, nothing else
// is touched, no invariant breaks, and once the network is perfect everything comes to its end.
//
//mr:test MR-STREAM-005 MR-STREAM-006
func FuzzTwoEndpoints(f *testing.F) {
	f.Add([]byte{})
	const deliver, back, wait = 0x01, 0x81, 0x00
	const write, send, read, receive, cancel, end = 0x50, 0x52, 0x53, 0x54, 0x56, 0x57
	head := []byte{7, 15, 15, 3, 7, 0, 1}
	for _, body := range [][]byte{
		{write, 0, 200, deliver, deliver, back, wait, 5},
		{receive, 0, send, 0, 255, deliver, 0x03, 2, 0x04, wait, 9, deliver, back},
		{read, 1, 100, back, deliver, 0x84, wait, 11, back, deliver},
		{write, 0, 250, end, 0, deliver, deliver, deliver, deliver, deliver, cancel, 0, deliver, back, wait, 8},
		{send, 2, 90, deliver, back, wait, 3, receive, 2, back, deliver, deliver, back, end, 2},
		{write, 3, 255, write, 3, 255, 0x83, 5, 0x85, 0x86, back, back, 0x87, 9, 9, 1, back, deliver, wait, 10},
	} {
		f.Add(append(head[:len(head):len(head)], body...))
		f.Add(append([]byte{0, 0, 0, 0, 0, 3, 0}, body...))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		d := newDuel(t, input[:min(len(input), 1000)])
		for d.step() {
		}
		d.finish()
	})
}
