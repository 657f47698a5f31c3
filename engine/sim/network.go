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
}

// port is the state of a Hop: the end of what it has taken on says how long its queue is.
type port struct {
	*Hop
	busy instant
}

// enter puts a packet into the queue. It returns when the packet reaches the other end of the link and what the queue
// did with it: nothing, or markOverflowed. A packet that can carry a CE mark may get one.
func (o *port) enter(now instant, p *packet, marks *rand.Rand) (instant, mark) {
	size := len(p.data) + wireOverhead
	start := max(o.busy, now)
	backlog := o.Rate.bytes(start - now)
	if o.Queue > 0 && backlog+size > o.Queue {
		return never, markOverflowed
	}
	if o.MarkTo > 0 && p.ecn != engine.NotECT && o.marks(backlog, marks) {
		p.ecn = engine.CE
	}
	o.busy = start + o.Rate.lasts(size)
	return o.busy + instantOf(o.Latency), 0
}

// marks draws whether a packet that finds backlog bytes is marked.
func (o *port) marks(backlog int, rng *rand.Rand) bool {
	switch {
	case backlog <= o.MarkFrom:
		return false
	case backlog >= o.MarkTo:
		return true
	}
	return rng.Float64()*float64(o.MarkTo-o.MarkFrom) < float64(backlog-o.MarkFrom)
}

// direction is one half of the network: from a host to the other one.
type direction struct {
	ports  [][]port // by hop, then by path; one for all paths where the hop is shared
	skew   []instant
	sent   []uint64 // datagrams by path
	order  uint64   // datagrams
	newest uint64   // the largest order that has arrived
	dice   *impair.Dice
	holes  []Blackhole
}

// network carries packets.
type network struct {
	stats      NetworkStats
	config     *Config
	directions [2]direction
	reach      uint64 // how many later datagrams of its host a copy may come after
	healAt     instant
	marks      *rand.Rand
	late       *rand.Rand
	damages    *rand.Rand
	packets    []packet
	vacant     []int32
	live       int
	buffers    [][]byte
	bufferSize int
}

// The addresses of the hosts. Host 0 uses one port per path, counted from firstPort.
var addresses = [2]netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, 1}), netip.AddrFrom4([4]byte{10, 0, 0, 2})}

const firstPort = 0xc000

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
		late:       concern(cfg.Seed, concernCopies),
		damages:    concern(cfg.Seed, concernDamage),
		bufferSize: max(chunk+engine.Overhead, 2048),
	}
	skews := concern(cfg.Seed, concernSkew)
	faults := concern(cfg.Seed, concernFaults)
	for from := range n.directions {
		d := &n.directions[from]
		d.dice = impair.NewDice(cfg.Faults.Impair, faults)
		d.sent = make([]uint64, cfg.Network.Paths)
		d.skew = make([]instant, cfg.Network.Paths)
		for i := range d.skew {
			d.skew[i] = instant(skews.Int64N(int64(instantOf(cfg.Network.Skew)) + 1))
		}
		d.ports = make([][]port, len(cfg.Network.Hops))
		for i := range d.ports {
			h := &cfg.Network.Hops[i]
			d.ports[i] = []port{{Hop: h}}
			for h.Own && len(d.ports[i]) < cfg.Network.Paths {
				d.ports[i] = append(d.ports[i], port{Hop: h})
			}
		}
		for _, b := range cfg.Faults.Blackholes {
			if b.From == from {
				d.holes = append(d.holes, b)
			}
		}
	}
	return n
}

// pathOf returns the path of a route as host from sees it. Ports outside the pool share the paths.
func (n *network) pathOf(from int, r engine.Route) int {
	entropy := r.Local.Port()
	if from == 1 {
		entropy = r.Remote.Port()
	}
	return int(entropy-firstPort) % n.config.Network.Paths
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
// and what became of it: nothing, markBlackholed or markStray.
func (n *network) depart(at instant, from int, d engine.Datagram) (index int, arrives instant, m mark) {
	n.stats.Sent++
	half := &n.directions[from]
	half.order++
	path := n.pathOf(from, d.Route)
	half.sent[path]++
	index = n.add(packet{
		data: d.Bytes, ecn: d.ECN, from: uint8(from), path: int32(path), order: half.order, turn: half.sent[path],
		route: engine.Route{Local: d.Route.Remote, Remote: d.Route.Local},
	})
	if d.Route.Remote.Addr() != addresses[1-from] {
		n.stats.Stray++
		return index, never, markStray
	}
	if at < n.healAt {
		for _, h := range half.holes {
			if h.Path == path && instantOf(h.Begin) <= at && at < instantOf(h.End) {
				n.stats.Blackholed++
				return index, never, markBlackholed
			}
		}
	}
	return index, at + instantOf(n.config.Network.Latency) + half.skew[path], 0
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
	p := n.packets[index]
	half := &n.directions[p.from]
	if p.copy {
		if half.order-p.order > n.reach {
			n.stats.Withheld++
			return markStale, -1, never
		}
		n.stats.Copied++
		if half.sent[p.path] > p.turn {
			n.stats.CopiedLate++
		}
		n.stats.Delivered++
		return markCopied, -1, never
	}
	copied, at = -1, never
	if now < n.healAt {
		switch half.dice.Roll(p.data) {
		case impair.Drop:
			if impair.Data(p.data) {
				n.stats.LostData++
			} else {
				n.stats.LostOther++
			}
			return markLost, -1, never
		case impair.Twice:
			twin := p
			twin.copy = true
			twin.data = append(n.lend()[:0], p.data...)
			copied = n.add(twin)
			at = now + 1 + instant(n.late.Int64N(int64(instantOf(n.config.Faults.CopyDelay))+1))
		}
	}
	if p.order < half.newest {
		n.stats.Reordered++
	}
	half.newest = max(half.newest, p.order)
	n.stats.Delivered++
	if now < n.healAt && n.damage(index) {
		n.stats.Damaged++
		return markDamaged, copied, at
	}
	return markDelivered, copied, at
}

// damage turns a bit of a packet or cuts its end off, as drawn, and tells whether it did.
func (n *network) damage(index int) bool {
	p := n.config.Faults.Damage
	if p == 0 || n.damages.Float64() >= p {
		return false
	}
	data := &n.packets[index].data
	at := n.damages.IntN(len(*data))
	if at > 0 && half(n.damages) {
		*data = (*data)[:at]
	} else {
		(*data)[at] ^= 1 << n.damages.IntN(8)
	}
	return true
}
