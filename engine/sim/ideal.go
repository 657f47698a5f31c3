// SPDX-License-Identifier: Apache-2.0

package sim

import "time"

// What a Write adds to its payload, and the least ACK, in bytes of the datagram: Base, Message, WriteTarget and CRC;
// Base, Ack, one PathAck and CRC.
const (
	writeOverhead = 56
	leastAck      = 60
)

// Ideal returns how long one Write of sizeBytes takes on an idle network, in chunks of chunkBytes dealt to the planes in turn,
// when nothing is lost and nothing waits but for the packet ahead: until the ACK of the last packet is back. Every packet
// counts with its real size. It holds for networks without Skew whose paths share all hops of their plane.
func (n *Network) Ideal(sizeBytes, chunkBytes int) time.Duration {
	planes := max(n.Planes, 1)
	busy := make([][]instant, planes)
	for i := range busy {
		busy[i] = make([]instant, 1+len(n.Hops))
	}
	last := n.pass(busy[0], 0, min(sizeBytes, chunkBytes)+writeOverhead)
	for chunk := 1; chunk*chunkBytes < sizeBytes; chunk++ {
		arrived := n.pass(busy[chunk%planes], 0, min(sizeBytes-chunk*chunkBytes, chunkBytes)+writeOverhead)
		last = max(last, arrived)
	}
	clear(busy[0])
	return n.pass(busy[0], last, leastAck).since()
}

// RoundTrip returns the time that one Write of chunkBytes and its ACK take on an idle network.
func (n *Network) RoundTrip(chunkBytes int) time.Duration { return n.Ideal(chunkBytes, chunkBytes) }

// pass sends a datagram through all links; busy tells until when each link works on what came before.
func (n *Network) pass(busy []instant, at instant, sizeBytes int) instant {
	size := sizeBytes + wireOverhead
	busy[0] = max(busy[0], at) + n.Rate.lasts(size)
	at = busy[0] + instantOf(n.Latency)
	for i := range n.Hops {
		h := &n.Hops[i]
		busy[i+1] = max(busy[i+1], at) + h.Rate.lasts(size)
		at = busy[i+1] + instantOf(h.Latency)
	}
	return at
}
