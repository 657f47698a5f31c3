// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Sixteen planes can be announced, and not seventeen; they are announced in the order of their numbers.
//
//mr:test MR-PLANE-001
func TestPlanesAreAtMostSixteen(t *testing.T) {
	end, err := engine.New(engine.Config{Paths: 32})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := end.Open(1, planeRoutes(17, 17)); !errors.Is(err, engine.ErrConfig) {
		t.Errorf("seventeen planes: %v", err)
	}
	if _, err := end.Open(1, planeRoutes(15, 15)); err != nil {
		t.Errorf("fifteen planes: %v", err)
	}
	if end, err = engine.New(engine.Config{Paths: 32}); err != nil {
		t.Fatal(err)
	}
	if _, err := end.Open(1, planeRoutes(32, 16)); err != nil {
		t.Fatal(err)
	}
	d, _ := end.NextDatagram(1, make([]byte, 2000))
	var p wire.Packet
	if _, err := p.Decode(d.Bytes); err != nil {
		t.Fatal(err)
	}
	list := p.Plain.Open.Parameters.Address
	if len(list) != 16 {
		t.Fatalf("%d planes are announced", len(list))
	}
	for i, a := range list {
		if want := planeAddress(0, byte(i)); int(a.Plane) != i || netip.AddrFrom16(a.Ip).Unmap() != want {
			t.Errorf("plane %d is announced as %d at %v", i, a.Plane, netip.AddrFrom16(a.Ip))
		}
	}
}

// An end that announces no addresses has the plane of the handshake only.
//
//mr:test MR-PLANE-001
func TestSilentOpenerHasOnePlane(t *testing.T) {
	p := newPlanes(t, 2)
	var open wire.Packet
	p.drop = func(from int, d engine.Datagram) bool {
		if from == 0 && opcodeAnswered(d) == wire.OpcodeOpen {
			if _, err := open.Decode(d.Bytes); err != nil {
				t.Fatal(err)
			}
			open.Plain.Open.Parameters.Address = nil
			open.Plain.Open.Parameters.Padding += 100
			b, err := open.Append(nil)
			p.must(err)
			d.Bytes = b
			d = seen(d)
			p.wire = append(p.wire, flight{p.now.Add(wireDelay), 1, d})
			return true
		}
		return false
	}
	p.connectOver(planeRoutes(4, 2))
	later := p.now.Add(time.Second)
	p.run("probing", func() bool { return p.now >= later })
	if n := p.ends[1].Stats().Drops[engine.DropAddress]; n == 0 {
		t.Error("packets on another plane are taken")
	}
}

// A plane that falls silent goes out of service as a whole, within a few round trips and long before its paths' timers have run
// out twice.
//
//mr:test MR-PLANE-005
func TestSilentPlaneGoesOutAtOnce(t *testing.T) {
	p := newPlanes(t, 2)
	ids := p.connectOver(planeRoutes(8, 2))
	key, err := p.ends[1].Register(make([]byte, 16<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 16<<20)}))
	p.run("a start", func() bool {
		s, _ := p.ends[1].ConnStats(ids[1])
		return s.BytesReceived > 4<<20
	})
	p.drop = func(_ int, d engine.Datagram) bool { return onPlane(d, 1) }
	cut := p.now
	p.run("the verdict", func() bool {
		s, _ := p.ends[0].ConnStats(ids[0])
		for _, path := range s.Paths {
			if path.ID%2 == 1 && path.Downs == 0 {
				return false
			}
		}
		return true
	})
	s, _ := p.ends[0].ConnStats(ids[0])
	var pto time.Duration
	for _, path := range s.Paths {
		pto = max(pto, path.RTT+20*time.Microsecond+100*time.Microsecond) // granularity, and max_ack_delay
		if path.ID%2 == 0 && path.Downs != 0 {
			t.Errorf("path %d of the other plane went down", path.ID)
		}
	}
	took := p.now.Sub(cut)
	t.Logf("%v after the cut; a probe timeout is %v", took, pto)
	if took > 2*pto {
		t.Errorf("it took %v, a probe timeout is %v", took, pto)
	}
}

// Data flows one way over two planes, and all ACKs come back on one of them. The other one is heard all the same: ACKs tell about
// its paths. Neither is ever blamed.
//
//mr:test MR-PLANE-005
func TestPlaneThatOnlySendsIsHeard(t *testing.T) {
	p := newPlanes(t, 2)
	ids := p.connectOver(planeRoutes(4, 2))
	p.settle()
	back := [2]int{}
	p.drop = func(from int, d engine.Datagram) bool {
		if from == 1 {
			back[d.Route.Local.Addr().As4()[1]]++
		}
		return false
	}
	key, err := p.ends[1].Register(make([]byte, 8<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 8<<20)}))
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
	if most, least := max(back[0], back[1]), min(back[0], back[1]); most < 5*least || least > 2 {
		t.Errorf("%v packets came back on the planes: not on one alone", back)
	}
	s, _ := p.ends[0].ConnStats(ids[0])
	for _, path := range s.Paths {
		if path.Downs > 0 || path.Acked == 0 {
			t.Errorf("path %d: %+v", path.ID, path)
		}
	}
}

// OPENs travel over both planes, each with a cookie for its own address, and late ones arrive when the connection stands: one
// connection comes of it.
//
//mr:test MR-CONN-004 MR-CONN-013 MR-CONN-024 MR-CONN-025
func TestOpenOverTwoPlanesMakesOneConnection(t *testing.T) {
	for _, slow := range []byte{0, 1} {
		p := newPlanes(t, 2)
		f := newFabric(p, 100, 1<<30, 1<<30)
		cookies := map[netip.Addr]bool{}
		p.drop = func(from int, d engine.Datagram) bool {
			var w wire.Packet
			if _, err := w.Decode(d.Bytes); err == nil && w.Base.Opcode == wire.OpcodeOpen && w.Plain.Open.Parameters.CookiePresent {
				cookies[d.Route.Local.Addr()] = true
			}
			delay := time.Millisecond // so long that RETRYs meet an opener that still waits
			if onPlane(d, slow) {
				delay += 200 * time.Microsecond
			}
			f.deliver(flight{p.now.Add(delay), 1 - from, seen(d)})
			return true
		}
		ids := p.connectOver(planeRoutes(4, 2))
		p.settle()
		if a, b := p.count(0, engine.Opened), p.count(1, engine.Opened); a != 1 || b != 1 || p.count(1, engine.Closed) > 0 {
			t.Errorf("plane %d is slow: %d and %d connections", slow, a, b)
		}
		if len(cookies) < 2 {
			t.Errorf("plane %d is slow: cookies were used at %v only", slow, cookies)
		}
		key, err := p.ends[1].Register(make([]byte, 1<<20), engine.RemoteWrite)
		p.must(err)
		p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
		p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
		s, _ := p.ends[0].ConnStats(ids[0])
		for _, path := range s.Paths {
			if path.Acked == 0 {
				t.Errorf("plane %d is slow: path %d carries nothing", slow, path.ID)
			}
		}
	}
}
