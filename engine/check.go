// SPDX-License-Identifier: Apache-2.0

package engine

import "fmt"

// Check verifies every invariant that can be seen from inside. Simulators and fuzzers call it after each turn.
func (e *Endpoint) Check() error {
	if len(e.table.conns) > len(e.table.byID) || len(e.table.conns) != len(e.table.byLocal) {
		return fmt.Errorf("engine: %d connections, %d by id, %d by tag", len(e.table.conns), len(e.table.byID), len(e.table.byLocal))
	}
	for i, c := range e.timers.heap {
		if c.clock.heapAt != i || i > 0 && e.timers.heap[(i-1)/2].clock.wake > c.clock.wake {
			return fmt.Errorf("engine: connection %d is at the wrong place of the timer heap", c.id)
		}
	}
	for _, c := range e.table.conns {
		if err := c.check(); err != nil {
			return fmt.Errorf("engine: connection %d: %w", c.id, err)
		}
	}
	return nil
}

func (c *conn) check() error {
	flying := 0
	for _, p := range c.paths.All() {
		if p == nil {
			continue
		}
		if err := p.Check(); err != nil {
			return err
		}
		flying += p.InFlight()
		if p.HasLost() != c.due.lost.has(p.ID) {
			return fmt.Errorf("path %d: lost chunks %v, the connection says %v", p.ID, p.HasLost(), c.due.lost.has(p.ID))
		}
		if c.live() && (p.InFlight() > 0 || p.Down()) && (c.clock.heapAt < 0 || p.Deadline() < c.clock.wake) {
			return fmt.Errorf("path %d: nothing wakes the connection at its deadline", p.ID)
		}
	}
	if flying != c.flying {
		return fmt.Errorf("%d bytes in flight, paths say %d", c.flying, flying)
	}
	begun, held := 0, 0
	for _, s := range c.incoming.list {
		begun += s.Begun()
		held += s.Held()
	}
	if held != c.incoming.memory.Held() {
		return fmt.Errorf("%d bytes held for what is out of order, messages say %d", c.incoming.memory.Held(), held)
	}
	if begun != c.incoming.begun {
		return fmt.Errorf("%d messages begun, streams say %d", c.incoming.begun, begun)
	}
	return nil
}

// Stats returns the endpoint's counters.
func (e *Endpoint) Stats() EndpointStats { return e.stats }

// ConnStats returns the counters of a connection; ok is false when it is over.
func (e *Endpoint) ConnStats(id ConnID) (s ConnStats, ok bool) {
	c := e.table.byID[id]
	if c == nil {
		return ConnStats{}, false
	}
	s = ConnStats{
		Established: c.phase >= open, InFlight: c.flying,
		BytesSent: c.count.sent, BytesReceived: c.count.received, Moved: c.count.moved,
	}
	for _, p := range c.paths.All() {
		if p == nil {
			continue
		}
		packets, marked, duplicates, copies := p.Tracker().Received()
		s.Window += p.Window()
		s.Paths = append(s.Paths, PathStats{
			ID: p.ID, Route: c.spell(p.Route),
			Packets: p.Sent.Packets, Resent: p.Sent.Resent, Lost: p.Sent.Lost, Acked: p.Sent.Acked,
			Received: uint64(packets), Duplicates: uint64(duplicates), Copies: uint64(copies), CE: uint64(marked),
			Downs: uint64(p.Health().Downs), Ups: uint64(p.Health().Ups),
			Blind: p.Blind(), CEReported: p.Sent.CE, TailProbes: p.Sent.TailProbes, RTOFired: p.Sent.RTOFired,
			RTT: p.RTT(), PTO: p.PTO(), Window: p.Window(), InFlight: p.InFlight(),
		})
	}
	return s, true
}
