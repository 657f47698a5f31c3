// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/openmetaroce/metaroce/engine"
)

// serials returns the numbers at the head of the datagrams in a message.
func serials(m *mmsghdr) (out []uint32) {
	for _, v := range unsafe.Slice(m.hdr.Iov, int(m.hdr.Iovlen)) {
		out = append(out, binary.BigEndian.Uint32(unsafe.Slice(v.Base, 4)))
	}
	return out
}

// kernel answers sendmmsg as a test wants it.
type kernel struct {
	answer func(fd int, messages []mmsghdr) (int, unix.Errno)
	taken  map[int][]uint32 // serials by descriptor
}

func (k *kernel) call(fd int, messages []mmsghdr) (int, unix.Errno) {
	n, errno := k.answer(fd, messages)
	if errno != 0 {
		return -1, errno
	}
	for i := range messages[:n] {
		k.taken[fd] = append(k.taken[fd], serials(&messages[i])...)
	}
	return n, 0
}

// fill writes serial numbers into n of p's buffers, spread over its sockets in runs.
func fill(p *Port, next *uint32, runs []int) (out []engine.Datagram) {
	buffers := p.Buffers()
	for i, n := range runs {
		for range n {
			if len(out) == len(buffers) {
				return out
			}
			b := buffers[len(out)][:16]
			binary.BigEndian.PutUint32(b, *next)
			*next++
			local := p.Local()[i%len(p.sockets)]
			out = append(out, engine.Datagram{Route: engine.Route{Local: local, Remote: local}, Bytes: b})
		}
	}
	return out
}

func TestPortNeitherReordersNorForgetsUnderBackpressure(t *testing.T) {
	loopback := netip.MustParseAddrPort("127.0.0.1:0")
	rapid.Check(t, func(t *rapid.T) {
		p, err := Open(Config{Local: []netip.AddrPort{loopback, loopback, loopback}, Batch: 16})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		errnos := rapid.SampledFrom([]unix.Errno{0, 0, 0, unix.EAGAIN, unix.ENOBUFS, unix.EINTR, unix.ENETUNREACH})
		k := kernel{taken: map[int][]uint32{}, answer: func(_ int, messages []mmsghdr) (int, unix.Errno) {
			if errno := errnos.Draw(t, "errno"); errno != 0 {
				return -1, errno
			}
			return rapid.IntRange(1, len(messages)).Draw(t, "sent"), 0
		}}
		p.tx.call = k.call
		next := uint32(0)
		offered := map[int][]uint32{}
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			out := fill(p, &next, rapid.SliceOfN(rapid.IntRange(0, 6), 0, 6).Draw(t, "runs"))
			for _, d := range out {
				fd := p.socketOf(d.Route.Local).fd
				offered[fd] = append(offered[fd], binary.BigEndian.Uint32(d.Bytes))
			}
			if err := p.Send(out); err != nil {
				t.Fatal(err)
			}
			if len(p.tx.tail) > 16 {
				t.Fatalf("%d datagrams kept in 16 buffers", len(p.tx.tail))
			}
		}
		k.answer = func(_ int, messages []mmsghdr) (int, unix.Errno) { return len(messages), 0 }
		if lent := len(p.Buffers()); lent != 16 {
			t.Fatalf("%d of 16 buffers free in the end", lent)
		}
		checkTaken(t, offered, k.taken, p.Stats())
	})
}

// checkTaken demands that each socket's datagrams left in order, without the dropped ones.
func checkTaken(t *rapid.T, offered, taken map[int][]uint32, s Stats) {
	missing := uint64(0)
	for fd, want := range offered {
		got := taken[fd]
		for _, serial := range want {
			if len(got) > 0 && got[0] == serial {
				got = got[1:]
				continue
			}
			missing++
		}
		if len(got) > 0 {
			t.Fatalf("socket %d sent %v out of order", fd, got)
		}
	}
	if missing != s.Dropped {
		t.Fatalf("%d datagrams missing, %d counted as dropped", missing, s.Dropped)
	}
}

func TestPortFallsBackWhenSegmentationIsRefused(t *testing.T) {
	cases := []struct {
		name    string
		single  unix.Errno // what the kernel says to single datagrams
		refused uint64
		dropped uint64
		taken   int
	}{
		{"trains only", 0, 1, 0, 6},
		{"the route altogether", unix.EMSGSIZE, 0, 6, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, "127.0.0.1", 1)
			k := kernel{taken: map[int][]uint32{}, answer: func(_ int, messages []mmsghdr) (int, unix.Errno) {
				if messages[0].hdr.Iovlen > 1 {
					return -1, unix.EIO
				}
				return len(messages), c.single
			}}
			p.tx.call = k.call
			next := uint32(0)
			if err := p.Send(fill(p, &next, []int{6})); err != nil {
				t.Fatal(err)
			}
			s := p.Stats()
			if s.GSORefused != c.refused || s.Dropped != c.dropped || len(k.taken[p.sockets[0].fd]) != c.taken {
				t.Errorf("%d sockets fell back, %d dropped, %v sent", s.GSORefused, s.Dropped, k.taken)
			}
			if got := fmt.Sprint(p.sockets[0].gso); got != fmt.Sprint(c.refused == 0) {
				t.Errorf("segmentation on: %s", got)
			}
		})
	}
}

func TestPortLendsOnlyFreeBuffers(t *testing.T) {
	p := openWith(t, Config{Local: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:0")}, Batch: 16})
	full := true
	k := kernel{taken: map[int][]uint32{}, answer: func(_ int, messages []mmsghdr) (int, unix.Errno) {
		if full {
			return -1, unix.EAGAIN
		}
		return len(messages), 0
	}}
	p.tx.call = k.call
	next := uint32(0)
	for _, free := range []int{11, 6, 1, 0, 0} {
		if err := p.Send(fill(p, &next, []int{5})); err != nil {
			t.Fatal(err)
		}
		if got := len(p.Buffers()); got != free {
			t.Fatalf("%d buffers lent, want %d", got, free)
		}
	}
	full = false
	// The real socket has room, so the wait ends at once and the tail leaves with the next look for buffers.
	if err := p.Wait(-1); err != nil {
		t.Fatal(err)
	}
	if got := len(p.Buffers()); got != 16 {
		t.Fatalf("%d buffers lent after the queue had emptied", got)
	}
	for i, serial := range k.taken[p.sockets[0].fd] {
		if serial != uint32(i) {
			t.Fatalf("sent in the order %v", k.taken)
		}
	}
}
