// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// resolveTimeout bounds the lookup of a Listener's own name.
const resolveTimeout = 10 * time.Second

// Listener accepts connections on one UDP address, or on one for each plane. All of them share its sockets and its loop.
type Listener struct{ endpoint *endpoint }

// Listen binds a UDP address of the form "host:port". Without a port it takes MetaRoCE's, 4797; port 0 lets the system
// choose. Several addresses, separated by commas, are planes: separate networks, each of which carries a part of the paths of
// every connection. When one is dead, the others carry all.
func Listen(addr string, cfg Config) (*Listener, error) {
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	local, err := resolveAll(ctx, addr)
	if err != nil {
		return nil, err
	}
	addrs := make([]netip.Addr, len(local))
	for i := range local {
		addrs[i] = local[i].Addr()
	}
	if cfg, err = cfg.withDefaults(addrs...); err != nil {
		return nil, err
	}
	e, err := newEndpoint(cfg, local, listening)
	if err != nil {
		return nil, err
	}
	return &Listener{e}, nil
}

// resolve turns "host:port" or "host" into an address.
//
//mr:req MR-WIRE-002
func resolve(ctx context.Context, addr string) (netip.AddrPort, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		host, service = addr, fmt.Sprint(wire.Port)
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("metaroce: address %q: %w", addr, err)
	}
	if host == "" {
		return netip.AddrPortFrom(netip.IPv6Unspecified(), uint16(port)), nil
	}
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("metaroce: address %q: %w", addr, err)
	}
	return netip.AddrPortFrom(list[0].Unmap(), uint16(port)), nil
}

// Addr returns the bound address, the first one of several.
func (l *Listener) Addr() netip.AddrPort { return l.endpoint.local[0] }

// Addrs returns the bound addresses by plane.
func (l *Listener) Addrs() []netip.AddrPort { return slices.Clone(l.endpoint.local) }

// Accept waits for the next connection that a peer has opened.
func (l *Listener) Accept(ctx context.Context) (*Conn, error) { return l.endpoint.accept.take(ctx) }

// RegisterRegion makes memory reachable for the peers of all connections of the Listener. It must stay allocated, and its
// contents are the peers', until the Region is closed.
func (l *Listener) RegisterRegion(memory []byte, rights Rights) (*Region, error) {
	return l.endpoint.register(memory, rights)
}

// Stats returns the counters of all connections together; they can be read after Close too.
func (l *Listener) Stats() Stats { return l.endpoint.stats() }

// Close ends all connections in an orderly way, as Conn.Close does, and gives the socket back.
func (l *Listener) Close() error { return l.endpoint.shut(context.Background()) }
