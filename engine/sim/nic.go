// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/engine"
)

// nic is a host's links to the planes of the network: the engine's Port. It takes one packet at a time, when a link is free;
// a packet for another link waits its turn there.
type nic struct {
	network *network
	host    int
	rate    Rate
	now     instant
	free    []instant // by plane: when the link has sent what it has
	lent    [][]byte
	arrived []engine.Datagram
	handed  []engine.Datagram
	leaving engine.Datagram // handed to a link in this turn
	left    instant         // when that link has sent it
	sent    int             // 1 when leaving is set
}

var _ engine.Port = (*nic)(nil)

// ready is when the first link is free.
func (n *nic) ready() instant { return slices.Min(n.free) }

// Receive hands over what has arrived since the last call.
func (n *nic) Receive() ([]engine.Datagram, error) {
	n.reclaim()
	n.handed, n.arrived = n.arrived, n.handed[:0]
	return n.handed, nil
}

func (n *nic) reclaim() {
	for i := range n.handed {
		n.network.reclaim(n.handed[i].Bytes)
	}
}

// clear forgets all that has arrived.
func (n *nic) clear() {
	n.reclaim()
	n.handed = n.arrived
	n.reclaim()
	n.handed, n.arrived = nil, nil
}

// Buffers lends one buffer when a link is free.
func (n *nic) Buffers() [][]byte {
	if n.now < n.ready() || n.sent > 0 {
		return nil
	}
	if len(n.lent) == 0 {
		n.lent = append(n.lent, n.network.lend())
	}
	return n.lent
}

// Send puts a datagram on the link of its plane.
func (n *nic) Send(datagrams []engine.Datagram) error {
	if len(datagrams) != 1 || len(n.lent) != 1 {
		return fmt.Errorf("%w: host %d sends %d datagrams, lent were %d buffers", ErrViolation, n.host, len(datagrams), len(n.lent))
	}
	d := datagrams[0]
	if len(d.Bytes) == 0 || &d.Bytes[0] != &n.lent[0][0] {
		return fmt.Errorf("%w: host %d sends bytes that do not lie in the lent buffer", ErrViolation, n.host)
	}
	n.lent = n.lent[:0]
	plane, _ := n.network.planeOf(n.host, d.Route)
	free := &n.free[plane]
	*free = max(*free, n.now) + n.rate.lasts(len(d.Bytes)+wireOverhead)
	n.leaving, n.left, n.sent = d, *free, 1
	return nil
}
