// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"reflect"
	"testing"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// halfway is a conversation in which much is under way, the same one each time.
func halfway(t *testing.T) *duet {
	t.Helper()
	p := play(t, duetConfig(32), [2]uint32{1 << 20, 1 << 30})
	for from := range p.ends {
		key, err := p.ends[1-from].Register(make([]byte, 8192), RemoteWrite)
		p.must(err)
		p.must(p.ends[from].Post(p.now, p.ends[from].table.conns[0].id, Work{Op: OpWrite, Key: key, Data: make([]byte, 8192)}))
	}
	p.loses = func(n int) bool { return n%5 == 0 }
	p.until("halfway", func() bool { return p.sent > 150 && len(p.wire) > 4 })
	return p
}

// hand gives end 0 a packet as its peer would send it now on path 0.
func (p *duet) hand(w wire.Packet) *Endpoint {
	p.t.Helper()
	end, peer := p.ends[0], p.ends[1].table.conns[0]
	out := peer.paths.Get(0)
	route, stamp := peer.spell(out.Route), out.Transmit(p.now)
	w.Base.Tag, w.Base.Psn, w.Base.Tsn = peer.tags.remote, stamp.PSN, stamp.TSN
	b, err := w.Append(nil)
	p.must(err)
	end.HandleDatagram(p.now, Datagram{Route: Route{Local: route.Remote, Remote: route.Local}, ECN: ECT0, Bytes: b})
	p.must(end.Check())
	return end
}

// state is all that an endpoint holds, without its counters and the packet under way.
func state(e *Endpoint) Endpoint {
	s := *e
	s.stats, s.in = EndpointStats{}, wire.Packet{}
	return s
}

// An ACK of which one block is impossible, be it the first or the last, leaves an endpoint exactly as a packet does that says
// nothing; the same ACK without that block does not.
//
//mr:prop P5
//mr:test MR-ACK-005
func TestImpossibleAckChangesNothing(t *testing.T) {
	silent := halfway(t)
	want := state(silent.hand(wire.Packet{Base: wire.Base{Opcode: wire.OpcodeConfirm}}))
	for name, spoil := range map[string]func(b *wire.PathAck){
		"a PSN that was never sent":           func(b *wire.PathAck) { b.Base += 200; b.HasSack, b.Sack = false, wire.Bits256{} },
		"a bit for a PSN that was never sent": func(b *wire.PathAck) { b.HasSack = true; b.Sack.Set(255) },
		"a TSN that was never sent":           func(b *wire.PathAck) { b.Largest += 1000 },
		"a TSN of before the beginning":       func(b *wire.PathAck) { b.Largest = 1<<20 - 1 },
		"a path that is not in use":           func(b *wire.PathAck) { b.Path = 7 },
		"":                                    nil,
	} {
		for _, at := range []int{0, 1} {
			p := halfway(t)
			ack := wire.BodyAck{Ack: wire.Ack{Rate: noHint}, Blocks: make([]wire.PathAck, 2)}
			for i := range ack.Blocks {
				ack.Blocks[i].Path = uint16(i)
				p.ends[1].table.conns[0].paths.Get(uint16(i)).Tracker().Report(&ack.Blocks[i])
			}
			if spoil != nil {
				spoil(&ack.Blocks[at])
			}
			w := wire.Packet{Base: wire.Base{Opcode: wire.OpcodeAck}}
			w.Plain.Ack = ack
			before := p.ends[0].stats.Drops[DropAck]
			got := state(p.hand(w))
			if dropped := p.ends[0].stats.Drops[DropAck] - before; (dropped == 1) != (spoil != nil) {
				t.Errorf("%q in block %d: %d ACKs dropped", name, at, dropped)
			}
			if reflect.DeepEqual(got, want) != (spoil != nil) {
				t.Errorf("%q in block %d: the endpoint is left as if nothing had been said: %v", name, at, spoil == nil)
			}
		}
	}
}
