// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"net/netip"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/impair"
)

// wireOverhead is what Ethernet, IPv4 and UDP add to a datagram, in bytes.
const wireOverhead = 42

// packet is a datagram on its way.
type packet struct {
	data  []byte
	route engine.Route // as the receiver sees it
	order uint64       // number among all that its host sent
	turn  uint64       // number among those on its path and direction
	from  uint8
	ecn   uint8
	hop   int16
	path  int32
	copy  bool
	fate  fate
}

// direction is one half of the network: from a host to the other one.
type direction struct {
	ports  [][]port // by hop, then by path; one for each plane where the hop is shared
	skew   []instant
	sent   []uint64 // datagrams by path
	order  uint64   // datagrams
	newest uint64   // the largest order that has arrived
	fates  fates
	routed []Fault // of paths
}

// network carries packets.
type network struct {
	stats      NetworkStats
	injected   [kinds]uint64
	config     *Config
	directions [2]direction
	reach      uint64 // how many later datagrams of its host a copy may come after
	healAt     instant
	marks      *rand.Rand
	salts      []int // by plane: how its switches assign ports to paths
	packets    []packet
	vacant     []int32
	live       int
	buffers    [][]byte
	bufferSize int
}

// address is that of a host on a plane.
func address(plane, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 0, byte(plane), byte(1 + host)})
}

// Host 0 uses one port per path, counted from firstPort; a second session takes the ports behind those.
const (
	firstPort = 0xc000
	portStep  = 512
)

func newNetwork(cfg *Config) *network {
	bits := cfg.Engine.SeqBits
	if bits == 0 {
		bits = 32
	}
	chunk := cfg.Engine.Chunk
	if chunk == 0 {
		chunk = 4096
	}
	n := &network{
		config:     cfg,
		reach:      1 << (bits - 2),
		healAt:     instantOf(cfg.HealAt),
		marks:      concern(cfg.Seed, concernMarks),
		salts:      make([]int, cfg.Network.Planes),
		bufferSize: max(chunk+engine.Overhead, 2048),
	}
	skews := concern(cfg.Seed, concernSkew)
	for from := range n.directions {
		d := &n.directions[from]
		d.fates = newFates(cfg, from, &n.injected)
		d.sent = make([]uint64, cfg.Network.Paths)
		d.skew = make([]instant, cfg.Network.Paths)
		for i := range d.skew {
			d.skew[i] = instant(skews.Int64N(int64(instantOf(cfg.Network.Skew)) + 1))
		}
		d.ports = make([][]port, len(cfg.Network.Hops))
		for i := range d.ports {
			h := &cfg.Network.Hops[i]
			many := cfg.Network.Planes
			if h.Own {
				many = cfg.Network.Paths
			}
			for range many {
				d.ports[i] = append(d.ports[i], port{Hop: h})
			}
		}
		for _, f := range cfg.Faults {
			if f.Kind.ofPaths() && f.Kind != Rehash && f.by(from) {
				d.routed = append(d.routed, f)
			}
		}
	}
	return n
}

// planeOf returns the plane of a route as host from sees it; ok is false when it leads nowhere.
func (n *network) planeOf(from int, r engine.Route) (plane int, ok bool) {
	for plane := range n.config.Network.Planes {
		if r.Remote.Addr() == address(plane, 1-from) {
			return plane, r.Local.Addr() == address(plane, from)
		}
	}
	return 0, false
}

// pathOf returns the path that the switches of a plane choose for a route as host from sees it. Path i lies on plane i modulo
// the number of planes; ports outside the pool share the paths.
func (n *network) pathOf(from, plane int, r engine.Route) int {
	entropy := r.Local.Port()
	if from == 1 {
		entropy = r.Remote.Port()
	}
	planes := n.config.Network.Planes
	own := (n.config.Network.Paths - plane + planes - 1) / planes // paths of the plane
	choice := int(entropy-firstPort) % portStep / planes
	if salt := n.salts[plane]; salt != 0 {
		choice = int(uint32(choice+salt) * 2654435761 >> 16)
	}
	return plane + planes*(choice%own)
}

// lend returns memory for a datagram.
func (n *network) lend() []byte {
	if i := len(n.buffers) - 1; i >= 0 {
		b := n.buffers[i]
		n.buffers = n.buffers[:i]
		return b
	}
	return make([]byte, n.bufferSize)
}

// reclaim takes back what lend returned, or a part of it that starts at the same byte.
func (n *network) reclaim(b []byte) { n.buffers = append(n.buffers, b[:n.bufferSize]) }

// add stores a packet and returns its index.
func (n *network) add(p packet) int {
	n.live++
	if i := len(n.vacant) - 1; i >= 0 {
		index := n.vacant[i]
		n.vacant = n.vacant[:i]
		n.packets[index] = p
		return int(index)
	}
	n.packets = append(n.packets, p)
	return len(n.packets) - 1
}

// remove forgets a packet. Its memory stays with whoever has it now.
func (n *network) remove(index int) {
	n.live--
	n.packets[index] = packet{}
	n.vacant = append(n.vacant, int32(index))
}

// depart is called when a host's link has sent a datagram: it returns the packet's index, when it reaches the first hop,
// and what became of it: nothing, markCut, markUnplugged or markStray.
func (n *network) depart(at instant, from int, d engine.Datagram) (index int, arrives instant, m mark) {
	n.stats.Sent++
	half := &n.directions[from]
	half.order++
	p := packet{
		data: d.Bytes, ecn: d.ECN, from: uint8(from), order: half.order,
		route: engine.Route{Local: d.Route.Remote, Remote: d.Route.Local},
	}
	plane, ok := n.planeOf(from, d.Route)
	if !ok {
		n.stats.Stray++
		return n.add(p), never, markStray
	}
	path := n.pathOf(from, plane, d.Route)
	half.sent[path]++
	p.path, p.turn = int32(path), half.sent[path]
	wait, m := n.route(at, &p, plane)
	if m == 0 {
		p.fate = half.fates.of(at, &p, plane)
	}
	return n.add(p), at + wait + instantOf(n.config.Network.Latency) + half.skew[path] + p.fate.delay, m
}

// route lets the faults of paths have a packet: they hold it back for a time, or swallow it.
func (n *network) route(at instant, p *packet, plane int) (wait instant, m mark) {
	half := &n.directions[p.from]
	for i := range half.routed {
		f := &half.routed[i]
		if !f.during(at, n.healAt) || !f.at(plane, int(p.path)) || f.Kind == Shrink && len(p.data) <= f.Size {
			continue
		}
		n.injected[f.Kind]++
		if f.Kind == Hold {
			wait = max(wait, f.ends(n.healAt)-at)
			continue
		}
		n.stats.Cut++
		if f.Kind == Unplug {
			return 0, markUnplugged
		}
		return 0, markCut
	}
	return wait, 0
}

// hop moves a packet through its next hop; last tells that it has reached the host instead.
func (n *network) hop(now instant, index int) (arrives instant, m mark, last bool) {
	p := &n.packets[index]
	half := &n.directions[p.from]
	if int(p.hop) == len(half.ports) || p.copy {
		return now, 0, true
	}
	ports := half.ports[p.hop]
	o := &ports[int(p.path)%len(ports)]
	p.hop++
	before := p.ecn
	arrives, m = o.enter(now, p, n.marks)
	if m != 0 {
		n.stats.Overflowed++
	} else if p.ecn != before {
		n.stats.Marked++
	}
	return arrives, m, false
}

// arrive decides what the receiving host gets to see of a packet: nothing, or markDelivered, markDamaged or markCopied.
// Of a packet that will arrive a second time it returns the copy's index and instant; copy is negative if there is none.
func (n *network) arrive(now instant, index int) (m mark, copied int, at instant) {
	p := &n.packets[index]
	half := &n.directions[p.from]
	if p.copy {
		if half.order-p.order > n.reach {
			n.stats.Withheld++
			return markStale, -1, never
		}
		if half.sent[p.path] > p.turn {
			n.stats.CopiedLate++
		}
		n.stats.Delivered++
		return markCopied, -1, never
	}
	if p.fate.mark != 0 {
		if impair.Data(p.data) {
			n.stats.LostData++
		} else {
			n.stats.LostOther++
		}
		return p.fate.mark, -1, never
	}
	copied, at = -1, never
	if p.fate.copied {
		twin := *p
		twin.copy = true
		twin.data = append(n.lend()[:0], p.data...)
		at = now + 1 + p.fate.later
		copied = n.add(twin)
		p = &n.packets[index]
	}
	if p.order < half.newest {
		n.stats.Reordered++
	}
	half.newest = max(half.newest, p.order)
	n.stats.Delivered++
	if p.fate.spoil(p) {
		return markDamaged, copied, at
	}
	return markDelivered, copied, at
}
