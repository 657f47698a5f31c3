// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"net/netip"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Whatever the codepoint, and whatever is left of an earlier message: the DSCP of every packet is 0.
//
//mr:test MR-WIRE-005
func TestEveryPacketHasTheSameDSCP(t *testing.T) {
	for _, remote := range []string{"127.0.0.1", "::1"} {
		for ecn := range uint8(4) {
			c := control{buf: make([]byte, 64)}
			for i := range c.buf {
				c.buf[i] = 0xff
			}
			c.ecn(netip.MustParseAddr(remote), ecn|0xfc)
			if got := *(*int32)(unsafe.Pointer(&c.buf[unix.CmsgLen(0)])); got != int32(ecn) {
				t.Errorf("towards %s, codepoint %d: the byte is %#x", remote, ecn, got)
			}
		}
	}
}
