// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openmetaroce/metaroce/engine"
)

func TestWaitEndsForEachOfItsReasons(t *testing.T) {
	p := open(t, "127.0.0.1", 3)
	start := time.Now()
	if err := p.Wait(3 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 3*time.Millisecond {
		t.Errorf("slept %v of 3 ms", took)
	}
	p.Wake()
	if err := p.Wait(-1); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(lend(t, p, engine.Route{Local: p.Local()[0], Remote: p.Local()[2]}, packet(1, 10))); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(-1); err != nil {
		t.Fatal(err)
	}
	if in, err := p.Receive(); len(in) != 1 || err != nil {
		t.Errorf("%d datagrams, %v", len(in), err)
	}
}

func TestWakeIsNotLostWhileReceiving(t *testing.T) {
	p := open(t, "127.0.0.1", 2)
	p.Wake()
	if _, err := p.Receive(); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(-1); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := p.Wait(time.Millisecond); err != nil || time.Since(start) < time.Millisecond {
		t.Errorf("one Wake ended two waits: %v after %v", err, time.Since(start))
	}
}

func TestWaitRetriesSoonWhenTheKernelLacksMemory(t *testing.T) {
	p := open(t, "127.0.0.1", 1)
	p.tx.call = func(int, []mmsghdr) (int, unix.Errno) { return -1, unix.ENOBUFS }
	next := uint32(0)
	if err := p.Send(fill(p, &next, []int{1})); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(-1); err != nil {
		t.Fatal(err)
	}
	if p.Stats().Blocked != 1 {
		t.Errorf("blocked %d times", p.Stats().Blocked)
	}
}

func TestPortDoesNotAllocate(t *testing.T) {
	for _, sockets := range []int{1, 16} {
		a := open(t, "127.0.0.1", sockets)
		b := open(t, "127.0.0.1", 1)
		out := make([]engine.Datagram, 0, 64)
		turn := func() {
			buffers := a.Buffers()
			out = out[:0]
			for i := range 48 {
				local := a.sockets[i/8%sockets].local
				out = append(out, engine.Datagram{Route: engine.Route{Local: local, Remote: b.sockets[0].local}, ECN: engine.ECT0, Bytes: buffers[i][:1456]})
			}
			if err := a.Send(out); err != nil {
				t.Fatal(err)
			}
			for got := 0; got < 48; {
				if err := b.Wait(time.Second); err != nil {
					t.Fatal(err)
				}
				in, err := b.Receive()
				if err != nil {
					t.Fatal(err)
				}
				got += len(in)
			}
			if _, err := a.Receive(); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(100, turn); n != 0 {
			t.Errorf("%v allocations per turn with %d sockets", n, sockets)
		}
	}
}

func TestPortAsksForALargeReceiveQueue(t *testing.T) {
	p := openWith(t, Config{Local: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, ReceiveBuffer: 300 << 10})
	if got := p.Stats().ReceiveBuffer; got < 200<<10 {
		t.Errorf("receive queue of %d bytes", got)
	}
}

// FuzzControl: no control message of the kernel is read beyond its end, whatever its length says.
//
//mr:prop P46
func FuzzControl(f *testing.F) {
	var c control
	c.buf = make([]byte, controlSize)
	c.ecn(netip.MustParseAddr("::1"), engine.CE)
	c.segment(1400)
	c.source(netip.MustParseAddr("127.0.0.1"))
	f.Add(c.buf[:c.n])
	f.Fuzz(func(t *testing.T, b []byte) {
		aligned := make([]byte, len(b))
		copy(aligned, b)
		if a := parseControl(aligned); a.ecn > engine.CE {
			t.Errorf("ECN codepoint %d", a.ecn)
		}
	})
}
