// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/udp"
)

// endpoint is an engine with its loop, and the connections on it. Fields below the line belong to the loop's goroutine
// until the loop has ended, then to the one that runs bury.
type endpoint struct {
	cfg    Config
	local  []netip.AddrPort
	port   *udp.Port
	runner *udp.Runner
	accept *mailbox[*Conn] // nil unless listening
	// buried is closed when the loop has ended and everything that waited has been told.
	buried chan struct{}
	// reading serialises those who look at the engine after its end.
	reading sync.Mutex
	// ---
	engine *engine.Endpoint
	conns  map[engine.ConnID]*Conn
	// lingering connections were closed by their peers; the engine keeps them for a while to answer lost answers.
	lingering []engine.ConnID
}

// A peer that has closed may ask again for an answer that was lost. Whoever closes last stays that long for it, at most.
const (
	mostLinger = time.Second
	lingerStep = 2 * time.Millisecond
)

// role tells whether an endpoint accepts connections.
type role uint8

const (
	dialing role = iota
	listening
)

// newEndpoint binds sockets and starts the loop.
func newEndpoint(cfg Config, local []netip.AddrPort, r role) (*endpoint, error) {
	engineCfg, err := cfg.engine(r)
	if err != nil {
		return nil, err
	}
	e := &endpoint{cfg: cfg, conns: map[engine.ConnID]*Conn{}, buried: make(chan struct{})}
	if e.port, err = udp.Open(cfg.sockets(local)); err != nil {
		return nil, err
	}
	e.local = e.port.Local()
	if r == listening {
		e.accept = newMailbox[*Conn]()
		if len(local) > 1 {
			engineCfg.Addresses = e.local
		}
	}
	if e.engine, err = engine.New(engineCfg); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrConfig, err), e.port.Close())
	}
	through := engine.Port(e.port)
	if cfg.Wrap != nil {
		through = cfg.Wrap(through)
	}
	e.runner = udp.Start(udp.RunnerConfig{
		Endpoint: e.engine, Port: e.port, Through: through, Spin: cfg.Spin, Event: e.event,
	})
	go e.bury()
	return e, nil
}

// ask runs f on the loop's goroutine and waits for it; after the loop's end it runs f here.
func (e *endpoint) ask(f func(now engine.Time)) {
	done := make(chan struct{})
	err := e.runner.Do(udp.Func(func(now engine.Time, _ *engine.Endpoint) {
		f(now)
		close(done)
	}))
	if err == nil {
		<-done
		return
	}
	<-e.buried
	e.reading.Lock()
	defer e.reading.Unlock()
	f(e.runner.Now())
}

// bury waits for the loop's end and tells everybody who still waits.
func (e *endpoint) bury() {
	err := stopped(e.runner.Err())
	for _, c := range e.conns {
		c.finish(err)
	}
	clear(e.conns)
	if e.accept != nil {
		e.accept.close(err)
	}
	close(e.buried)
}

// event takes in what the engine tells. It runs on the loop's goroutine.
func (e *endpoint) event(now engine.Time, ev engine.Event) {
	c := e.conns[ev.Conn]
	if c == nil {
		if ev.Kind != engine.Opened {
			return
		}
		c = e.arrived(now, ev.Conn)
		if c == nil {
			return
		}
	}
	switch ev.Kind {
	case engine.Opened:
		if c.leaving {
			// Dial has given up meanwhile.
			_ = e.engine.Close(now, c.id)
		}
		close(c.opened)
	case engine.StreamOpened:
		c.streamOpened(ev.Stream)
	case engine.Completed:
		c.completed(ev)
	case engine.Received:
		c.received(ev)
	case engine.StreamEnded:
		c.streamEnded(ev)
	case engine.StreamClosed:
		c.streamClosed(ev.Stream)
	case engine.Closed:
		if ev.Err == nil {
			ev.Err = ErrClosed
		}
		c.snapshot()
		if !c.leaving {
			e.lingering = append(e.stillLingering(), c.id)
		}
		delete(e.conns, c.id)
		c.finish(ev.Err)
	}
}

// arrived makes the connection that a peer has opened, or refuses it.
func (e *endpoint) arrived(now engine.Time, id engine.ConnID) *Conn {
	if e.accept == nil {
		return nil
	}
	if e.accept.len() >= e.cfg.Backlog {
		_ = e.engine.Close(now, id)
		return nil
	}
	c := newConn(e)
	c.id = id
	c.snapshot()
	if len(c.last.Paths) > 0 {
		c.remote = c.last.Paths[0].Route.Remote
	}
	e.conns[id] = c
	e.accept.put(c)
	return c
}

// register makes memory reachable for peers.
func (e *endpoint) register(memory []byte, rights Rights) (*Region, error) {
	r := &Region{endpoint: e, memory: memory}
	var err error
	e.ask(func(engine.Time) {
		select {
		case <-e.runner.Done():
			err = ErrClosed
		default:
			r.key, err = e.engine.Register(memory, rights)
		}
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// stats returns the endpoint's own counters.
func (e *endpoint) stats() (s Stats) {
	e.ask(func(engine.Time) {
		s.Endpoint = e.engine.Stats()
		s.Sockets = e.port.Stats()
	})
	return s
}

// shut closes all connections in an orderly way, waits for them until ctx ends, and stops the loop.
func (e *endpoint) shut(ctx context.Context) error {
	var open []*Conn
	e.ask(func(now engine.Time) {
		for _, c := range e.conns {
			open = append(open, c)
			c.leaving = true
			c.snapshot()
			_ = e.engine.Close(now, c.id)
		}
	})
	for _, c := range open {
		select {
		case <-c.closed:
		case <-ctx.Done():
		}
	}
	e.linger()
	err := e.runner.Stop()
	<-e.buried
	return err
}

// stillLingering returns the connections that the engine keeps.
func (e *endpoint) stillLingering() []engine.ConnID {
	kept := e.lingering[:0]
	for _, id := range e.lingering {
		if _, ok := e.engine.ConnStats(id); ok {
			kept = append(kept, id)
		}
	}
	e.lingering = kept
	return kept
}

// linger waits until the engine keeps no connection that a peer has closed, or for mostLinger.
func (e *endpoint) linger() {
	tick := time.NewTicker(lingerStep)
	defer tick.Stop()
	for end := time.Now().Add(mostLinger); time.Now().Before(end); {
		left := 0
		e.ask(func(engine.Time) { left = len(e.stillLingering()) })
		if left == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-e.buried:
			return
		}
	}
}
