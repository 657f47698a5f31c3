// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// timerToken stands for the timer among the sockets' indexes.
const timerToken = -1

// slowRetry is the pause before a tail that found no kernel memory is offered again.
const slowRetry = 200 * time.Microsecond

// waiter is what a Port sleeps on: an epoll set of its sockets and a timer, which itself is watched by the Go scheduler. So
// a sleeping loop holds no thread; who wakes it, or is woken by it, often runs on the same one; and times are exact to
// microseconds, where those of the scheduler are to milliseconds.
type waiter struct {
	epoll  int
	timer  int
	armed  bool     // the timer is set
	file   *os.File // the epoll set, as the scheduler knows it
	raw    syscall.RawConn
	events []unix.EpollEvent
	n      int                // events found by look
	errno  unix.Errno         // of look
	look   func(uintptr) bool // made once
	// woken: Wake was called. stale: the deadline by which Wake interrupts may lie in the past.
	woken atomic.Bool
	stale bool
}

// past is a deadline that ends any wait.
var past = time.Unix(1, 0)

// openWaiter returns a waiter with room for the events of n sockets.
func openWaiter(n int) (w *waiter, err error) {
	w = &waiter{epoll: -1, timer: -1, events: make([]unix.EpollEvent, n+1)}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("udp: epoll_create1: %w", err)
	}
	if w.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("udp: timerfd_create: %w", err)
	}
	if err := w.watch(unix.EPOLL_CTL_ADD, w.timer, unix.EpollEvent{Events: unix.EPOLLIN, Fd: timerToken}); err != nil {
		return nil, fmt.Errorf("udp: epoll_ctl: %w", err)
	}
	if err := unix.SetNonblock(w.epoll, true); err != nil {
		return nil, fmt.Errorf("udp: epoll set: %w", err)
	}
	w.file = os.NewFile(uintptr(w.epoll), "epoll")
	if err := w.file.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("udp: the scheduler does not watch an epoll set: %w", err)
	}
	if w.raw, err = w.file.SyscallConn(); err != nil {
		return nil, fmt.Errorf("udp: epoll set: %w", err)
	}
	w.look = func(uintptr) bool {
		w.n, w.errno = w.ask()
		return w.n > 0 || w.errno != 0
	}
	return w, nil
}

// close gives everything back. wake may still be called.
func (w *waiter) close() {
	switch {
	case w.file != nil:
		w.file.Close()
	case w.epoll >= 0:
		unix.Close(w.epoll)
	}
	if w.timer >= 0 {
		unix.Close(w.timer)
	}
}

// watch tells epoll what to look for on a descriptor.
func (w *waiter) watch(op, fd int, e unix.EpollEvent) error {
	return unix.EpollCtl(w.epoll, op, fd, &e)
}

// ask returns the events that are there now.
func (w *waiter) ask() (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(w.epoll), uintptr(unsafe.Pointer(&w.events[0])),
		uintptr(len(w.events)), 0, 0, 0)
	if errno == unix.EINTR {
		return 0, 0
	}
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// set makes the timer go off after d, or not at all when d is negative.
func (w *waiter) set(d time.Duration) error {
	if d < 0 && !w.armed {
		return nil
	}
	w.armed = d >= 0
	spec := unix.ItimerSpec{}
	if w.armed {
		spec.Value = unix.NsecToTimespec(int64(max(d, 1)))
	}
	return unix.TimerfdSettime(w.timer, 0, &spec, nil)
}

// sleep waits until there are events, d has passed, or wake is called, and returns the events.
func (w *waiter) sleep(d time.Duration) ([]unix.EpollEvent, error) {
	if err := w.set(d); err != nil {
		return nil, fmt.Errorf("udp: timerfd_settime: %w", err)
	}
	if w.stale {
		if err := w.file.SetReadDeadline(time.Time{}); err != nil {
			return nil, fmt.Errorf("udp: epoll set: %w", err)
		}
		w.stale = false
	}
	w.n = 0
	if !w.woken.Load() {
		err := w.raw.Read(w.look)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.stale = true
		case err != nil:
			return nil, fmt.Errorf("udp: epoll set: %w", err)
		case w.errno != 0:
			return nil, fmt.Errorf("udp: epoll_wait: %w", w.errno)
		}
	}
	if w.woken.Swap(false) {
		w.stale = true
	}
	return w.events[:w.n], nil
}

// wake ends the current or the next sleep. Everybody may call it.
func (w *waiter) wake() {
	w.woken.Store(true)
	_ = w.file.SetReadDeadline(past)
}

// watch tells epoll what to look for on a socket.
func (p *Port) watch(i, op int) error {
	s := &p.sockets[i]
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}
	if s.armed {
		e.Events |= unix.EPOLLOUT
	}
	return p.waiter.watch(op, s.fd, e)
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
	events, err := p.waiter.sleep(d)
	p.note(events)
	return err
}

// Wake ends the current or the next Wait. Everybody may call it, also after Close.
func (p *Port) Wake() { p.waiter.wake() }

// poll notes which sockets are readable now.
func (p *Port) poll() error {
	n, errno := p.waiter.ask()
	if errno != 0 {
		return fmt.Errorf("udp: epoll_wait: %w", errno)
	}
	p.note(p.waiter.events[:n])
	return nil
}

// note takes in which sockets are readable.
func (p *Port) note(events []unix.EpollEvent) {
	p.rx.ready = p.rx.ready[:0]
	for _, e := range events {
		if e.Fd != timerToken && e.Events&^unix.EPOLLOUT != 0 {
			p.rx.ready = append(p.rx.ready, e.Fd)
		}
	}
}
