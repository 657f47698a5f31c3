// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// duet is two endpoints whose first numbers a test chooses, and paths that keep order and lose what the test says.
type duet struct {
	t      *testing.T
	now    Time
	ends   [2]*Endpoint
	first  [2]uint32
	wire   []carried
	sent   int
	loses  func(n int) bool // the n-th datagram
	diary  []wire.Packet    // all packets, with numbers as distances from their sender's first one
	events [2][]Event
}

// carried is a datagram under way.
type carried struct {
	at Time
	to int
	d  Datagram
}

// play opens a connection over two paths, with first numbers for either side.
func play(t *testing.T, cfg Config, first [2]uint32) *duet {
	t.Helper()
	p := &duet{t: t, now: 1, first: first, loses: func(int) bool { return false }}
	for i := range p.ends {
		cfg.Seed[0], cfg.Accept = byte(i+1), i == 1
		end, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.ends[i] = end
	}
	var routes []Route
	for port := range uint16(2) {
		routes = append(routes, Route{
			Local: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 10000+port), Remote: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 2}), wire.Port),
		})
	}
	if _, err := p.ends[0].Open(p.now, routes); err != nil {
		t.Fatal(err)
	}
	p.ends[0].table.conns[0].tags.localFirst = first[0]
	p.until("open", func() bool { return p.has(0, Opened) && p.has(1, Opened) })
	return p
}

func (p *duet) has(end int, kind EventKind) bool {
	return slices.ContainsFunc(p.events[end], func(ev Event) bool { return ev.Kind == kind })
}

// until lets things happen until something is so.
func (p *duet) until(what string, done func() bool) {
	p.t.Helper()
	for p.now < Time(time.Minute) {
		next := p.turn()
		if done() {
			return
		}
		p.now = max(p.now, next)
	}
	p.t.Fatalf("%s: never", what)
}

// turn lets happen what is due, and returns when to look again.
func (p *duet) turn() Time {
	for len(p.wire) > 0 && p.wire[0].at <= p.now {
		c := p.wire[0]
		p.wire = p.wire[1:]
		p.ends[c.to].HandleDatagram(p.now, c.d)
		if conns := p.ends[1].table.conns; c.to == 1 && len(conns) == 1 && conns[0].phase == accepting {
			conns[0].tags.localFirst, conns[0].pathCfg.First = p.first[1], p.first[1] // before anybody has heard of it
		}
	}
	next := Never
	for i, end := range p.ends {
		end.Advance(p.now)
		for {
			d, ok := end.NextDatagram(p.now, make([]byte, 2000))
			if !ok {
				break
			}
			p.transmit(i, d)
		}
		for {
			ev, ok := end.NextEvent()
			if !ok {
				break
			}
			p.events[i] = append(p.events[i], ev)
		}
		if err := end.Check(); err != nil {
			p.t.Fatal(err)
		}
		next = min(next, end.NextTimeout())
	}
	if len(p.wire) > 0 {
		next = min(next, p.wire[0].at)
	}
	return next
}

func (p *duet) transmit(from int, d Datagram) {
	var w wire.Packet
	if _, err := w.Decode(d.Bytes); err != nil {
		p.t.Fatal(err)
	}
	p.diary = append(p.diary, p.unshifted(from, w))
	p.sent++
	if p.loses(p.sent) {
		return
	}
	d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
	p.wire = append(p.wire, carried{p.now.Add(10 * time.Microsecond), 1 - from, d})
}

// unshifted replaces the numbers of a packet by distances from the first numbers of those who have used them.
func (p *duet) unshifted(from int, w wire.Packet) wire.Packet {
	space := wire.Space(p.ends[0].cfg.SeqBits)
	own := func(n *uint32) { *n = space.Add(*n, -int64(p.first[from])) }
	peer := func(n *uint32) { *n = space.Add(*n, -int64(p.first[1-from])) }
	w.Crc = 0
	switch w.Base.Opcode {
	case wire.OpcodeRetry, wire.OpcodeAccept:
		w.Plain.Retry.Parameters.Cookie = wire.ParametersCookie{} // it covers what the OPEN says, first number included
		own(&w.Plain.Accept.Accept.First)
		return w
	case wire.OpcodeOpen:
		w.Plain.Open.Parameters.Cookie = wire.ParametersCookie{}
		own(&w.Plain.Open.Open.First)
		return w
	case wire.OpcodeNotice:
		if w.Plain.Notice.Code != wire.NoticeCodePathBad {
			peer(&w.Plain.Notice.Psn)
			peer(&w.Plain.Notice.Tsn)
		}
	case wire.OpcodeAck:
		w.Plain.Ack.Blocks = slices.Clone(w.Plain.Ack.Blocks)
		for i := range w.Plain.Ack.Blocks {
			b := &w.Plain.Ack.Blocks[i]
			peer(&b.Base)
			peer(&b.Largest)
			if b.HasCounters && b.Counters.Duplicates > 0 {
				peer(&b.Counters.LastDuplicate)
			}
		}
	}
	own(&w.Base.Psn)
	own(&w.Base.Tsn)
	return w
}

// work moves Writes, Sends and a Read in both directions, under the losses of the test, until all have ended.
func (p *duet) work() {
	p.t.Helper()
	for from := range p.ends {
		to := 1 - from
		key, err := p.ends[to].Register(make([]byte, 4096), RemoteWrite|RemoteRead)
		p.must(err)
		conn := func(end int) ConnID { return p.ends[end].table.conns[0].id }
		p.must(p.ends[to].PostReceive(p.now, conn(to), Receive{Stream: 1, Buffer: make([]byte, 1000)}))
		for i, w := range []Work{
			{Op: OpWrite, Key: key, Data: make([]byte, 4096)}, {Stream: 1, Op: OpSend, Data: make([]byte, 700)},
			{Stream: 1, Op: OpSend, Data: make([]byte, 500)}, {Op: OpRead, Key: key, Into: make([]byte, 2000), Fence: true},
			{Op: OpWrite, Key: key, Data: make([]byte, 3000)},
		} {
			w.ID = uint64(i)
			p.must(p.ends[from].Post(p.now, conn(from), w))
		}
	}
	late := p.now.Add(500 * time.Microsecond)
	p.until("the late receives", func() bool { return p.now >= late })
	for end := range p.ends {
		p.must(p.ends[end].PostReceive(p.now, p.ends[end].table.conns[0].id, Receive{Stream: 1, Buffer: make([]byte, 1000)}))
	}
	p.until("the work", func() bool { return p.completed(0) == 5 && p.completed(1) == 5 })
}

func (p *duet) completed(end int) (n int) {
	for _, ev := range p.events[end] {
		if ev.Kind == Completed {
			n++
			if ev.Err != nil {
				p.t.Fatalf("end %d: %+v", end, ev)
			}
		}
	}
	return n
}

func (p *duet) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
