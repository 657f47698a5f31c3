// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"net/netip"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// session is a connection with all that travels on it. When a host forgets it, the session is broken, and once the other host
// has noticed, the applications begin anew: another session with other memory.
type session struct {
	number  int
	lanes   []*lane
	ends    [2]end
	closing bool // host 0 has closed it
	broken  bool
}

// end is one host's side of a session.
type end struct {
	conn    engine.ConnID
	open    bool
	started bool // the application
	closed  bool
	gone    bool // the host has forgotten it
}

// done tells whether a host has nothing more to do with the session.
func (s *session) done(host int) bool {
	e := &s.ends[host]
	return e.gone || e.closed || s.broken && !e.open && host == 1
}

// current is the newest session.
func (r *run) current() *session { return r.sessions[len(r.sessions)-1] }

// sessionOf finds the session of an event. An acceptor tells it by the opener's ports.
func (r *run) sessionOf(h *host, e engine.Event) *session {
	if e.Kind == engine.Opened && h.index == 1 {
		stats, _ := h.endpoint.ConnStats(e.Conn)
		if len(stats.Paths) == 0 {
			return nil
		}
		port := int(stats.Paths[0].Route.Remote.Port()) - firstPort
		if port < 0 || port/portStep >= len(r.sessions) {
			return nil
		}
		return r.sessions[port/portStep]
	}
	for _, s := range r.sessions {
		if end := &s.ends[h.index]; end.conn == e.Conn && !end.gone {
			return s
		}
	}
	return nil
}

// begin makes a session: its lanes, their memory, and the opener's first packet.
func (r *run) begin() error {
	s := &session{number: len(r.sessions)}
	r.sessions = append(r.sessions, s)
	rng := concern(r.config.Seed, concernMessages+uint64(s.number))
	r.total = 0
	for i := range r.config.Streams {
		l := newLane(&r.config, i, rng)
		l.session, l.index = s.number, len(r.lanes)
		r.lanes, s.lanes = append(r.lanes, l), append(s.lanes, l)
		r.total += l.bytes()
		if err := r.register(l); err != nil {
			return err
		}
	}
	planes := r.config.Network.Planes
	routes := make([]engine.Route, r.config.Network.Paths)
	for i := range routes {
		port := uint16(firstPort + s.number*portStep + i)
		routes[i].Local = netip.AddrPortFrom(address(i%planes, 0), port)
		routes[i].Remote = netip.AddrPortFrom(address(i%planes, 1), wire.Port)
	}
	opener := r.hosts[0]
	conn, err := opener.endpoint.Open(r.now.clock(), routes)
	if err != nil {
		return fmt.Errorf("%w: open: %w", ErrViolation, err)
	}
	s.ends[0].conn = conn
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

// crash makes a host forget everything. It comes back at an instant.
func (r *run) crash(h *host, back instant) error {
	s := r.current()
	if s.broken || s.closing || h.endpoint == nil {
		return nil
	}
	r.result.Injected[Restart]++
	r.account()
	s.broken = true
	s.ends[h.index].gone = true
	for _, l := range s.lanes {
		for _, m := range l.shadowsAt(h.index) {
			m.seal()
		}
	}
	h.halt()
	r.agenda.plan(back, eventRevive, h.index)
	if opener := &s.ends[0]; h.index == 1 && !opener.open && !opener.closed {
		return r.abandon(s)
	}
	return nil
}

// abandon gives up opening a session whose acceptor has forgotten what it agreed to.
func (r *run) abandon(s *session) error {
	h := r.hosts[0]
	r.plan(h, r.now)
	if err := h.endpoint.Close(r.now.clock(), s.ends[0].conn); err != nil {
		return violation("close while opening: %w", err)
	}
	return nil
}

// revive brings a host back with nothing but its addresses.
func (r *run) revive(h *host) error {
	h.lives++
	if err := h.boot(&r.config); err != nil {
		return err
	}
	r.plan(h, r.now)
	return r.renew()
}

// renew begins another session when both hosts know that the last one is broken, or cannot know better.
func (r *run) renew() error {
	s := r.current()
	if !s.broken || r.hosts[0].endpoint == nil || r.hosts[1].endpoint == nil {
		return nil
	}
	if opener := &s.ends[0]; !opener.gone && !opener.closed {
		return nil
	}
	return r.begin()
}

// bury judges the end of a connection at one host: nothing that was posted may be left without its event. From then on its
// memory belongs to the application alone.
func (r *run) bury(h *host, s *session) error {
	s.ends[h.index].closed = true
	for _, l := range s.lanes {
		if l.From == h.index && l.sender.completed != l.sender.posted {
			return violation("stream %d: the connection is over, %d of %d operations have ended", l.id, l.sender.completed, l.sender.posted)
		}
		if l.From != h.index && l.receiver.filled != l.receiver.posted {
			return violation("stream %d: the connection is over, %d of %d receives have ended", l.id, l.receiver.filled, l.receiver.posted)
		}
	}
	if !s.broken {
		return nil
	}
	r.result.Met[metRestart]++
	for _, l := range s.lanes {
		if err := r.withdraw(h, l); err != nil {
			return err
		}
		for _, m := range l.shadowsAt(h.index) {
			m.seal()
		}
	}
	return r.renew()
}

// withdraw takes back what a lane's receiver has registered, once.
func (r *run) withdraw(h *host, l *lane) error {
	if l.From == h.index || l.withdrawn {
		return nil
	}
	l.withdrawn = true
	for _, m := range l.registered() {
		if err := h.endpoint.Deregister(*m.key); err != nil {
			return violation("deregister: %w", err)
		}
	}
	return nil
}
