// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// nextControl sends what begins and ends the connection, and returns where to; ok is false when nothing is due.
//
//mr:req MR-CONN-025 MR-CONN-014
func (e *Endpoint) nextControl(c *conn) (route path.Route, ok bool) {
	due := c.clock.control <= e.now
	switch {
	case c.phase == opening && due:
		route = c.greeting.routes[(c.greeting.next+c.clock.retries)%len(c.greeting.routes)]
		e.handshakeBase(wire.OpcodeOpen, 0)
		if c.clock.retries%2 == 1 {
			e.ecn = NotECT // a network may drop what it takes for ECN
		}
		e.writeOpen(c, c.pairs[route.Plane].local)
		e.again(c)
		return route, true
	case c.phase == accepting && due:
		e.handshakeBase(wire.OpcodeAccept, c.tags.remote)
		if c.clock.retries%2 == 1 {
			e.ecn = NotECT
		}
		e.out.Plain.Accept = wire.BodyAccept{
			Accept:     wire.Accept{Tag: c.tags.local, First: c.tags.localFirst},
			Parameters: e.parameters(),
		}
		e.out.Plain.Accept.Parameters.Address = e.ownAddresses()
		e.again(c)
		return c.greeting.route, true
	case c.phase < open:
		return route, false
	case c.answers.confirm:
		c.answers.confirm = false
		e.out.Plain.Confirm = wire.BodyConfirm{}
		p := e.unsequenced(c, wire.OpcodeConfirm, c.anyPath())
		if c.answers.plain {
			e.ecn = NotECT
		}
		return p.Route, true
	case c.answers.abort != 0:
		e.out.Plain.Abort = wire.AbortCode{Code: c.answers.abort}
		c.answers.abort = 0
		return e.unsequenced(c, wire.OpcodeAbort, c.anyPath()).Route, true
	case c.answers.closed:
		c.answers.closed = false
		e.out.Plain.Close = wire.Code{Code: wire.CloseReasonDone}
		return e.unsequenced(c, wire.OpcodeClosed, c.anyPath()).Route, true
	case c.phase == closing && due:
		return e.nextClose(c), true
	}
	return route, false
}

// nextClose sends CLOSE, each time on another path.
//
//mr:req MR-CONN-021
func (e *Endpoint) nextClose(c *conn) path.Route {
	c.clock.retries++
	e.schedule(c, min(c.patience()<<min(c.clock.retries, 8), time.Second))
	c.renameFeedback(c.named)
	e.out.Plain.Close = wire.Code{Code: wire.CloseReasonDone}
	return e.unsequenced(c, wire.OpcodeClose, c.anyPath()).Route
}

// handshakeBase begins a packet that belongs to no path.
//
//mr:req MR-WIRE-004 MR-WIRE-008
func (e *Endpoint) handshakeBase(opcode wire.Opcode, tag uint64) {
	e.out.Base = wire.Base{Version: wireVersion, Opcode: opcode, Tag: tag}
	e.ecn = ECT0
}

// writeAnswer encodes a stateless answer.
func (e *Endpoint) writeAnswer(a answer, buf []byte) Datagram {
	e.handshakeBase(a.opcode, a.tag)
	if a.plain {
		e.ecn = NotECT
	}
	body := &e.out.Plain
	switch a.opcode {
	case wire.OpcodeRetry:
		body.Retry = wire.BodyRetry{Parameters: wire.Parameters{
			Cookie: wire.ParametersCookie{Value: a.cookie[:]}, CookiePresent: true,
		}}
	case wire.OpcodeReject:
		body.Reject = wire.BodyReject{Code: wire.Code{Code: a.code}}
	case wire.OpcodeVersions:
		body.Versions = wire.VersionList{Count: 1, Version: [15]byte{wireVersion}}
	case wire.OpcodeClosed:
		body.Close = wire.Code{Code: wire.CloseReasonUnknownTag, Echo: true}
	}
	return Datagram{Route: a.route, ECN: e.ecn, Bytes: e.encode(buf)}
}
