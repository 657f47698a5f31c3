// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/impair"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// fate is what the faults do to one packet.
type fate struct {
	mark   mark // why it never arrives; 0 = it does
	delay  instant
	copied bool
	later  instant // between the packet and its copy
	damage Kind    // Flip, Truncate, Pad or Trim; 0 = none
	size   int     // of the damage
	ecn    Kind    // Mark, Bleach or Unmark; 0 = none
}

// fates decides what happens to the packets of one direction. Every kind draws from a generator of its own, so that adding a
// fault does not shift the others.
type fates struct {
	host     int
	healAt   instant
	chances  []Fault
	named    map[uint64][]Fault // by number
	dice     [kinds]*rand.Rand
	burst    int // packets that the burst under way has yet to take
	injected *[kinds]uint64
	// record, if set, hears of each fault that chance has brought, as one of a named packet.
	record func(Fault)
}

func newFates(cfg *Config, host int, injected *[kinds]uint64) fates {
	d := fates{host: host, healAt: instantOf(cfg.HealAt), named: map[uint64][]Fault{}, injected: injected}
	for _, f := range cfg.Faults {
		switch {
		case !f.Kind.ofPackets() || !f.by(host):
		case f.Packet > 0:
			d.named[f.Packet] = append(d.named[f.Packet], f)
		default:
			d.chances = append(d.chances, f)
			if d.dice[f.Kind] == nil {
				d.dice[f.Kind] = concern(cfg.Seed, concernDice<<16|uint64(f.Kind)<<1|uint64(host))
			}
		}
	}
	return d
}

// of decides about a packet that leaves now.
func (d *fates) of(now instant, p *packet, plane int) (out fate) {
	for i := range d.chances {
		f := &d.chances[i]
		if !f.during(now, d.healAt) || !f.at(plane, int(p.path)) {
			continue
		}
		if hit, happens := d.roll(f, p); happens && out.take(&hit, p) {
			d.injected[f.Kind]++
			if d.record != nil {
				hit.Host, hit.Packet, hit.Plane, hit.Path = d.host, p.order, All, All
				d.record(hit)
			}
		}
	}
	for _, f := range d.named[p.order] {
		if out.take(&f, p) {
			d.injected[f.Kind]++
		}
	}
	return out
}

// roll draws whether a fault happens to a packet, and how exactly.
func (d *fates) roll(f *Fault, p *packet) (hit Fault, happens bool) {
	rng := d.dice[f.Kind]
	hit = Fault{Kind: f.Kind}
	if f.Kind == Burst {
		if hit.Kind = Lose; d.burst == 0 && rng.Float64() < f.Chance {
			d.burst = 1 + rng.IntN(max(f.Size, 1))
		}
		if d.burst == 0 {
			return hit, false
		}
		d.burst--
		return hit, true
	}
	if f.Kind == LoseData && !impair.Data(p.data) || rng.Float64() >= f.Chance {
		return hit, false
	}
	switch f.Kind {
	case Copy, Delay:
		hit.Span = instant(rng.Int64N(int64(instantOf(f.Span)) + 1)).since()
	case Flip:
		hit.Size = rng.IntN(8 * len(p.data))
	case Truncate:
		hit.Size = rng.IntN(len(p.data))
	case Pad:
		hit.Size = 1 + rng.IntN(max(f.Size, 1))
	}
	return hit, true
}

// take adds a fault to the fate of a packet; it returns false when that changes nothing.
func (o *fate) take(f *Fault, p *packet) bool {
	switch f.Kind {
	case Lose, LoseData, Burst:
		if o.mark != 0 {
			return false
		}
		o.mark = markLost
	case Copy:
		o.copied, o.later = true, instantOf(f.Span)
	case Delay:
		o.delay += instantOf(f.Span)
	case Trim:
		if !impair.Data(p.data) || len(p.data) <= trimmedSize {
			return false
		}
		o.damage, o.size = Truncate, trimmedSize
	case Flip, Truncate, Pad:
		o.damage, o.size = f.Kind, f.Size
	case Mark, Bleach:
		if p.ecn == engine.NotECT {
			return false
		}
		o.ecn = f.Kind
	case Unmark:
		o.ecn = f.Kind
	}
	return true
}

// trimmedSize is what a trimming switch leaves of a packet: its head.
const trimmedSize = wire.BaseSize + wire.MessageSize

// spoil does the damage to a packet's bytes and ECN codepoint. It tells whether bytes have changed.
func (o *fate) spoil(p *packet) bool {
	switch {
	case o.ecn == Mark && p.ecn != engine.NotECT:
		p.ecn = engine.CE
	case o.ecn == Bleach:
		p.ecn = engine.NotECT
	case o.ecn == Unmark && p.ecn == engine.CE:
		p.ecn = engine.ECT0
	}
	switch o.damage {
	case Flip:
		bit := o.size % (8 * len(p.data))
		p.data[bit/8] ^= 1 << (bit % 8)
	case Truncate:
		p.data = p.data[:o.size%len(p.data)]
	case Pad:
		n := min(len(p.data)+o.size, cap(p.data))
		clear(p.data[len(p.data):n])
		p.data = p.data[:n]
	}
	return o.damage != 0
}
