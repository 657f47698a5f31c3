// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// opcodeText names a packet's opcode.
func opcodeText(b []byte) string {
	if len(b) < 2 {
		return "runt"
	}
	return wire.Opcode(b[1]).String()
}

// number prints a PSN or TSN of an end's direction: its distance from the first one, unless absolute ones are wanted.
func (s *stage) number(from int, n uint32) string {
	if s.absolute {
		return fmt.Sprint(n)
	}
	return fmt.Sprint(s.space().Diff(n, s.first[from]))
}

func (s *stage) space() wire.Space {
	if s.cfg.SeqBits == 0 {
		return wire.Serial32
	}
	return wire.Space(s.cfg.SeqBits)
}

// packetText is a packet in one line.
func (s *stage) packetText(from int, d engine.Datagram) string {
	var p wire.Packet
	if _, err := p.Decode(d.Bytes); err != nil {
		return fmt.Sprintf("%-8s %d B, %v", opcodeText(d.Bytes), len(d.Bytes), err)
	}
	b := &p.Base
	head := fmt.Sprintf("%-8s ", b.Opcode)
	switch b.Opcode {
	case wire.OpcodeOpen, wire.OpcodeRetry, wire.OpcodeAccept, wire.OpcodeReject, wire.OpcodeVersions:
		return head + s.handshakeText(&p, d)
	}
	if b.Opcode == wire.OpcodeClosed && p.Plain.Close.Echo {
		return head + fmt.Sprintf("%v, echo of an unknown tag", p.Plain.Close.Code)
	}
	head += fmt.Sprintf("p%d", b.Path)
	if b.Epoch != 0 {
		head += fmt.Sprintf("/e%d:%d", b.Epoch, openerPort(from, d))
	}
	if b.Opcode < wire.OpcodeAck {
		head += fmt.Sprintf(" psn=%s tsn=%s", s.number(from, b.Psn), s.number(from, b.Tsn))
	} else {
		head += fmt.Sprintf(" floor=%s tsn=%s", s.number(from, b.Psn), s.number(from, b.Tsn))
	}
	head += s.bodyText(from, &p)
	if b.AckRequest {
		head += " ack?"
	}
	return head
}

func (s *stage) handshakeText(p *wire.Packet, d engine.Datagram) string {
	switch p.Base.Opcode {
	case wire.OpcodeOpen:
		text := fmt.Sprintf("%d B over port %d", len(d.Bytes), d.Route.Local.Port())
		if p.Plain.Open.Parameters.CookiePresent {
			text += ", with cookie"
		}
		return text
	case wire.OpcodeReject:
		return p.Plain.Reject.Code.Code.String()
	case wire.OpcodeVersions:
		return fmt.Sprint(p.Plain.Versions.Version[:p.Plain.Versions.Count])
	}
	return fmt.Sprintf("%d B to port %d", len(d.Bytes), d.Route.Remote.Port())
}

func (s *stage) bodyText(from int, p *wire.Packet) string {
	body := &p.Plain
	switch p.Base.Opcode {
	case wire.OpcodeWrite:
		w := &body.Write
		text := messageText(&w.Message, len(w.Data)) + fmt.Sprintf(" at=%d", w.WriteTarget.At)
		if w.Message.Immediate {
			text += fmt.Sprintf(" imm=%d receive=%d", w.Immediate.Value, w.Immediate.Receive)
		}
		return text
	case wire.OpcodeSend:
		return messageText(&body.Send.Message, len(body.Send.Data)) + fmt.Sprintf(" receive=%d", body.Send.SendTarget.Receive)
	case wire.OpcodeReadRequest:
		m := &body.ReadRequest.Message
		return fmt.Sprintf(" f=%d s%d m%d wants=%d at=%d", m.Floor, m.Stream, m.Message, m.Length, body.ReadRequest.ReadTarget.At)
	case wire.OpcodeReadReply:
		return messageText(&body.ReadReply.Message, len(body.ReadReply.Data)) + statusText(body.ReadReply.Reply.Status)
	case wire.OpcodeAtomicRequest:
		a, m := &body.AtomicRequest.Atomic, &body.AtomicRequest.Message
		return fmt.Sprintf(" f=%d s%d m%d %v %d at=%d", m.Floor, m.Stream, m.Message, a.Op, a.Operand, a.At)
	case wire.OpcodeAtomicReply:
		r, m := &body.AtomicReply, &body.AtomicReply.Message
		return fmt.Sprintf(" f=%d s%d m%d was=%d%s", m.Floor, m.Stream, m.Message, r.AtomicResult.Original, statusText(r.Reply.Status))
	case wire.OpcodeStreamEnd:
		m := &body.StreamEnd.Message
		return fmt.Sprintf(" f=%d s%d m%d code=%d", m.Floor, m.Stream, m.Message, body.StreamEnd.End.Code)
	case wire.OpcodeAck:
		return s.ackText(1-from, &body.Ack)
	case wire.OpcodeNotice:
		n := &body.Notice
		return fmt.Sprintf(" %v about p%d psn=%s s%d m%d info=%d", n.Code, n.Path, s.number(1-from, n.Psn), n.Stream, n.Message, n.Info)
	case wire.OpcodeReceiveReady:
		r := &body.ReceiveReady
		return fmt.Sprintf(" s%d start=%d posted=%d", r.Stream, r.Start, r.Posted)
	case wire.OpcodeProbe:
		if body.Probe.Padding > 0 {
			return fmt.Sprintf(" padded=%d", body.Probe.Padding)
		}
	case wire.OpcodeClose, wire.OpcodeClosed:
		return " " + body.Close.Code.String()
	case wire.OpcodeAbort:
		return " " + body.Abort.Code.String()
	}
	return ""
}

// messageText prints which bytes of which message a packet carries; f is the distance to the floor.
func messageText(m *wire.Message, payload int) string {
	return fmt.Sprintf(" f=%d s%d m%d [%d,%d)/%d", m.Floor, m.Stream, m.Message, m.Offset, int(m.Offset)+payload, m.Length)
}

func statusText(status wire.Status) string {
	if status == wire.StatusOk {
		return ""
	}
	return fmt.Sprintf(" status=%v", status)
}

// ackText prints the blocks of an ACK about what an end has sent. Bits of the SACK are printed as PSNs.
func (s *stage) ackText(sender int, ack *wire.BodyAck) string {
	var text strings.Builder
	for i := range ack.Blocks {
		b := &ack.Blocks[i]
		fmt.Fprintf(&text, " {p%d base=%s largest=%s", b.Path, s.number(sender, b.Base), s.number(sender, b.Largest))
		if b.HasSack {
			sep := " sack="
			for bit := range 256 {
				if b.Sack.Test(bit) {
					fmt.Fprintf(&text, "%s%s", sep, s.number(sender, s.space().Add(b.Base, int64(bit))))
					sep = ","
				}
			}
		}
		fmt.Fprintf(&text, " n=%d", b.Packets)
		if b.Ce > 0 {
			fmt.Fprintf(&text, " ce=%d", b.Ce)
		}
		if b.HasCounters {
			c := &b.Counters
			for _, counter := range []struct {
				name  string
				value uint32
			}{{"duplicates", c.Duplicates}, {"refused", c.Refused}, {"copies", c.Copies}, {"notect", c.NotEct}} {
				if counter.value > 0 {
					fmt.Fprintf(&text, " %s=%d", counter.name, counter.value)
				}
			}
		}
		text.WriteString("}")
	}
	return text.String()
}

var eventNames = map[engine.EventKind]string{
	engine.Opened: "Opened", engine.StreamOpened: "StreamOpened", engine.Completed: "Completed", engine.Received: "Received",
	engine.StreamEnded: "StreamEnded", engine.Closed: "Closed", engine.StreamClosed: "StreamClosed",
}

func eventText(ev *engine.Event) string {
	text := eventNames[ev.Kind]
	switch ev.Kind {
	case engine.Completed:
		text += fmt.Sprintf(" s%d id=%d", ev.Stream, ev.ID)
		if ev.Result != 0 {
			text += fmt.Sprintf(" was=%d", ev.Result)
		}
	case engine.Received:
		text += fmt.Sprintf(" s%d id=%d length=%d", ev.Stream, ev.ID, ev.Length)
		if ev.Match != 0 {
			text += fmt.Sprintf(" match=%d", ev.Match)
		}
		if ev.Immediate {
			text += fmt.Sprintf(" imm=%d", ev.Value)
		}
	case engine.StreamOpened, engine.StreamEnded, engine.StreamClosed:
		text += fmt.Sprintf(" s%d", ev.Stream)
	}
	if ev.Err != nil {
		text += ": " + ev.Err.Error()
	}
	return text
}
