// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"fmt"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket is one local port.
type socket struct {
	fd     int
	family int
	local  netip.AddrPort
	// wild: bound to no address in particular, so that each datagram must say which one it came to and leaves from.
	wild bool
	gso  bool
	// suspect: a train was refused; what the kernel says to its first datagram alone decides whether GSO is to blame.
	suspect bool
	// blocked: the kernel takes no more for now. armed: epoll watches for room.
	blocked, armed bool
}

func socketError(call string, at netip.AddrPort, err error) error {
	return fmt.Errorf("udp: %s %v: %w", call, at, err)
}

// openSocket binds one socket and sets its options. On error nothing stays open.
func openSocket(at netip.AddrPort, cfg *Config, z zones) (s socket, err error) {
	at = normal(at)
	s = socket{family: unix.AF_INET, wild: at.Addr().IsUnspecified()}
	if at.Addr().Is6() {
		s.family = unix.AF_INET6
	}
	s.fd, err = unix.Socket(s.family, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return s, socketError("socket", at, err)
	}
	defer func() {
		if err != nil {
			unix.Close(s.fd)
		}
	}()
	if err := s.setOptions(); err != nil {
		return s, socketError("setsockopt", at, err)
	}
	s.setQueues(cfg)
	var sa sockaddr
	n := z.put(&sa, at, s.family)
	if _, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(s.fd), uintptr(unsafe.Pointer(&sa)), uintptr(n)); errno != 0 {
		return s, socketError("bind", at, errno)
	}
	if s.local, err = localAddress(s.fd, z); err != nil {
		return s, socketError("getsockname", at, err)
	}
	return s, nil
}

// setOptions asks for the ECN byte and, if it matters, the local address of every arrival, and for no fragments.
func (s *socket) setOptions() error {
	type option struct{ level, name, value int }
	options := []option{
		{unix.IPPROTO_IP, unix.IP_RECVTOS, 1},
		{unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO},
	}
	if s.wild && s.family == unix.AF_INET {
		options = append(options, option{unix.IPPROTO_IP, unix.IP_PKTINFO, 1})
	}
	if s.family == unix.AF_INET6 {
		options = append(options,
			option{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0},
			option{unix.IPPROTO_IPV6, unix.IPV6_RECVTCLASS, 1},
			option{unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO})
		if s.wild {
			options = append(options, option{unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1})
		}
	}
	for _, o := range options {
		if err := unix.SetsockoptInt(s.fd, o.level, o.name, o.value); err != nil {
			return fmt.Errorf("option %d of level %d: %w", o.name, o.level, err)
		}
	}
	return nil
}

// setQueues sizes the kernel's queues: beyond the system's limit when privileged, up to it otherwise. Smaller ones cost
// speed, not correctness, so a refusal is no error; Stats tells what was reached.
func (s *socket) setQueues(cfg *Config) {
	if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, cfg.ReceiveBuffer) != nil {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, cfg.ReceiveBuffer)
	}
	if unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, cfg.SendBuffer) != nil {
		_ = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, cfg.SendBuffer)
	}
}

// setOffload switches segmentation and merging on as far as the kernel has them.
func (s *socket) setOffload(cfg *Config, stats *Stats) {
	if !cfg.NoGSO {
		_, err := unix.GetsockoptInt(s.fd, unix.SOL_UDP, unix.UDP_SEGMENT)
		s.gso = err == nil
		if !s.gso {
			stats.GSORefused++
		}
	}
	if !cfg.NoGRO && unix.SetsockoptInt(s.fd, unix.SOL_UDP, unix.UDP_GRO, 1) != nil {
		stats.GRORefused++
	}
}
