// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// wireDelay is the one-way delay of a pair's paths.
const wireDelay = 10 * time.Microsecond

// flight is a datagram under way.
type flight struct {
	at       engine.Time
	to       int
	datagram engine.Datagram
}

// pair is two endpoints and first-in first-out paths between them, in virtual time.
type pair struct {
	t      *testing.T
	now    engine.Time
	ends   [2]*engine.Endpoint
	wire   []flight
	drop   func(from int, d engine.Datagram) bool // nil = nothing is lost
	events [2][]engine.Event
	buf    []byte
	sent   int
	check  bool // verify invariants each turn
}

func newPair(t *testing.T, cfg engine.Config) *pair {
	t.Helper()
	p := &pair{t: t, now: 1, buf: make([]byte, 10000), check: true}
	for i := range p.ends {
		cfg.Seed[0], cfg.Seed[9] = byte(i+1), endSeed()
		cfg.Accept = i == 1
		if cfg.InitialRTT == 0 {
			cfg.InitialRTT = 100 * time.Microsecond
		}
		if cfg.MinRTO == 0 {
			cfg.MinRTO = 20 * time.Microsecond
		}
		end, err := engine.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.ends[i] = end
	}
	return p
}

// routes are n paths from end 0 to end 1.
func routes(n int) []engine.Route {
	rs := make([]engine.Route, n)
	for i := range rs {
		rs[i] = engine.Route{
			Local:  netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(10000+i)),
			Remote: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 2}), 4797),
		}
	}
	return rs
}

// turn moves everything that is due now, and returns when to look again.
func (p *pair) turn() engine.Time {
	for len(p.wire) > 0 && p.wire[0].at <= p.now {
		f := p.wire[0]
		p.wire = p.wire[1:]
		p.ends[f.to].HandleDatagram(p.now, f.datagram)
	}
	next := engine.Never
	for i, end := range p.ends {
		end.Advance(p.now)
		for {
			d, ok := end.NextDatagram(p.now, p.buf)
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
		if p.check {
			p.must(end.Check())
		}
		next = min(next, end.NextTimeout())
	}
	if len(p.wire) > 0 {
		next = min(next, p.wire[0].at)
	}
	return next
}

func (p *pair) transmit(from int, d engine.Datagram) {
	p.sent++
	if p.drop != nil && p.drop(from, d) {
		return
	}
	d.Bytes = append([]byte(nil), d.Bytes...)
	d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
	p.wire = append(p.wire, flight{p.now.Add(wireDelay), 1 - from, d})
}

// run turns until done says so, and fails when nothing is left to happen before that.
func (p *pair) run(what string, done func() bool) {
	p.t.Helper()
	end := p.now.Add(time.Minute)
	for {
		next := p.turn()
		if done() {
			return
		}
		if next == engine.Never || next > end {
			p.t.Fatalf("%s: nothing happens any more at %v; last events %+v and %+v", what, time.Duration(p.now), last(p.events[0]), last(p.events[1]))
		}
		p.now = max(p.now, next)
	}
}

// last is what an end has seen of late.
func last(events []engine.Event) []engine.Event { return events[max(len(events)-8, 0):] }

// settle turns until nothing happens for a second.
func (p *pair) settle() {
	for {
		next := p.turn()
		if next == engine.Never || next >= p.now.Add(time.Second) {
			return
		}
		p.now = max(p.now, next)
	}
}

// find returns an end's first event of a kind.
func (p *pair) find(end int, kind engine.EventKind) (engine.Event, bool) {
	for _, ev := range p.events[end] {
		if ev.Kind == kind {
			return ev, true
		}
	}
	return engine.Event{}, false
}

// count returns how many events of a kind an end has seen.
func (p *pair) count(end int, kind engine.EventKind) (n int) {
	for _, ev := range p.events[end] {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// connect opens a connection over n paths and returns its id at both ends.
func (p *pair) connect(n int) [2]engine.ConnID {
	p.t.Helper()
	if _, err := p.ends[0].Open(p.now, routes(n)); err != nil {
		p.t.Fatal(err)
	}
	p.run("open", func() bool { return p.count(0, engine.Opened) == 1 && p.count(1, engine.Opened) == 1 })
	a, _ := p.find(0, engine.Opened)
	b, _ := p.find(1, engine.Opened)
	return [2]engine.ConnID{a.Conn, b.Conn}
}

// must fails the test on an error.
func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
