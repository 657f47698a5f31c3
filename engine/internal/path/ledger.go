// SPDX-License-Identifier: Apache-2.0

package path

import (
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Ref names a chunk. Try tells apart attempts of a message that was parked in between.
type Ref struct {
	Stream  uint16
	Try     uint16
	Message uint32
	Chunk   uint32
	Reply   bool // a chunk of a reply: Stream and Message are the requester's
}

type state uint8

const (
	free      state = iota
	flying          // in the flight list
	lost            // in the lost list
	acked           // nothing left to do
	abandoned       // nothing left to do, and completes nothing
)

// entry is one PSN. Its chunk never changes.
type entry struct {
	ref        Ref
	size       int32 // bytes of the packet
	tsn        uint32
	prev, next uint32 // PSNs of the neighbours in its list
	state      state
	losses     uint8 // of this PSN, by send order
	forGap     bool  // lost by send order, not by a timer
	before     uint8 // of the chunk, on paths that it has left
}

// list chains entries by PSN; each entry is in one list at most.
type list struct {
	head, tail uint32
	n          int32
}

// ledger is the sending half: the numbers taken, and on its board what became of them.
type ledger struct {
	*board         // nil while nothing is outstanding and nothing sent is remembered
	floor   uint32 // lowest PSN neither acknowledged nor abandoned; next when there is none
	next    uint32
	nextTSN uint32
	largest uint32 // largest TSN acknowledged
	tsns    uint32 // TSNs ever taken, or more than a space has
	space   wire.Space
}

// board is what every PSN from floor to next names and what became of it. The flight list is ordered by TSN, so that loss
// by send order only looks at its head.
type board struct {
	ring     []entry // index PSN mod len; len grows on demand up to window
	flight   list
	lost     list
	inFlight int            // bytes of the flight list
	sent     []transmission // index TSN mod len: the latest ones
}

// transmission is what is remembered of a TSN.
type transmission struct {
	at     mono.Time
	forGap bool // a resend after a verdict by send order
	probe  bool // what was sent before it is lost once it is acknowledged
	full   bool // a probe as long as the largest packet
	plain  bool // a probe that left as Not-ECT, although the path does not
}

// remembered is how many transmissions back an RTT sample can reach.
const remembered = 512

//mr:req MR-CONN-017
func newLedger(cfg *Config) ledger {
	return ledger{
		space:   cfg.Space,
		floor:   cfg.First & cfg.Space.Mask(),
		next:    cfg.First & cfg.Space.Mask(),
		nextTSN: cfg.First & cfg.Space.Mask(),
		largest: cfg.Space.Add(cfg.First, -1),
	}
}

func (l *ledger) slot(psn uint32) *entry { return &l.ring[int(psn)&(len(l.ring)-1)] }

// holds tells whether the PSN lies in [floor, next).
func (l *ledger) holds(psn uint32) bool {
	return l.space.Diff(psn, l.floor) >= 0 && l.space.Diff(l.next, psn) > 0
}

// flies tells whether anything is in flight.
func (l *ledger) flies() bool { return l.board != nil && l.flight.n > 0 }

func (l *ledger) outstanding() int64 { return l.space.Diff(l.next, l.floor) }

func (l *ledger) room() bool { return l.outstanding() < window(l.space) }

// transmit takes the next TSN.
//
//mr:req MR-PATH-009
func (l *ledger) transmit(t transmission) uint32 {
	if l.board == nil {
		l.board = new(board)
	}
	if l.space.Diff(l.nextTSN, l.largest) > int64(len(l.sent)) {
		l.remember()
	}
	tsn := l.nextTSN
	l.sent[int(tsn)&(len(l.sent)-1)] = t
	l.nextTSN = l.space.Add(tsn, 1)
	l.tsns = max(l.tsns, l.tsns+1)
	return tsn
}

// remember makes room for more transmissions while nothing is heard of the oldest, up to a bound.
func (l *ledger) remember() {
	most := min(remembered, int64(1)<<(l.space-1))
	if int64(len(l.sent)) >= most {
		return
	}
	old := l.sent
	l.sent = make([]transmission, max(2, 2*len(old)))
	for i := 1; i <= len(old); i++ {
		tsn := l.space.Add(l.nextTSN, -int64(i))
		l.sent[int(tsn)&(len(l.sent)-1)] = old[int(tsn)&(len(old)-1)]
	}
}

// transmission returns what is remembered of a TSN.
func (l *ledger) transmission(tsn uint32) (transmission, bool) {
	if l.board == nil {
		return transmission{}, false
	}
	age := l.space.Diff(l.nextTSN, tsn)
	if age <= 0 || age > int64(len(l.sent)) || age > int64(l.tsns) {
		return transmission{}, false
	}
	return l.sent[int(tsn)&(len(l.sent)-1)], true
}

// record takes the next PSN.
//
//mr:req MR-PATH-004
func (l *ledger) record(m *Moved, tsn uint32) uint32 {
	if !l.room() {
		panic("path: PSN window exceeded")
	}
	if l.outstanding() == int64(len(l.ring)) {
		l.grow()
	}
	psn := l.next
	l.next = l.space.Add(psn, 1)
	s := l.slot(psn)
	s.ref, s.size, s.tsn, s.before = m.Ref, int32(m.Size), tsn, uint8(min(m.Losses, 255))
	s.losses, s.forGap = 0, false
	l.fly(psn)
	return psn
}

func (l *ledger) grow() {
	old := l.ring
	l.ring = make([]entry, max(4, 2*len(old)))
	for psn := l.floor; psn != l.next; psn = l.space.Add(psn, 1) {
		*l.slot(psn) = old[int(psn)&(len(old)-1)]
	}
}

// rest gives back the board of a ledger in which nothing is outstanding.
func (l *ledger) rest() {
	if l.floor == l.next {
		l.board = nil
	}
}

func (l *ledger) resend(psn, tsn uint32) {
	s := l.slot(psn)
	if s.state != lost {
		panic("path: resend of a PSN that is not lost")
	}
	l.unlink(&l.lost, psn)
	s.tsn = tsn
	l.fly(psn)
}

func (l *ledger) fly(psn uint32) {
	s := l.slot(psn)
	s.state = flying
	l.inFlight += int(s.size)
	l.push(&l.flight, psn)
}

// land takes a PSN out of its list. It returns false when the PSN is in none.
func (l *ledger) land(psn uint32, into state) bool {
	s := l.slot(psn)
	switch s.state {
	case flying:
		l.inFlight -= int(s.size)
		l.unlink(&l.flight, psn)
	case lost:
		l.unlink(&l.lost, psn)
	default:
		return false
	}
	s.state = into
	return true
}

// lose moves a PSN from the flight to the lost list.
func (l *ledger) lose(psn uint32) {
	l.land(psn, lost)
	l.slot(psn).state = lost
	l.push(&l.lost, psn)
}

func (l *ledger) abandon(psn uint32) bool {
	if !l.holds(psn) || !l.land(psn, abandoned) {
		return false
	}
	l.raise()
	return true
}

// raise moves the floor over all that is done.
func (l *ledger) raise() {
	for l.floor != l.next {
		s := l.slot(l.floor)
		if s.state != acked && s.state != abandoned {
			return
		}
		s.state = free
		l.floor = l.space.Add(l.floor, 1)
	}
}

func (l *ledger) push(q *list, psn uint32) {
	if q.n == 0 {
		q.head = psn
	} else {
		l.slot(q.tail).next = psn
		l.slot(psn).prev = q.tail
	}
	q.tail = psn
	q.n++
}

func (l *ledger) unlink(q *list, psn uint32) {
	s := l.slot(psn)
	if psn != q.head {
		l.slot(s.prev).next = s.next
	} else {
		q.head = s.next
	}
	if psn != q.tail {
		l.slot(s.next).prev = s.prev
	} else {
		q.tail = s.prev
	}
	q.n--
}
