// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/udp"
)

// Dialer opens connections that share a pool of local ports, one for each path, and a loop.
type Dialer struct{ endpoint *endpoint }

// NewDialer binds Config.Paths ports of the system's choice on a local address. An unspecified address, such as "::" or
// "0.0.0.0", lets each connection leave from where its route begins.
func NewDialer(local netip.Addr, cfg Config) (*Dialer, error) {
	cfg, err := cfg.withDefaults(local)
	if err != nil {
		return nil, err
	}
	if cfg.Paths < 1 || cfg.Paths > engine.MaxPaths {
		return nil, fmt.Errorf("%w: Paths is %d, allowed 1..%d", ErrConfig, cfg.Paths, engine.MaxPaths)
	}
	ports := make([]netip.AddrPort, cfg.Paths)
	for i := range ports {
		ports[i] = netip.AddrPortFrom(local, 0)
	}
	e, err := newEndpoint(cfg, ports, dialing)
	if err != nil {
		return nil, err
	}
	return &Dialer{e}, nil
}

// Dial opens a connection over sockets of its own. Closing it closes them. addr has the form "host:port"; without a port it
// is MetaRoCE's, 4797.
func Dial(ctx context.Context, addr string, cfg Config) (*Conn, error) {
	remote, err := resolve(ctx, addr)
	if err != nil {
		return nil, err
	}
	if !cfg.Insecure && !remote.Addr().IsLoopback() {
		return nil, fmt.Errorf("%w: %v", ErrInsecure, remote)
	}
	local, err := udp.LocalFor(remote)
	if err != nil {
		return nil, err
	}
	d, err := NewDialer(local, cfg)
	if err != nil {
		return nil, err
	}
	c, err := d.dial(ctx, remote)
	if err != nil {
		_ = d.endpoint.runner.Stop()
		return nil, err
	}
	c.owner = true
	return c, nil
}

// Dial opens a connection and waits until it stands. The forms of addr are those of the function Dial.
func (d *Dialer) Dial(ctx context.Context, addr string) (*Conn, error) {
	remote, err := resolve(ctx, addr)
	if err != nil {
		return nil, err
	}
	if !d.endpoint.cfg.Insecure && !remote.Addr().IsLoopback() {
		return nil, fmt.Errorf("%w: %v", ErrInsecure, remote)
	}
	return d.dial(ctx, remote)
}

func (d *Dialer) dial(ctx context.Context, remote netip.AddrPort) (*Conn, error) {
	routes, err := d.routes(remote)
	if err != nil {
		return nil, err
	}
	e := d.endpoint
	c := newConn(e)
	c.remote = remote
	e.ask(func(now engine.Time) {
		select {
		case <-e.runner.Done():
			err = ErrClosed
			return
		default:
		}
		if c.id, err = e.engine.Open(now, routes); err == nil {
			e.conns[c.id] = c
		}
	})
	if err != nil {
		return nil, err
	}
	select {
	case <-c.opened:
		return c, nil
	case <-c.closed:
		return nil, fmt.Errorf("metaroce: dial %v: %w", remote, c.err)
	case <-ctx.Done():
		e.ask(func(now engine.Time) {
			c.leaving = true
			_ = e.engine.Close(now, c.id)
		})
		return nil, fmt.Errorf("metaroce: dial %v: %w", remote, ctx.Err())
	}
}

// routes gives each path a local port.
func (d *Dialer) routes(remote netip.AddrPort) ([]engine.Route, error) {
	routes := make([]engine.Route, len(d.endpoint.local))
	for i, local := range d.endpoint.local {
		if local.Addr().IsUnspecified() {
			source, err := udp.LocalFor(remote)
			if err != nil {
				return nil, err
			}
			local = netip.AddrPortFrom(source, local.Port())
		}
		routes[i] = engine.Route{Local: local, Remote: remote}
	}
	return routes, nil
}

// RegisterRegion makes memory reachable for the peers of all connections of the Dialer. It must stay allocated, and its
// contents are the peers', until the Region is closed.
func (d *Dialer) RegisterRegion(memory []byte, rights Rights) (*Region, error) {
	return d.endpoint.register(memory, rights)
}

// Stats returns the counters of all connections together; they can be read after Close too.
func (d *Dialer) Stats() Stats { return d.endpoint.stats() }

// Close ends all connections in an orderly way, as Conn.Close does, and gives the ports back.
func (d *Dialer) Close() error { return d.endpoint.shut(context.Background()) }
