// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// Result is what happened in a run. It holds facts of virtual time only: the same Config gives the same Result.
type Result struct {
	Flows  []Flow // one for each stream, in the order of Config.Streams; after a restart, those of the last connection
	Ended  time.Duration
	Events uint64
	Trace  uint64 // hash over the fate, the time and the bytes of every datagram

	// Of both hosts together:
	Packets    uint64 // data packets sent, resends included
	Resent     uint64 // resends
	TailProbes uint64
	RTOFired   uint64
	CEReceived uint64 // arrived marked
	Duplicates uint64 // PSNs that arrived again under another TSN
	Copies     uint64 // TSNs that arrived again

	Network  NetworkStats
	Injected [kinds]uint64 // faults, by Kind
	Met      [meets]uint64 // by Meet
}

// Flow is what became of one stream. Times count from the start of the run.
type Flow struct {
	Bytes    uint64 // payload
	Begun    time.Duration
	Finished time.Duration // at the sender: the last operation has completed; 0 if it has not
	Delayed  uint64        // receives that were posted only after Stream.Pause
}

// NetworkStats counts datagrams. What faults do to them is in Result.Injected, too.
type NetworkStats struct {
	Sent       uint64
	Delivered  uint64 // copies included
	LostData   uint64 // datagrams with a sequenced packet, vanished
	LostOther  uint64 // other datagrams, vanished
	CopiedLate uint64 // copies that came after something was sent later on their path
	Withheld   uint64 // copies so late that their TSN could mean another packet; not delivered
	Cut        uint64 // vanished on a path that carries nothing
	Overflowed uint64 // dropped by a full queue
	Marked     uint64
	Reordered  uint64 // delivered after one that was sent later
	Stray      uint64 // sent to an address that no host has
}

// Dropped is the number of datagrams that never arrived.
func (n *NetworkStats) Dropped() uint64 {
	return n.LostData + n.LostOther + n.Cut + n.Overflowed + n.Stray
}
