// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

func TestJudgeAllowsOnlyFailuresThatWereAskedFor(t *testing.T) {
	refused := &engine.OpError{}
	for _, c := range []struct {
		reason         error
		shaken, broken bool
		allowed        bool
	}{
		{reason: engine.ErrCanceled},
		{reason: engine.ErrCanceled, shaken: true, allowed: true},
		{reason: engine.ErrDeadline, shaken: true, allowed: true},
		{reason: engine.ErrEnded, shaken: true, allowed: true},
		{reason: fmt.Errorf("operation 3: %w", refused), shaken: true, allowed: true},
		{reason: refused},
		{reason: engine.ErrDead, shaken: true},
		{reason: engine.ErrClosed, shaken: true},
		{reason: engine.ErrDead, broken: true, allowed: true},
		{reason: engine.ErrAborted, broken: true, allowed: true},
	} {
		r, l := judged(t)
		l.shaken, r.sessions[0].broken = c.shaken, c.broken
		err := report(r, []engine.Event{{Kind: engine.Completed, Conn: 7, ID: l.name(0), Err: c.reason}})
		if errors.Is(err, ErrViolation) == c.allowed {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestJudgeWantsAnEventForEverythingWhenAConnectionEnds(t *testing.T) {
	for name, events := range map[string]func(l *lane) []engine.Event{
		"an operation is left over": func(l *lane) []engine.Event { return append(truth(l)[:completed2], closedWith(7)) },
		"a receive is left over":    func(l *lane) []engine.Event { return append(truth(l)[:received1], closedWith(9)) },
		"an event after the last":   func(l *lane) []engine.Event { return append(truth(l), closedWith(7), truth(l)[completed2]) },
	} {
		r, l := judged(t)
		r.sessions[0].closing = true
		if err := report(r, events(l)); !errors.Is(err, ErrViolation) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func closedWith(conn engine.ConnID) engine.Event {
	return engine.Event{Kind: engine.Closed, Conn: conn}
}

func TestMemoryThatIsTakenBackMustNotChange(t *testing.T) {
	_, l := judged(t)
	first := &l.region.extents[0]
	first.pattern.fill(l.region.memory[first.at:][:first.size])
	l.region.memory[first.at+first.size-1] = poison // the last byte has not arrived
	if err := l.region.reclaim(); err != nil {
		t.Fatal(err)
	}
	l.region.seal()
	if err := l.region.verify(); err != nil {
		t.Fatal(err)
	}
	if err := l.region.complete(0); !errors.Is(err, ErrViolation) {
		t.Errorf("a message completes that was not all there when its memory was taken back: %v", err)
	}
	if err := l.region.complete(1); err != nil {
		t.Errorf("a message that was all there: %v", err)
	}
	l.region.memory[first.at]++
	if err := l.region.verify(); !errors.Is(err, ErrViolation) {
		t.Errorf("a byte arrives late: %v", err)
	}
}

func TestFailedMessagesLeaveTheirOwnBytesOnly(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(b []byte)
		fine  bool
	}{
		"all of it":     {func([]byte) {}, true},
		"nothing":       {func(b []byte) { b[0], b[1] = poison, poison }, true},
		"another byte":  {func(b []byte) { b[len(b)/2]++ }, false},
		"half a packet": {func(b []byte) { b[len(b)-1] = poison }, true},
	} {
		_, l := judged(t)
		l.region.loosen(0)
		c.spoil(l.region.bytes(0))
		if err := l.region.verify(); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// shaped returns a Config with faults, on a small network of several planes.
func shaped(planes int, faults ...Fault) Config {
	cfg := plain(1 << 18)
	cfg.Network.Planes, cfg.Network.Paths = planes, 4*planes
	cfg.HealAt, cfg.Faults = 50*time.Millisecond, faults
	cfg.Engine.MinRTO, cfg.Engine.InitialRTT = 20*time.Microsecond, 50*time.Microsecond
	return cfg
}

func TestDeadPlaneIsGivenUpAndComesBack(t *testing.T) {
	for _, kind := range []Kind{Cut, Unplug} {
		f := Everywhere(kind)
		f.Plane, f.Begin, f.End = 1, 200*time.Microsecond, time.Millisecond
		cfg := shaped(2, f)
		cfg.Streams[0].Messages = nil
		for range 800 {
			cfg.Streams[0].Messages = append(cfg.Streams[0].Messages, Message{Op: engine.OpWrite, Size: 40_000})
		}
		cfg.CheckEvery = 0
		res, err := Run(cfg)
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		if res.Met[metPlaneDown] == 0 || res.Met[metPathBack] == 0 || res.Injected[kind] == 0 {
			t.Errorf("%v: plane down %d, paths back %d, %d packets swallowed", kind, res.Met[metPlaneDown], res.Met[metPathBack], res.Injected[kind])
		}
	}
}

func TestRestartedHostBeginsAnew(t *testing.T) {
	for host := range 2 {
		f := Everywhere(Restart)
		f.Host, f.Begin, f.End = host, 30*time.Microsecond, 300*time.Microsecond
		r, err := newRun(shaped(1, f))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.execute(); err != nil {
			t.Fatalf("host %d: %v", host, err)
		}
		if len(r.sessions) != 2 || !r.sessions[0].broken || r.sessions[1].broken || r.result.Met[metRestart] != 1 {
			t.Errorf("host %d: %d sessions, noticed %d times", host, len(r.sessions), r.result.Met[metRestart])
		}
		if done := r.result.Flows[0].Finished; done == 0 {
			t.Errorf("host %d: the second session has not done its work", host)
		}
	}
}
