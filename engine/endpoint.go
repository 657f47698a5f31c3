// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"

	"github.com/openmetaroce/metaroce/engine/internal/fifo"
	"github.com/openmetaroce/metaroce/engine/internal/hint"
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/engine/internal/region"
	"github.com/openmetaroce/metaroce/engine/internal/stream"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Endpoint is one end of many connections. It is not safe for concurrent use.
type Endpoint struct {
	cfg     Config
	rng     *rand.Rand
	now     Time // of the call under way
	cookies cookies
	regions region.Table
	hints   hint.Allocator
	table   table
	ready   fifo.Queue[*conn] // may have something to send
	spell   int               // packets that the front of ready has sent in a row
	ecn     uint8             // codepoint of the packet under way
	from    path.Route        // of the packet that has come
	timers  timers
	answers fifo.Queue[answer] // of no connection
	events  fifo.Queue[Event]
	stats   EndpointStats
	in, out wire.Packet // scratch
	scratch scratch
}

// table holds the connections, by all the names that they go by.
type table struct {
	byID     map[ConnID]*conn
	byLocal  map[uint64]*conn // tag in the peer's packets
	byRemote map[uint64]*conn // tag in ours
	conns    []*conn          // in the order of their making
	lastID   ConnID
	parting  ConnID // whose Closed event was the last one taken; 0 = none
}

// New returns an Endpoint without connections.
func New(cfg Config) (*Endpoint, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Endpoint{
		cfg: cfg,
		rng: rand.New(rand.NewChaCha8(cfg.Seed)),
		table: table{
			byID:     make(map[ConnID]*conn),
			byLocal:  make(map[uint64]*conn),
			byRemote: make(map[uint64]*conn),
		},
	}
	e.cookies = newCookies(e.rng)
	e.hints = hint.New(cfg.Capacity, hintMemory*cfg.InitialRTT)
	return e, nil
}

// Register makes memory reachable for peers under a random key. The memory is shared until Deregister.
//
//mr:req MR-STREAM-015
func (e *Endpoint) Register(memory []byte, rights Rights) (Key, error) {
	key := Key(e.rng.Uint64())
	return key, e.regions.Register(key, memory, rights)
}

// RegisterPart makes a part of a region reachable under a key of its own, with some of its rights. It ends with the region,
// or before it.
func (e *Endpoint) RegisterPart(of Key, at, length uint64, rights Rights) (Key, error) {
	key := Key(e.rng.Uint64())
	return key, e.regions.Part(key, region.Access{Key: of, At: at, Length: length, Right: rights})
}

// Deregister takes a region back: once it returns, no packet touches the memory any more.
func (e *Endpoint) Deregister(key Key) error { return e.regions.Deregister(key) }

// get returns a connection that work can be posted on.
func (e *Endpoint) get(id ConnID) (*conn, error) {
	c := e.table.byID[id]
	switch {
	case c == nil:
		return nil, fmt.Errorf("%w: %d", ErrUnknownConn, id)
	case c.phase != open:
		return nil, fmt.Errorf("%w: %d", ErrNotOpen, id)
	}
	return c, nil
}

// Post queues an operation. Its end is a Completed event.
func (e *Endpoint) Post(now Time, id ConnID, w Work) error {
	e.now = now
	c, err := e.get(id)
	if err != nil {
		return err
	}
	if int(w.Stream) >= c.limits.streams {
		return fmt.Errorf("%w: %d of connection %d, the peer accepts %d", ErrStream, w.Stream, id, c.limits.streams)
	}
	if err := w.possible(c.outgoing.budget.Requests); err != nil {
		return err
	}
	s := c.outgoing.obtain(w.Stream)
	if s.Len() >= e.cfg.Posted {
		return fmt.Errorf("%w: %d on stream %d of connection %d", ErrBusy, s.Len(), w.Stream, id)
	}
	err = s.Post(&stream.Message{
		Op: w.Op, ID: w.ID, Data: w.Data, Pieces: w.Pieces, Into: w.Into, Key: uint64(w.Key), At: w.At,
		Immediate: w.Immediate, Value: w.Value, Match: w.Match, Operand: w.Operand, Compare: w.Compare,
		Fence: w.Fence, Deadline: w.Deadline,
	})
	if err != nil {
		return err
	}
	c.outgoing.activate(s)
	e.touch(c, s.Unblocks(e.now))
	e.wake(c)
	return nil
}

// Cancel ends an operation with ErrCanceled. If it has begun, its stream ends with it: the peer may hold half of it.
// An unknown operation has ended already.
func (e *Endpoint) Cancel(now Time, id ConnID, streamID uint16, operation uint64) error {
	e.now = now
	c, err := e.get(id)
	if err != nil {
		return err
	}
	if s := c.outgoing.get(streamID); s != nil && s.Cancel(operation, stream.ErrCanceled) {
		e.complete(c, s)
		c.outgoing.activate(s)
		e.wake(c)
	}
	return nil
}

// EndStream ends an outgoing stream behind all that is posted on it. Its id can then be used anew.
func (e *Endpoint) EndStream(now Time, id ConnID, streamID uint16) error {
	e.now = now
	c, err := e.get(id)
	if err != nil {
		return err
	}
	s := c.outgoing.obtain(streamID)
	if err := s.End(wire.StatusOk); err != nil {
		return err
	}
	c.outgoing.activate(s)
	e.wake(c)
	return nil
}

// PostReceive lends a buffer to one message of an incoming stream. Its end is a Received event.
//
//mr:req MR-STREAM-020
func (e *Endpoint) PostReceive(now Time, id ConnID, r Receive) error {
	e.now = now
	c, err := e.get(id)
	if err != nil {
		return err
	}
	if int(r.Stream) >= e.cfg.Streams {
		return fmt.Errorf("%w: %d of connection %d, accepted here are %d", ErrStream, r.Stream, id, e.cfg.Streams)
	}
	s := c.incoming.obtain(r.Stream)
	s.Post(r.ID, r.Buffer)
	if start, posted, due := s.Ready(); due {
		if !c.answers.ready(wire.Ready{Stream: r.Stream, Start: start, Posted: posted}) {
			e.drop(DropQueue) // the timer of the peer repairs it
		}
		e.wake(c)
	}
	return nil
}

// NextEvent returns what the application should know, in order.
func (e *Endpoint) NextEvent() (Event, bool) {
	if e.table.parting != 0 {
		e.bury()
	}
	ev, ok := e.events.Pop()
	if ev.Kind == Closed {
		e.table.parting = ev.Conn
	}
	return ev, ok
}

// wake puts a connection into the ready queue.
func (e *Endpoint) wake(c *conn) {
	if !c.clock.ready && c.phase != over {
		c.clock.ready = true
		e.ready.Push(c)
	}
}

// add enters a new connection.
func (e *Endpoint) add(c *conn) {
	e.table.lastID++
	c.id = e.table.lastID
	c.clock = clock{wake: Never, heapAt: -1, control: Never, progress: e.now}
	e.table.byID[c.id] = c
	e.table.byLocal[c.tags.local] = c
	e.table.conns = append(e.table.conns, c)
}

// newTag draws a tag that names no connection.
//
//mr:req MR-CONN-010
func (e *Endpoint) newTag() uint64 {
	for {
		if tag := e.rng.Uint64(); tag != 0 && e.table.byLocal[tag] == nil {
			return tag
		}
	}
}

// remove ends a connection. Its counters stay until its Closed event has been taken.
func (e *Endpoint) remove(c *conn) {
	c.phase = over
	e.timers.remove(c)
	e.hints.Observe(e.now, uint64(c.id), 0)
	if c.ending.farewell != queued {
		delete(e.table.byID, c.id)
	}
	delete(e.table.byLocal, c.tags.local)
	if e.table.byRemote[c.tags.remote] == c {
		delete(e.table.byRemote, c.tags.remote)
	}
	for i, other := range e.table.conns {
		if other == c {
			e.table.conns = append(e.table.conns[:i], e.table.conns[i+1:]...)
			return
		}
	}
}
