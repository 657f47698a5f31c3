// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
)

// ErrMTU: full packets vanish while small ones arrive; see MTUError.
var ErrMTU = errors.New("engine: mtu")

// MTUError says which packets a path does not carry. It ends an operation whose chunk no path delivers, and a connection on
// which nothing but small packets has arrived for Config.DeadAfter. It unwraps to ErrMTU.
type MTUError struct {
	Conn   ConnID
	Peer   netip.AddrPort
	Path   uint16
	Lost   int // bytes of UDP payload: packets as long, or longer, vanish
	Passed int // bytes: packets as long, or shorter, arrive
}

func (e *MTUError) Error() string {
	return fmt.Sprintf("engine: mtu: connection %d, path %d to %v: packets of %d bytes are lost, those of %d bytes arrive",
		e.Conn, e.Path, e.Peer, e.Lost, e.Passed)
}

// Unwrap returns ErrMTU.
func (e *MTUError) Unwrap() error { return ErrMTU }

// tooLong returns an MTUError when so many packets of a size or a smaller one have been lost on the connection's paths since
// one as long arrived there, else nil. It names the narrowest path.
//
//mr:req MR-FAIL-011
func (e *Endpoint) tooLong(c *conn, size, losses int) error {
	var found *MTUError
	for _, p := range c.paths.All() {
		if p == nil {
			continue
		}
		n := p.Narrow()
		if n.Losses == 0 || n.Lost > size {
			continue
		}
		losses -= n.Losses
		if found == nil || n.Lost < found.Lost {
			found = &MTUError{Conn: c.id, Peer: c.spell(p.Route).Remote, Path: p.ID, Lost: n.Lost, Passed: n.Passed}
		}
	}
	if losses > 0 {
		return nil
	}
	return found
}

// fewLosses of full packets, and nothing but small ones acknowledged for Config.DeadAfter, are a matter of their length.
const fewLosses = 3

// deathOf is why a connection ends on which no chunk has been acknowledged for Config.DeadAfter: the peer is silent, or it
// was heard until lately and full packets do not get through.
//
//mr:req MR-FAIL-011
func (e *Endpoint) deathOf(c *conn) error {
	if e.now.Sub(c.clock.heard) < e.cfg.DeadAfter/2 {
		if err := e.tooLong(c, math.MaxInt, fewLosses); err != nil {
			return err
		}
	}
	return ErrDead
}
