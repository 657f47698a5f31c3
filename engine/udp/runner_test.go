// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"bytes"
	"errors"
	"net/netip"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openmetaroce/metaroce/engine"
)

// host is a Runner whose events a test reads.
type host struct {
	*Runner
	endpoint *engine.Endpoint
	port     *Port
	local    []netip.AddrPort
	events   chan engine.Event
}

func startHost(t testing.TB, cfg engine.Config, sockets int) *host {
	t.Helper()
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{endpoint: e, port: open(t, "127.0.0.1", sockets), events: make(chan engine.Event, 1024)}
	h.local = h.port.Local()
	h.Runner = Start(RunnerConfig{Endpoint: e, Port: h.port, Event: func(_ engine.Time, ev engine.Event) { h.events <- ev }})
	t.Cleanup(func() { h.Stop() })
	return h
}

// next waits for an event of a kind and returns it; others before it are ignored.
func (h *host) next(t testing.TB, kind engine.EventKind) engine.Event {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case ev := <-h.events:
			if ev.Kind == kind {
				return ev
			}
		case <-late:
			t.Fatalf("no event of kind %d", kind)
		}
	}
}

// do runs f on the loop and waits for it.
func (h *host) do(t testing.TB, f func(now engine.Time, e *engine.Endpoint)) {
	t.Helper()
	done := make(chan struct{})
	if err := h.Do(Func(func(now engine.Time, e *engine.Endpoint) {
		f(now, e)
		close(done)
	})); err != nil {
		t.Fatal(err)
	}
	<-done
}

// connect opens a connection and registers size bytes at the acceptor.
func connect(t testing.TB, from, at *host, memory []byte) (engine.ConnID, engine.Key) {
	t.Helper()
	var err error
	var key engine.Key
	at.do(t, func(_ engine.Time, e *engine.Endpoint) { key, err = e.Register(memory, engine.RemoteWrite) })
	if err != nil {
		t.Fatal(err)
	}
	var routes []engine.Route
	for _, local := range from.local {
		routes = append(routes, engine.Route{Local: local, Remote: at.local[0]})
	}
	var id engine.ConnID
	from.do(t, func(now engine.Time, e *engine.Endpoint) { id, err = e.Open(now, routes) })
	if err != nil {
		t.Fatal(err)
	}
	from.next(t, engine.Opened)
	return id, key
}

// write posts one write of all of source and waits for its end.
func (h *host) write(t testing.TB, id engine.ConnID, key engine.Key, source []byte) {
	t.Helper()
	h.do(t, func(now engine.Time, e *engine.Endpoint) {
		if err := e.Post(now, id, engine.Work{Op: engine.OpWrite, Data: source, Key: key}); err != nil {
			t.Error(err)
		}
	})
	if ev := h.next(t, engine.Completed); ev.Err != nil {
		t.Fatal(ev.Err)
	}
}

func TestRunnersMoveMemory(t *testing.T) {
	a := startHost(t, engine.Config{Burst: 8}, 16)
	b := startHost(t, engine.Config{Accept: true}, 1)
	memory, source := make([]byte, 3<<20), bytes.Repeat([]byte("MetaRoCE"), 3<<17)
	id, key := connect(t, a, b, memory)
	a.write(t, id, key, source)
	for _, h := range []*host{a, b} {
		if err := h.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := h.endpoint.Check(); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(memory, source) {
		t.Error("the memory differs from what was written")
	}
}

func TestRunnersDoNotAllocatePerPacket(t *testing.T) {
	a := startHost(t, engine.Config{Burst: 14, Chunk: 8192, MaxWindow: 2 << 20}, 16)
	b := startHost(t, engine.Config{Accept: true, Chunk: 8192}, 1)
	source := make([]byte, 32<<20)
	id, key := connect(t, a, b, make([]byte, len(source)))
	a.write(t, id, key, source)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a.write(t, id, key, source)
	runtime.ReadMemStats(&after)
	packets := len(source) / 8192
	if n := after.Mallocs - before.Mallocs; n > uint64(packets/40) {
		t.Errorf("%d allocations for %d packets", n, packets)
	}
}

func TestRunnerRunsEveryCommandItHasTaken(t *testing.T) {
	h := startHost(t, engine.Config{}, 1)
	var ran atomic.Int64
	taken := int64(0)
	stopped := make(chan struct{})
	for i := 0; ; i++ {
		if i == 500 {
			go func() {
				h.Stop()
				close(stopped)
			}()
		}
		if err := h.Do(Func(func(engine.Time, *engine.Endpoint) { ran.Add(1) })); err != nil {
			if !errors.Is(err, ErrStopped) {
				t.Fatal(err)
			}
			break
		}
		taken++
	}
	<-stopped
	if ran.Load() != taken {
		t.Errorf("%d commands taken, %d run", taken, ran.Load())
	}
}

func TestRunnerEndsWithItsPort(t *testing.T) {
	before := descriptors(t)
	h := startHost(t, engine.Config{}, 1)
	h.do(t, func(engine.Time, *engine.Endpoint) {
		unix.Close(h.port.sockets[0].fd)
		h.port.sockets[0].fd = 1 << 20
	})
	if err := h.Err(); !errors.Is(err, unix.EBADF) {
		t.Errorf("%v", err)
	}
	if err := h.Do(Func(nil)); !errors.Is(err, ErrStopped) {
		t.Errorf("Do after the end: %v", err)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestRunnerSpinsBeforeItSleeps(t *testing.T) {
	e, err := engine.New(engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, "127.0.0.1", 1)
	r := Start(RunnerConfig{Endpoint: e, Port: p, Spin: 20 * time.Millisecond})
	done := make(chan uint64)
	looks := func() uint64 {
		if err := r.Do(Func(func(engine.Time, *engine.Endpoint) { done <- p.stats.ReceiveCalls })); err != nil {
			t.Fatal(err)
		}
		return <-done
	}
	first := looks()
	for start := time.Now(); time.Since(start) < 5*time.Millisecond; {
		runtime.Gosched()
	}
	if n := looks() - first; n < 10 {
		t.Errorf("%d looks in 5 ms", n)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
}
