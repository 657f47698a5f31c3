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

// maxMessages is the number of trains handed to the kernel at once.
const maxMessages = 64

// mmsghdr is the kernel's struct of the same name.
type mmsghdr struct {
	hdr unix.Msghdr
	n   uint32
}

// sendCall hands messages to the kernel and returns how many it took; the errno speaks of the first one.
type sendCall func(fd int, messages []mmsghdr) (int, unix.Errno)

func sendmmsg(fd int, messages []mmsghdr) (int, unix.Errno) {
	n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&messages[0])), uintptr(len(messages)), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// sender is the outgoing half of a Port: the memory that it lends, the datagrams that could not leave, and the kernel's
// structures, all allocated once.
type sender struct {
	slab    []byte
	stride  int
	buffers [][]byte // all of the slab
	lent    [][]byte // scratch: those free while a tail exists
	taken   []bool   // scratch: buffers that the tail occupies
	tail    []engine.Datagram
	spare   []engine.Datagram
	// slow: the tail waits for kernel memory, of which epoll does not tell.
	slow bool

	call     sendCall
	messages []mmsghdr
	lengths  []int // datagrams in each message
	iovecs   []unix.Iovec
	names    []sockaddr
	controls []byte
	zones    zones
}

func newSender(cfg *Config, z zones) *sender {
	t := &sender{
		stride: (cfg.MaxPacket + 7) &^ 7, call: sendmmsg,
		lent: make([][]byte, 0, cfg.Batch), taken: make([]bool, cfg.Batch),
		tail: make([]engine.Datagram, 0, 2*cfg.Batch), spare: make([]engine.Datagram, 0, 2*cfg.Batch),
		messages: make([]mmsghdr, maxMessages), lengths: make([]int, maxMessages),
		iovecs: make([]unix.Iovec, cfg.Batch+maxSegments), names: make([]sockaddr, maxMessages),
		controls: make([]byte, maxMessages*controlSize), zones: z,
	}
	t.slab = make([]byte, cfg.Batch*t.stride)
	for i := range cfg.Batch {
		t.buffers = append(t.buffers, t.slab[i*t.stride:i*t.stride+cfg.MaxPacket:(i+1)*t.stride])
	}
	return t
}

// slot returns the index of the buffer that b lies in, or -1.
func (t *sender) slot(b []byte) int {
	off := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(t.slab)))
	if off >= uintptr(len(t.slab)) {
		return -1
	}
	return int(off) / t.stride
}

// Buffers lends memory for what can be sent now: all of it, or what a tail that could not leave yet has not taken.
func (p *Port) Buffers() [][]byte {
	t := p.tx
	if len(t.tail) == 0 {
		return t.buffers
	}
	p.retry()
	if len(t.tail) == 0 {
		return t.buffers
	}
	clear(t.taken)
	for i := range t.tail {
		t.taken[t.slot(t.tail[i].Bytes)] = true
	}
	t.lent = t.lent[:0]
	for i, b := range t.buffers {
		if !t.taken[i] {
			t.lent = append(t.lent, b)
		}
	}
	return t.lent
}

// retry offers the tail to the kernel once more. An error is kept for the next Send.
func (p *Port) retry() {
	t := p.tx
	for i := range p.sockets {
		p.sockets[i].blocked = false
	}
	t.slow = false
	t.tail, t.spare = t.spare[:0], t.tail
	if err := p.flush(t.spare); err != nil {
		p.failed = err
	}
}

// Send hands datagrams to the kernel in order. What a full queue keeps from leaving stays in its buffer and goes first the
// next time. Only errors that leave the socket useless are returned.
func (p *Port) Send(out []engine.Datagram) error {
	if p.failed != nil {
		return p.failed
	}
	return p.flush(out)
}

// flush sends queue; what sockets do not take now goes to the end of the tail.
func (p *Port) flush(queue []engine.Datagram) error {
	for len(queue) > 0 {
		s := p.socketOf(queue[0].Route.Local)
		if s == nil {
			p.stats.Dropped++
			queue = queue[1:]
			continue
		}
		n, messages := p.tx.gather(s, queue)
		if s.blocked {
			p.keep(queue[:n])
			queue = queue[n:]
			continue
		}
		sent, err := p.push(s, queue[:n], messages)
		if err != nil {
			return err
		}
		queue = queue[sent:]
	}
	return nil
}

// push offers gathered messages of one socket to the kernel and returns how many datagrams it has dealt with.
func (p *Port) push(s *socket, queue []engine.Datagram, messages int) (done int, err error) {
	t := p.tx
	for m := 0; m < messages; {
		n, errno := t.call(s.fd, t.messages[m:messages])
		p.stats.SendCalls++
		if errno != 0 {
			more, err := p.refused(s, queue[done:done+t.lengths[m]], errno)
			return done + more, err
		}
		for ; n > 0; n-- {
			done += p.passed(s, queue[done:done+t.lengths[m]])
			m++
		}
	}
	return done, nil
}

// passed counts a train that the kernel took, and returns its length.
func (p *Port) passed(s *socket, train []engine.Datagram) int {
	if s.suspect {
		// Alone it went: the kernel does not cut on this socket.
		s.suspect, s.gso = false, false
		p.stats.GSORefused++
	}
	p.stats.Trains++
	p.stats.Sent += uint64(len(train))
	for i := range train {
		p.stats.SentBytes += uint64(len(train[i].Bytes))
	}
	return len(train)
}

// refused deals with a train that the kernel did not take, and returns how many of its datagrams are done with.
func (p *Port) refused(s *socket, train []engine.Datagram, errno unix.Errno) (int, error) {
	switch errno {
	case unix.EINTR:
		return 0, nil
	case unix.ENOBUFS, unix.ENOMEM:
		p.tx.slow = true
		fallthrough
	case unix.EAGAIN:
		s.blocked = true
		p.stats.Blocked++
		return 0, nil
	case unix.EBADF, unix.ENOTSOCK, unix.EFAULT, unix.EPIPE:
		return 0, fmt.Errorf("udp: sendmmsg from %v to %v: %w", s.local, train[0].Route.Remote, errno)
	}
	if len(train) > 1 {
		s.suspect = true
		return 0, nil
	}
	// The route takes no such datagram, for example EMSGSIZE or ENETUNREACH. To the engine it is lost.
	s.suspect = false
	p.stats.Dropped++
	p.fault(train[0].Route, errno)
	return 1, nil
}

// keep puts datagrams at the end of the tail. Those that do not lie in lent memory, or find no room, are dropped.
func (p *Port) keep(train []engine.Datagram) {
	t := p.tx
	for i := range train {
		if t.slot(train[i].Bytes) < 0 || len(t.tail) == cap(t.tail) {
			p.stats.Dropped++
			continue
		}
		t.tail = append(t.tail, train[i])
	}
}

// gather fills the kernel's structures with the head of queue as far as it leaves from s. It returns the number of
// datagrams and of messages.
func (t *sender) gather(s *socket, queue []engine.Datagram) (datagrams, messages int) {
	iovecs := 0
	for datagrams < len(queue) && messages < maxMessages {
		rest := queue[datagrams:]
		if rest[0].Route.Local != queue[0].Route.Local && !s.wild {
			break
		}
		if s.wild && rest[0].Route.Local.Port() != queue[0].Route.Local.Port() {
			break
		}
		n := 1
		if s.gso && !s.suspect {
			n = trainLength(rest)
		}
		if iovecs+n > len(t.iovecs) {
			break
		}
		t.message(messages, s, rest[:n], t.iovecs[iovecs:iovecs+n])
		t.lengths[messages] = n
		iovecs += n
		datagrams += n
		messages++
		if s.suspect {
			break
		}
	}
	return datagrams, messages
}

// message fills one of the kernel's message structures with a train.
func (t *sender) message(i int, s *socket, train []engine.Datagram, iovecs []unix.Iovec) {
	for j := range train {
		iovecs[j].Base = unsafe.SliceData(train[j].Bytes)
		iovecs[j].SetLen(len(train[j].Bytes))
	}
	route := &train[0].Route
	ctl := control{buf: t.controls[i*controlSize : (i+1)*controlSize]}
	ctl.ecn(route.Remote.Addr().Unmap(), train[0].ECN)
	if len(train) > 1 {
		ctl.segment(len(train[0].Bytes))
	}
	if s.wild && !route.Local.Addr().IsUnspecified() {
		ctl.source(route.Local.Addr().Unmap())
	}
	hdr := &t.messages[i].hdr
	hdr.Name = (*byte)(unsafe.Pointer(&t.names[i]))
	hdr.Namelen = t.zones.put(&t.names[i], route.Remote, s.family)
	hdr.Iov = &iovecs[0]
	hdr.SetIovlen(len(iovecs))
	hdr.Control = &ctl.buf[0]
	hdr.SetControllen(ctl.n)
}

// socketOf finds the socket that a route leaves from, or nil.
func (p *Port) socketOf(local netip.AddrPort) *socket {
	if i, ok := p.byLocal[local]; ok {
		return &p.sockets[i]
	}
	if i, ok := p.wildByPort[local.Port()]; ok {
		return &p.sockets[i]
	}
	return nil
}
