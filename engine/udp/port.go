// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/openmetaroce/metaroce/engine"
)

// Port is a pool of local UDP sockets that an engine.Endpoint sends from and receives on. It belongs to one goroutine; only
// Wake may be called from others.
type Port struct {
	sockets    []socket
	byLocal    map[netip.AddrPort]int
	wildByPort map[uint16]int
	waiter     *waiter
	// watching: some socket is armed for room to send.
	watching bool
	tx       *sender
	rx       *receiver
	failed   error
	closed   bool
	faults   []RouteFault
	stats    Stats
}

var _ engine.Port = (*Port)(nil)

// Open binds the sockets of a Port. On error nothing stays open.
func Open(cfg Config) (*Port, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	z := zones{}
	p := &Port{
		byLocal: map[netip.AddrPort]int{}, wildByPort: map[uint16]int{},
		tx: newSender(&cfg, z), rx: newReceiver(&cfg, z),
	}
	if p.waiter, err = openWaiter(len(cfg.Local)); err != nil {
		return nil, err
	}
	if err := p.open(&cfg, z); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Port) open(cfg *Config, z zones) error {
	for i, at := range cfg.Local {
		s, err := openSocket(at, cfg, z)
		if err != nil {
			return err
		}
		s.setOffload(cfg, &p.stats)
		p.sockets = append(p.sockets, s)
		p.byLocal[s.local] = i
		if s.wild {
			p.wildByPort[s.local.Port()] = i
		}
		if err := p.watch(i, unix.EPOLL_CTL_ADD); err != nil {
			return socketError("epoll_ctl", s.local, err)
		}
	}
	p.stats.ReceiveBuffer, _ = unix.GetsockoptInt(p.sockets[0].fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	return nil
}

// Local returns where the sockets are bound, in the order of Config.Local.
func (p *Port) Local() []netip.AddrPort {
	out := make([]netip.AddrPort, len(p.sockets))
	for i := range p.sockets {
		out[i] = p.sockets[i].local
	}
	return out
}

// Stats returns the counters so far.
func (p *Port) Stats() Stats { return p.stats }

// Close gives all sockets back. Datagrams that have not left are lost. A second call does nothing.
func (p *Port) Close() error {
	var first error
	for i := range p.sockets {
		if err := unix.Close(p.sockets[i].fd); err != nil && first == nil {
			first = socketError("close", p.sockets[i].local, err)
		}
	}
	p.sockets = p.sockets[:0]
	if !p.closed {
		p.closed = true
		p.waiter.close()
	}
	return first
}
