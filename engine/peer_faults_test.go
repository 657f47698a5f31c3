// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// counted is an endpoint's counters before something came in.
type counted struct {
	what   string
	before engine.EndpointStats
}

// only checks that one counter of drops has gone up by one since, and no other has moved.
func (c counted) only(t *testing.T, after engine.EndpointStats, drop engine.Drop) {
	t.Helper()
	want := c.before.Drops
	want[drop]++
	if diff := cmp.Diff(want, after.Drops); diff != "" {
		t.Errorf("%s: only %v should have moved (-want +got)\n%s", c.what, drop, diff)
	}
}

// faults are what a peer can do wrong on an established connection.
var faults = map[string]struct {
	make func(f *forger) engine.Datagram
	drop engine.Drop
}{
	"an unknown opcode":         {bytesOf(func(b []byte) { b[1] = 0x42; signed(b) }), engine.DropMalformed},
	"a wrong checksum":          {bytesOf(func(b []byte) { b[30] ^= 1 }), engine.DropChecksum},
	"another version":           {bytesOf(func(b []byte) { b[0] = b[0]&15 | 0x20; signed(b) }), engine.DropVersion},
	"a sealed packet":           {bytesOf(func(b []byte) { b[0] |= 8; signed(b) }), engine.DropSecure},
	"CONFIRM of an unknown tag": {packetOf(wire.OpcodeConfirm, func(p *wire.Packet) { p.Base.Tag++ }), engine.DropUnknownTag},
	"another address": {func(f *forger) engine.Datagram {
		d := f.write
		d.Route.Remote = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 9}), 10000)
		return d
	}, engine.DropAddress},
	"a late RETRY": {packetOf(wire.OpcodeRetry, func(p *wire.Packet) {
		p.Base.Psn, p.Base.Tsn = 0, 0
		p.Plain.Retry.Parameters.CookiePresent = true
		p.Plain.Retry.Parameters.Cookie.Value = make([]byte, 16)
	}), engine.DropPhase},
	"a late REJECT":        {packetOf(wire.OpcodeReject, func(p *wire.Packet) { p.Base.Psn, p.Base.Tsn = 0, 0 }), engine.DropPhase},
	"CLOSED without CLOSE": {packetOf(wire.OpcodeClosed, func(*wire.Packet) {}), engine.DropPhase},
	"path 16 of 16":        {packetOf(wire.OpcodeWrite, func(p *wire.Packet) { p.Base.Path = 16 }), engine.DropPath},
	"a message beyond the window": {packetOf(wire.OpcodeWrite, func(p *wire.Packet) {
		p.Plain.Write.Message.Message = 256
	}), engine.DropLimit},
	"an ACK of a TSN never sent": {packetOf(wire.OpcodeAck, func(p *wire.Packet) {
		p.Plain.Ack = wire.BodyAck{Ack: wire.Ack{Blocks: 1}, Blocks: []wire.PathAck{{Largest: 1 << 31}}}
	}), engine.DropAck},
	"an ACK of a path never used": {packetOf(wire.OpcodeAck, func(p *wire.Packet) {
		p.Plain.Ack = wire.BodyAck{Ack: wire.Ack{Blocks: 1}, Blocks: []wire.PathAck{{Path: 7}}}
	}), engine.DropAck},
	"a NOTICE about nothing": {packetOf(wire.OpcodeNotice, func(p *wire.Packet) {
		p.Plain.Notice = wire.Notice{Code: wire.NoticeCodeBounds, Psn: 5}
	}), engine.DropNotice},
	"a RECEIVE_READY about nothing": {packetOf(wire.OpcodeReceiveReady, func(p *wire.Packet) {
		p.Plain.ReceiveReady = wire.Ready{Stream: 9, Posted: 1}
	}), engine.DropNotice},
}

// bytesOf is the peer's Write after a change of its bytes.
func bytesOf(change func(b []byte)) func(f *forger) engine.Datagram {
	return func(f *forger) engine.Datagram {
		d := f.write
		d.Bytes = bytes.Clone(d.Bytes)
		change(d.Bytes)
		return d
	}
}

// packetOf is a packet of the peer with an opcode.
func packetOf(opcode wire.Opcode, change func(p *wire.Packet)) func(f *forger) engine.Datagram {
	return func(f *forger) engine.Datagram { return f.packetOf(opcode, change) }
}

// forger hands an acceptor packets that its peer, or nobody, would send.
type forger struct {
	t      *testing.T
	end    *engine.Endpoint
	write  engine.Datagram
	packet wire.Packet // of write
	memory []byte
}

func newForger(t *testing.T) *forger { return newForgerOf(t, engine.Config{}) }

func newForgerOf(t *testing.T, cfg engine.Config) *forger {
	t.Helper()
	f := &forger{t: t}
	f.end, f.write, f.memory = caughtWrite(t, cfg)
	if _, err := f.packet.Decode(f.write.Bytes); err != nil {
		t.Fatal(err)
	}
	return f
}

// packetOf is a packet of the peer with another opcode and the next TSN.
func (f *forger) packetOf(opcode wire.Opcode, change func(p *wire.Packet)) engine.Datagram {
	f.t.Helper()
	p := wire.Packet{Base: f.packet.Base}
	p.Base.Opcode = opcode
	if opcode == wire.OpcodeWrite {
		p.Plain.Write = f.packet.Plain.Write
	}
	change(&p)
	b, err := p.Append(nil)
	if err != nil {
		f.t.Fatal(err)
	}
	d := f.write
	d.Bytes = b
	return d
}

// Each fault of a peer moves its own counter by one and no other, places nothing and gets no answer. What follows in
// good order is taken as if nothing had been.
//
//mr:test MR-ERR-006 MR-ERR-004 MR-ACK-005 MR-STREAM-008 MR-STREAM-022 MR-PATH-002 MR-PATH-008
//mr:prop P10 P43
func TestEachFaultOfAPeerMovesItsCounterOnly(t *testing.T) {
	for name, c := range faults {
		f := newForger(t)
		d := c.make(f)
		before := f.end.Stats()
		f.end.HandleDatagram(2, d)
		counted{name, before}.only(t, f.end.Stats(), c.drop)
		if f.memory[0] != 0 {
			t.Errorf("%s: placed", name)
		}
		if out, ok := f.end.NextDatagram(2, make([]byte, 2000)); ok {
			t.Errorf("%s: answered by %v", name, opcodeAnswered(out))
		}
		before = f.end.Stats()
		next := f.packetOf(wire.OpcodeWrite, func(p *wire.Packet) { p.Base.Tsn++ })
		f.end.HandleDatagram(3, next)
		if after := f.end.Stats(); after.Drops != before.Drops || f.memory[0] != 1 {
			t.Errorf("%s: what follows is not placed", name)
		}
		f.end.HandleDatagram(4, next)
		counted{name + ", then a copy", before}.only(t, f.end.Stats(), engine.DropCopy)
	}
}

// A flood of challenges is answered 64 times at most until somebody sends, on a path that exists; the rest is counted.
// Wishes for ACKs collapse into one.
//
//mr:test MR-ERR-007
//mr:prop P8 P45
func TestFloodOfProbesIsAnsweredWithinBounds(t *testing.T) {
	for _, n := range []int{63, 64, 65, 1000} {
		flood(t, n, 64)
	}
}

// flood has a peer send n challenges at a time, of which so many are answered at the most.
func flood(t *testing.T, n, most int) {
	t.Helper()
	f := newForger(t)
	before := f.end.Stats()
	for i := range uint32(n) {
		f.end.HandleDatagram(2, f.packetOf(wire.OpcodeProbe, func(p *wire.Packet) {
			p.Base.Tsn += i
			p.Base.AckRequest = true
			p.Plain.Probe.Probe.Token = uint64(i + 1)
		}))
	}
	sent, buf := map[wire.Opcode]int{}, make([]byte, 2000)
	for {
		d, ok := f.end.NextDatagram(2, buf)
		if !ok {
			break
		}
		sent[opcodeAnswered(d)]++
	}
	if diff := cmp.Diff(map[wire.Opcode]int{wire.OpcodeProbeReply: min(n, most), wire.OpcodeAck: 1}, sent); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if dropped := f.end.Stats().Drops[engine.DropQueue] - before.Drops[engine.DropQueue]; int(dropped) != max(n-most, 0) {
		t.Errorf("%d answers of %d are counted as dropped", dropped, n)
	}
}
