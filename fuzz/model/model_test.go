// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The example of docs/spec/03-sequence-and-ack.md.
func TestBoardReportsTheExampleOfTheSpecification(t *testing.T) {
	b := NewBoard()
	for tsn, psn := range []int64{101, 102, 104, 105, 108} {
		if v := b.Arrive(Packet{PSN: psn, TSN: int64(tsn), Floor: 101, Sequenced: true}); v != New {
			t.Fatalf("PSN %d: verdict %d", psn, v)
		}
		b.Place(psn)
	}
	block, counts := b.Report()
	if diff := cmp.Diff(Block{Base: 103, Largest: 4, Sack: []int64{104, 105, 108}}, block); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Counts{Packets: 5, LastDuplicate: -1}, counts); diff != "" {
		t.Error(diff)
	}
}

func TestBoardTellsCopiesFromDuplicates(t *testing.T) {
	b := NewBoard()
	p := Packet{PSN: 0, TSN: 0, Sequenced: true}
	steps := []struct {
		name string
		p    Packet
		want Verdict
	}{
		{"first", p, New},
		{"same transmission", p, Copy},
		{"another transmission", Packet{PSN: 0, TSN: 1, Sequenced: true}, Duplicate},
		{"below a floor", Packet{PSN: 1, TSN: 3, Floor: 0, Sequenced: true}, New},
		{"probe that raises the floor", Packet{TSN: 4, Floor: 3}, Heard},
		{"given up", Packet{PSN: 2, TSN: 2, Sequenced: true}, Duplicate},
		{"last that fits", Packet{PSN: 258, TSN: 5, Sequenced: true}, New},
		{"beyond", Packet{PSN: 259, TSN: 6, Sequenced: true}, Outside},
	}
	for _, s := range steps {
		got := b.Arrive(s.p)
		if got != s.want {
			t.Errorf("%s: verdict %d, want %d", s.name, got, s.want)
		}
		if got == New {
			b.Place(s.p.PSN)
		}
	}
}

// The example of docs/spec/04-loss-and-paths.md: a chunk and its resend are lost, each is found by what was sent later.
func TestLedgerFindsTheLossesOfTheSpecification(t *testing.T) {
	l := NewLedger()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range int64(3) {
		must(l.Send(n, n, 100))
	}
	acked, lost := l.Ack(Block{Base: 1, Largest: 2, Sack: []int64{2}})
	if diff := cmp.Diff([][]int64{{0, 2}, {1}}, [][]int64{acked, lost}); diff != "" {
		t.Fatal(diff)
	}
	must(l.Send(1, 3, 100))
	must(l.Send(3, 4, 100))
	acked, lost = l.Ack(Block{Base: 1, Largest: 4, Sack: []int64{2, 3}})
	if diff := cmp.Diff([][]int64{{3}, {1}}, [][]int64{acked, lost}); diff != "" {
		t.Fatal(diff)
	}
	if l.Floor() != 1 || l.InFlight() != 0 {
		t.Errorf("floor %d, %d bytes in flight", l.Floor(), l.InFlight())
	}
}

func TestLedgerRefusesWhatASenderMustNotDo(t *testing.T) {
	cases := map[string]func(l *Ledger) error{
		"a TSN twice":             func(l *Ledger) error { return l.Use(0) },
		"a PSN left out":          func(l *Ledger) error { return l.Send(2, 1, 9) },
		"resend of what flies":    func(l *Ledger) error { return l.Send(0, 1, 9) },
		"floor over what flies":   func(l *Ledger) error { return l.GiveUpBelow(1, 8) },
		"resend of other bytes":   func(l *Ledger) error { l.Timeout(); return l.Send(0, 1, 8) },
		"floor over a lost chunk": func(l *Ledger) error { l.Timeout(); return l.GiveUpBelow(1, 8) },
	}
	for name, act := range cases {
		l := NewLedger()
		if err := l.Send(0, 0, 9); err != nil {
			t.Fatal(err)
		}
		if err := act(l); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for _, b := range []Block{{Base: 2, Largest: 0}, {Base: 0, Largest: 1}, {Base: 0, Largest: 0, Sack: []int64{1}}, {Largest: -1}} {
		l := NewLedger()
		if err := l.Send(0, 0, 9); err != nil {
			t.Fatal(err)
		}
		if l.Possible(b) {
			t.Errorf("%+v counts as possible", b)
		}
	}
}

func TestLedgerStopsAt256(t *testing.T) {
	l := NewLedger()
	for n := range int64(256) {
		if err := l.Send(n, n, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Send(256, 256, 1); err == nil {
		t.Error("a 257th PSN is taken")
	}
}

func TestInboxDeliversInOrderAndMatchesByIndex(t *testing.T) {
	b := NewInbox()
	b.Post(70)
	second := Chunk{Message: 1, Length: 5, Payload: 5, Receive: 1}
	if got := b.Arrive(second); got != Refused {
		t.Fatalf("without a receive: %d", got)
	}
	b.Post(71)
	if got := b.Arrive(second); got != Placed || b.Deliver() != nil {
		t.Fatalf("the second message is placed (%d) and must wait", got)
	}
	if b.Arrive(second) != Known {
		t.Fatal("a chunk is placed twice")
	}
	b.Arrive(Chunk{Message: 0, Offset: 8, Length: 12, Payload: 4, Receive: 0})
	if b.Deliver() != nil {
		t.Fatal("a half message is delivered")
	}
	b.Arrive(Chunk{Message: 0, Offset: 0, Length: 12, Payload: 8, Receive: 0})
	if diff := cmp.Diff([]Arrived{{ID: 70, Length: 12}, {ID: 71, Length: 5}}, b.Deliver()); diff != "" {
		t.Error(diff)
	}
	b.Arrive(Chunk{Message: 2, Receive: -1, Ends: true})
	if b.Deliver() != nil || !b.Ended {
		t.Error("the stream does not end")
	}
}

func TestOutboxCompletesInOrder(t *testing.T) {
	var b Outbox
	b.Post(5, 2)
	b.PostRequest(6)
	for _, a := range []struct {
		number int64
		offset int
	}{{1, 0}, {0, 8}, {0, 8}} {
		if err := b.Acked(a.number, a.offset); err != nil {
			t.Fatal(err)
		}
	}
	b.Replied(1)
	if b.Complete() != nil {
		t.Fatal("something is complete")
	}
	if err := b.Acked(0, 0); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint64{5, 6}, b.Complete()); diff != "" {
		t.Error(diff)
	}
	if b.Acked(2, 0) == nil || b.Left() != 0 {
		t.Error("what was never posted is acknowledged")
	}
}

func TestWindowFollowsTheRule(t *testing.T) {
	w := NewWindow(Limits{First: 1000, Least: 100, Most: 4000, Step: 100})
	steps := []struct {
		name string
		s    Signal
		want int
	}{
		{"unused", Signal{Bytes: 100, InFlight: 400, Packets: 1, RTT: 10}, 1000},
		{"grows by what is acknowledged", Signal{Now: 1, Bytes: 100, InFlight: 1000, Packets: 1, RTT: 10}, 1100},
		{"mark: fraction 15/16 since the first round had none", Signal{Now: 2, Bytes: 100, InFlight: 1000, Packets: 1, Marked: 1, RTT: 10}, 584},
		{"once a round", Signal{Now: 3, Bytes: 100, InFlight: 1000, Packets: 1, Marked: 1, RTT: 10}, 584},
		{"a step for a window", Signal{Now: 4, Bytes: 584, InFlight: 584, Packets: 1, RTT: 10}, 684},
	}
	for _, s := range steps {
		w.Ack(s.s)
		if w.Bytes() != s.want {
			t.Errorf("%s: %d, want %d", s.name, w.Bytes(), s.want)
		}
	}
}
