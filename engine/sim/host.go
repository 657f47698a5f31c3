// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/openmetaroce/metaroce/engine"
)

// host is one of the two machines.
type host struct {
	index     int
	endpoint  *engine.Endpoint // nil while the host is down
	pump      engine.Pump
	nic       nic
	wake      instant // of the earliest turn that is planned
	lives     int     // times that it has come back
	bystander *shadow
	suffering suffering
	told      told
	turns     int
	idle      int // turns in a row at one instant that sent nothing
	idleAt    instant
}

// suffering is what the faults of hosts do to one.
type suffering struct {
	asleep, deaf instant // until then
	lags         []Fault
	dice         *rand.Rand
}

// told is what of an endpoint's counters is in the Result.
type told struct{ packets, cookies uint64 }

// maxIdle is the number of turns at one instant after which a host counts as spinning.
const maxIdle = 10_000

func newHost(index int, r *run) (*host, error) {
	h := &host{index: index, wake: never}
	h.nic = nic{network: r.network, host: index, rate: r.config.Network.Rate, free: make([]instant, r.config.Network.Planes)}
	h.suffering.dice = concern(r.config.Seed, concernLag<<8|uint64(index))
	for _, f := range r.config.Faults {
		if f.Kind == Lag && f.by(index) {
			h.suffering.lags = append(h.suffering.lags, f)
		}
	}
	return h, h.boot(&r.config)
}

// boot gives a host an endpoint that knows nothing.
func (h *host) boot(c *Config) error {
	cfg := c.Engine
	seeds := concern(c.Seed, concernHosts)
	for range 2*h.lives + h.index + 1 {
		for i := range cfg.Seed {
			cfg.Seed[i] = byte(seeds.Uint32())
		}
	}
	if c.Network.Planes > 1 && h.index == 1 {
		cfg.Addresses = c.Network.listens()
	}
	endpoint, err := engine.New(cfg)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	h.endpoint = endpoint
	h.pump = engine.Pump{Endpoint: endpoint, Port: &h.nic}
	h.bystander = newShadow(fmt.Sprintf("memory of host %d without rights", h.index), make([]int, 4))
	if _, err := endpoint.Register(h.bystander.region(), 0); err != nil {
		return fmt.Errorf("%w: region without rights: %w", ErrViolation, err)
	}
	return nil
}

// halt takes a host down: what it has received and not yet looked at is lost.
func (h *host) halt() {
	h.endpoint, h.pump, h.wake, h.told = nil, engine.Pump{}, never, told{}
	h.nic.clear()
}

// turn pumps the host once, lets its application act, and plans the next turn.
func (r *run) turn(h *host) error {
	h.wake = never
	switch {
	case h.endpoint == nil:
		return nil
	case r.now < h.suffering.asleep:
		r.plan(h, h.suffering.asleep)
		return nil
	}
	h.nic.now, h.nic.sent = r.now, 0
	lends := h.nic.ready() <= r.now
	wake, err := h.pump.Turn(r.now.clock())
	if err != nil {
		return fmt.Errorf("host %d: turn: %w", h.index, err)
	}
	if h.nic.sent > 0 {
		r.depart(h)
	}
	if err := r.check(h); err != nil {
		return err
	}
	called, err := r.listen(h)
	if err != nil {
		return err
	}
	at := r.late(h, max(wakeOf(wake), r.now))
	switch {
	case called:
		at = r.now
	case h.nic.sent > 0 || !lends && at == r.now:
		at = h.nic.ready()
	case !lends:
		at = min(at, h.nic.ready())
	}
	at = max(at, r.now)
	if at == r.now && h.nic.sent == 0 {
		if h.idleAt != r.now {
			h.idleAt, h.idle = r.now, 0
		}
		if h.idle++; h.idle > maxIdle {
			return fmt.Errorf("%w: host %d wants to be woken at %v, at once and for ever", ErrViolation, h.index, r.now.since())
		}
	}
	r.plan(h, at)
	return nil
}

// late delays a timer of a host that lags.
func (r *run) late(h *host, at instant) instant {
	if at == r.now || at == never {
		return at
	}
	for i := range h.suffering.lags {
		if f := &h.suffering.lags[i]; f.during(r.now, r.network.healAt) {
			r.result.Injected[Lag]++
			at += instant(h.suffering.dice.Int64N(int64(instantOf(f.Span)) + 1))
		}
	}
	return at
}

// plan makes sure that the host has a turn no later than at.
func (r *run) plan(h *host, at instant) {
	if at < h.wake {
		h.wake = at
		r.agenda.plan(at, eventTurn, h.index)
	}
}

// depart carries a datagram from the host's link into the network.
func (r *run) depart(h *host) {
	d := h.nic.leaving
	index, at, m := r.network.depart(h.nic.left, h.index, d)
	if m == 0 {
		r.agenda.plan(at, eventHop, index)
		return
	}
	r.drop(index, m)
	if m == markUnplugged {
		h.endpoint.RouteError(r.now.clock(), d.Route, engine.Unreachable)
	}
}

// drop ends the life of a packet that never arrives.
func (r *run) drop(index int, m mark) {
	data := r.network.packets[index].data
	r.trace.add(r.now, m, data)
	r.network.reclaim(data)
	r.network.remove(index)
}

// hop moves a packet on: into its next hop, or into its host.
func (r *run) hop(index int) {
	at, m, last := r.network.hop(r.now, index)
	switch {
	case m != 0:
		r.drop(index, m)
		return
	case !last:
		r.agenda.plan(at, eventHop, index)
		return
	}
	m, copied, later := r.network.arrive(r.now, index)
	if copied >= 0 {
		r.agenda.plan(later, eventHop, copied)
	}
	h := r.hosts[1-r.network.packets[index].from]
	if m != markDelivered && m != markDamaged && m != markCopied || h.endpoint == nil {
		r.drop(index, m)
		return
	}
	p := r.network.packets[index]
	r.trace.add(r.now, m, p.data)
	r.network.remove(index)
	if m != markDamaged && r.config.CheckEvery > 0 {
		r.watch.arrived(r.now, &p)
	}
	h.nic.arrived = append(h.nic.arrived, engine.Datagram{Route: p.route, ECN: p.ecn, Bytes: p.data})
	r.plan(h, r.now)
}

// check calls Endpoint.Check and looks at guards when the Config asks for it.
func (r *run) check(h *host) error {
	h.turns++
	if r.config.CheckEvery == 0 || h.turns%r.config.CheckEvery != 0 {
		return nil
	}
	if err := h.endpoint.Check(); err != nil {
		return fmt.Errorf("%w: host %d at %v: %w", ErrViolation, h.index, r.now.since(), err)
	}
	if h.turns%sampleTurns == 0 {
		r.sample(h)
	}
	for _, l := range r.lanes {
		for _, s := range l.shadows() {
			if err := s.guards(); err != nil {
				return err
			}
		}
	}
	return nil
}
