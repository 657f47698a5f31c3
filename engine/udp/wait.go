// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wakeToken stands for the eventfd among the sockets' indexes.
const wakeToken = -1

// slowRetry is the pause before a tail that found no kernel memory is offered again.
const slowRetry = 200 * time.Microsecond

// openWait makes what Wait sleeps on.
func (p *Port) openWait() (err error) {
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("udp: epoll_create1: %w", err)
	}
	if p.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("udp: eventfd: %w", err)
	}
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: wakeToken}
	if err := unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, p.event, &e); err != nil {
		return fmt.Errorf("udp: epoll_ctl: %w", err)
	}
	return nil
}

// watch tells epoll what to look for on a socket.
func (p *Port) watch(i, op int) error {
	s := &p.sockets[i]
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
	if s.armed {
		e.Events |= unix.EPOLLOUT
	}
	return unix.EpollCtl(p.epoll, op, s.fd, &e)
}

// arm makes epoll look for room on the sockets that are blocked, and only on those.
func (p *Port) arm() error {
	if len(p.tx.tail) == 0 && !p.watching {
		return nil
	}
	p.watching = false
	for i := range p.sockets {
		s := &p.sockets[i]
		if want := s.blocked && !p.tx.slow; want != s.armed {
			s.armed = want
			if err := p.watch(i, unix.EPOLL_CTL_MOD); err != nil {
				return socketError("epoll_ctl", s.local, err)
			}
		}
		p.watching = p.watching || s.armed
	}
	return nil
}

// Wait sleeps until something arrives, a blocked socket has room, Wake is called, or d has passed. A negative d is for ever.
func (p *Port) Wait(d time.Duration) error {
	if len(p.rx.ready) > 0 {
		return nil
	}
	if err := p.arm(); err != nil {
		return err
	}
	if p.tx.slow && (d < 0 || d > slowRetry) {
		d = slowRetry
	}
	p.stats.Waits++
	woken, err := p.poll(d)
	if woken {
		var b [8]byte
		_, _ = unix.Read(p.event, b[:])
	}
	return err
}

// Wake ends the current or the next Wait.
func (p *Port) Wake() {
	one := [8]byte{0: 1, 7: 1} // not 0 in either byte order
	_, _ = unix.Write(p.event, one[:])
}

// poll asks epoll, for up to d, and notes which sockets are readable. It tells whether Wake was called.
func (p *Port) poll(d time.Duration) (woken bool, err error) {
	n, errno := p.epollWait(d)
	if errno == unix.EINTR {
		return false, nil
	}
	if errno != 0 {
		return false, fmt.Errorf("udp: epoll_wait: %w", errno)
	}
	p.rx.ready = p.rx.ready[:0]
	for _, e := range p.events[:n] {
		if e.Fd == wakeToken {
			woken = true
			continue
		}
		if e.Events&^unix.EPOLLOUT != 0 {
			p.rx.ready = append(p.rx.ready, e.Fd)
		}
	}
	return woken, nil
}

// kernelTimespec is the kernel's 64-bit timespec, the same on all machines.
type kernelTimespec struct{ sec, nsec int64 }

// epollWait is epoll_pwait2, or what comes closest on kernels before 5.11.
func (p *Port) epollWait(d time.Duration) (int, unix.Errno) {
	if p.coarse {
		return p.epollWaitCoarse(d)
	}
	if d == 0 {
		// Not blocking, so the scheduler need not know.
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])),
			uintptr(len(p.events)), 0, 0, 0)
		return int(n), errno
	}
	ts := kernelTimespec{int64(d / time.Second), int64(d % time.Second)}
	limit := unsafe.Pointer(&ts)
	if d < 0 {
		limit = nil
	}
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), uintptr(limit), 0, 0)
	if errno == unix.ENOSYS {
		p.coarse = true
		return p.epollWaitCoarse(d)
	}
	return int(n), errno
}

// epollWaitCoarse sleeps in ppoll, which takes nanoseconds too, and then asks epoll.
func (p *Port) epollWaitCoarse(d time.Duration) (int, unix.Errno) {
	if d != 0 {
		var ts *unix.Timespec
		if d > 0 {
			t := unix.NsecToTimespec(int64(d))
			ts = &t
		}
		fds := [1]unix.PollFd{{Fd: int32(p.epoll), Events: unix.POLLIN}}
		if _, err := unix.Ppoll(fds[:], ts, nil); err != nil {
			return 0, err.(unix.Errno)
		}
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), 0, 0, 0)
	return int(n), errno
}
