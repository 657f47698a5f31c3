// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// handleOpen answers an OPEN: without a good cookie by a stateless RETRY, with one by a connection.
//
//mr:req MR-CONN-002
//mr:req MR-CONN-012
func (e *Endpoint) handleOpen(d Datagram) {
	open := &e.in.Plain.Open
	switch {
	case e.in.Base.Opcode != wire.OpcodeOpen || !e.cfg.Accept:
		e.drop(DropUnknownTag)
	case len(d.Bytes) < wire.OpenSize:
		e.drop(DropSmall)
	case !open.Parameters.CookiePresent:
		e.retry(d)
	case !e.cookies.good(e.now, d.Route.Remote.Addr(), open):
		e.drop(DropCookie)
		e.retry(d)
	case !acceptable(&open.Parameters):
		e.drop(DropParameter)
		e.answer(answer{route: d.Route, opcode: wire.OpcodeReject, tag: open.Open.Tag, code: wire.CloseReasonParameter, plain: d.ECN == NotECT})
	default:
		e.accept(d)
	}
}

func (e *Endpoint) retry(d Datagram) {
	open := &e.in.Plain.Open
	e.answer(answer{
		route: d.Route, opcode: wire.OpcodeRetry, tag: open.Open.Tag,
		cookie: e.cookies.bake(e.now, d.Route.Remote.Addr(), open), plain: d.ECN == NotECT,
	})
}

// accept makes the acceptor's side, or answers a repeated OPEN again.
//
//mr:req MR-CONN-004
func (e *Endpoint) accept(d Datagram) {
	open := &e.in.Plain.Open
	print := string(fingerprint(open))
	if c := e.table.byRemote[open.Open.Tag]; c != nil {
		if route, ok := c.enter(&d.Route); ok && c.phase == accepting && c.greeting.print == print {
			c.greeting.route = route
			e.schedule(c, 0)
			return
		}
		e.drop(DropPhase)
		return
	}
	c := &conn{
		phase:    accepting,
		pairs:    e.pairsWith(d.Route, open.Parameters.Address),
		tags:     tags{local: e.newTag(), remote: open.Open.Tag, localFirst: e.first(), peerFirst: open.Open.First},
		greeting: greeting{print: print},
	}
	c.greeting.route, _ = c.enter(&d.Route)
	e.add(c)
	e.table.byRemote[c.tags.remote] = c
	e.establish(c, &open.Parameters)
	e.schedule(c, 0)
}

// otherVersion answers an OPEN of an unknown version with the versions spoken here. Version, opcode, tag and the OPEN's
// own tag lie at the same place in every version.
//
//mr:req MR-WIRE-006 MR-ERR-005
func (e *Endpoint) otherVersion(d Datagram) {
	e.drop(DropVersion)
	if !e.cfg.Accept || len(d.Bytes) < wire.OpenSize || wire.Opcode(d.Bytes[1]) != wire.OpcodeOpen {
		return
	}
	if tag := binary.BigEndian.Uint64(d.Bytes[4:]); tag == 0 {
		e.answer(answer{route: d.Route, opcode: wire.OpcodeVersions, tag: binary.BigEndian.Uint64(d.Bytes[wire.BaseSize:]), plain: d.ECN == NotECT})
	}
}
