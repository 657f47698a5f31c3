// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// wireVersion is the only version spoken here.
const wireVersion = 1

// greeting is what a connection remembers of its handshake.
type greeting struct {
	routes  []path.Route          // opener: one for each path
	next    int                   // opener: place in routes of the port tried last
	route   path.Route            // acceptor: where the OPEN came from
	cookies map[netip.Addr][]byte // opener: from RETRY, by own address
	print   string                // acceptor: fingerprint of the OPEN
}

// Open begins a connection over one path for each route. The Opened event says that it stands, a Closed event that it
// could not be made.
func (e *Endpoint) Open(now Time, routes []Route) (ConnID, error) {
	e.now = now
	if len(routes) == 0 || len(routes) > e.cfg.Paths {
		return 0, fmt.Errorf("%w: %d routes for up to %d paths", ErrConfig, len(routes), e.cfg.Paths)
	}
	c := &conn{phase: opening}
	c.survey(routes)
	if len(c.pairs) > mostPlanes {
		return 0, fmt.Errorf("%w: %d pairs of addresses, at most %d", ErrConfig, len(c.pairs), mostPlanes)
	}
	c.tags = tags{local: e.newTag(), localFirst: e.first()}
	e.add(c)
	e.schedule(c, 0)
	return c.id, nil
}

// first draws the first PSN and TSN of a direction.
//
//mr:req MR-CONN-010
func (e *Endpoint) first() uint32 { return e.rng.Uint32() & (wire.Space(e.cfg.SeqBits)).Mask() }

// schedule makes the connection's control packet go out after a delay.
func (e *Endpoint) schedule(c *conn, delay time.Duration) {
	c.clock.control = e.now.Add(delay)
	e.touch(c, c.clock.control)
	e.wake(c)
}

// Bounds of the wait between control packets.
const (
	firstControl = 3 // initial RTTs
	lastControl  = time.Second
)

// again schedules the control packet's repetition, later each time.
//
//mr:req MR-CONN-025 MR-CONN-014
func (e *Endpoint) again(c *conn) {
	wait := firstControl * e.cfg.InitialRTT << min(c.clock.retries, 16)
	c.clock.retries++
	e.schedule(c, min(wait, max(lastControl, firstControl*e.cfg.InitialRTT)))
}

// parameters announces what this endpoint accepts.
//
//mr:req MR-CONN-016
func (e *Endpoint) parameters() wire.Parameters {
	return wire.Parameters{
		Chunk: wire.ParametersChunk{Value: uint32(e.cfg.Chunk)}, ChunkPresent: true,
		Paths: wire.ParametersPaths{Value: uint16(e.cfg.Paths)}, PathsPresent: true,
		StreamWindow: wire.ParametersStreamWindow{Value: uint32(e.cfg.StreamWindow)}, StreamWindowPresent: true,
		Span: wire.ParametersSpan{Value: uint32(e.cfg.Span)}, SpanPresent: true,
		Requests: wire.ParametersRequests{Value: uint32(e.cfg.Requests)}, RequestsPresent: true,
		Streams: wire.ParametersStreams{Value: uint32(e.cfg.Streams)}, StreamsPresent: true,
		Messages: wire.ParametersMessages{Value: uint32(e.cfg.Messages)}, MessagesPresent: true,
		MaxAckDelay: wire.ParametersMaxAckDelay{Value: uint32(e.cfg.MaxAckDelay)}, MaxAckDelayPresent: true,
		Profile: wire.ParametersProfile{Value: wire.ProfileClear}, ProfilePresent: true,
	}
}

// acceptable tells whether the peer has announced all that is mandatory, with values that can be served.
//
//mr:req MR-CONN-006
func acceptable(p *wire.Parameters) bool {
	present := p.ChunkPresent && p.PathsPresent && p.StreamWindowPresent && p.SpanPresent && p.StreamsPresent && p.RequestsPresent &&
		p.MessagesPresent && p.MaxAckDelayPresent && p.ProfilePresent
	return present && p.Chunk.Value%8 == 0 && p.StreamWindow.Value >= 1 && p.StreamWindow.Value <= 1<<16 &&
		p.Span.Value >= 1 && p.Span.Value <= 1<<20 && p.Messages.Value >= 1 &&
		p.MaxAckDelay.Value <= uint32(time.Second) && p.Profile.Value == wire.ProfileClear
}

// writeOpen fills in an OPEN, padded so that no answer is larger.
//
//mr:req MR-CONN-001
func (e *Endpoint) writeOpen(c *conn, from netip.Addr) {
	open := &e.out.Plain.Open
	open.Open = wire.Open{Tag: c.tags.local, First: c.tags.localFirst}
	open.Parameters = e.parameters()
	open.Parameters.Address = c.addresses()
	if cookie := c.greeting.cookies[from]; cookie != nil {
		open.Parameters.Cookie, open.Parameters.CookiePresent = wire.ParametersCookie{Value: cookie}, true
	}
	size, err := e.out.Len()
	if err != nil {
		panic("engine: OPEN does not encode: " + err.Error())
	}
	open.Parameters.Padding = max(wire.OpenSize-size, 0)
}

// handleRetry takes the cookie and opens again.
//
//mr:req MR-CONN-013
func (e *Endpoint) handleRetry(c *conn, d Datagram) {
	p := &e.in.Plain.Retry.Parameters
	if c.phase != opening || !p.CookiePresent || c.greeting.cookies[d.Route.Local.Addr()] != nil {
		e.drop(DropPhase)
		return
	}
	if c.greeting.cookies == nil {
		c.greeting.cookies = make(map[netip.Addr][]byte)
	}
	c.greeting.cookies[d.Route.Local.Addr()] = append([]byte(nil), p.Cookie.Value...)
	c.greeting.next = max(slices.Index(c.greeting.routes, e.from), 0) // the port that works
	c.clock.retries = 0
	e.schedule(c, 0)
}

// handleAccept establishes the opener's side. Every ACCEPT is answered with CONFIRM, or a lost one would never heal.
//
//mr:req MR-CONN-005
//mr:req MR-CONN-019 MR-CONN-024
func (e *Endpoint) handleAccept(c *conn, d *Datagram) {
	accept := &e.in.Plain.Accept
	if c.phase != opening {
		if accept.Accept.Tag == c.tags.remote {
			c.answers.confirm, c.answers.plain = true, d.ECN == NotECT
		}
		return
	}
	if !acceptable(&accept.Parameters) {
		e.drop(DropParameter)
		e.finish(c, fmt.Errorf("%w: impossible parameters", ErrRejected))
		return
	}
	c.tags.remote, c.tags.peerFirst = accept.Accept.Tag, accept.Accept.First
	c.pairs[e.from.Plane].valid = true
	e.table.byRemote[c.tags.remote] = c
	e.establish(c, &accept.Parameters)
	for i, route := range c.greeting.routes[:min(len(c.greeting.routes), c.limits.paths)] {
		p := e.newPath(c, uint16(i), route)
		p.WantProbe()
		c.due.probing.add(p.ID)
	}
	c.answers.confirm, c.answers.plain = true, d.ECN == NotECT
	e.opened(c)
}

func (e *Endpoint) handleReject(c *conn) {
	if c.phase != opening {
		e.drop(DropPhase)
		return
	}
	r := &e.in.Plain.Reject
	e.finish(c, fmt.Errorf("%w: %v %s", ErrRejected, r.Code.Code, r.Parameters.Reason.Text))
}

func (e *Endpoint) handleVersions(c *conn) {
	if c.phase != opening {
		e.drop(DropPhase)
		return
	}
	e.finish(c, fmt.Errorf("%w: no common version", ErrRejected))
}
