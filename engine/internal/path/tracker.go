// SPDX-License-Identifier: Apache-2.0

package path

import (
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Arrival is what a packet says of its path, and when and how it came.
type Arrival struct {
	At       mono.Time
	Route    Route
	PSN, TSN uint32
	Floor    uint8
	Epoch    uint8
	ECN      uint8
}

// Admission is the tracker's verdict on a sequenced packet.
type Admission uint8

// The verdicts. Only Fresh packets may be placed; Fresh and Duplicate ask for an ACK.
const (
	Fresh     Admission = iota
	Duplicate           // the PSN has been received or given up, and this is another transmission of it
	Copy                // the very transmission has been seen: the network made a copy
	Outside             // the PSN lies beyond the window: a wrong sender
)

// Tracker is the receiving half of a path: which PSNs have been placed, and what an ACK says about them.
type Tracker struct {
	*rings               // nil while every PSN below the highest is placed, and no TSN is remembered
	receivedAt mono.Time // when largest arrived
	base       uint32    // lowest PSN neither placed nor below a floor
	highest    uint32    // highest PSN that arrived
	largest    uint32    // largest TSN accepted
	packets    uint32
	ce         uint32
	counters   wire.PathCounters
	space      wire.Space
	epoch      uint8 // of largest
	heard      bool
	marked     bool  // the last sequenced packet carried CE
	plain      bool  // largest came as Not-ECT
	news       bool  // counters have changed since the last block that had them
	silent     uint8 // blocks since then
}

// rings are sets of numbers. The bit of n: word n/64 mod 4, under mask 1<<63 >> (n mod 64).
type rings struct {
	placed [4]uint64 // PSNs; only [base, base+256) is meaningful
	seen   [4]uint64 // of the 256 TSNs up to largest, as far as they are remembered
}

//mr:req MR-CONN-017 MR-CONN-018
func newTracker(cfg *Config) Tracker {
	mask := cfg.Space.Mask()
	return Tracker{
		space:   cfg.Space,
		base:    cfg.PeerFirst & mask,
		highest: cfg.Space.Add(cfg.PeerFirst, -1),
		largest: cfg.Space.Add(cfg.PeerFirst, -1),
	}
}

func bit(n uint32) (word int, mask uint64) { return int(n>>6) & 3, 1 << 63 >> (n & 63) }

// Heard tells whether any packet was accepted.
func (t *Tracker) Heard() bool { return t.heard }

// Plain tells whether the latest packet came as Not-ECT; answers to it should go so, too.
func (t *Tracker) Plain() bool { return t.plain }

// Received returns how many sequenced packets arrived, how many of them twice, and how many copies the network made.
func (t *Tracker) Received() (packets, ce, duplicates, copies uint32) {
	return t.packets, t.ce, t.counters.Duplicates, t.counters.Copies
}

// hear enters a TSN. It returns false for a copy; newest tells that no later transmission has been seen.
//
//mr:req MR-PATH-008
func (t *Tracker) hear(a Arrival) (fresh, newest bool) {
	if t.rings == nil {
		t.rings = new(rings)
	}
	ahead := t.space.Diff(a.TSN, t.largest)
	word, mask := bit(a.TSN)
	switch {
	case ahead > 0:
		t.forget(ahead)
		t.largest, t.receivedAt, t.epoch, t.heard, t.plain = a.TSN, a.At, a.Epoch, true, a.ECN == notECT
	case ahead <= -window(t.space):
		return true, false // too old to tell; the PSN decides
	case t.seen[word]&mask != 0:
		t.counters.Copies++
		t.news = true
		return false, false
	}
	t.seen[word] |= mask
	return true, ahead > 0
}

// forget clears the bits of the TSNs that come into the window.
func (t *Tracker) forget(ahead int64) {
	if ahead >= slots {
		t.seen = [4]uint64{}
		return
	}
	for i := int64(1); i <= ahead; i++ {
		word, mask := bit(t.space.Add(t.largest, i))
		t.seen[word] &^= mask
	}
}

// Hear enters an unsequenced packet, whose PSN field is the sender's floor. newest tells that it is the latest heard.
func (t *Tracker) Hear(a Arrival) (newest bool) {
	fresh, newest := t.hear(a)
	if fresh {
		t.raise(a.PSN)
	}
	return newest
}

// Admit enters a sequenced packet. A Fresh one is then either Placed or Refused. urgent asks for an ACK at once:
// a hole has opened, a PSN came twice, or the CE mark has changed.
//
//mr:req MR-PATH-007 MR-ACK-002 MR-ACK-004
func (t *Tracker) Admit(a Arrival) (verdict Admission, newest, urgent bool) {
	fresh, newest := t.hear(a)
	if !fresh {
		return Copy, false, false
	}
	t.raise(t.space.Add(a.PSN, -int64(a.Floor)))
	ahead := t.space.Diff(a.PSN, t.base)
	if ahead >= window(t.space) {
		return Outside, newest, false
	}
	t.count(a)
	urgent = t.marked != (a.ECN == ce)
	t.marked = a.ECN == ce
	word, mask := bit(a.PSN)
	if ahead < 0 || t.placed[word]&mask != 0 {
		t.counters.Duplicates++
		t.counters.LastDuplicate = a.TSN
		t.news = true
		return Duplicate, newest, true
	}
	if jump := t.space.Diff(a.PSN, t.highest); jump > 0 {
		t.highest = a.PSN
		urgent = urgent || jump > 1
	}
	return Fresh, newest, urgent
}

//mr:req MR-ACK-010
func (t *Tracker) count(a Arrival) {
	t.packets++
	switch a.ECN {
	case ce:
		t.ce++
	case notECT:
		t.counters.NotEct++
		t.news = true
	}
}

// raise takes over the sender's floor: it will not wait for, nor send again, anything below.
//
//mr:req MR-PATH-006
func (t *Tracker) raise(floor uint32) {
	floor &= t.space.Mask()
	ahead := t.space.Diff(floor, t.base)
	if ahead <= 0 {
		return
	}
	if ahead >= slots {
		t.placed = [4]uint64{}
		t.base = floor
	} else {
		for range ahead {
			t.step()
		}
	}
	t.settle()
}

// step moves base by one.
func (t *Tracker) step() {
	word, mask := bit(t.base)
	t.placed[word] &^= mask
	t.base = t.space.Add(t.base, 1)
}

// settle moves base over what is placed.
func (t *Tracker) settle() {
	for {
		word, mask := bit(t.base)
		if t.placed[word]&mask == 0 {
			return
		}
		t.step()
	}
}

// Placed marks a Fresh packet: its bytes are where they belong, and will never be un-acknowledged.
//
//mr:req MR-ACK-001
func (t *Tracker) Placed(psn uint32) {
	word, mask := bit(psn)
	t.placed[word] |= mask
	t.settle()
}

// Refused counts a Fresh packet that was not placed; it stays unacknowledged.
func (t *Tracker) Refused() {
	t.counters.Refused++
	t.news = true
}

// rest gives back the rings when nothing is placed beyond base: a copy of what has come before is told from it by its PSN.
func (t *Tracker) rest() {
	if t.rings != nil && t.placed == [4]uint64{} {
		t.rings = nil
	}
}

// every is the largest number of blocks between two that carry counters.
const every = 16

// Report fills in a block: state, not news, so that any later block repairs a lost one.
//
//mr:req MR-ACK-011
func (t *Tracker) Report(b *wire.PathAck) {
	b.Epoch = t.epoch
	b.Base = t.base
	b.Largest = t.largest
	b.ReceivedAt = t.receivedAt.Stamp()
	b.Packets = t.packets
	b.Ce = t.ce
	b.Sack = t.vector()
	b.HasSack = b.Sack != wire.Bits256{}
	t.silent++
	b.HasCounters = t.news || t.silent >= every
	if b.HasCounters {
		t.silent, t.news = 0, false
		b.Counters = t.counters
	}
}

// vector turns the ring so that bit 0 is base.
//
//mr:req MR-ACK-003
func (t *Tracker) vector() (v wire.Bits256) {
	if t.rings == nil {
		return v
	}
	first, shift := int(t.base>>6)&3, t.base&63
	for i := range v {
		v[i] = t.placed[(first+i)&3] << shift
		if shift > 0 {
			v[i] |= t.placed[(first+i+1)&3] >> (64 - shift)
		}
	}
	return v
}
