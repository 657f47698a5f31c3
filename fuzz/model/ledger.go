// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"slices"
)

// slots is the number of PSNs from the floor that may be in use.
const slots = 256

// Fate is what became of a PSN.
type Fate int

// The fates.
const (
	Flying Fate = iota
	Lost
	Acked
	GivenUp
)

// slot is one PSN: its latest transmission and its fate.
type slot struct {
	fate   Fate
	tsn    int64
	size   int
	losses int  // by send order
	behind bool // its latest transmission travelled on an earlier route
}

// Ledger is what a sender knows of a path. PSNs and TSNs count from 0.
type Ledger struct {
	slots   map[int64]*slot
	open    map[int64]*slot // neither acknowledged nor given up
	next    int64           // PSN
	tsn     int64           // next TSN
	largest int64           // TSN acknowledged
}

// NewLedger returns a path on which nothing was sent.
func NewLedger() *Ledger {
	return &Ledger{slots: map[int64]*slot{}, open: map[int64]*slot{}, largest: -1}
}

// Next is the next PSN.
func (l *Ledger) Next() int64 { return l.next }

// TSN is the next TSN.
func (l *Ledger) TSN() int64 { return l.tsn }

// outstanding are the PSNs neither acknowledged nor given up, in ascending order.
func (l *Ledger) outstanding() []int64 { return slices.Sorted(maps.Keys(l.open)) }

// enter adds a PSN.
func (l *Ledger) enter(psn int64, s *slot) {
	l.slots[psn], l.open[psn] = s, s
	l.next++
}

// leave ends a PSN.
func (l *Ledger) leave(psn int64, into Fate) {
	l.slots[psn].fate = into
	delete(l.open, psn)
}

// Floor is the lowest PSN neither acknowledged nor given up; the next one when there is none.
func (l *Ledger) Floor() int64 {
	if psns := l.outstanding(); len(psns) > 0 {
		return psns[0]
	}
	return l.next
}

// Fate returns what became of a PSN that was sent.
func (l *Ledger) Fate(psn int64) Fate { return l.slots[psn].fate }

// Use enters a packet that takes a TSN only.
func (l *Ledger) Use(tsn int64) error {
	if tsn != l.tsn {
		return fmt.Errorf("TSN %d follows %d", tsn, l.tsn-1)
	}
	l.tsn++
	return nil
}

// Send enters a packet with a PSN: the next one, or one that is lost.
func (l *Ledger) Send(psn, tsn int64, size int) error {
	if err := l.Use(tsn); err != nil {
		return err
	}
	s := l.slots[psn]
	switch {
	case s == nil && psn != l.next:
		return fmt.Errorf("PSN %d is sent, the next one is %d", psn, l.next)
	case s == nil && psn >= l.Floor()+slots:
		return fmt.Errorf("PSN %d is sent with the floor at %d", psn, l.Floor())
	case s == nil:
		l.enter(psn, &slot{tsn: tsn, size: size})
		return nil
	case s.fate != Lost:
		return fmt.Errorf("PSN %d is sent again, its fate is %d and not lost", psn, s.fate)
	case s.size != size:
		return fmt.Errorf("PSN %d had %d bytes and now has %d", psn, s.size, size)
	}
	s.fate, s.tsn, s.behind = Flying, tsn, false
	return nil
}

// GiveUp gives up a PSN, if it is outstanding.
func (l *Ledger) GiveUp(psn int64) {
	if l.open[psn] != nil {
		l.leave(psn, GivenUp)
	}
}

// GiveUpAll gives up whatever is outstanding: the path has failed.
func (l *Ledger) GiveUpAll() {
	for _, psn := range l.outstanding() {
		l.GiveUp(psn)
	}
}

// GiveUpBelow gives up what lies below a floor that the sender names. Only PSNs lost often enough may go.
func (l *Ledger) GiveUpBelow(floor int64, losses int) error {
	for _, psn := range l.outstanding() {
		if psn >= floor {
			break
		}
		if s := l.slots[psn]; s.fate != Lost || s.losses < losses {
			return fmt.Errorf("the floor %d passes PSN %d, which was lost %d times only (fate %d)", floor, psn, s.losses, s.fate)
		}
		l.GiveUp(psn)
	}
	return nil
}

// Block is what an ACK says of a path.
type Block struct {
	Base, Largest int64
	Sack          []int64 // PSNs received beyond base
}

// Possible tells whether a block speaks only of what was sent.
func (l *Ledger) Possible(b Block) bool {
	highest := b.Base - 1
	for _, psn := range b.Sack {
		highest = max(highest, psn)
	}
	return b.Largest >= 0 && b.Largest < l.tsn && b.Base >= 0 && highest < l.next
}

// Ack takes in a possible block: it returns the PSNs that are newly acknowledged and those newly found lost by send order.
func (l *Ledger) Ack(b Block) (acked, lost []int64) {
	for _, psn := range l.outstanding() {
		if psn < b.Base || slices.Contains(b.Sack, psn) {
			l.leave(psn, Acked)
			acked = append(acked, psn)
		}
	}
	l.largest = max(l.largest, b.Largest)
	for _, psn := range l.outstanding() {
		if s := l.slots[psn]; s.fate == Flying && s.tsn < l.largest && !s.behind {
			s.fate = Lost
			s.losses++
			lost = append(lost, psn)
		}
	}
	return acked, lost
}

// Turn gives the path another route: what is in flight cannot be judged any more by what is sent from now on.
func (l *Ledger) Turn() {
	for s := range maps.Values(l.open) {
		s.behind = s.behind || s.fate == Flying
	}
}

// Overtake declares lost what earlier routes have not delivered, and counts it.
func (l *Ledger) Overtake() (n uint64) {
	for s := range maps.Values(l.open) {
		if s.behind && s.fate == Flying {
			s.fate = Lost
			n++
		}
	}
	return n
}

// Timeout declares the oldest transmission in flight lost.
func (l *Ledger) Timeout() {
	var oldest *slot
	for _, s := range l.open {
		if s.fate == Flying && (oldest == nil || s.tsn < oldest.tsn) {
			oldest = s
		}
	}
	if oldest != nil {
		oldest.fate = Lost
	}
}

// InFlight is the number of bytes sent and neither acknowledged, lost nor given up.
func (l *Ledger) InFlight() (bytes int) {
	for s := range maps.Values(l.open) {
		if s.fate == Flying {
			bytes += s.size
		}
	}
	return bytes
}

// Size is the number of bytes of a PSN's packet.
func (l *Ledger) Size(psn int64) int { return l.slots[psn].size }

// Note enters a packet with a PSN without judging when it is sent: of a sender whose reasons are not seen.
func (l *Ledger) Note(psn, tsn int64, size int) error {
	if err := l.Use(tsn); err != nil {
		return err
	}
	if psn > l.next {
		return fmt.Errorf("PSN %d is sent, the next one is %d", psn, l.next)
	}
	if psn == l.next {
		l.enter(psn, &slot{size: size})
	}
	l.slots[psn].tsn = tsn
	if s := l.slots[psn]; s.fate == Acked {
		return fmt.Errorf("PSN %d is sent again after its acknowledgment", psn)
	}
	return nil
}
