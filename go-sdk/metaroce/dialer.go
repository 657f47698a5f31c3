// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/openmetaroce/metaroce/engine"
)

// Dialer opens connections that share a pool of local ports, one for each path, and a loop.
type Dialer struct {
	endpoint *endpoint
	planes   int
}

// NewDialer binds Config.Paths ports of the system's choice on a local address; more of them are further planes, 16 at most.
// Path i runs on plane i modulo their number. A single unspecified address, such as "::" or "0.0.0.0", lets each connection
// leave from where its route begins.
func NewDialer(first netip.Addr, cfg Config, more ...netip.Addr) (*Dialer, error) {
	local := append([]netip.Addr{first}, more...)
	cfg, err := cfg.withDefaults(local...)
	if err != nil {
		return nil, err
	}
	if cfg.Paths < len(local) || cfg.Paths > engine.MaxPaths {
		return nil, fmt.Errorf("%w: Paths is %d, allowed %d..%d", ErrConfig, cfg.Paths, len(local), engine.MaxPaths)
	}
	ports := make([]netip.AddrPort, cfg.Paths)
	if err := planar(local); err != nil {
		return nil, err
	}
	for i := range ports {
		ports[i] = netip.AddrPortFrom(local[i%len(local)], 0)
	}
	e, err := newEndpoint(cfg, ports, dialing)
	if err != nil {
		return nil, err
	}
	return &Dialer{e, len(local)}, nil
}

// Dial opens a connection over sockets of its own. Closing it closes them. addr has the form "host:port"; without a port it
// is MetaRoCE's, 4797. Several, separated by commas, are those of a listener with as many planes.
func Dial(ctx context.Context, addr string, cfg Config) (*Conn, error) {
	remotes, err := cfg.remotes(ctx, addr)
	if err != nil {
		return nil, err
	}
	locals, err := localsFor(remotes)
	if err != nil {
		return nil, err
	}
	d, err := NewDialer(locals[0], cfg, locals[1:]...)
	if err != nil {
		return nil, err
	}
	c, err := d.dial(ctx, remotes)
	if err != nil {
		_ = d.endpoint.runner.Stop()
		return nil, err
	}
	c.owner = true
	return c, nil
}

// Dial opens a connection and waits until it stands. The forms of addr are those of the function Dial.
func (d *Dialer) Dial(ctx context.Context, addr string) (*Conn, error) {
	remotes, err := d.endpoint.cfg.remotes(ctx, addr)
	if err != nil {
		return nil, err
	}
	if len(remotes) != d.planes {
		return nil, fmt.Errorf("%w: %d addresses to dial, the dialer has %d", ErrConfig, len(remotes), d.planes)
	}
	return d.dial(ctx, remotes)
}

func (d *Dialer) dial(ctx context.Context, remotes []netip.AddrPort) (*Conn, error) {
	remote := remotes[0]
	routes, err := routesTo(d.endpoint.local, remotes)
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

// remotes resolves what is to be dialled, and refuses what is not for this profile.
func (c *Config) remotes(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	remotes, err := resolveAll(ctx, addr)
	if err != nil {
		return nil, err
	}
	for _, remote := range remotes {
		if !c.Insecure && !remote.Addr().IsLoopback() {
			return nil, fmt.Errorf("%w: %v", ErrInsecure, remote)
		}
	}
	return remotes, nil
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
