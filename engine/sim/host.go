// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"github.com/openmetaroce/metaroce/engine"
)

// nic is a host's link to the network: the engine's Port. It takes one packet at a time, when the link is free.
type nic struct {
	network *network
	host    int
	rate    Rate
	now     instant
	free    instant // when the link has sent what it has
	lent    [][]byte
	arrived []engine.Datagram
	handed  []engine.Datagram
	leaving engine.Datagram // handed to the link in this turn
	sent    int             // 1 when leaving is set
}

var _ engine.Port = (*nic)(nil)

// Receive hands over what has arrived since the last call.
func (n *nic) Receive() ([]engine.Datagram, error) {
	for i := range n.handed {
		n.network.reclaim(n.handed[i].Bytes)
	}
	n.handed, n.arrived = n.arrived, n.handed[:0]
	return n.handed, nil
}

// Buffers lends one buffer when the link is free.
func (n *nic) Buffers() [][]byte {
	if n.now < n.free || n.sent > 0 {
		return nil
	}
	if len(n.lent) == 0 {
		n.lent = append(n.lent, n.network.lend())
	}
	return n.lent
}

// Send puts a datagram on the link.
func (n *nic) Send(datagrams []engine.Datagram) error {
	if len(datagrams) != 1 || len(n.lent) != 1 {
		return fmt.Errorf("%w: host %d sends %d datagrams, lent were %d buffers", ErrViolation, n.host, len(datagrams), len(n.lent))
	}
	d := datagrams[0]
	if len(d.Bytes) == 0 || &d.Bytes[0] != &n.lent[0][0] {
		return fmt.Errorf("%w: host %d sends bytes that do not lie in the lent buffer", ErrViolation, n.host)
	}
	n.lent = n.lent[:0]
	n.free = max(n.free, n.now) + n.rate.lasts(len(d.Bytes)+wireOverhead)
	n.leaving, n.sent = d, 1
	return nil
}

// host is one of the two machines.
type host struct {
	index     int
	endpoint  *engine.Endpoint
	pump      engine.Pump
	nic       nic
	wake      instant // of the earliest turn that is planned
	conn      engine.ConnID
	open      bool
	started   bool
	closed    bool
	busy      bool // the engine refused work for the time being
	bystander *shadow
	turns     int
	idle      int // turns in a row at one instant that sent nothing
	idleAt    instant
}

// maxIdle is the number of turns at one instant after which a host counts as spinning.
const maxIdle = 10_000

func newHost(index int, r *run) (*host, error) {
	cfg := r.config.Engine
	seeds := concern(r.config.Seed, concernHosts)
	for range index + 1 {
		for i := range cfg.Seed {
			cfg.Seed[i] = byte(seeds.Uint32())
		}
	}
	endpoint, err := engine.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	h := &host{index: index, endpoint: endpoint, wake: never}
	h.nic = nic{network: r.network, host: index, rate: r.config.Network.Rate}
	h.pump = engine.Pump{Endpoint: endpoint, Port: &h.nic}
	h.bystander = newShadow(fmt.Sprintf("memory of host %d without rights", index), make([]int, 4))
	if _, err := endpoint.Register(h.bystander.region(), 0); err != nil {
		return nil, fmt.Errorf("%w: region without rights: %w", ErrViolation, err)
	}
	return h, nil
}

// turn pumps the host once, lets its application act, and plans the next turn.
func (r *run) turn(h *host) error {
	h.wake = never
	h.nic.now, h.nic.sent = r.now, 0
	lends := h.nic.free <= r.now
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
	called, err := r.events(h)
	if err != nil {
		return err
	}
	at := max(wakeOf(wake), r.now)
	switch {
	case called:
		at = r.now
	case h.nic.sent > 0 || !lends && at == r.now:
		at = h.nic.free
	case !lends:
		at = min(at, h.nic.free)
	}
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
	index, at, m := r.network.depart(h.nic.free, h.index, d)
	if m != 0 {
		r.drop(index, m)
		return
	}
	r.agenda.plan(at, eventHop, index)
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
	if m != markDelivered && m != markDamaged && m != markCopied {
		r.drop(index, m)
		return
	}
	p := r.network.packets[index]
	r.trace.add(r.now, m, p.data)
	r.network.remove(index)
	h := r.hosts[1-p.from]
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
	for _, l := range r.lanes {
		for _, s := range []*shadow{l.region, l.inbox, l.library, l.into, l.words.shadow} {
			if err := s.guards(); err != nil {
				return err
			}
		}
	}
	return nil
}
