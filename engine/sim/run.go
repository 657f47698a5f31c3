// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// progressEvents is the number of events between two calls of Config.Progress.
const progressEvents = 1 << 12

// run is the state of a run.
type run struct {
	config   Config
	now      instant
	agenda   agenda
	network  *network
	hosts    [2]*host
	lanes    []*lane
	trace    trace
	happened uint64
	total    uint64 // payload bytes of all lanes
	closing  bool
	result   Result
}

// Run carries out a Config. The Result tells how far it came even when there is an error. Errors wrap ErrConfig,
// ErrViolation or ErrUnfinished.
func Run(cfg Config) (Result, error) {
	r, err := newRun(cfg)
	if err != nil {
		return Result{}, err
	}
	err = r.execute()
	return r.result, err
}

func newRun(cfg Config) (*run, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{config: cfg}
	r.network = newNetwork(&r.config)
	return r, r.build()
}

// execute lets everything happen and fills the result.
func (r *run) execute() error {
	err := r.loop()
	if err == nil {
		err = r.verify()
	}
	r.snapshot()
	return err
}

// build makes hosts and lanes, registers memory and starts to connect.
func (r *run) build() error {
	for i := range r.hosts {
		h, err := newHost(i, r)
		if err != nil {
			return err
		}
		r.hosts[i] = h
	}
	rng := concern(r.config.Seed, concernMessages)
	for i, s := range r.config.Streams {
		l := newLane(i, s, rng)
		r.lanes = append(r.lanes, l)
		r.total += l.bytes()
		if err := r.register(l); err != nil {
			return err
		}
	}
	routes := make([]engine.Route, r.config.Network.Paths)
	for i := range routes {
		routes[i].Local = netip.AddrPortFrom(addresses[0], uint16(firstPort+i))
		routes[i].Remote = netip.AddrPortFrom(addresses[1], wire.Port)
	}
	opener := r.hosts[0]
	conn, err := opener.endpoint.Open(r.now.clock(), routes)
	if err != nil {
		return fmt.Errorf("%w: open: %w", ErrViolation, err)
	}
	opener.conn = conn
	r.plan(opener, r.now)
	return nil
}

// register makes a lane's memory reachable at its receiver.
func (r *run) register(l *lane) (err error) {
	peer := r.hosts[1-l.From].endpoint
	for _, m := range l.registered() {
		if *m.key, err = peer.Register(m.shadow.region(), m.rights); err != nil {
			return violation("register: %w", err)
		}
	}
	return nil
}

// loop lets events happen until the connection is closed and nothing is on its way any more.
func (r *run) loop() error {
	deadline := instantOf(r.config.Deadline)
	for !r.over() {
		e, ok := r.agenda.next()
		if !ok {
			return r.unfinished("nothing is left to happen")
		}
		if e.at > deadline {
			return r.unfinished("the deadline has come")
		}
		r.now = e.at
		if e.kind == eventTurn && r.hosts[e.index].wake != e.at {
			continue // an earlier turn has replaced it
		}
		r.happened++
		if r.happened > r.config.MaxEvents {
			return r.unfinished("too many events")
		}
		if err := r.happen(e); err != nil {
			return fmt.Errorf("at %v: %w", r.now.since(), err)
		}
		if r.config.Progress != nil && r.happened%progressEvents == 0 {
			r.config.Progress(r.placed(), r.total)
		}
	}
	return nil
}

func (r *run) happen(e event) error {
	switch e.kind {
	case eventHop:
		r.hop(int(e.index))
	case eventTurn:
		return r.turn(r.hosts[e.index])
	case eventStart:
		return r.start(r.hosts[e.index])
	case eventReceive:
		return r.resume(r.lanes[e.index])
	}
	return nil
}

// over tells whether the connection has come and gone and the network is empty.
func (r *run) over() bool {
	return r.hosts[0].closed && r.hosts[1].closed && r.network.live == 0
}

// verify looks at all memory, and takes back the regions.
func (r *run) verify() error {
	for _, l := range r.lanes {
		for _, s := range []*shadow{l.region, l.inbox, l.library, l.into} {
			if err := s.verify(); err != nil {
				return err
			}
		}
		if err := l.words.verify(); err != nil {
			return fmt.Errorf("stream %d: %w", l.id, err)
		}
		for _, m := range l.registered() {
			if err := r.hosts[1-l.From].endpoint.Deregister(*m.key); err != nil {
				return violation("deregister: %w", err)
			}
		}
	}
	for _, h := range r.hosts {
		if err := h.bystander.verify(); err != nil {
			return err
		}
	}
	return nil
}

// placed is the number of payload bytes that both hosts have placed.
func (r *run) placed() (n uint64) {
	for _, h := range r.hosts {
		if s, ok := h.endpoint.ConnStats(h.conn); ok && h.open {
			n += s.BytesReceived
		}
	}
	return n
}

// snapshot fills the Result. The counters of the connection are those of the last call while it was open.
func (r *run) snapshot() {
	out := &r.result
	out.Ended, out.Events, out.Trace, out.Network = r.now.since(), r.happened, uint64(r.trace), r.network.stats
	out.Flows = make([]Flow, len(r.lanes))
	for i, l := range r.lanes {
		out.Flows[i] = Flow{
			Bytes: l.bytes(), Begun: l.sender.begun.since(), Finished: l.sender.finished.since(), Delayed: l.receiver.delayed,
		}
	}
	if !r.closing {
		r.count()
	}
}

// count adds up the counters of both ends of the connection.
func (r *run) count() {
	out := &r.result
	for _, h := range r.hosts {
		sent := h.endpoint.Stats()
		out.Packets += sent.SentOf(wire.OpcodeWrite) + sent.SentOf(wire.OpcodeSend) + sent.SentOf(wire.OpcodeReadReply)
		s, ok := h.endpoint.ConnStats(h.conn)
		if !ok {
			continue
		}
		for i := range s.Paths {
			p := &s.Paths[i]
			out.Resent += p.Resent
			out.TailProbes += p.TailProbes
			out.RTOFired += p.RTOFired
			out.CEReceived += p.CE
			out.Duplicates += p.Duplicates
			out.Copies += p.Copies
		}
	}
}

// unfinished describes what the run still waits for.
func (r *run) unfinished(why string) error {
	var b strings.Builder
	for _, h := range r.hosts {
		fmt.Fprintf(&b, "; host %d open %v closed %v", h.index, h.open, h.closed)
	}
	n := 0
	for _, l := range r.lanes {
		if l.over() {
			continue
		}
		if n++; n > 8 {
			b.WriteString("; …")
			break
		}
		fmt.Fprintf(&b, "; stream %d from host %d: %d of %d posted, %d completed, receives: %d posted, %d of %d filled, ended %v",
			l.id, l.From, l.sender.posted, len(l.operations), l.sender.completed,
			l.receiver.posted, l.receiver.filled, len(l.consumers), l.receiver.ended)
	}
	return fmt.Errorf("%w at %v after %d events: %s%s", ErrUnfinished, r.now.since(), r.happened, why, b.String())
}
