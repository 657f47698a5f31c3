// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"net/netip"

	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// pair is one plane of a connection: the two addresses between which some of its paths run. A peer that only claims an
// address gets next to nothing sent there before it has shown that it receives at it.
type pair struct {
	plane         uint8
	local, remote netip.Addr
	valid         bool
	in, out       uint64 // bytes, before it is valid
	token         uint64 // of the challenge that is out
	challenges    int
	heard         Time // when a packet came from it, or feedback on one of its paths
	turned        Time // when a silent path of it last got another port
	turn          int  // that path
}

// Bounds of what goes to an address before it is valid.
const (
	mostChallenges = 4 // small ones, besides what its bytes pay for
	amplification  = 3 // bytes out for a byte in
)

// Planes of a connection at most.
const mostPlanes = 16

// locate finds the plane that a route lies in; ok is false when it leads to or from another address than the connection's.
func (c *conn) locate(r *Route) (route path.Route, ok bool) {
	local, remote := r.Local.Addr(), r.Remote.Addr()
	for i := range c.pairs {
		if q := &c.pairs[i]; q.remote == remote && (q.local == local || !q.local.IsValid()) {
			return path.Route{Plane: uint8(i), Local: r.Local.Port(), Remote: r.Remote.Port()}, true
		}
	}
	return path.Route{}, false
}

// enter locates the route that a datagram came on, and learns where its plane ends here.
func (c *conn) enter(r *Route) (route path.Route, ok bool) {
	if route, ok = c.locate(r); ok {
		if q := &c.pairs[route.Plane]; !q.local.IsValid() {
			q.local = r.Local.Addr()
		}
	}
	return route, ok
}

// spell names the two ends of a route.
func (c *conn) spell(route path.Route) Route {
	q := &c.pairs[route.Plane]
	return Route{Local: netip.AddrPortFrom(q.local, route.Local), Remote: netip.AddrPortFrom(q.remote, route.Remote)}
}

// pairOn returns the plane of a path.
func (c *conn) pairOn(p *path.Path) *pair { return &c.pairs[p.Route.Plane] }

// survey lists the planes of the opener's routes, in the order in which they first occur, and keeps the routes.
func (c *conn) survey(routes []Route) {
	c.greeting.routes = make([]path.Route, len(routes))
	for i := range routes {
		r := &routes[i]
		if _, known := c.locate(r); !known {
			c.pairs = append(c.pairs, pair{plane: uint8(len(c.pairs)), local: r.Local.Addr(), remote: r.Remote.Addr()})
		}
		c.greeting.routes[i], _ = c.locate(r)
	}
}

// addresses announces the planes of an opener.
func (c *conn) addresses() (list []wire.ParametersAddress) {
	for _, q := range c.pairs {
		a := wire.ParametersAddress{Plane: q.plane, Family: family(q.local), Ip: q.local.As16()}
		for _, route := range c.greeting.routes {
			if c.pairs[route.Plane].local == q.local {
				a.Port = route.Local
				break
			}
		}
		list = append(list, a)
	}
	return list
}

// family is the number of an address family, as in ACCEPT and OPEN.
func family(a netip.Addr) uint8 {
	if a.Unmap().Is4() {
		return 4
	}
	return 6
}

// ownAddresses announces the planes of an acceptor.
func (e *Endpoint) ownAddresses() (list []wire.ParametersAddress) {
	for i, a := range e.cfg.Addresses {
		list = append(list, wire.ParametersAddress{
			Plane: uint8(i), Family: family(a.Addr()), Port: a.Port(), Ip: a.Addr().As16(),
		})
	}
	return list
}

// pairsWith lists the planes that an acceptor has with an opener: only equal plane numbers pair. The handshake has shown
// one of them to be valid. An opener that announces no addresses has that one only.
//
//mr:req MR-PLANE-001
func (e *Endpoint) pairsWith(r Route, theirs []wire.ParametersAddress) []pair {
	first := pair{local: r.Local.Addr(), remote: r.Remote.Addr(), valid: true, heard: e.now}
	var pairs []pair
	found := false
	for _, a := range theirs[:min(len(theirs), mostPlanes)] {
		q := pair{plane: a.Plane, remote: netip.AddrFrom16(a.Ip).Unmap()}
		if int(a.Plane) < len(e.cfg.Addresses) {
			q.local = e.cfg.Addresses[a.Plane].Addr()
		}
		if q.remote == first.remote {
			first.plane, q, found = a.Plane, first, true
			q.plane = a.Plane
		}
		pairs = append(pairs, q)
	}
	if !found {
		return []pair{first}
	}
	return pairs
}

// admit finds the plane that a datagram came on. One from any other address is not the peer's.
//
//mr:req MR-PLANE-002
func (e *Endpoint) admit(c *conn, d *Datagram) bool {
	route, ok := c.enter(&d.Route)
	if !ok {
		e.drop(DropAddress)
		return false
	}
	e.from = route
	q := &c.pairs[route.Plane]
	q.heard = e.now
	if !q.valid {
		q.in += uint64(len(d.Bytes))
	}
	return true
}

// pays tells whether a packet of a size may go to a plane: to one that is not valid yet only what it has paid for.
//
//mr:req MR-PLANE-003
func (q *pair) pays(size int) bool {
	return q.valid || q.out+uint64(size) <= amplification*q.in
}

// paid notes what goes to a plane that is not valid yet.
func (c *conn) paid(plane uint8, size int) {
	if q := &c.pairs[plane]; !q.valid {
		q.out += uint64(size)
	}
}

// challenge fills in the probe of a path on a plane that is not valid yet; ok is false when the plane has had its share.
func (e *Endpoint) challenge(q *pair) (token uint64, ok bool) {
	const size = wire.BaseSize + wire.ProbeSize + 4
	if q.challenges >= mostChallenges && !q.pays(size) {
		return 0, false
	}
	if q.token == 0 {
		q.token = max(e.rng.Uint64(), 1)
	}
	q.challenges++
	return q.token, true
}

// handleProbeReply takes the proof that the peer receives at an address. The paths there then have to show that they carry
// full packets.
//
//mr:req MR-PLANE-004
func (e *Endpoint) handleProbeReply(c *conn) {
	q := &c.pairs[e.from.Plane]
	if q.valid || q.token == 0 || e.in.Plain.ProbeReply.Token != q.token {
		return
	}
	q.valid = true
	for _, p := range c.paths.All() {
		if p != nil && c.pairOn(p) == q {
			p.Unbar(e.now)
			e.touch(c, p.Deadline())
		}
	}
}

// newPath puts a path into use: at once on a valid plane, after a challenge on another.
func (e *Endpoint) newPath(c *conn, id uint16, route path.Route) *path.Path {
	p := path.New(id, route, c.pathCfg)
	c.paths.Inherit(e.now, p)
	if !c.pairOn(p).valid {
		p.Bar(e.now)
		e.touch(c, p.Deadline())
	}
	c.paths.Add(p)
	return p
}

// Bounds of the verdict on a plane, in parts of the least round-trip time.
const (
	planeSilence = 5 // halves of it, without a word from the plane
	planeHeard   = 2 // halves of it, since another plane was heard
)

// judgePlanes takes all paths of a plane out of service when it has gone silent, with answers overdue, while another
// plane is heard.
//
//mr:req MR-PLANE-005
func (e *Endpoint) judgePlanes(c *conn) {
	if len(c.pairs) < 2 {
		return
	}
	half := c.control.base / 2
	for i := range c.pairs {
		q := &c.pairs[i]
		if !q.valid || e.now.Sub(q.heard) < planeSilence*half || !c.otherHeard(q, e.now.Add(-planeHeard*half)) {
			continue
		}
		for _, p := range c.paths.All() {
			if p != nil && p.Overdue() && c.pairOn(p) == q {
				e.failPlane(c, q)
				break
			}
		}
	}
}

func (c *conn) otherHeard(q *pair, since Time) bool {
	for i := range c.pairs {
		if other := &c.pairs[i]; other != q && other.valid && other.heard >= since {
			return true
		}
	}
	return false
}

func (e *Endpoint) failPlane(c *conn, q *pair) {
	for _, p := range c.paths.All() {
		if p != nil && !p.Down() && c.pairOn(p) == q {
			e.failPath(c, p)
		}
	}
}
