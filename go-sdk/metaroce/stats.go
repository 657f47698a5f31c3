// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/udp"
)

// PathStats are the counters of one path.
type PathStats = engine.PathStats

// ConnStats are the counters of one connection, with those of its paths.
type ConnStats = engine.ConnStats

// EndpointStats are the packets of a Listener or Dialer by opcode, and what it dropped by reason.
type EndpointStats = engine.EndpointStats

// SocketStats are the counters of the sockets of a Listener or Dialer.
type SocketStats = udp.Stats

// Stats is what is known of the traffic so far.
type Stats struct {
	// Conn is about the connection asked; it is empty in the Stats of a Listener or Dialer.
	Conn ConnStats
	// Endpoint and Sockets are about the Listener or Dialer, all its connections together.
	Endpoint EndpointStats
	Sockets  SocketStats
}

// Stats returns the connection's counters, and those of the endpoint that it shares. Afterwards it returns the last known.
func (c *Conn) Stats() Stats {
	s := c.endpoint.stats()
	c.endpoint.ask(func(engine.Time) {
		if !c.over {
			c.snapshot()
		}
		s.Conn = c.last
	})
	return s
}
