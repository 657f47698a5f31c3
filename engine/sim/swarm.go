// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// swarmBytes is the least payload of a Config that Swarm draws.
const swarmBytes = 1 << 20

// Swarm draws a Config: another network, other faults and other messages for each seed. Each kind of fault is absent
// with probability one half, so that faults also meet alone. At least 1 MiB travels on at least 4 streams over at least
// 4 paths.
func Swarm(seed uint64) Config {
	s := swarm{seed: seed, next: concernSwarm}
	cfg := Config{Seed: seed, CheckEvery: 1, MaxEvents: 1_000_000}
	s.engine(&cfg)
	s.network(&cfg)
	s.streams(&cfg)
	s.flood(&cfg)
	cfg.HealAt = time.Duration(between(s.concern(), 1, 200)) * time.Millisecond
	cfg.Deadline = cfg.HealAt + 20*time.Second
	cfg.Faults = s.faults(&cfg)
	return cfg
}

// swarm hands out one generator for each group of choices.
type swarm struct{ seed, next uint64 }

func (s *swarm) concern() *rand.Rand {
	s.next++
	return concern(s.seed, s.next)
}

// between returns a number from least to most.
func between(rng *rand.Rand, least, most int) int { return least + rng.IntN(most-least+1) }

// doubling returns least times a power of two, at most most.
func doubling(rng *rand.Rand, least, most int) int {
	n := 0
	for least<<(n+1) <= most {
		n++
	}
	return least << rng.IntN(n+1)
}

// half is true with probability one half.
func half(rng *rand.Rand) bool { return rng.IntN(2) == 0 }

// engine draws limits of the protocol. Small ones are as likely as large ones.
func (s *swarm) engine(cfg *Config) {
	rng := s.concern()
	e := &cfg.Engine
	e.Chunk = doubling(rng, 256, 4096) + 8*between(rng, 0, 3)
	packet := e.Chunk + engine.Overhead
	e.Burst = doubling(rng, 1, 16)
	if half(rng) {
		e.Control = engine.Constant
	}
	e.InitialWindow = packet * doubling(rng, 1, 32)
	e.MaxWindow = packet * doubling(rng, 16, 2048)
	e.MaxAckDelay = time.Duration(doubling(rng, 4, 128)) * time.Microsecond
	e.AckEvery = doubling(rng, 1, 16)
	e.InitialRTT = time.Duration(doubling(rng, 100, 10_000)) * time.Microsecond
	e.MinRTO = time.Duration(doubling(rng, 10, 1000)) * time.Microsecond
	e.StreamWindow = doubling(rng, 1, 256)
	e.Span = doubling(rng, 4, 65536)
	e.Messages = doubling(rng, 8, 4096)
	e.Requests = doubling(rng, 1, 64)
	if narrow := s.concern(); half(narrow) {
		e.SeqBits = between(narrow, 10, 12)
	}
}

// network draws speeds, delays, and the classes of fault that come from them: reordering and full queues.
func (s *swarm) network(cfg *Config) {
	rng := s.concern()
	n := &cfg.Network
	n.Rate = Rate(doubling(rng, 1, 128)) * 1e9
	n.Latency = time.Duration(between(rng, 500, 20_000))
	n.Paths = doubling(rng, 4, 32)
	if planes := s.concern(); half(planes) {
		n.Planes = between(planes, 2, 4)
	}
	n.Hops = []Hop{{Latency: time.Duration(between(rng, 500, 20_000))}}
	if skew := s.concern(); half(skew) {
		n.Skew = time.Duration(between(skew, 1, 20)) * n.Latency
	}
	if cfg.Engine.SeqBits != 0 {
		slowDown(cfg)
	}
	n.Hops[0].Rate = n.Rate
	if hints := s.concern(); half(hints) {
		cfg.Engine.Capacity = uint64(n.Rate) / 1000 * uint64(between(hints, 10, 100)) / 100
	}
	queue := s.concern()
	if !half(queue) {
		return
	}
	packet := cfg.Engine.Chunk + engine.Overhead + wireOverhead
	h := &n.Hops[0]
	h.Rate = n.Rate * Rate(between(queue, 20, 90)) / 100
	h.Queue = max(packet*between(queue, 2, 64), 4096)
	if h.Own = half(queue); h.Own {
		h.Rate = 2 * h.Rate * Rate(max(n.Planes, 1)) / Rate(n.Paths)
	}
	if half(queue) {
		h.MarkFrom, h.MarkTo = h.Queue/5, h.Queue*4/5
	}
}

// flood makes one seed in eight send so much at a time on a few paths that a SACK is too short for what arrives behind a gap.
func (s *swarm) flood(cfg *Config) {
	rng := s.concern()
	if rng.IntN(8) > 0 || cfg.Engine.SeqBits != 0 {
		return
	}
	e := &cfg.Engine
	e.Chunk, e.Capacity, e.StreamWindow, e.Span, e.Messages = 256, 0, 0, 0, 0
	e.InitialWindow, e.MaxWindow = 512*(e.Chunk+engine.Overhead), 4096*(e.Chunk+engine.Overhead)
	cfg.Network.Planes, cfg.Network.Paths = 0, 4
	cfg.Network.Rate, cfg.Network.Latency = 128e9, 20*time.Microsecond
	cfg.Network.Hops = []Hop{{Latency: 20 * time.Microsecond}}
	for i := range cfg.Streams {
		cfg.Streams[i].Depth, cfg.Streams[i].Receives = 0, 0
	}
}

// slowDown keeps what is sent on a path within a few round trips far below a quarter of a narrow sequence space, as it is in
// a wide one: old and new numbers would look alike otherwise.
func slowDown(cfg *Config) {
	const leastBits, roundTrips = 8 * 100, 8
	n, e := &cfg.Network, &cfg.Engine
	rtt := cfg.roundTrip()
	quarter := Rate(1) << (e.SeqBits - 2)
	n.Rate = min(n.Rate, quarter*leastBits*1e9/Rate(roundTrips*rtt))
	e.InitialRTT = min(e.InitialRTT, 2*rtt)
	e.MinRTO = min(e.MinRTO, rtt)
	e.MaxAckDelay = min(e.MaxAckDelay, rtt)
}

// roundTrip is the sum of the latencies there and back on the slowest path.
func (c *Config) roundTrip() time.Duration {
	n := &c.Network
	return 2 * (n.Latency + n.Hops[0].Latency + n.Skew)
}

// streams draws what travels.
func (s *swarm) streams(cfg *Config) {
	rng := s.concern()
	late := s.concern()
	both, slow := half(rng), half(late)
	total := 0
	for i := range between(rng, 4, 12) {
		stream := Stream{Depth: doubling(rng, 1, 64)}
		if both {
			stream.From = i % 2
		}
		if slow {
			stream.Receives = doubling(late, 1, 16)
			stream.Pause = time.Duration(between(late, 0, 200)) * time.Microsecond
		}
		cfg.Streams = append(cfg.Streams, stream)
	}
	for i := 0; total < swarmBytes || i < len(cfg.Streams); i++ {
		m := s.message(rng, cfg.Engine.Chunk)
		total += m.Size
		to := &cfg.Streams[i%len(cfg.Streams)]
		if i >= len(cfg.Streams) {
			to = &cfg.Streams[rng.IntN(len(cfg.Streams))]
		}
		to.Messages = append(to.Messages, m)
	}
}

// message draws an operation: half are plain Writes. Its size may be at an edge.
func (s *swarm) message(rng *rand.Rand, chunk int) Message {
	m := Message{Op: engine.OpWrite, Fence: rng.IntN(16) == 0}
	switch rng.IntN(8) {
	case 0, 1:
		m.Immediate = true
	case 2, 3:
		m.Op, m.Immediate = engine.OpSend, half(rng)
	case 4:
		if rng.IntN(3) > 0 {
			m.Op = engine.OpRead
			break
		}
		m.Op, m.Fence = engine.OpFetchAdd+engine.Op(rng.IntN(2)), half(rng)
		return m
	}
	if m.Op != engine.OpRead && rng.IntN(4) == 0 {
		m.Pieces = between(rng, 1, 5)
	}
	edges := [...]int{0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk}
	switch i := rng.IntN(2 * len(edges)); {
	case i < len(edges):
		m.Size = edges[i]
	case half(rng):
		m.Size = rng.IntN(8 * chunk)
	default:
		m.Size = rng.IntN(64 * chunk)
	}
	return m
}
