// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/cc"
	"github.com/openmetaroce/metaroce/engine/internal/fifo"
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/engine/internal/stream"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// phase is where a connection is in its life.
type phase uint8

const (
	opening   phase = iota // opener: OPEN is out
	accepting              // acceptor: ACCEPT is out, nothing confirms it yet
	open
	draining // Close was called; posted work goes on
	closing  // CLOSE is out
	lingering
	over
)

// limits are what both sides have agreed on.
type limits struct {
	chunk       int
	paths       int
	streams     int // ids that the peer accepts
	peerDelay   time.Duration
	ownMessages int // begun and incomplete, accepted here
}

// conn is one connection: its phase and what its parts share. Paths and streams own everything else.
type conn struct {
	id       ConnID
	phase    phase
	tags     tags
	pairs    []pair
	limits   limits
	greeting greeting
	paths    path.Set
	pathCfg  *path.Config
	outgoing outgoingSet
	incoming incomingSet
	acks     acks
	answers  answers
	failing  failing
	due      duePaths
	flying   int // bytes in flight on all paths
	control  control
	named    uint16
	clock    clock
	count    traffic
	ending   ending
}

// tags name the connection: local is what the peer writes into packets to us.
type tags struct {
	local, remote         uint64
	localFirst, peerFirst uint32
}

// ending is why the connection ends, and how far the application has heard of it.
type ending struct {
	cause    error
	farewell farewell
}

// duePaths are the paths that have something to send.
type duePaths struct {
	lost    idSet // chunks, again
	probing idSet // a PROBE
}

// failing is what the verdicts on paths go by, and what failed ones have left behind.
type failing struct {
	silent    idSet                  // paths on which probes stay unanswered
	ackedSent Time                   // when the latest acknowledged packet left
	tailUntil Time                   // a loss was found not long before: a tail may be lost too
	fractions []float64              // of transmissions lost lately, by path
	moved     fifo.Queue[path.Moved] // chunks without a path
}

// traffic counts payload bytes.
type traffic struct {
	sent, received uint64
	moved          uint64 // chunks, not bytes
	resting        resting
}

// clock is when a connection needs attention.
type clock struct {
	wake     Time // lower bound of all deadlines
	heapAt   int  // place in the Endpoint's timer heap; -1 = none
	ready    bool // in the Endpoint's ready queue
	progress Time // of the last acknowledgment, or of the first packet after silence
	heard    Time // when the last valid packet arrived
	asked    Time // when an idle peer was last asked for a sign of life
	asks     int  // how often since it was heard
	control  Time // when CLOSE, OPEN or ACCEPT goes out again, or lingering ends
	retries  int
}

// outgoingSet holds the sending ends of streams, and which of them have something to send.
type outgoingSet struct {
	directory[sender]
	cfg     *stream.Config
	active  fifo.Queue[*sender]
	budget  stream.Budget
	waiting fifo.Queue[*sender]
}

// sender is an outgoing stream and its membership in the active queue.
type sender struct {
	stream.Outgoing
	queued bool
}

// obtain returns the stream, new if need be.
//
//mr:req MR-STREAM-003
func (s *outgoingSet) obtain(id uint16) *sender {
	out := s.get(id)
	if out == nil {
		out = &sender{Outgoing: *stream.NewOutgoing(id, s.cfg, &s.budget)}
		s.add(id, out)
	}
	return out
}

// activate lets the stream be asked for chunks.
func (s *outgoingSet) activate(out *sender) {
	if !out.queued && out.Len() > 0 {
		out.queued = true
		s.active.Push(out)
	}
}

// recount lets the streams that wait for the connection's budget go on, when some of it has been freed.
func (s *outgoingSet) recount() {
	if !s.budget.Freed() {
		return
	}
	for s.waiting.Len() > 0 {
		out, _ := s.waiting.Pop()
		s.activate(out)
	}
}

// incomingSet holds the receiving ends of streams.
type incomingSet struct {
	directory[receiver]
	cfg      *stream.Config
	memory   stream.Memory
	begun    int    // messages begun and incomplete, of all streams
	expected uint64 // bytes of them that have not arrived
	replies  stream.Replies
}

// receiver is an incoming stream.
type receiver struct {
	stream.Incoming
	announced bool // the application has heard of it
	noticed   Time // when it was last told of a missing receive
}

//mr:req MR-STREAM-003
func (s *incomingSet) obtain(id uint16) *receiver {
	in := s.get(id)
	if in == nil {
		in = &receiver{Incoming: *stream.NewIncoming(id, s.cfg, &s.memory), noticed: -Never}
		s.add(id, in)
	}
	return in
}

// establish makes paths and streams once both sides' parameters are known.
//
//mr:req MR-CONN-015 MR-CONN-017
func (e *Endpoint) establish(c *conn, theirs *wire.Parameters) {
	l := limits{
		chunk:       min(e.cfg.Chunk, int(theirs.Chunk.Value)),
		paths:       min(e.cfg.Paths, int(theirs.Paths.Value)),
		streams:     int(theirs.Streams.Value),
		peerDelay:   time.Duration(theirs.MaxAckDelay.Value),
		ownMessages: e.cfg.Messages,
	}
	c.limits = l
	packet := l.chunk + Overhead
	c.pathCfg = &path.Config{
		Space:       wire.Space(e.cfg.SeqBits),
		First:       c.tags.localFirst,
		PeerFirst:   c.tags.peerFirst,
		PeerDelay:   l.peerDelay,
		InitialRTT:  e.cfg.InitialRTT,
		Granularity: e.cfg.MinRTO,
		Control:     e.cfg.Control,
		Congestion:  cc.Config{Initial: e.cfg.InitialWindow, Least: packet, Most: e.cfg.MaxWindow, Step: packet},
	}
	c.paths = path.NewSet(l.paths, e.cfg.Burst, e.rng)
	c.outgoing = outgoingSet{
		cfg:    &stream.Config{Chunk: uint32(l.chunk), Window: theirs.StreamWindow.Value, Span: theirs.Span.Value},
		budget: stream.Budget{Messages: int(theirs.Messages.Value), Requests: int(theirs.Requests.Value)},
	}
	c.incoming = incomingSet{
		cfg:    &stream.Config{Chunk: uint32(l.chunk), Window: uint32(e.cfg.StreamWindow), Span: uint32(e.cfg.Span)},
		memory: stream.NewMemory(e.cfg.Disorder),
	}
	c.incoming.replies = stream.NewReplies(e.cfg.Requests, c.incoming.cfg)
	c.acks = newAcks(l.chunk)
	c.control = newControl(&e.cfg, packet, l.paths)
	c.failing.fractions = make([]float64, l.paths)
	for i := range c.failing.fractions {
		c.failing.fractions[i] = unknown
	}
}

// opened tells the application that work can be posted.
func (e *Endpoint) opened(c *conn) {
	c.phase = open
	c.clock.heard = e.now
	e.touch(c, e.now.Add(e.cfg.DeadAfter/quietParts))
	c.clock.progress = e.now
	c.clock.control = Never
	c.greeting.cookies, c.greeting.print = nil, ""
	e.events.Push(Event{Kind: Opened, Conn: c.id})
}

// live tells whether the connection carries sequenced packets.
func (c *conn) live() bool { return c.phase >= open && c.phase <= closing }

// idle tells whether all that was posted is acknowledged and nothing is in flight.
func (c *conn) idle() bool {
	if c.failing.moved.Len() > 0 {
		return false
	}
	for _, s := range c.outgoing.list {
		if s.Len() > 0 {
			return false
		}
	}
	for _, p := range c.paths.All() {
		if p != nil && !p.Idle() {
			return false
		}
	}
	return true
}

// settle keeps the connection's sums true after a change of a path whose bytes in flight were before.
func (c *conn) settle(p *path.Path, before int) {
	c.flying += p.InFlight() - before
	if p.HasLost() {
		c.due.lost.add(p.ID)
	} else {
		c.due.lost.remove(p.ID)
	}
	if p.Silent() {
		c.failing.silent.add(p.ID)
	} else {
		c.failing.silent.remove(p.ID)
	}
	if p.WantsProbe() {
		c.due.probing.add(p.ID)
	} else {
		c.due.probing.remove(p.ID)
	}
}
