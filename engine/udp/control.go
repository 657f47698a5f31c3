// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlSize is room for the control messages of one message in either direction: an ECN byte, a segment size and an
// address, each with its header.
const controlSize = 128

// control writes control messages into a buffer that is aligned as the kernel wants it.
type control struct {
	buf []byte
	n   int
}

// header begins a control message with size bytes of data and returns where they go.
func (c *control) header(level, kind, size int) unsafe.Pointer {
	h := (*unix.Cmsghdr)(unsafe.Pointer(&c.buf[c.n]))
	h.Level, h.Type = int32(level), int32(kind)
	h.SetLen(unix.CmsgLen(size))
	data := unsafe.Pointer(&c.buf[c.n+unix.CmsgLen(0)])
	c.n += unix.CmsgSpace(size)
	return data
}

// ecn sets the ECN bits towards remote; the rest of the byte, the DSCP, stays 0.
//
//mr:req MR-WIRE-005
func (c *control) ecn(remote netip.Addr, ecn uint8) {
	level, kind := unix.IPPROTO_IPV6, unix.IPV6_TCLASS
	if remote.Is4() {
		level, kind = unix.IPPROTO_IP, unix.IP_TOS
	}
	*(*int32)(c.header(level, kind, 4)) = int32(ecn & 3)
}

// segment makes the kernel cut the message every size bytes.
func (c *control) segment(size int) {
	*(*uint16)(c.header(unix.SOL_UDP, unix.UDP_SEGMENT, 2)) = uint16(size)
}

// source makes the message leave from an address of this host.
func (c *control) source(local netip.Addr) {
	if local.Is4() {
		info := (*unix.Inet4Pktinfo)(c.header(unix.IPPROTO_IP, unix.IP_PKTINFO, unix.SizeofInet4Pktinfo))
		*info = unix.Inet4Pktinfo{Spec_dst: local.As4()}
		return
	}
	info := (*unix.Inet6Pktinfo)(c.header(unix.IPPROTO_IPV6, unix.IPV6_PKTINFO, unix.SizeofInet6Pktinfo))
	*info = unix.Inet6Pktinfo{Addr: local.As16()}
}

// arrival is what the control messages of an arrival say.
type arrival struct {
	ecn     uint8
	segment int        // bytes of each merged datagram but the last; 0 when it is a single one
	local   netip.Addr // where it came to; zero when not told
}

// parseControl reads the control messages of one arrival. Unknown ones are skipped.
func parseControl(buf []byte) (a arrival) {
	for len(buf) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&buf[0]))
		end := int(h.Len)
		if end < unix.CmsgLen(0) || end > len(buf) {
			return a
		}
		a.read(int(h.Level), int(h.Type), buf[unix.CmsgLen(0):end])
		next := unix.CmsgSpace(end - unix.CmsgLen(0))
		if next > len(buf) {
			return a
		}
		buf = buf[next:]
	}
	return a
}

// read takes in one control message.
func (a *arrival) read(level, kind int, data []byte) {
	switch {
	case level == unix.IPPROTO_IP && kind == unix.IP_TOS && len(data) >= 1:
		a.ecn = data[0] & 3
	case level == unix.IPPROTO_IPV6 && kind == unix.IPV6_TCLASS && len(data) >= 4:
		a.ecn = uint8(*(*int32)(unsafe.Pointer(&data[0]))) & 3
	case level == unix.SOL_UDP && kind == unix.UDP_GRO && len(data) >= 4:
		a.segment = int(*(*int32)(unsafe.Pointer(&data[0])))
	case level == unix.IPPROTO_IP && kind == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo:
		a.local = netip.AddrFrom4((*unix.Inet4Pktinfo)(unsafe.Pointer(&data[0])).Addr)
	case level == unix.IPPROTO_IPV6 && kind == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
		a.local = netip.AddrFrom16((*unix.Inet6Pktinfo)(unsafe.Pointer(&data[0])).Addr).Unmap()
	}
}
