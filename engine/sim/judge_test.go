// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"slices"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
)

// judged returns a run in which host 0 has posted a Write, a Send and a Write with immediate on stream 0, host 1 has
// posted both receives, and all bytes are in place. Nothing has been reported yet. There are no endpoints.
func judged(t *testing.T) (r *run, l *lane) {
	t.Helper()
	s := Stream{Messages: []Message{
		{Op: engine.OpWrite, Size: 100}, {Op: engine.OpSend, Size: 50}, {Op: engine.OpWrite, Immediate: true, Size: 10},
	}}
	cfg := Config{Streams: []Stream{s}}
	l = newLane(&cfg, 0, concern(1, concernMessages))
	r = &run{config: cfg, hosts: [2]*host{{index: 0}, {index: 1}}, lanes: []*lane{l}}
	session := &session{lanes: r.lanes, ends: [2]end{{conn: 7, open: true}, {conn: 9, open: true}}}
	r.sessions = append(r.sessions, session)
	for i := range l.operations {
		o := &l.operations[i]
		l.work()
		l.sender.posted++
		o.pattern.fill(l.landing(o).bytes(o.slot))
	}
	l.sender.ended = true
	l.receiver.posted = 2
	return r, l
}

// truth returns the events that report the work of judged, completions first.
func truth(l *lane) (events []engine.Event) {
	for i := range l.operations {
		events = append(events, engine.Event{Kind: engine.Completed, Conn: 7, ID: l.name(i)})
	}
	events = append(events, engine.Event{Kind: engine.StreamOpened, Conn: 9})
	for k, i := range l.consumers {
		o := &l.operations[i]
		e := engine.Event{Kind: engine.Received, Conn: 9, ID: l.name(k), Length: uint32(o.Size), Match: o.match}
		if o.Immediate {
			e.Immediate, e.Value, e.Written, e.Match = true, o.value, true, 0
		}
		events = append(events, e)
	}
	return append(events, engine.Event{Kind: engine.StreamEnded, Conn: 9}, engine.Event{Kind: engine.StreamClosed, Conn: 7})
}

// report gives events to the judge until it objects.
func report(r *run, events []engine.Event) error {
	for _, e := range events {
		h := r.hosts[0]
		if e.Conn == 9 {
			h = r.hosts[1]
		}
		if _, err := r.event(h, e); err != nil {
			return err
		}
	}
	return nil
}

func TestJudgeAcceptsTheTruth(t *testing.T) {
	r, l := judged(t)
	if err := report(r, truth(l)); err != nil {
		t.Fatal(err)
	}
	if !l.over() {
		t.Error("the stream is not over")
	}
	r, l = judged(t)
	events := truth(l)
	if err := report(r, slices.Concat(events[streamOpened:streamClosed], events[:streamOpened], events[streamClosed:])); err != nil {
		t.Fatalf("receiver first: %v", err)
	}
}

// Places of truth's events.
const (
	completed0 = iota
	completed1
	completed2
	streamOpened
	received0
	received1
	streamEnded
	streamClosed
)

func TestJudgeRefusesWrongReports(t *testing.T) {
	failure := errors.New("failure")
	for name, wrong := range map[string]func(l *lane, e []engine.Event) []engine.Event{
		"completions out of order": func(l *lane, e []engine.Event) []engine.Event {
			e[completed0], e[completed1] = e[completed1], e[completed0]
			return e
		},
		"completion twice":        func(l *lane, e []engine.Event) []engine.Event { e[completed1] = e[completed0]; return e },
		"one completion too many": func(l *lane, e []engine.Event) []engine.Event { return append(e, e[completed2]) },
		"completion with error":   func(l *lane, e []engine.Event) []engine.Event { e[completed1].Err = failure; return e },
		"wrong connection":        func(l *lane, e []engine.Event) []engine.Event { e[completed1].Conn = 8; return e },
		"unknown stream":          func(l *lane, e []engine.Event) []engine.Event { e[completed1].Stream = 1; return e },
		"completion at receiver":  func(l *lane, e []engine.Event) []engine.Event { e[completed0].Conn = 9; return e },
		"unknown kind":            func(l *lane, e []engine.Event) []engine.Event { e[streamOpened].Kind = 99; return e },
		"stream opened twice":     func(l *lane, e []engine.Event) []engine.Event { return append(e, e[streamOpened]) },
		"receives out of order": func(l *lane, e []engine.Event) []engine.Event {
			e[received0], e[received1] = e[received1], e[received0]
			return e
		},
		"receive twice":        func(l *lane, e []engine.Event) []engine.Event { e[received1] = e[received0]; return e },
		"receive with error":   func(l *lane, e []engine.Event) []engine.Event { e[received0].Err = failure; return e },
		"wrong length":         func(l *lane, e []engine.Event) []engine.Event { e[received0].Length--; return e },
		"wrong match":          func(l *lane, e []engine.Event) []engine.Event { e[received0].Match++; return e },
		"wrong value":          func(l *lane, e []engine.Event) []engine.Event { e[received1].Value++; return e },
		"no immediate":         func(l *lane, e []engine.Event) []engine.Event { e[received1].Immediate = false; return e },
		"surprising immediate": func(l *lane, e []engine.Event) []engine.Event { e[received0].Immediate = true; return e },
		"not written":          func(l *lane, e []engine.Event) []engine.Event { e[received1].Written = false; return e },
		"ended too early":      func(l *lane, e []engine.Event) []engine.Event { e[received1] = e[streamEnded]; return e },
		"ended twice":          func(l *lane, e []engine.Event) []engine.Event { return append(e, e[streamEnded]) },
		"ended with error":     func(l *lane, e []engine.Event) []engine.Event { e[streamEnded].Err = failure; return e },
		"closed twice":         func(l *lane, e []engine.Event) []engine.Event { return append(e, e[streamClosed]) },
		"closed with error":    func(l *lane, e []engine.Event) []engine.Event { e[streamClosed].Err = failure; return e },
		"closed too early":     func(l *lane, e []engine.Event) []engine.Event { e[completed2] = e[streamClosed]; return e },
		"opened twice": func(l *lane, e []engine.Event) []engine.Event {
			return append(e, engine.Event{Kind: engine.Opened, Conn: 7})
		},
		"closed by itself": func(l *lane, e []engine.Event) []engine.Event {
			return append(e, engine.Event{Kind: engine.Closed, Conn: 7})
		},
	} {
		r, l := judged(t)
		if err := report(r, wrong(l, truth(l))); !errors.Is(err, ErrViolation) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJudgeRefusesBytesOutOfPlace(t *testing.T) {
	spoil := func(l *lane, i int) {
		o := &l.operations[i]
		b := l.landing(o).bytes(o.slot)
		b[len(b)/2]++
	}
	t.Run("a Write completes", func(t *testing.T) {
		r, l := judged(t)
		spoil(l, 0)
		if err := report(r, truth(l)[:1]); !errors.Is(err, ErrViolation) {
			t.Error(err)
		}
	})
	t.Run("a Send completes", func(t *testing.T) {
		r, l := judged(t)
		spoil(l, 1)
		if err := report(r, truth(l)[:2]); !errors.Is(err, ErrViolation) {
			t.Error(err)
		}
	})
	t.Run("a Send completes without a receive", func(t *testing.T) {
		r, l := judged(t)
		l.receiver.posted = 0
		if err := report(r, truth(l)[:2]); !errors.Is(err, ErrViolation) {
			t.Error(err)
		}
	})
	t.Run("a receive overtakes an earlier Write", func(t *testing.T) {
		r, l := judged(t)
		spoil(l, 0)
		if err := report(r, truth(l)[received0:received0+1]); !errors.Is(err, ErrViolation) {
			t.Error(err)
		}
	})
	t.Run("a late duplicate is written", func(t *testing.T) {
		for i := range 3 {
			r, l := judged(t)
			if err := report(r, truth(l)); err != nil {
				t.Fatal(err)
			}
			o := &l.operations[i]
			o.pattern.fill(l.landing(o).bytes(o.slot))
			if l.region.verify() == nil && l.inbox.verify() == nil {
				t.Errorf("message %d", i)
			}
		}
	})
	t.Run("source bytes are read after completion", func(t *testing.T) {
		r, l := judged(t)
		source := l.operations[0].source
		if err := report(r, truth(l)[:1]); err != nil {
			t.Fatal(err)
		}
		if l.operations[0].pattern.differs(source) < 0 {
			t.Error("the source still holds the message")
		}
	})
}

func TestLaneKeepsReceivesReady(t *testing.T) {
	sends := make([]Message, 10)
	for i := range sends {
		sends[i] = Message{Op: engine.OpSend, Size: 1}
	}
	for _, c := range []struct{ keep, posted, filled, paused, want int }{
		{0, 0, 0, 0, 10}, {0, 4, 4, 0, 6}, {3, 0, 0, 0, 3}, {3, 3, 0, 0, 0}, {3, 3, 2, 0, 2}, {3, 3, 2, 1, 1}, {3, 9, 9, 0, 1}, {3, 10, 9, 0, 0},
	} {
		l := newLane(&Config{Streams: []Stream{{Messages: sends, Receives: c.keep}}}, 0, concern(1, 1))
		l.receiver.posted, l.receiver.filled, l.receiver.paused = c.posted, c.filled, c.paused
		if got := l.wanted(); got != c.want {
			t.Errorf("%+v: %d receives are wanted", c, got)
		}
	}
}
