// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/openmetaroce/metaroce/engine"
)

// slotSize is the largest thing that the kernel delivers at once.
const slotSize = 64 << 10

// receiver is the incoming half of a Port: slots for arrivals and the kernel's structures, all allocated once.
type receiver struct {
	slab     []byte
	messages []mmsghdr
	iovecs   []unix.Iovec
	names    []sockaddr
	controls []byte
	out      []engine.Datagram
	// ready lists the sockets that may have arrivals, by index.
	ready []int32
	zones zones
}

func newReceiver(cfg *Config, z zones) *receiver {
	r := &receiver{
		slab: make([]byte, cfg.Slots*slotSize), messages: make([]mmsghdr, cfg.Slots), iovecs: make([]unix.Iovec, cfg.Slots),
		names: make([]sockaddr, cfg.Slots), controls: make([]byte, cfg.Slots*controlSize),
		out: make([]engine.Datagram, 0, cfg.Slots*maxSegments), ready: make([]int32, 0, len(cfg.Local)), zones: z,
	}
	for i := range r.messages {
		r.iovecs[i].Base = &r.slab[i*slotSize]
		r.iovecs[i].SetLen(slotSize)
		hdr := &r.messages[i].hdr
		hdr.Name = (*byte)(unsafe.Pointer(&r.names[i]))
		hdr.Iov = &r.iovecs[i]
		hdr.SetIovlen(1)
		hdr.Control = &r.controls[i*controlSize]
	}
	return r
}

// Receive returns what has arrived, at most one filling of the slots. Merged arrivals come out as single datagrams. The
// slice and its bytes are valid until the next call.
func (p *Port) Receive() ([]engine.Datagram, error) {
	r := p.rx
	r.out = r.out[:0]
	if len(p.sockets) == 1 {
		r.ready = r.ready[:0]
		_, err := p.drain(&p.sockets[0], 0)
		return r.out, err
	}
	if len(r.ready) == 0 {
		if err := p.poll(); err != nil {
			return nil, err
		}
	}
	used := 0
	for used < len(r.messages) && len(r.ready) > 0 {
		room := len(r.messages) - used
		first := r.ready[0]
		n, err := p.drain(&p.sockets[first], used)
		if err != nil {
			return r.out, err
		}
		used += n
		last := len(r.ready) - 1
		copy(r.ready, r.ready[1:])
		if n == room {
			// There may be more; the others go first.
			r.ready[last] = first
			break
		}
		r.ready = r.ready[:last]
	}
	return r.out, nil
}

// drain reads one socket into the slots from used on and returns how many messages came.
func (p *Port) drain(s *socket, used int) (int, error) {
	r := p.rx
	for i := used; i < len(r.messages); i++ {
		hdr := &r.messages[i].hdr
		hdr.Namelen = sockaddrSize
		hdr.SetControllen(controlSize)
		hdr.Flags = 0
	}
	n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&r.messages[used])),
		uintptr(len(r.messages)-used), unix.MSG_DONTWAIT, 0, 0)
	p.stats.ReceiveCalls++
	switch errno {
	case 0:
	case unix.EBADF, unix.ENOTSOCK, unix.EFAULT, unix.EINVAL:
		return 0, fmt.Errorf("udp: recvmmsg on %v: %w", s.local, errno)
	default:
		// Nothing there, or a stale error of something sent earlier.
		return 0, nil
	}
	for i := used; i < used+int(n); i++ {
		p.take(s, i)
	}
	return int(n), nil
}

// take turns the message in a slot into datagrams.
func (p *Port) take(s *socket, slot int) {
	r := p.rx
	m := &r.messages[slot]
	bytes := r.slab[slot*slotSize : slot*slotSize+int(m.n)]
	if m.hdr.Flags&unix.MSG_TRUNC != 0 {
		p.stats.Truncated++
		return
	}
	told := parseControl(r.controls[slot*controlSize : slot*controlSize+int(m.hdr.Controllen)])
	route := engine.Route{Local: s.local, Remote: r.zones.get(&r.names[slot])}
	if s.wild && told.local.IsValid() {
		route.Local = netip.AddrPortFrom(told.local, s.local.Port())
	}
	p.stats.ReceivedBytes += uint64(len(bytes))
	size := len(bytes)
	if told.segment > 0 && told.segment < size {
		size = told.segment
		p.stats.Merged++
	}
	for {
		n := min(size, len(bytes))
		r.out = append(r.out, engine.Datagram{Route: route, ECN: told.ecn, Bytes: bytes[:n:n]})
		p.stats.Received++
		if bytes = bytes[n:]; len(bytes) == 0 {
			return
		}
	}
}
