// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"testing"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// A message has 2^32 - 1 bytes at most. An empty one has one chunk, and the last chunk is what remains.
//
//mr:test MR-STREAM-027
func TestMessagesAreCutIntoChunks(t *testing.T) {
	cfg := &Config{Chunk: 4096, Window: 4, Span: 4}
	for _, c := range []struct{ length, chunks, last uint32 }{
		{0, 1, 0}, {1, 1, 1}, {4096, 1, 4096}, {4097, 2, 1}, {8192, 2, 4096}, {1<<32 - 2, 1 << 20, 4094}, {1<<32 - 1, 1 << 20, 4095},
	} {
		if n := cfg.chunks(c.length); n != c.chunks || cfg.payload(c.length, n-1) != c.last {
			t.Errorf("%d bytes are %d chunks, the last one of %d", c.length, n, cfg.payload(c.length, n-1))
		}
	}
	s := NewOutgoing(1, cfg, &Budget{Messages: 8})
	part := make([]byte, 1<<20)
	m := Message{Op: Write}
	for range 1 << 12 {
		m.Pieces = append(m.Pieces, part)
	}
	if err := s.Post(&m); !errors.Is(err, ErrTooLong) {
		t.Errorf("2^32 bytes: %v", err)
	}
	for short := range 2 {
		m.Pieces[0] = part[short+1:]
		if err := s.Post(&m); err != nil {
			t.Errorf("2^32 - %d bytes: %v", short+1, err)
		}
	}
}

// As many messages and requests as the peer has announced are begun, and not one more; the end of one lets the next begin.
//
//mr:test MR-STREAM-004
func TestBudgetIsSpentToTheLast(t *testing.T) {
	for _, op := range []Op{Write, Read} {
		for _, limit := range []int{1, 2, 64} {
			b := Budget{Messages: limit, Requests: limit}
			s := NewOutgoing(1, &Config{Chunk: 8, Window: 256, Span: 4}, &b)
			var sent []Ref
			send := func() {
				var c Chunk
				for s.Next(0, &c) == Free {
					sent = append(sent, c.Ref)
					s.Take(0)
				}
			}
			for id := range uint64(limit + 2) {
				if err := s.Post(&Message{Op: op, ID: id, Data: make([]byte, 8), Into: make([]byte, 8)}); err != nil {
					t.Fatal(err)
				}
			}
			if send(); len(sent) != limit {
				t.Errorf("%d messages are begun, the limit is %d", len(sent), limit)
			}
			s.Retire(sent[0])
			if op == Read {
				s.Answer(&Answer{Op: Read, Number: 0, Length: 8, Payload: make([]byte, 8)})
			}
			if d, ok := s.NextDone(); !ok || d.Err != nil {
				t.Errorf("the first message ends with %+v, %v", d, ok)
			}
			if send(); len(sent) != limit+1 {
				t.Errorf("%d messages are begun after the end of one, the limit is %d", len(sent), limit)
			}
		}
	}
}

// A sender begins no message beyond the window, sends no chunk beyond the span, and ends the stream without asking the window.
//
//mr:test MR-STREAM-004 MR-STREAM-013 MR-STREAM-023
func TestSenderStaysWithinWindowAndSpan(t *testing.T) {
	const window, span = 3, 2
	s := NewOutgoing(1, &Config{Chunk: 8, Window: window, Span: span}, &Budget{Messages: 100})
	for id := range uint64(5) {
		if err := s.Post(&Message{Op: Write, ID: id, Data: make([]byte, 8*4)}); err != nil {
			t.Fatal(err)
		}
	}
	var sent []Ref
	send := func(times int) {
		for range times {
			var c Chunk
			if s.Next(0, &c) != Free {
				return
			}
			sent = append(sent, c.Ref)
			s.Take(0)
		}
	}
	send(100)
	if len(sent) != span || sent[1].Message != 0 || sent[1].Chunk != 1 {
		t.Fatalf("sent %v with a span of %d", sent, span)
	}
	s.Retire(sent[1])
	if send(100); len(sent) != span {
		t.Fatalf("sent %v although chunk 0 is not acknowledged", sent)
	}
	s.Retire(sent[0])
	if send(100); len(sent) != 3*span || sent[5].Message != 1 {
		t.Fatalf("sent %v after two acknowledgments", sent)
	}
	for s.number < window {
		for _, r := range sent {
			if r.Message > 0 {
				s.Retire(r)
			} else if r.Chunk < 3 {
				s.Retire(r) // the last chunk of message 0 stays outstanding
			}
		}
		send(1)
	}
	for range 100 {
		for _, r := range sent {
			if r.Message > 0 {
				s.Retire(r)
			}
		}
		send(1)
	}
	if last := sent[len(sent)-1]; last.Message != window-1 {
		t.Fatalf("message %d is begun while message 0 is not complete and the window is %d", last.Message, window)
	}
	s = NewOutgoing(1, &Config{Chunk: 8, Window: 1, Span: span}, &Budget{Messages: 100})
	if err := errors.Join(s.Post(&Message{Op: Write, Data: make([]byte, 8)}), s.End(wire.StatusOk)); err != nil {
		t.Fatal(err)
	}
	var c Chunk
	s.Next(0, &c)
	s.Take(0)
	if hold := s.Next(0, &c); hold != Free || !c.End() || c.Ref.Message != 1 {
		t.Errorf("the end waits for the window: %v", hold)
	}
}

// A refusal that comes after its message has ended says nothing about what is sent under the id since.
//
//mr:test MR-STREAM-008
func TestRefusalOfAnEndedMessageEndsNothing(t *testing.T) {
	cfg := &Config{Chunk: 64, Window: 4, Span: 4}
	s := NewOutgoing(1, cfg, &Budget{Messages: 8})
	send := func(id uint64) uint32 {
		t.Helper()
		if err := s.Post(&Message{Op: Write, ID: id, Data: []byte{1}}); err != nil {
			t.Fatal(err)
		}
		var c Chunk
		if hold := s.Next(0, &c); hold != Free {
			t.Fatalf("operation %d has to wait: %v", id, hold)
		}
		s.Take(0)
		return c.Ref.Message
	}
	first := send(1)
	s.Refused(first, errors.New("refused"), 17)
	if d, ok := s.NextDone(); !ok || d.Err == nil {
		t.Fatalf("the refused operation: %+v", d)
	}
	var c Chunk
	s.Next(0, &c)
	s.Take(0)
	s.Retire(c.Ref)
	if d, ok := s.NextDone(); !ok || !d.End {
		t.Fatalf("the end of the stream: %+v", d)
	}
	send(2)
	s.Refused(first, errors.New("refused again"), 17)
	if d, ok := s.NextDone(); ok {
		t.Errorf("the second operation ends with the first one's refusal: %+v", d)
	}
}
