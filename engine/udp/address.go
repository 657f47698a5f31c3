// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"net"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sockaddr is room for the kernel's form of an IPv4 or IPv6 address.
type sockaddr = unix.RawSockaddrInet6

const sockaddrSize = unix.SizeofSockaddrInet6

// zones remembers the names of interfaces, so that link-local arrivals do not ask the kernel each time.
type zones map[uint32]string

// name returns the zone of an interface index: its name, or the index in decimal when it has gone.
func (z zones) name(index uint32) string {
	if n, ok := z[index]; ok {
		return n
	}
	n := strconv.FormatUint(uint64(index), 10)
	if i, err := net.InterfaceByIndex(int(index)); err == nil {
		n = i.Name
	}
	z[index] = n
	return n
}

// index is the inverse of name; 0 when there is no such interface.
func (z zones) index(zone string) uint32 {
	if zone == "" {
		return 0
	}
	for i, n := range z {
		if n == zone {
			return i
		}
	}
	if i, err := net.InterfaceByName(zone); err == nil {
		z[uint32(i.Index)] = zone
		return uint32(i.Index)
	}
	n, err := strconv.ParseUint(zone, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// put writes a into sa as the socket's family wants it and returns the length; IPv4 goes to an IPv6 socket as v4-mapped.
func (z zones) put(sa *sockaddr, a netip.AddrPort, family int) uint32 {
	if family == unix.AF_INET {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		*v4 = unix.RawSockaddrInet4{Family: unix.AF_INET, Port: hton(a.Port()), Addr: a.Addr().Unmap().As4()}
		return unix.SizeofSockaddrInet4
	}
	*sa = sockaddr{Family: unix.AF_INET6, Port: hton(a.Port()), Addr: a.Addr().As16(), Scope_id: z.index(a.Addr().Zone())}
	return unix.SizeofSockaddrInet6
}

// get is the inverse of put; v4-mapped addresses come out as IPv4.
func (z zones) get(sa *sockaddr) netip.AddrPort {
	if sa.Family == unix.AF_INET {
		v4 := (*unix.RawSockaddrInet4)(unsafe.Pointer(sa))
		return netip.AddrPortFrom(netip.AddrFrom4(v4.Addr), hton(v4.Port))
	}
	a := netip.AddrFrom16(sa.Addr).Unmap()
	if sa.Scope_id != 0 && a.Is6() {
		a = a.WithZone(z.name(sa.Scope_id))
	}
	return netip.AddrPortFrom(a, hton(sa.Port))
}

// hton turns a port between host order and network order.
func hton(p uint16) uint16 {
	var b [2]byte
	b[0], b[1] = byte(p>>8), byte(p)
	return *(*uint16)(unsafe.Pointer(&b))
}

// normal is the one form of an address that routes are compared in: v4-mapped becomes IPv4.
func normal(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// LocalFor returns the address from which this host would send to remote now. It sends nothing.
func LocalFor(remote netip.AddrPort) (netip.Addr, error) {
	remote = normal(remote)
	family := unix.AF_INET
	if remote.Addr().Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return netip.Addr{}, socketError("socket", remote, err)
	}
	defer unix.Close(fd)
	z := zones{}
	var sa sockaddr
	n := z.put(&sa, remote, family)
	if _, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&sa)), uintptr(n)); errno != 0 {
		return netip.Addr{}, socketError("connect", remote, errno)
	}
	local, err := localAddress(fd, z)
	if err != nil {
		return netip.Addr{}, socketError("getsockname", remote, err)
	}
	return local.Addr(), nil
}

// localAddress asks the kernel where fd is bound.
func localAddress(fd int, z zones) (netip.AddrPort, error) {
	var sa sockaddr
	n := uint32(sockaddrSize)
	_, _, errno := unix.Syscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&sa)), uintptr(unsafe.Pointer(&n)))
	if errno != 0 {
		return netip.AddrPort{}, errno
	}
	return z.get(&sa), nil
}
