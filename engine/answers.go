// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/openmetaroce/metaroce/engine/internal/fifo"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// answers is what a connection owes its peer besides ACKs. All of it is bounded: what the peer makes us say cannot grow.
type answers struct {
	notices fifo.Queue[wire.Notice]
	readies fifo.Queue[wire.Ready]
	replies fifo.Queue[pathReply]
	confirm bool             // CONFIRM, for each ACCEPT
	plain   bool             // that came as Not-ECT
	closed  bool             // CLOSED, for each CLOSE
	abort   wire.CloseReason // ABORT with this reason; 0 = none
}

// pathReply is a PROBE_REPLY and the path on which it goes out.
type pathReply struct {
	path  uint16
	probe wire.Probe
}

// empty tells whether no queue holds anything.
func (a *answers) empty() bool { return a.notices.Len()+a.readies.Len()+a.replies.Len() == 0 }

// mostAnswers bounds each queue of a connection.
const mostAnswers = 64

// notice queues a NOTICE; it returns false when too many wait. The peer finds out by its timers.
func (a *answers) notice(n wire.Notice) bool { return pushBounded(&a.notices, n) }

// ready queues a RECEIVE_READY.
func (a *answers) ready(r wire.Ready) bool { return pushBounded(&a.readies, r) }

// reply queues a PROBE_REPLY.
func (a *answers) reply(path uint16, p wire.Probe) bool {
	return pushBounded(&a.replies, pathReply{path, p})
}

//mr:req MR-ERR-007
func pushBounded[T any](q *fifo.Queue[T], item T) bool {
	if q.Len() >= mostAnswers {
		return false
	}
	q.Push(item)
	return true
}

// answer is a packet that belongs to no connection: RETRY, REJECT, VERSIONS or the echo of an unknown tag.
type answer struct {
	route  Route
	opcode wire.Opcode
	tag    uint64
	cookie cookie
	code   wire.CloseReason
	plain  bool // it answers a packet that came as Not-ECT
}

// answer queues a stateless answer.
//
//mr:req MR-ERR-007
func (e *Endpoint) answer(a answer) {
	if !pushBounded(&e.answers, a) {
		e.drop(DropQueue)
	}
}

// closedSize is the length of a CLOSED.
const closedSize = wire.BaseSize + wire.CodeSizeBytes + 4

// unknownTag answers a packet for a connection that is not here: at most one small packet, never to a reply.
//
//mr:req MR-CONN-012 MR-ERR-001 MR-ERR-002
func (e *Endpoint) unknownTag(d Datagram) {
	e.drop(DropUnknownTag)
	base := &e.in.Base
	switch base.Opcode {
	case wire.OpcodeClosed:
		if c := e.table.byRemote[base.Tag]; c != nil && e.in.Plain.Close.Echo {
			if _, ok := c.locate(&d.Route); ok {
				e.disowned(c)
			}
		}
	case wire.OpcodeRetry, wire.OpcodeReject, wire.OpcodeVersions, wire.OpcodeAbort, wire.OpcodeProbeReply, wire.OpcodeAccept:
	default:
		if len(d.Bytes) >= closedSize { // an answer is never larger than what asked for it
			e.answer(answer{route: d.Route, opcode: wire.OpcodeClosed, tag: base.Tag, plain: d.ECN == NotECT})
		}
	}
}

// disowned believes that the peer has forgotten the connection once nothing valid was heard for a while.
//
//mr:req MR-ERR-003
func (e *Endpoint) disowned(c *conn) {
	if c.phase == closing {
		e.finish(c, nil) // all is acknowledged, and the peer has closed already
		return
	}
	if c.live() && e.now.Sub(c.clock.heard) > c.patience() {
		e.finish(c, ErrAborted)
	}
}
