// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// PathStats are the counters of one path, over its life.
type PathStats struct {
	ID         uint16
	Route      Route
	Packets    uint64 // sequenced packets sent, resends included
	Resent     uint64 // of those, resends
	Lost       uint64 // transmissions declared lost
	Acked      uint64 // PSNs acknowledged
	Received   uint64 // sequenced packets that arrived
	Duplicates uint64 // of those, PSNs that had arrived before under another TSN
	Copies     uint64 // TSNs that arrived twice
	CE         uint64 // sequenced packets that arrived marked
	CEReported uint64 // own packets that the peer saw marked
	Blind      bool   // the network clears ECN: the path listens to loss and delay instead of marks
	TailProbes uint64
	RTOFired   uint64
	Downs      uint64        // times that it went out of service
	Ups        uint64        // times that it came back
	RTT        time.Duration // smoothed; 0 before the first sample
	PTO        time.Duration // after which an unanswered packet is asked about
	Window     int           // bytes
	InFlight   int           // bytes
}

// ConnStats are the counters of one connection.
type ConnStats struct {
	Established   bool
	Window        int // bytes, of all paths together
	InFlight      int
	BytesSent     uint64 // payload, first transmissions
	BytesReceived uint64 // payload placed
	Moved         uint64 // chunks sent anew on another path
	Paths         []PathStats
}

// EndpointStats are the counters of an Endpoint.
type EndpointStats struct {
	Sent     [256]uint64 // packets by opcode
	Received [256]uint64 // packets by opcode, accepted by the codec and the checksum
	Drops    [DropReasons]uint64
}

// SentOf returns the number of packets sent with an opcode.
func (s EndpointStats) SentOf(o wire.Opcode) uint64 { return s.Sent[o] }

// ReceivedOf returns the number of valid packets received with an opcode.
func (s EndpointStats) ReceivedOf(o wire.Opcode) uint64 { return s.Received[o] }
