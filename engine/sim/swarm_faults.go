// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// faults draws what goes wrong. Each kind has a generator of its own and is absent with probability one half.
func (s *swarm) faults(cfg *Config) (list []Fault) {
	for k := Kind(1); k < kinds; k++ {
		rng := s.concern()
		if !half(rng) {
			continue
		}
		switch {
		case k.ofPackets():
			list = append(list, packetFault(rng, k, cfg))
		case k.ofPaths():
			list = append(list, pathFaults(rng, k, cfg)...)
		case k.ofHosts():
			list = append(list, hostFaults(rng, k, cfg)...)
		default:
			list = append(list, applicationFaults(rng, k, cfg)...)
		}
	}
	return list
}

// packetFault draws how often a fault befalls packets. Heavy ones are rarer than light ones.
func packetFault(rng *rand.Rand, k Kind, cfg *Config) Fault {
	f := Everywhere(k)
	u := rng.Float64()
	longest := 20
	if cfg.Engine.SeqBits != 0 {
		longest = 2
	}
	switch k {
	case Lose, LoseData:
		f.Chance = 0.3 * u * u * u
	case Burst:
		f.Chance, f.Size = 0.01*u, between(rng, 2, 64)
	case Copy:
		f.Chance, f.Span = 0.5*u*u, time.Duration(between(rng, 0, 20))*cfg.Network.Latency
	case Delay:
		f.Chance, f.Span = u*u, time.Duration(between(rng, 1, longest))*cfg.Network.Latency
		if half(rng) {
			f.Host = rng.IntN(2)
		}
	case Flip, Truncate, Pad, Trim:
		f.Chance, f.Size = 0.02*u, 64
	case Mark, Unmark:
		f.Chance = u
	case Bleach:
		f.Chance = 1
		if f.Path = rng.IntN(cfg.Network.Paths); half(rng) {
			f.Path = All
		}
	}
	return f
}

// outage draws when something that begins within the first milliseconds ends. In a narrow sequence space it is short: when
// half of the space passes in silence, a path is lost for good.
func outage(rng *rand.Rand, cfg *Config, longest time.Duration) (begin, end time.Duration) {
	if cfg.Engine.SeqBits != 0 {
		longest = min(longest, 4*cfg.roundTrip())
	}
	begin = time.Duration(between(rng, 0, 5_000)) * time.Microsecond
	if half(rng) {
		begin = time.Duration(between(rng, 0, 500)) * time.Microsecond
	}
	return begin, begin + time.Duration(between(rng, 1, max(int(longest/time.Microsecond), 1)))*time.Microsecond
}

// pathFaults draws outages of paths and planes, or changes of the way.
func pathFaults(rng *rand.Rand, k Kind, cfg *Config) (list []Fault) {
	n := &cfg.Network
	if k == Rehash {
		for range between(rng, 1, 4) {
			f := Everywhere(k)
			f.Begin = time.Duration(between(rng, 0, 5_000)) * time.Microsecond
			f.Size = between(rng, 1, 1<<20)
			list = append(list, f)
		}
		return list
	}
	most, longest := n.Paths, 20*time.Millisecond
	switch k {
	case Hold:
		most, longest = n.Paths/2, time.Millisecond
	case Shrink: // on many paths, or for long, it makes operations fail: nothing carries their chunks
		most, longest = n.Paths/4, 20*cfg.roundTrip()
	}
	if n.Planes > 1 && k != Shrink && half(rng) {
		f := Everywhere(k)
		f.Plane = rng.IntN(n.Planes)
		if k == Unplug {
			f.Host = rng.IntN(2)
		}
		f.Begin, f.End = outage(rng, cfg, 65*time.Millisecond)
		f.Size = cfg.Engine.Chunk / 2
		list, most = append(list, f), 2
	}
	if k == Cut && cfg.Engine.SeqBits == 0 && half(rng) {
		return append(list, cutMany(rng, cfg)...)
	}
	for range between(rng, 1, most) {
		f := Fault{Kind: k, Host: rng.IntN(2), Plane: All, Path: rng.IntN(n.Paths), Size: cfg.Engine.Chunk / 2}
		f.Begin, f.End = outage(rng, cfg, longest)
		list = append(list, f)
	}
	return list
}

// cutMany draws one outage of many paths at once: all or all but one, in one direction or in both.
func cutMany(rng *rand.Rand, cfg *Config) (list []Fault) {
	f := Everywhere(Cut)
	if half(rng) {
		f.Host = rng.IntN(2)
	}
	f.Begin = time.Duration(between(rng, 0, 5_000)) * time.Microsecond
	f.End = f.Begin + time.Duration(doubling(rng, 1, 65_536))*time.Microsecond
	if half(rng) {
		return append(list, f)
	}
	spared := rng.IntN(cfg.Network.Paths)
	for path := range cfg.Network.Paths {
		if f.Path = path; path != spared {
			list = append(list, f)
		}
	}
	return list
}

// hostFaults draws what befalls hosts.
func hostFaults(rng *rand.Rand, k Kind, cfg *Config) (list []Fault) {
	f := Everywhere(k)
	f.Host = rng.IntN(2)
	switch k {
	case Restart:
		f.Begin = time.Duration(between(rng, 0, 1_000)) * time.Microsecond
		if half(rng) {
			f.Begin *= 10
		}
		f.End = f.Begin + time.Duration(doubling(rng, 1, 16_384))*time.Microsecond
		return append(list, f)
	case Lag:
		f.End = time.Duration(between(rng, 1, 20)) * time.Millisecond
		f.Span = time.Duration(doubling(rng, 1, 1024)) * time.Microsecond
		return append(list, f)
	}
	for range between(rng, 1, 3) {
		f.Begin, f.End = outage(rng, cfg, 5*time.Millisecond)
		list = append(list, f)
	}
	return list
}

// applicationFaults draws operations that are given up, and memory that is taken back, on some streams.
func applicationFaults(rng *rand.Rand, k Kind, cfg *Config) (list []Fault) {
	for range between(rng, 1, 2) {
		f := Everywhere(k)
		f.Stream = rng.IntN(len(cfg.Streams))
		messages := cfg.Streams[f.Stream].Messages
		f.Operation = rng.IntN(len(messages))
		f.Span = time.Duration(between(rng, 0, 200)) * time.Microsecond
		if m := messages[f.Operation]; k == Expire && m.Op != engine.OpWrite {
			f.Span *= 4
		}
		list = append(list, f)
	}
	return list
}
