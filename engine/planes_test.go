// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"net/netip"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// planeAddress is the address of an end on a plane.
func planeAddress(end, plane byte) netip.Addr { return netip.AddrFrom4([4]byte{10, plane, 0, end + 1}) }

// planeRoutes are n paths from end 0 to end 1, spread over planes.
func planeRoutes(n, planes int) []engine.Route {
	rs := make([]engine.Route, n)
	for i := range rs {
		plane := byte(i % planes)
		rs[i] = engine.Route{
			Local:  netip.AddrPortFrom(planeAddress(0, plane), uint16(10000+i)),
			Remote: netip.AddrPortFrom(planeAddress(1, plane), 4797),
		}
	}
	return rs
}

// newPlanes is a pair whose acceptor has an address on each plane.
func newPlanes(t *testing.T, planes int) *pair {
	cfg := engine.Config{Chunk: 1024, InitialWindow: 20 * 1100}
	for plane := range planes {
		cfg.Addresses = append(cfg.Addresses, netip.AddrPortFrom(planeAddress(1, byte(plane)), 4797))
	}
	return newPair(t, cfg)
}

func (p *pair) connectOver(rs []engine.Route) [2]engine.ConnID {
	p.t.Helper()
	_, err := p.ends[0].Open(p.now, rs)
	p.must(err)
	p.run("open", func() bool { return p.count(0, engine.Opened) == 1 && p.count(1, engine.Opened) == 1 })
	a, _ := p.find(0, engine.Opened)
	b, _ := p.find(1, engine.Opened)
	return [2]engine.ConnID{a.Conn, b.Conn}
}

// onPlane tells whether a datagram travels on a plane.
func onPlane(d engine.Datagram, plane byte) bool { return d.Route.Local.Addr().As4()[1] == plane }

// Every plane carries its share, in both directions; one that dies hands its chunks over and comes back.
//
//mr:prop P41
//mr:test MR-PLANE-001 MR-PLANE-004
func TestPlanesCarryAndSurvive(t *testing.T) {
	p := newPlanes(t, 2)
	ids := p.connectOver(planeRoutes(8, 2))
	memory := [2][]byte{make([]byte, 4<<20), make([]byte, 4<<20)}
	var sent [2][2]int // by end and plane
	p.drop = func(from int, d engine.Datagram) bool {
		if op := wire.Opcode(d.Bytes[1]); op == wire.OpcodeWrite {
			sent[from][d.Route.Local.Addr().As4()[1]]++
		}
		return false
	}
	write := func(id uint64) {
		for from := range 2 {
			key, err := p.ends[1-from].Register(memory[1-from], engine.RemoteWrite)
			p.must(err)
			p.must(p.ends[from].Post(p.now, ids[from], engine.Work{
				Op: engine.OpWrite, ID: id, Key: key, Data: pattern(len(memory[0]), id+uint64(from)),
			}))
		}
	}
	write(1)
	p.run("writes", func() bool { return p.count(0, engine.Completed) == 1 && p.count(1, engine.Completed) == 1 })
	for from := range 2 {
		if a, b := sent[from][0], sent[from][1]; a < b/4 || b < a/4 {
			t.Errorf("end %d sent %d and %d packets on its planes", from, a, b)
		}
	}
	write(10)
	began := p.now
	p.run("a start", func() bool {
		s, _ := p.ends[1].ConnStats(ids[1])
		return s.BytesReceived > 5<<20
	})
	p.drop = func(_ int, d engine.Datagram) bool { return onPlane(d, 1) }
	cut := p.now
	p.run("writes without a plane", func() bool { return p.count(0, engine.Completed) == 2 && p.count(1, engine.Completed) == 2 })
	t.Logf("%v before the cut, %v after it", cut.Sub(began), p.now.Sub(cut))
	if took := p.now.Sub(cut); took > 20*time.Millisecond {
		t.Errorf("it took %v after the cut", took)
	}
	for end := range 2 {
		if want := pattern(len(memory[0]), 10+uint64(1-end)); !bytes.Equal(memory[end], want) {
			t.Errorf("memory of end %d differs", end)
		}
	}
	p.drop = nil
	p.now = p.now.Add(2 * time.Second)
	write(20)
	p.run("writes with both again", func() bool { return p.count(0, engine.Completed) == 3 && p.count(1, engine.Completed) == 3 })
	s, _ := p.ends[0].ConnStats(ids[0])
	for _, q := range s.Paths {
		if q.Downs != q.Ups {
			t.Errorf("path %d: down %d, up %d", q.ID, q.Downs, q.Ups)
		}
	}
}

// An opener that claims somebody else's address makes the acceptor send next to nothing there.
//
//mr:prop P45
//mr:test MR-PLANE-003
func TestClaimedAddressGetsAlmostNothing(t *testing.T) {
	p := newPlanes(t, 2)
	rs := planeRoutes(8, 2)
	victim, packets := 0, 0
	p.drop = func(from int, d engine.Datagram) bool {
		switch {
		case !onPlane(d, 1):
			return false
		case from == 1:
			victim += len(d.Bytes)
			packets++
		default: // what the opener sends seems to come from the claimed address; the answers go there, and are lost
			p.ends[1].HandleDatagram(p.now, engine.Datagram{Route: engine.Route{Local: rs[1].Remote, Remote: rs[1].Local}, Bytes: d.Bytes})
		}
		return true
	}
	ids := p.connectOver(rs)
	key, err := p.ends[0].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[1].Post(p.now, ids[1], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
	p.run("the Write", func() bool { return p.count(1, engine.Completed) == 1 })
	later := p.now.Add(5 * time.Second)
	p.run("probing", func() bool { return p.now >= later })
	if victim > 2000 {
		t.Errorf("%d packets with %d bytes went to the claimed address", packets, victim)
	}
	if packets == 0 {
		t.Error("nothing at all went there: the claim was not tried")
	}
}

// A packet with the right tag from an address that is nobody's is dropped, and counted.
//
//mr:test MR-PLANE-002
func TestStrangeAddressIsDropped(t *testing.T) {
	p := newPlanes(t, 1)
	ids := p.connectOver(planeRoutes(2, 1))
	before := p.ends[1].Stats().Drops[engine.DropAddress]
	strange := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 99}), 10000)
	drop := p.drop
	p.drop = func(from int, d engine.Datagram) bool {
		if from == 0 && wire.Opcode(d.Bytes[1]) == wire.OpcodeSend {
			d.Route = engine.Route{Local: d.Route.Remote, Remote: strange}
			p.ends[1].HandleDatagram(p.now, d)
			p.drop = drop
		}
		return false
	}
	p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: 1, Buffer: make([]byte, 10)}))
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, Data: []byte("hello")}))
	p.run("the Send", func() bool { return p.count(1, engine.Received) == 1 })
	if n := p.ends[1].Stats().Drops[engine.DropAddress] - before; n != 1 {
		t.Errorf("%d packets were dropped for their address", n)
	}
}
