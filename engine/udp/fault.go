// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"golang.org/x/sys/unix"

	"github.com/openmetaroce/metaroce/engine"
)

// RouteFault is a route over which the kernel sends nothing, or not so much at once.
type RouteFault struct {
	Route engine.Route
	Fault engine.Fault
}

// mostFaults bounds the faults kept until they are asked for.
const mostFaults = 64

// fault notes what an error of the kernel says about a route. Errors that say nothing about it, such as those of a packet
// filter, are plain losses.
func (p *Port) fault(route engine.Route, errno unix.Errno) {
	f := RouteFault{Route: route}
	switch errno {
	case unix.EMSGSIZE:
		f.Fault = engine.TooBig
	case unix.ENETUNREACH, unix.EHOSTUNREACH, unix.ENETDOWN, unix.EHOSTDOWN, unix.EADDRNOTAVAIL, unix.EINVAL:
		f.Fault = engine.Unreachable
	default:
		return
	}
	if n := len(p.faults); n == mostFaults || n > 0 && p.faults[n-1] == f {
		return
	}
	p.faults = append(p.faults, f)
}

// Faults returns what has been learned of routes since the last call. The slice is valid until the next Send.
func (p *Port) Faults() []RouteFault {
	f := p.faults
	p.faults = p.faults[:0]
	return f
}
