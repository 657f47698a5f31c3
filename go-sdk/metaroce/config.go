// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/udp"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Config tunes a Listener or Dialer. The zero value is good for most uses; a zero field takes its default.
type Config struct {
	// Insecure allows addresses other than loopback. Packets are neither encrypted nor authenticated.
	Insecure bool
	// Chunk is the payload of a full packet in bytes, a multiple of 8; the smaller of both sides counts. Default 8192 on
	// loopback, else what fits the interface.
	Chunk int
	// Paths is the number of paths of a connection, 1 to 256; the smaller of both sides counts. Default 16.
	Paths int
	// Burst is the number of packets that stay on a path before the next one is picked: more of them make fewer calls of
	// the kernel. Default: what fills a super-packet of the kernel, or two when that is few.
	Burst int
	// Window bounds the bytes in flight of a connection. Default 3 MiB.
	Window int
	// Depth is the number of messages of a connection that may be under way before StartWrite and StartSend wait.
	// Default 1024.
	Depth int
	// Backlog is the number of connections that wait for Accept; more are closed at once. Default 128.
	Backlog int
	// DeadAfter is the silence, with work outstanding, after which a connection fails. Default 10 s.
	DeadAfter time.Duration
	// Spin is how long the loop goes on looking for packets before it sleeps: latency for CPU time. Default 0.
	Spin time.Duration
	// ReceiveBuffer is the kernel's receive queue of a socket in bytes. Default 8 MiB, as far as the system allows it.
	ReceiveBuffer int
	// Tune changes what the protocol engine is configured with, after the fields above and before validation.
	Tune func(*engine.Config)
	// Wrap puts something between the engine and its sockets, for example package capture or impair. It runs once; what
	// it returns is called by one goroutine.
	Wrap func(engine.Port) engine.Port
}

// ErrInsecure: the address is not loopback and Config.Insecure is not set.
var ErrInsecure = errors.New("metaroce: the clear profile is for loopback only, unless Config.Insecure is set")

// ErrConfig: a field of Config is out of range. The engine names some fields otherwise: Window is its MaxWindow.
var ErrConfig = errors.New("metaroce: bad configuration")

// Defaults and limits of Config.
const (
	loopbackChunk       = 8192
	defaultWindow       = 3 << 20
	superPacketBytes    = 65000
	superPacketSegments = 64
	leastBurst          = 12
	defaultMTU          = 1500
	mostDepth           = 1 << 20
	mostStreams         = 1 << 16 // of a connection and direction: all ids
)

// withDefaults fills in what depends on nothing but the local addresses, one for each plane.
func (c Config) withDefaults(local ...netip.Addr) (Config, error) {
	if c.Chunk == 0 {
		for _, a := range local {
			if n := chunkFor(a); c.Chunk == 0 || n < c.Chunk {
				c.Chunk = n
			}
		}
	}
	orDefault(&c.Paths, 16)
	orDefault(&c.Burst, burstFor(c.Chunk))
	orDefault(&c.Window, max(defaultWindow, c.Chunk+engine.Overhead))
	orDefault(&c.Depth, 1024)
	orDefault(&c.Backlog, 128)
	if c.Depth < 1 || c.Depth > mostDepth || c.Backlog < 1 || c.Backlog > mostDepth {
		return c, fmt.Errorf("%w: Depth %d and Backlog %d, allowed 1..%d", ErrConfig, c.Depth, c.Backlog, mostDepth)
	}
	for _, a := range local {
		if !c.Insecure && !a.IsLoopback() {
			return c, fmt.Errorf("%w: %v", ErrInsecure, a)
		}
	}
	return c, nil
}

func orDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

// engine returns the engine's configuration, with a seed of the system's entropy.
func (c *Config) engine(r role) (engine.Config, error) {
	e := engine.Config{
		Accept: r == listening, Chunk: c.Chunk, Paths: c.Paths, Burst: c.Burst, MaxWindow: c.Window, DeadAfter: c.DeadAfter,
		Posted: c.Depth, Streams: mostStreams,
	}
	if _, err := rand.Read(e.Seed[:]); err != nil {
		return e, fmt.Errorf("metaroce: no entropy: %w", err)
	}
	if c.Tune != nil {
		c.Tune(&e)
	}
	return e, nil
}

// sockets returns the configuration of the Port.
func (c *Config) sockets(local []netip.AddrPort) udp.Config {
	return udp.Config{Local: local, MaxPacket: max(c.Chunk+engine.Overhead, wire.OpenSize), ReceiveBuffer: c.ReceiveBuffer}
}

// chunkFor returns the payload that fills the packets of the interface that has an address.
func chunkFor(local netip.Addr) int {
	if local.IsLoopback() {
		return loopbackChunk
	}
	const headers = 48 // IPv6 and UDP
	return min(max((mtuOf(local)-headers-engine.Overhead)&^7, 8), engine.MaxChunk&^7)
}

// burstFor returns how many packets fill a super-packet of the kernel, which segments it; or two, when one holds few.
func burstFor(chunk int) int {
	n := min(max(superPacketBytes/(max(chunk, 8)+engine.Overhead), 1), superPacketSegments)
	if n < leastBurst {
		n *= 2
	}
	return n
}

// mtuOf returns the MTU of the interface that has an address; of no address in particular, the least of all interfaces
// but loopback.
func mtuOf(local netip.Addr) int {
	interfaces, err := net.Interfaces()
	if err != nil {
		return defaultMTU
	}
	least := 0
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 || i.MTU <= 0 {
			continue
		}
		if has(i, local) {
			return i.MTU
		}
		if i.Flags&net.FlagLoopback == 0 && (least == 0 || i.MTU < least) {
			least = i.MTU
		}
	}
	if least == 0 {
		return defaultMTU
	}
	return least
}

func has(i net.Interface, a netip.Addr) bool {
	list, err := i.Addrs()
	if err != nil {
		return false
	}
	for _, address := range list {
		if n, ok := address.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok && ip.Unmap() == a.Unmap().WithZone("") {
				return true
			}
		}
	}
	return false
}
