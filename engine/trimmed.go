// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// trimmed answers a sequenced packet that a switch has cut short instead of dropping it: its checksum is gone, so it
// changes nothing here, but its sender can be told at once that it has to send it again. The sender believes the notice
// only about a transmission that is outstanding.
//
//mr:req MR-LOSS-014
func (e *Endpoint) trimmed(d Datagram) {
	const head = wire.BaseSize + wire.MessageSize
	if len(d.Bytes) < head {
		return
	}
	var base wire.Base
	var message wire.Message
	if _, err := base.Decode(d.Bytes); err != nil || base.Secure || base.Opcode >= wire.OpcodeAck {
		return
	}
	if _, err := message.Decode(d.Bytes[wire.BaseSize:]); err != nil || int(message.Length-message.Offset) < len(d.Bytes)-head {
		return
	}
	c := e.table.byLocal[base.Tag]
	if c == nil || !c.live() || c.paths.Get(base.Path) == nil {
		return
	}
	if _, ok := c.locate(&d.Route); !ok {
		return
	}
	sent := c.answers.notice(wire.Notice{
		Code: wire.NoticeCodeTrimmed, Path: base.Path, Psn: base.Psn, Tsn: base.Tsn,
		Stream: message.Stream, Message: message.Message,
	})
	if !sent {
		e.drop(DropQueue)
	}
	e.wake(c)
}

// loseTrimmed sends a chunk again that the peer has seen cut short.
func (e *Endpoint) loseTrimmed(c *conn, p *path.Path, n *wire.Notice) {
	before := p.InFlight()
	if !p.Trimmed(n.Psn, n.Tsn) {
		e.drop(DropNotice)
	}
	c.settle(p, before)
	e.touch(c, p.Deadline())
}
