// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/udp"
)

// mostPlanes is the number of planes of a connection at most.
const mostPlanes = 16

// resolveAll turns a list of addresses, one for each plane, separated by commas, into what resolve makes of them.
func resolveAll(ctx context.Context, list string) ([]netip.AddrPort, error) {
	var planes []netip.AddrPort
	var addrs []netip.Addr
	for addr := range strings.SplitSeq(list, ",") {
		a, err := resolve(ctx, strings.TrimSpace(addr))
		if err != nil {
			return nil, err
		}
		planes, addrs = append(planes, a), append(addrs, a.Addr())
	}
	return planes, planar(addrs)
}

// planar tells whether addresses can be planes: several must be different ones, and known.
func planar(planes []netip.Addr) error {
	if len(planes) > mostPlanes {
		return fmt.Errorf("%w: %d planes, at most %d", ErrConfig, len(planes), mostPlanes)
	}
	seen := map[netip.Addr]bool{}
	for _, a := range planes {
		if len(planes) > 1 && (a.IsUnspecified() || seen[a]) {
			return fmt.Errorf("%w: the planes %v need an address each", ErrConfig, planes)
		}
		seen[a] = true
	}
	return nil
}

// localsFor returns the addresses from which this host would send to remote ones now. Several planes on loopback leave from
// the addresses that they lead to, since the system would choose one for all.
func localsFor(remotes []netip.AddrPort) ([]netip.Addr, error) {
	locals := make([]netip.Addr, len(remotes))
	for i, remote := range remotes {
		if locals[i] = remote.Addr(); len(remotes) > 1 && remote.Addr().IsLoopback() {
			continue
		}
		var err error
		if locals[i], err = udp.LocalFor(remote); err != nil {
			return nil, err
		}
	}
	return locals, nil
}

// routesTo gives each path of a pool of local ports the remote address of its plane. Path i runs on plane i modulo their number.
func routesTo(pool, remotes []netip.AddrPort) ([]engine.Route, error) {
	routes := make([]engine.Route, len(pool))
	for i, local := range pool {
		remote := remotes[i%len(remotes)]
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
