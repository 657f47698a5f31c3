// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/openmetaroce/metaroce/engine"
)

// open returns a Port with n sockets on ports of the kernel's choice, closed when the test ends.
func open(t testing.TB, at string, n int) *Port {
	t.Helper()
	cfg := Config{}
	for range n {
		cfg.Local = append(cfg.Local, netip.AddrPortFrom(netip.MustParseAddr(at), 0))
	}
	return openWith(t, cfg)
}

func openWith(t testing.TB, cfg Config) *Port {
	t.Helper()
	p, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// packet is a payload of size bytes that nobody confuses with another.
func packet(serial, size int) []byte {
	b := bytes.Repeat([]byte{byte(serial)}, size)
	copy(b, fmt.Sprintf("%06d", serial))
	return b
}

// lend copies payloads into p's buffers and gives them a route.
func lend(t testing.TB, p *Port, route engine.Route, payloads ...[]byte) []engine.Datagram {
	t.Helper()
	buffers := p.Buffers()
	if len(buffers) < len(payloads) {
		t.Fatalf("%d buffers lent, %d needed", len(buffers), len(payloads))
	}
	var out []engine.Datagram
	for i, b := range payloads {
		n := copy(buffers[i], b)
		out = append(out, engine.Datagram{Route: route, ECN: engine.ECT0, Bytes: buffers[i][:n]})
	}
	return out
}

// collect receives n datagrams and returns copies of them.
func collect(t testing.TB, p *Port, n int) []engine.Datagram {
	t.Helper()
	var out []engine.Datagram
	for end := time.Now().Add(5 * time.Second); len(out) < n; {
		in, err := p.Receive()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range in {
			d.Bytes = bytes.Clone(d.Bytes)
			out = append(out, d)
		}
		if len(in) > 0 {
			continue
		}
		if time.Now().After(end) {
			t.Fatalf("%d datagrams arrived, %d expected", len(out), n)
		}
		if err := p.Wait(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var compareAddresses = cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })

func TestPortCarriesRouteAndECN(t *testing.T) {
	cases := []struct{ name, from, at, to string }{
		{"IPv4", "127.0.0.1", "127.0.0.1", "127.0.0.1"},
		{"IPv4 to any", "127.0.0.1", "0.0.0.0", "127.0.0.1"},
		{"IPv6", "::1", "::1", "::1"},
		{"IPv6 to any", "::1", "::", "::1"},
		{"IPv4 to any of both", "127.0.0.1", "::", "127.0.0.1"},
		{"any of both to IPv4", "::", "127.0.0.1", "127.0.0.1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, b := open(t, c.from, 2), open(t, c.at, 1)
			remote := netip.AddrPortFrom(netip.MustParseAddr(c.to), b.Local()[0].Port())
			source, err := LocalFor(remote)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 8 {
				local := netip.AddrPortFrom(source, a.Local()[i%2].Port())
				sent := lend(t, a, engine.Route{Local: local, Remote: remote}, packet(i, 100+i))
				sent[0].ECN = uint8(i % 4)
				if err := a.Send(sent); err != nil {
					t.Fatal(err)
				}
				want := []engine.Datagram{{
					Route: engine.Route{Local: remote, Remote: local}, ECN: uint8(i % 4), Bytes: packet(i, 100+i),
				}}
				if diff := cmp.Diff(want, collect(t, b, 1), compareAddresses); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

func TestPortAnswersFromTheAddressThatWasAsked(t *testing.T) {
	for _, at := range []string{"0.0.0.0", "::"} {
		t.Run(at, func(t *testing.T) {
			a, b := open(t, "127.0.0.1", 1), open(t, at, 1)
			asked := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), b.Local()[0].Port())
			if err := a.Send(lend(t, a, engine.Route{Local: a.Local()[0], Remote: asked}, packet(1, 10))); err != nil {
				t.Fatal(err)
			}
			route := collect(t, b, 1)[0].Route
			if err := b.Send(lend(t, b, route, packet(2, 10))); err != nil {
				t.Fatal(err)
			}
			if got := collect(t, a, 1)[0].Route.Remote; got != asked {
				t.Errorf("answer came from %v, asked was %v", got, asked)
			}
		})
	}
}

func TestPortMovesTrainsInOneMessage(t *testing.T) {
	cases := []struct {
		name           string
		from, at       Config
		trains, merged uint64
	}{
		{"segmented and merged", Config{}, Config{}, 1, 1},
		{"segmented", Config{}, Config{NoGRO: true}, 1, 0},
		{"neither", Config{NoGSO: true}, Config{NoGRO: true}, 41, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			loopback := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
			c.from.Local, c.at.Local = loopback, loopback
			a, b := openWith(t, c.from), openWith(t, c.at)
			var payloads [][]byte
			for i := range 40 {
				payloads = append(payloads, packet(i, 1400))
			}
			payloads = append(payloads, packet(40, 77))
			if err := a.Send(lend(t, a, engine.Route{Local: a.Local()[0], Remote: b.Local()[0]}, payloads...)); err != nil {
				t.Fatal(err)
			}
			for i, d := range collect(t, b, len(payloads)) {
				if !bytes.Equal(d.Bytes, payloads[i]) {
					t.Fatalf("datagram %d differs: %d bytes", i, len(d.Bytes))
				}
			}
			if a.Stats().Trains != c.trains || b.Stats().Merged != c.merged {
				t.Errorf("%d trains, %d merged; want %d and %d", a.Stats().Trains, b.Stats().Merged, c.trains, c.merged)
			}
			if s := a.Stats(); s.Sent != 41 || s.SentBytes != 40*1400+77 {
				t.Errorf("sent %d datagrams, %d bytes", s.Sent, s.SentBytes)
			}
		})
	}
}

func TestPortReadsManySocketsFairly(t *testing.T) {
	a := open(t, "127.0.0.1", 1)
	b := openWith(t, Config{Slots: 4, NoGRO: true, Local: []netip.AddrPort{
		netip.MustParseAddrPort("127.0.0.1:0"), netip.MustParseAddrPort("127.0.0.1:0"), netip.MustParseAddrPort("127.0.0.1:0"),
	}})
	for _, remote := range b.Local() {
		var payloads [][]byte
		for i := range 8 {
			payloads = append(payloads, packet(i, 64))
		}
		if err := a.Send(lend(t, a, engine.Route{Local: a.Local()[0], Remote: remote}, payloads...)); err != nil {
			t.Fatal(err)
		}
	}
	var order []uint16
	for _, d := range collect(t, b, 24) {
		order = append(order, d.Route.Local.Port())
	}
	for i := 4; i < 12; i++ {
		if order[i] == order[0] {
			t.Fatalf("socket %d was read again before the others had their turn: %v", order[0], order)
		}
	}
}

func TestPortDropsWhatTheRouteRefuses(t *testing.T) {
	p := open(t, "127.0.0.1", 1)
	// A loopback source cannot leave the host.
	route := engine.Route{Local: p.Local()[0], Remote: netip.MustParseAddrPort("192.0.2.1:4797")}
	if err := p.Send(lend(t, p, route, packet(1, 100), packet(2, 100), packet(3, 100))); err != nil {
		t.Fatalf("a route's fault was returned: %v", err)
	}
	if s := p.Stats(); s.Dropped != 3 || s.GSORefused != 0 {
		t.Errorf("%d dropped, %d sockets without segmentation", s.Dropped, s.GSORefused)
	}
	want := []RouteFault{{Route: route, Fault: engine.Unreachable}}
	if diff := cmp.Diff(want, p.Faults(), compareAddresses); diff != "" {
		t.Error(diff)
	}
	if again := p.Faults(); len(again) != 0 {
		t.Errorf("told again: %v", again)
	}
	stranger := engine.Route{Local: netip.MustParseAddrPort("127.0.0.1:1"), Remote: p.Local()[0]}
	if err := p.Send(lend(t, p, stranger, packet(1, 100))); err != nil || p.Stats().Dropped != 4 {
		t.Errorf("a route of no socket: %v, %d dropped", err, p.Stats().Dropped)
	}
}

func TestPortReportsDeadSockets(t *testing.T) {
	p := open(t, "127.0.0.1", 1)
	fd := p.sockets[0].fd
	p.sockets[0].fd = 1 << 20
	defer func() { p.sockets[0].fd = fd }()
	if err := p.Send(lend(t, p, engine.Route{Local: p.Local()[0], Remote: p.Local()[0]}, packet(1, 9))); !errors.Is(err, unix.EBADF) {
		t.Errorf("Send: %v", err)
	}
	if _, err := p.Receive(); !errors.Is(err, unix.EBADF) {
		t.Errorf("Receive: %v", err)
	}
}

func TestOpenRejectsBadConfig(t *testing.T) {
	one := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}
	for _, cfg := range []Config{
		{}, {Local: make([]netip.AddrPort, 1)}, {Local: make([]netip.AddrPort, 257)},
		{Local: one, MaxPacket: 70000}, {Local: one, Batch: -1}, {Local: one, Slots: 1000}, {Local: one, ReceiveBuffer: -1},
	} {
		if _, err := Open(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

// descriptors counts the open files of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestCloseReleasesEverything(t *testing.T) {
	before := descriptors(t)
	p := open(t, "127.0.0.1", 16)
	if got := descriptors(t); got != before+18 {
		t.Errorf("%d descriptors for 16 sockets", got-before)
	}
	if _, err := Open(Config{Local: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0"), p.Local()[0]}}); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("bound a taken port: %v", err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := descriptors(t); got != before {
		t.Errorf("%d descriptors leaked", got-before)
	}
}
