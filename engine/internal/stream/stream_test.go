// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"errors"
	"testing"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"pgregory.net/rapid"
)

// transfer drives both ends of a stream through a channel that reorders, duplicates and loses chunks, and keeps beside
// them a list of what was posted.
type transfer struct {
	t        *rapid.T
	now      mono.Time
	cfg      *Config
	out      *Outgoing
	in       *Incoming
	channel  []Chunk
	acks     []Ref
	posted   []Message
	buffers  [][]byte
	done     int // operations completed at the sender
	arrived  int // messages that consumed a receive, at the receiver
	memory   []byte
	expected []byte
}

func newTransfer(t *rapid.T) *transfer {
	cfg := &Config{
		Chunk:  uint32(rapid.SampledFrom([]int{8, 16, 64}).Draw(t, "chunk")),
		Window: uint32(rapid.IntRange(1, 6).Draw(t, "window")),
		Span:   uint32(rapid.IntRange(1, 100).Draw(t, "span")),
	}
	return &transfer{
		t: t, cfg: cfg, out: NewOutgoing(3, cfg, &Budget{Messages: 8, Requests: 2}), in: NewIncoming(3, cfg, new(Memory)),
		memory: make([]byte, 1<<16), expected: make([]byte, 1<<16),
	}
}

func (x *transfer) post() {
	if len(x.posted) >= 60 {
		return
	}
	m := Message{
		Op:        rapid.SampledFrom([]Op{Write, Send}).Draw(x.t, "op"),
		ID:        uint64(len(x.posted)),
		Data:      bytes.Repeat([]byte{byte(len(x.posted) + 1)}, rapid.SampledFrom([]int{0, 1, 7, 8, 9, 64, 65, 1000}).Draw(x.t, "size")),
		At:        uint64(len(x.posted)) * 1000,
		Immediate: rapid.Bool().Draw(x.t, "immediate"),
		Value:     uint32(len(x.posted)),
	}
	if err := x.out.Post(&m); err != nil {
		x.t.Fatal(err)
	}
	x.posted = append(x.posted, m)
	if m.Op == Write {
		copy(x.expected[m.At:], m.Data)
	}
}

func (x *transfer) receive() {
	x.buffers = append(x.buffers, make([]byte, 1000))
	x.in.Post(uint64(len(x.buffers)-1), x.buffers[len(x.buffers)-1])
	if start, count, due := x.in.Ready(); due {
		if rapid.Bool().Draw(x.t, "ready is lost") {
			return
		}
		x.out.Ready(start, count)
	}
}

func (x *transfer) send() {
	for range rapid.IntRange(1, 30).Draw(x.t, "chunks") {
		var c Chunk
		if x.out.Next(x.now, &c) != Free {
			return
		}
		x.out.Take(x.now)
		x.channel = append(x.channel, c)
	}
}

// take picks a chunk from anywhere in the channel: paths reorder.
func (x *transfer) take() (Chunk, bool) {
	c, i, ok := x.peek()
	if ok {
		x.channel = append(x.channel[:i], x.channel[i+1:]...)
	}
	return c, ok
}

// peek looks at a chunk anywhere in the channel and leaves it there.
func (x *transfer) peek() (c Chunk, i int, ok bool) {
	if len(x.channel) == 0 {
		return Chunk{}, 0, false
	}
	i = rapid.IntRange(0, len(x.channel)-1).Draw(x.t, "which")
	return x.channel[i], i, true
}

func (x *transfer) deliver() {
	if c, ok := x.take(); ok {
		x.arrive(c)
	}
}

func (x *transfer) duplicate() {
	if c, _, ok := x.peek(); ok {
		x.arrive(c)
	}
}

func (x *transfer) arrive(c Chunk) {
	h := Header{
		Op: c.Op(), Number: c.Ref.Message, Offset: c.Offset, Length: c.Length, Payload: uint32(len(c.Payload)),
		Receive: c.Receive, Value: c.Message.Value, Immediate: c.Message.Immediate,
	}
	f := x.in.Examine(&h)
	switch f.Verdict {
	case Drop:
		x.t.Fatalf("a chunk of message %d breaks a limit", h.Number)
	case Refuse:
		if f.Code != wire.NoticeCodeNoReceive {
			x.t.Fatalf("a chunk of message %d is refused with %v", h.Number, f.Code)
		}
		x.in.Refused(f.Code)
		x.out.Park(x.now, c.Ref, f.Info)
	case Place:
		if h.Op == Send {
			copy(x.in.Buffer(&h), c.Payload)
		} else {
			copy(x.memory[c.Message.At+uint64(h.Offset):], c.Payload)
		}
		x.in.Placed(&h)
		x.acks = append(x.acks, c.Ref)
	case Already:
		x.acks = append(x.acks, c.Ref)
	}
}

// lose finds a chunk lost: it is sent again if anybody wants it.
func (x *transfer) lose() {
	c, ok := x.take()
	if !ok {
		return
	}
	if again, wanted := x.out.Wanted(c.Ref); wanted {
		if !bytes.Equal(again.Payload, c.Payload) || again.Offset != c.Offset || again.Receive != c.Receive {
			x.t.Fatalf("the resend of %+v differs", c.Ref)
		}
		x.channel = append(x.channel, again)
	}
}

func (x *transfer) retire() {
	for _, r := range x.acks {
		x.out.Retire(r)
	}
	x.acks = x.acks[:0]
}

// check compares events with the list.
func (x *transfer) check() {
	for {
		d, ok := x.out.NextDone()
		if !ok {
			break
		}
		if d.ID != uint64(x.done) || d.Err != nil {
			x.t.Fatalf("operation %d ends with %v, want %d", d.ID, d.Err, x.done)
		}
		x.done++
	}
	for {
		a, ok := x.in.NextArrived()
		if !ok {
			break
		}
		m := x.consumer(x.arrived)
		if a.ID != uint64(x.arrived) || a.Length != uint32(len(m.Data)) || a.Written != (m.Op == Write) || a.Err != nil {
			x.t.Fatalf("receive %d: %+v, want message %d", x.arrived, a, m.ID)
		}
		if m.Op == Send && !bytes.Equal(x.buffers[a.ID][:a.Length], m.Data) {
			x.t.Fatalf("buffer %d differs", a.ID)
		}
		for _, earlier := range x.posted[:m.ID] {
			if earlier.Op == Write && !bytes.Equal(x.memory[earlier.At:][:len(earlier.Data)], earlier.Data) {
				x.t.Fatalf("message %d is visible before message %d", m.ID, earlier.ID)
			}
		}
		x.arrived++
	}
}

// consumer is the n-th message that consumes a receive.
func (x *transfer) consumer(n int) Message {
	for _, m := range x.posted {
		if m.needsReceive() {
			if n == 0 {
				return m
			}
			n--
		}
	}
	x.t.Fatalf("receive %d is filled by nobody", n)
	return Message{}
}

// finish lets everything arrive: it must complete.
func (x *transfer) finish() {
	for range len(x.posted) {
		x.receive()
	}
	for round := 0; x.done < len(x.posted); round++ {
		if round > 2000 {
			x.t.Fatalf("%d of %d operations complete; stuck", x.done, len(x.posted))
		}
		x.now = x.now.Add(lastRetry)
		x.send()
		for len(x.channel) > 0 {
			x.deliver()
		}
		x.retire()
		x.check()
	}
	if !bytes.Equal(x.memory, x.expected) {
		x.t.Fatal("memory differs")
	}
}

// Whatever order chunks arrive in, each message completes once, in order, with its bytes.
//
//mr:prop P12 P16 P17 P21 P22 P23 P24 P25 P26
//mr:test MR-STREAM-001 MR-STREAM-005 MR-STREAM-006 MR-STREAM-013 MR-STREAM-017
func TestTransferEqualsList(t *testing.T) { rapid.Check(t, playTransfer) }

// FuzzTransfer: messages meet the receives that they name, whole and once, under whatever the fuzzer lets happen.
//
//mr:prop P21 P46
func FuzzTransfer(f *testing.F) { f.Fuzz(rapid.MakeFuzz(playTransfer)) }

func playTransfer(t *rapid.T) {
	x := newTransfer(t)
	step := func(f func()) func(*rapid.T) {
		return func(t *rapid.T) {
			x.t = t
			x.now += 1000
			f()
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"post":      step(x.post),
		"receive":   step(x.receive),
		"send":      step(x.send),
		"deliver":   step(x.deliver),
		"duplicate": step(x.duplicate),
		"lose":      step(x.lose),
		"retire":    step(x.retire),
		"":          step(x.check),
	})
	x.t = t
	x.finish()
}

func TestChunkSetEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := uint32(rapid.IntRange(1, 300).Draw(t, "span"))
		var set chunkSet
		model := map[uint32]bool{}
		for range rapid.IntRange(1, 500).Draw(t, "adds") {
			chunk := set.low + uint32(rapid.IntRange(0, int(span)-1).Draw(t, "ahead"))
			if fresh := set.add(chunk, span); fresh == model[chunk] {
				t.Fatalf("adding %d: fresh %v, known %v", chunk, fresh, model[chunk])
			}
			model[chunk] = true
			for c := range chunk + span {
				if set.has(c) != model[c] {
					t.Fatalf("%d: %v, want %v", c, set.has(c), model[c])
				}
			}
		}
	})
}

//mr:prop P24 P27
//mr:test MR-STREAM-009 MR-CONN-023
func TestFailedStreamEndsEveryOperationOnce(t *testing.T) {
	s := NewOutgoing(1, &Config{Chunk: 8, Window: 4, Span: 4}, &Budget{Messages: 8, Requests: 2})
	for i := range 3 {
		if err := s.Post(&Message{Op: Send, ID: uint64(i), Data: make([]byte, 20)}); err != nil {
			t.Fatal(err)
		}
	}
	var c, end Chunk
	s.Next(0, &c)
	s.Take(0)
	cause := errors.New("cause")
	s.Fail(cause, wire.Status(wire.NoticeCodeBounds))
	if _, wanted := s.Wanted(c.Ref); wanted {
		t.Error("a chunk of a failed message is sent again")
	}
	for i := range 3 {
		if d, ok := s.NextDone(); !ok || d.ID != uint64(i) || d.Err != cause {
			t.Errorf("operation %d: %+v, %v", i, d, ok)
		}
	}
	if hold := s.Next(0, &end); hold != Free || !end.End() || end.Code != wire.Status(wire.NoticeCodeBounds) || end.Ref.Message != 1 {
		t.Fatalf("the stream ends with %+v, %v", end, hold)
	}
	s.Take(0)
	s.Retire(end.Ref)
	if d, ok := s.NextDone(); !ok || !d.End {
		t.Fatalf("the end completes as %+v, %v", d, ok)
	}
	if err := s.Post(&Message{Op: Send}); err != nil {
		t.Errorf("the id does not open again: %v", err)
	}
}

// No chunk that contradicts its message, or its own length, is placed.
//
//mr:test MR-STREAM-002 MR-STREAM-022 MR-STREAM-023
func TestImpossibleChunksAreRefused(t *testing.T) {
	cfg := &Config{Chunk: 8, Window: 4, Span: 2}
	first := Header{Op: Write, Number: 1, Offset: 8, Length: 20, Payload: 8}
	cases := []struct {
		name   string
		header Header
		want   Finding
	}{
		{"same again", first, Finding{Verdict: Already}},
		{"next chunk", Header{Op: Write, Number: 1, Offset: 0, Length: 20, Payload: 8}, Finding{}},
		{"odd offset", Header{Op: Write, Number: 1, Offset: 4, Length: 20, Payload: 8}, refuse(wire.NoticeCodeGeometry, 4)},
		{"short payload", Header{Op: Write, Number: 1, Offset: 0, Length: 20, Payload: 7}, refuse(wire.NoticeCodeGeometry, 0)},
		{"other length", Header{Op: Write, Number: 1, Offset: 0, Length: 24, Payload: 8}, refuse(wire.NoticeCodeGeometry, 0)},
		{"other kind", Header{Op: Send, Number: 1, Offset: 0, Length: 20, Payload: 8}, refuse(wire.NoticeCodeGeometry, 0)},
		{"beyond the span", Header{Op: Write, Number: 1, Offset: 16, Length: 20, Payload: 4}, Finding{Verdict: Drop}},
		{"last but one in the span", Header{Op: Write, Number: 2, Length: 20, Payload: 8}, Finding{Begins: true, Needs: recordBytes + slotBytes}},
		{"last in the span", Header{Op: Write, Number: 2, Offset: 8, Length: 20, Payload: 8}, Finding{Begins: true, Needs: recordBytes + slotBytes + 16}},
		{"beyond the span, at first", Header{Op: Write, Number: 2, Offset: 16, Length: 20, Payload: 4}, Finding{Verdict: Drop}},
		{"last but one in the window", Header{Op: Write, Number: 2, Length: 8, Payload: 8}, Finding{Begins: true, Needs: recordBytes + slotBytes}},
		{"last in the window", Header{Op: Write, Number: 3, Length: 8, Payload: 8}, Finding{Begins: true, Needs: recordBytes + 2*slotBytes}},
		{"beyond the window", Header{Op: Write, Number: 4, Length: 8, Payload: 8}, Finding{Verdict: Drop}},
		{"end at the window", HeaderOfEnd(4, wire.StatusOk), Finding{Begins: true, Needs: recordBytes + 3*slotBytes}},
		{"end beyond the window", HeaderOfEnd(5, wire.StatusOk), Finding{Verdict: Drop}},
		{"nothing posted", Header{Op: Send, Number: 2, Length: 8, Payload: 8}, refuse(wire.NoticeCodeNoReceive, 0)},
		{"long before", Header{Op: Write, Number: ^uint32(0), Length: 8, Payload: 8}, Finding{Verdict: Already}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := NewIncoming(1, cfg, new(Memory))
			s.Placed(&first)
			if got := s.Examine(&c.header); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
