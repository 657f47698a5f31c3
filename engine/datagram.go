// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"net/netip"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// Time is an instant in nanoseconds since the driver's origin.
type Time = mono.Time

// Never is later than every instant.
const Never = mono.Never

// ECN codepoints of the IP header (RFC 3168).
const (
	NotECT = 0
	ECT1   = 1
	ECT0   = 2
	CE     = 3
)

// Route names the two ends that a datagram travels between, as this host sees them.
type Route struct {
	Local, Remote netip.AddrPort
}

// Datagram is one UDP payload with what the engine needs to know of its IP header.
type Datagram struct {
	Route Route
	ECN   uint8
	Bytes []byte
}

// Port is a driver's socket side. None of its calls blocks.
type Port interface {
	// Receive returns what has arrived. The slice and its bytes are valid until the next call.
	Receive() ([]Datagram, error)
	// Buffers returns memory for as many datagrams as can be sent now, each long enough for the largest packet.
	Buffers() [][]byte
	// Send takes the datagrams whose bytes lie in the buffers lent by the last call of Buffers, in order.
	Send([]Datagram) error
}
