// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
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
	sessions []*session
	lanes    []*lane // of all sessions
	plots    []plot
	watch    watch
	trace    trace
	happened uint64
	total    uint64 // payload bytes of the newest session's lanes
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
	r.watch = newWatch(&r.config, &r.result.Met)
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

// build makes the hosts, plans the faults, and starts to connect.
func (r *run) build() error {
	for i := range r.hosts {
		h, err := newHost(i, r)
		if err != nil {
			return err
		}
		r.hosts[i] = h
	}
	for i := range r.config.Faults {
		f := &r.config.Faults[i]
		if (f.Kind.ofHosts() || f.Kind.ofPaths()) && instantOf(f.Begin) < r.network.healAt {
			r.agenda.plan(instantOf(f.Begin), eventFault, i)
		}
	}
	return r.begin()
}

// loop lets events happen until the connections are closed and nothing is on its way any more.
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
		if e.at < r.now {
			panic(fmt.Sprintf("sim: time goes back from %v to %v", r.now.since(), e.at.since()))
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
		return r.start(int(e.index))
	case eventReceive:
		return r.resume(r.lanes[e.index])
	case eventFault:
		return r.strike(int(e.index))
	case eventHealed:
		r.judgeOutage(&r.config.Faults[e.index])
	case eventRevive:
		return r.revive(r.hosts[e.index])
	case eventTrouble:
		return r.trouble(int(e.index))
	}
	return nil
}

// over tells whether all connections have come and gone and the network is empty.
func (r *run) over() bool {
	if r.network.live > 0 || r.current().broken {
		return false
	}
	for _, s := range r.sessions {
		if !s.done(0) || !s.done(1) {
			return false
		}
	}
	return true
}

// verify looks at all memory, and takes back the regions.
func (r *run) verify() error {
	for _, l := range r.lanes {
		s := r.sessions[l.session]
		if err := l.verify(s); err != nil {
			return err
		}
		if h := r.hosts[1-l.From]; !s.broken {
			if err := r.withdraw(h, l); err != nil {
				return err
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

// placed is the number of payload bytes that both hosts have placed for the newest session.
func (r *run) placed() (n uint64) {
	s := r.current()
	for i, h := range r.hosts {
		if h.endpoint == nil || !s.ends[i].open {
			continue
		}
		if stats, ok := h.endpoint.ConnStats(s.ends[i].conn); ok {
			n += stats.BytesReceived
		}
	}
	return n
}

// snapshot fills the Result. The counters of a connection are those of the last call while it was open.
func (r *run) snapshot() {
	out := &r.result
	out.Ended, out.Events, out.Trace, out.Network = r.now.since(), r.happened, uint64(r.trace), r.network.stats
	for k := range out.Injected {
		out.Injected[k] += r.network.injected[k]
	}
	s := r.current()
	out.Flows = make([]Flow, len(s.lanes))
	for i, l := range s.lanes {
		out.Flows[i] = Flow{
			Bytes: l.bytes(), Begun: l.sender.begun.since(), Finished: l.sender.finished.since(), Delayed: l.receiver.delayed,
		}
	}
	if !s.closing {
		r.account()
	}
	r.meet()
}

// account adds up the counters of both ends of the newest session.
func (r *run) account() {
	out, s := &r.result, r.current()
	for i, h := range r.hosts {
		if h.endpoint == nil {
			continue
		}
		sent := h.endpoint.Stats()
		packets := sent.SentOf(wire.OpcodeWrite) + sent.SentOf(wire.OpcodeSend) + sent.SentOf(wire.OpcodeReadReply)
		cookies := sent.Drops[engine.DropCookie]
		out.Packets += packets - h.told.packets
		out.Met[metCookie] += cookies - h.told.cookies
		h.told = told{packets, cookies}
		stats, ok := h.endpoint.ConnStats(s.ends[i].conn)
		if !ok {
			continue
		}
		out.Met[metFloor] += stats.Moved
		for i := range stats.Paths {
			p := &stats.Paths[i]
			out.Resent += p.Resent
			out.TailProbes += p.TailProbes
			out.RTOFired += p.RTOFired
			out.CEReceived += p.CE
			out.Duplicates += p.Duplicates
			out.Copies += p.Copies
			out.Met[metPathDown] += p.Downs
			out.Met[metPathBack] += p.Ups
		}
	}
}

// unfinished describes what the run still waits for.
func (r *run) unfinished(why string) error {
	var b strings.Builder
	for _, s := range r.sessions {
		for i, e := range s.ends {
			fmt.Fprintf(&b, "; session %d, host %d open %v closed %v gone %v", s.number, i, e.open, e.closed, e.gone)
		}
	}
	n := 0
	for _, l := range r.current().lanes {
		if l.over() {
			continue
		}
		if n++; n > 8 {
			b.WriteString("; …")
			break
		}
		fmt.Fprintf(&b, "; stream %d from host %d: %d of %d posted, %d completed, closed %v, receives: %d posted, %d of %d filled, ended %v",
			l.id, l.From, l.sender.posted, len(l.operations), l.sender.completed, l.sender.closed,
			l.receiver.posted, l.receiver.filled, len(l.consumers), l.receiver.ended)
	}
	return fmt.Errorf("%w at %v after %d events: %s%s", ErrUnfinished, r.now.since(), r.happened, why, b.String())
}
