// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"bytes"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
)

// planesOf sums up packets received by plane of an end's paths.
func planesOf(c *Conn) map[netip.Addr]uint64 {
	received := map[netip.Addr]uint64{}
	for _, p := range c.Stats().Conn.Paths {
		received[p.Route.Local.Addr()] += p.Received
	}
	return received
}

// planePair returns both ends of a connection over two planes of loopback.
func planePair(t *testing.T, dial, listen Config) (dialled, accepted *Conn) {
	t.Helper()
	ctx := patience(t)
	l, err := Listen("127.0.0.1:0,127.0.0.2:0", listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	addrs := l.Addrs()
	d, err := NewDialer(netip.MustParseAddr("127.0.1.1"), dial, netip.MustParseAddr("127.0.1.2"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if dialled, err = d.Dial(ctx, addrs[0].String()+","+addrs[1].String()); err != nil {
		t.Fatal(err)
	}
	if accepted, err = l.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	return dialled, accepted
}

// transfer writes n bytes into a region of the other end and compares.
func transfer(t *testing.T, from, to *Conn, n int) {
	t.Helper()
	ctx := patience(t)
	memory, data := make([]byte, n), noise(n, uint64(n))
	region, err := to.RegisterRegion(memory, RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := open(t, from, to)
	const piece = 1 << 20
	for at := 0; at < n; at += piece {
		if err := out.Write(ctx, data[at:min(at+piece, n)], region.Key(), uint64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := region.Close(); err != nil { // from here on nobody else touches the memory
		t.Fatal(err)
	}
	if !bytes.Equal(memory, data) {
		t.Error("what arrived is not what was sent")
	}
}

//mr:test MR-PLANE-001
func TestPlanesShareTheWork(t *testing.T) {
	dialled, accepted := planePair(t, Config{Paths: 8}, Config{Paths: 8})
	transfer(t, dialled, accepted, 16<<20)
	received := planesOf(accepted)
	for plane := range 2 {
		if n := received[netip.AddrFrom4([4]byte{127, 0, 0, byte(1 + plane)})]; n < 200 {
			t.Errorf("plane %d has carried %d packets: %v", plane, n, received)
		}
	}
}

// deadPlane swallows what is sent from an address once it is told to.
type deadPlane struct {
	engine.Port
	addr netip.Addr
	sent int
	from int // number of datagrams after which it is dead
	lost atomic.Int64
}

func (d *deadPlane) Send(list []engine.Datagram) error {
	kept := list[:0:0]
	for _, p := range list {
		d.sent++
		if d.sent > d.from && p.Route.Local.Addr() == d.addr {
			d.lost.Add(1)
			continue
		}
		kept = append(kept, p)
	}
	return d.Port.Send(kept)
}

//mr:test MR-FAIL-003 MR-PLANE-005
func TestPlaneDiesAndTheApplicationDoesNotNotice(t *testing.T) {
	var dead *deadPlane
	dial := Config{Paths: 8, Wrap: func(p engine.Port) engine.Port {
		dead = &deadPlane{Port: p, addr: netip.MustParseAddr("127.0.1.2"), from: 1000}
		return dead
	}}
	dialled, accepted := planePair(t, dial, Config{Paths: 8})
	transfer(t, dialled, accepted, 32<<20)
	stats := dialled.Stats()
	down := 0
	for _, p := range stats.Conn.Paths {
		if p.Route.Local.Addr() == netip.MustParseAddr("127.0.1.2") && p.Downs > p.Ups {
			down++
		}
	}
	if down != 4 {
		t.Errorf("%d of the 4 paths of the dead plane are out of service", down)
	}
	if err := dialled.Close(); err != nil {
		t.Error(err)
	}
	if dead.lost.Load() == 0 {
		t.Error("nothing was sent on the dead plane")
	}
}

func TestDialFindsItsOwnEndOfEachPlane(t *testing.T) {
	ctx := patience(t)
	l, err := Listen("127.0.0.1:0,127.0.0.2:0,127.0.0.3:0", Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	list := ""
	for _, a := range l.Addrs() {
		list += ", " + a.String()
	}
	dialled, err := Dial(ctx, list[2:], Config{Paths: 6})
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	accepted, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	transfer(t, dialled, accepted, 4<<20)
	if got := planesOf(accepted); len(got) != 3 {
		t.Errorf("planes in use: %v", got)
	}
}

func TestPlanesThatCannotBeAreRefused(t *testing.T) {
	one, two := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	for _, addr := range []string{"127.0.0.1:0,127.0.0.1:0", "127.0.0.1:0,0.0.0.0:0", "127.0.0.1:0,"} {
		if l, err := Listen(addr, Config{Insecure: true}); err == nil {
			l.Close()
			t.Errorf("Listen(%q) works", addr)
		}
	}
	if _, err := NewDialer(one, Config{}, one); !errors.Is(err, ErrConfig) {
		t.Errorf("the same address twice: %v", err)
	}
	if _, err := NewDialer(one, Config{Paths: 1}, two); !errors.Is(err, ErrConfig) {
		t.Errorf("one path for two planes: %v", err)
	}
	if _, err := NewDialer(one, Config{}, netip.MustParseAddr("192.0.2.1")); !errors.Is(err, ErrInsecure) {
		t.Errorf("a plane that is not loopback: %v", err)
	}
	d, err := NewDialer(one, Config{}, two)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Dial(patience(t), "127.0.0.1:4797"); !errors.Is(err, ErrConfig) {
		t.Errorf("one address for two planes: %v", err)
	}
}
