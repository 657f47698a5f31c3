// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/openmetaroce/metaroce/engine"
)

// Errors of this package. Those of the kernel are syscall.Errno values wrapped with the call and the address.
var (
	// ErrConfig: a field of Config is out of range.
	ErrConfig = errors.New("udp: bad configuration")
	// ErrStopped: the Runner has ended.
	ErrStopped = errors.New("udp: runner has stopped")
)

// Config holds what a Port needs to know. A zero field takes its default.
type Config struct {
	// Local lists the addresses to bind, 1 to 256: one socket each. Port 0 lets the kernel choose.
	Local []netip.AddrPort
	// MaxPacket is the largest UDP payload sent, in bytes. Default engine.MaxChunk + engine.Overhead.
	MaxPacket int
	// Batch is the number of datagrams lent and sent at once. Default: as many as fill 512 KiB, 16 to 256.
	Batch int
	// Slots is the number of kernel datagrams, up to 64 KiB each with UDP_GRO, read at once. Default 16.
	Slots int
	// ReceiveBuffer and SendBuffer are the kernel's queues of a socket in bytes. Default 8 MiB and 4 MiB.
	ReceiveBuffer, SendBuffer int
	// NoGSO and NoGRO keep UDP_SEGMENT and UDP_GRO off.
	NoGSO, NoGRO bool
}

const (
	maxSockets = 256
	maxBatch   = 4096
	maxSlots   = 256
)

// withDefaults fills zero fields and validates the rest.
func (c Config) withDefaults() (Config, error) {
	orDefault(&c.MaxPacket, engine.MaxChunk+engine.Overhead)
	orDefault(&c.Batch, min(max((512<<10)/max(c.MaxPacket, 1), 16), 256))
	orDefault(&c.Slots, 16)
	orDefault(&c.ReceiveBuffer, 8<<20)
	orDefault(&c.SendBuffer, 4<<20)
	limits := []struct {
		name        string
		value       int
		least, most int
	}{
		{"number of Local addresses", len(c.Local), 1, maxSockets},
		{"MaxPacket", c.MaxPacket, 64, 65507},
		{"Batch", c.Batch, 1, maxBatch},
		{"Slots", c.Slots, 1, maxSlots},
		{"ReceiveBuffer", c.ReceiveBuffer, 1, 1 << 30},
		{"SendBuffer", c.SendBuffer, 1, 1 << 30},
	}
	for _, l := range limits {
		if l.value < l.least || l.value > l.most {
			return c, fmt.Errorf("%w: %s is %d, allowed %d..%d", ErrConfig, l.name, l.value, l.least, l.most)
		}
	}
	for _, a := range c.Local {
		if !a.IsValid() {
			return c, fmt.Errorf("%w: a Local address is empty", ErrConfig)
		}
	}
	return c, nil
}

func orDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

// Stats are the counters of a Port over its life.
type Stats struct {
	// Sent and SentBytes count datagrams and payload handed to the kernel; SendCalls the calls, Trains the messages in them.
	Sent, SentBytes, SendCalls, Trains uint64
	// Received and ReceivedBytes count datagrams and payload; ReceiveCalls the calls, Merged the messages that held several.
	Received, ReceivedBytes, ReceiveCalls, Merged uint64
	// Blocked counts the times that a socket took no more for now (EAGAIN, ENOBUFS).
	Blocked uint64
	// Dropped counts datagrams that never left: refused by the kernel for their route, or no room to keep them.
	Dropped uint64
	// Truncated counts arrivals longer than the slot that they were read into; they are thrown away.
	Truncated uint64
	// GSORefused and GRORefused count the sockets whose offload the kernel refused.
	GSORefused, GRORefused uint64
	// Waits counts the times that the driver slept.
	Waits uint64
	// ReceiveBuffer is the kernel's receive queue of the first socket in bytes, as the kernel tells it.
	ReceiveBuffer int
}
