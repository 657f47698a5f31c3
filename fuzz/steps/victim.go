// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"net/netip"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// victim is an acceptor with one connection of one path and much data in flight, and what its peer knows.
type victim struct {
	end   *engine.Endpoint
	conn  engine.ConnID
	key   engine.Key
	now   engine.Time
	buf   []byte
	tag   uint64 // that packets to the victim carry
	own   uint32 // the next PSN of the peer
	tsn   uint32 // the next TSN of the peer
	ended uint32 // messages of stream 0 so far
	psn   uint32 // the PSN after the last one of the victim
	last  uint32 // the victim's last TSN
	floor uint32 // the victim's first PSN that is not acknowledged
	held  uint8  // PSNs of the peer that are still to come, and lie before its next one
}

const chunk = 1024

var (
	here  = netip.MustParseAddrPort("127.0.0.1:4797")
	there = netip.MustParseAddrPort("127.0.0.2:20000")
)

// newVictim opens a connection to a victim; after that its peer is ours to play.
func newVictim() (*victim, error) {
	v := &victim{now: 1, buf: make([]byte, 10_000)}
	cfg := engine.Config{Chunk: chunk, Paths: 1, InitialWindow: 1 << 20, Messages: 4096, Streams: 4096}
	opener, err := engine.New(cfg)
	if err != nil {
		return nil, err
	}
	cfg.Accept = true
	if v.end, err = engine.New(cfg); err != nil {
		return nil, err
	}
	if _, err := opener.Open(v.now, []engine.Route{{Local: there, Remote: here}}); err != nil {
		return nil, err
	}
	for v.conn == 0 {
		if v.now = v.now.Add(time.Millisecond); v.now > engine.Time(time.Second) {
			return nil, errors.New("the victim does not open")
		}
		if err := v.pass(opener); err != nil {
			return nil, err
		}
	}
	if v.key, err = v.end.Register(make([]byte, 1<<20), engine.RemoteWrite); err != nil {
		return nil, err
	}
	return v, v.end.Post(v.now, v.conn, engine.Work{Op: engine.OpWrite, Data: make([]byte, 512<<20)})
}

// pass carries what the ends say to each other, and reads from it what the peer must know.
func (v *victim) pass(opener *engine.Endpoint) error {
	opener.Advance(v.now)
	for {
		d, ok := opener.NextDatagram(v.now, v.buf)
		if !ok {
			break
		}
		var p wire.Packet
		if _, err := p.Decode(d.Bytes); err != nil {
			return err
		}
		if p.Base.Opcode != wire.OpcodeOpen {
			v.tag, v.tsn = p.Base.Tag, p.Base.Tsn+1
		} else {
			v.own, v.tsn = p.Plain.Open.Open.First, p.Plain.Open.Open.First
		}
		v.end.HandleDatagram(v.now, engine.Datagram{Route: engine.Route{Local: here, Remote: there}, ECN: engine.ECT0, Bytes: d.Bytes})
	}
	return v.answer(opener)
}

// answer lets the victim send all that it wants to; opener, unless it is nil, hears it.
func (v *victim) answer(opener *engine.Endpoint) error {
	v.end.Advance(v.now)
	for {
		d, ok := v.end.NextDatagram(v.now, v.buf)
		if !ok {
			break
		}
		var p wire.Packet
		if _, err := p.Decode(d.Bytes); err != nil {
			return err
		}
		switch op := p.Base.Opcode; {
		case op == wire.OpcodeAccept:
			v.psn, v.floor, v.last = p.Plain.Accept.Accept.First, p.Plain.Accept.Accept.First, p.Plain.Accept.Accept.First-1
		case op < wire.OpcodeAck:
			v.last = p.Base.Tsn
			if p.Base.Psn == v.psn {
				v.psn++
			}
		case op != wire.OpcodeRetry:
			v.last = p.Base.Tsn
		}
		if opener != nil {
			opener.HandleDatagram(v.now, engine.Datagram{Route: engine.Route{Local: there, Remote: here}, ECN: engine.ECT0, Bytes: d.Bytes})
		}
	}
	for {
		ev, ok := v.end.NextEvent()
		if !ok {
			return nil
		}
		if ev.Kind == engine.Opened {
			v.conn = ev.Conn
		}
	}
}

// hand gives the victim a packet.
func (v *victim) hand(b []byte) {
	v.end.HandleDatagram(v.now, engine.Datagram{Route: engine.Route{Local: here, Remote: there}, ECN: engine.ECT0, Bytes: b})
}

// live sends so many ordinary Writes, one packet each, and acknowledges all that comes.
func (v *victim) live(packets int) error {
	for range packets {
		v.now = v.now.Add(10 * time.Microsecond)
		b, err := v.write(0)
		if err != nil {
			return err
		}
		v.hand(b)
		if b, err = v.ack(wire.PathAck{Base: v.psn, Largest: v.last, Packets: v.psn}); err != nil {
			return err
		}
		v.floor = v.psn
		v.hand(b)
		if err := v.answer(nil); err != nil {
			return err
		}
	}
	return v.end.Check()
}

// write is the peer's next Write; skip leaves out PSNs and names them as given up.
func (v *victim) write(skip uint32) ([]byte, error) {
	p := wire.Packet{Base: wire.Base{Opcode: wire.OpcodeWrite, Tag: v.tag, Psn: v.own + skip, Tsn: v.tsn}}
	p.Plain.Write.Message = wire.Message{Message: v.ended, Length: 64, Floor: v.held}
	p.Plain.Write.WriteTarget = wire.WriteTarget{Key: uint64(v.key)}
	p.Plain.Write.Data = make([]byte, 64)
	v.own, v.tsn, v.ended = v.own+skip+1, v.tsn+1, v.ended+1
	return p.Append(nil)
}

// ack is an ACK of the peer with these blocks.
func (v *victim) ack(blocks ...wire.PathAck) ([]byte, error) {
	p := wire.Packet{Base: wire.Base{Opcode: wire.OpcodeAck, Tag: v.tag, Psn: v.own, Tsn: v.tsn}}
	p.Plain.Ack = wire.BodyAck{Ack: wire.Ack{Rate: 1<<32 - 1}, Blocks: blocks}
	v.tsn++
	return p.Append(nil)
}
