// SPDX-License-Identifier: Apache-2.0

package path

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/engine/internal/cc"
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"pgregory.net/rapid"
)

func testConfig(space wire.Space, first uint32) *Config {
	return &Config{
		Space: space, First: first, PeerFirst: first,
		PeerDelay: 10 * time.Microsecond, InitialRTT: time.Millisecond, Granularity: 100 * time.Microsecond,
		Congestion: cc.Config{Initial: 1 << 20, Least: 1000, Most: 1 << 20, Step: 1000},
	}
}

// packet is a transmission as the model sees it: PSN and TSN count from zero and never wrap.
type packet struct {
	psn, tsn int
	floor    int
	stamp    Stamp
	probe    bool
}

// scoreboard drives a sender and a receiver over a lossy, duplicating, first-in first-out channel, and keeps beside them
// what any reader of the specification would: sets of unbounded integers, and no windows.
type scoreboard struct {
	t        *rapid.T
	space    wire.Space
	now      mono.Time
	sender   *Path
	receiver *Path
	channel  []packet
	acks     []wire.PathAck // under way, in any order

	next, tsn int
	latest    map[int]int // psn -> tsn of its latest transmission
	settled   map[int]bool
	placed    map[int]bool
	acked     map[int]bool
	lostTSN   map[int]bool // transmissions that the channel dropped, or may have
	floorSeen int
}

func newScoreboard(t *rapid.T) *scoreboard {
	space := wire.Space(rapid.SampledFrom([]int{8, 9, 10, 16, 32}).Draw(t, "bits"))
	first := rapid.Uint32().Draw(t, "first") & space.Mask()
	cfg := testConfig(space, first)
	return &scoreboard{
		t: t, space: space, sender: New(0, Route{}, cfg), receiver: New(0, Route{}, cfg),
		latest: map[int]int{}, settled: map[int]bool{}, placed: map[int]bool{}, acked: map[int]bool{}, lostTSN: map[int]bool{},
	}
}

func (s *scoreboard) wire(n int) uint32 { return s.space.Add(s.sender.cfg.First, int64(n)) }

// floor is the lowest PSN neither acknowledged nor abandoned.
func (s *scoreboard) floor() int {
	for n := 0; n < s.next; n++ {
		if !s.settled[n] {
			return n
		}
	}
	return s.next
}

func (s *scoreboard) send() {
	if !s.sender.Room(1000) {
		if s.next-s.floor() < int(window(s.sender.cfg.Space)) && s.sender.InFlight() < 1<<20-1000 {
			s.t.Fatalf("no room with %d PSNs from floor to next", s.next-s.floor())
		}
		return
	}
	stamp := s.sender.Record(s.now, Moved{Ref: Ref{Message: uint32(s.next)}, Size: 1000})
	s.transmitted(s.next, stamp)
	s.next++
}

func (s *scoreboard) transmitted(psn int, stamp Stamp) {
	want := Stamp{PSN: s.wire(psn), TSN: s.wire(s.tsn), Floor: uint8(psn - s.floor())}
	if diff := cmp.Diff(want, stamp); diff != "" {
		s.t.Fatalf("stamp of psn %d: %s", psn, diff)
	}
	s.latest[psn] = s.tsn
	s.channel = append(s.channel, packet{psn: psn, tsn: s.tsn, floor: s.floor(), stamp: stamp})
	s.tsn++
}

func (s *scoreboard) resend() {
	if !s.sender.HasLost() {
		return
	}
	m, psn, fits := s.sender.NextLost()
	if !fits {
		return
	}
	n := int(m.Ref.Message)
	if psn != s.wire(n) || s.settled[n] {
		s.t.Fatalf("resends psn %d for chunk %d, settled %v", psn, n, s.settled[n])
	}
	if !s.lostTSN[s.latest[n]] {
		s.t.Fatalf("psn %d is resent although its transmission %d was not lost", n, s.latest[n])
	}
	s.transmitted(n, s.sender.Resend(s.now, psn))
}

func (s *scoreboard) abandon() {
	if s.sender.HasLost() {
		m, psn, _ := s.sender.NextLost()
		s.sender.Abandon(psn)
		s.settled[int(m.Ref.Message)] = true
	}
}

func (s *scoreboard) probe() {
	stamp := s.sender.Probe(s.now)
	s.channel = append(s.channel, packet{tsn: s.tsn, floor: s.floor(), stamp: stamp, probe: true})
	s.tsn++
}

func (s *scoreboard) drop() {
	if len(s.channel) > 0 {
		s.lostTSN[s.channel[0].tsn] = true
		s.channel = s.channel[1:]
	}
}

func (s *scoreboard) arrive() {
	if len(s.channel) == 0 {
		return
	}
	p := s.channel[0]
	s.channel = s.channel[1:]
	s.deliver(p)
}

func (s *scoreboard) copyArrives() {
	if len(s.channel) > 0 {
		s.deliver(s.channel[0])
	}
}

func (s *scoreboard) deliver(p packet) {
	a := Arrival{At: s.now, PSN: p.stamp.PSN, TSN: p.stamp.TSN, Floor: p.stamp.Floor, ECN: 2}
	tracker := s.receiver.Tracker()
	s.floorSeen = max(s.floorSeen, p.floor)
	if p.probe {
		tracker.Hear(a)
		return
	}
	switch verdict, _, _ := tracker.Admit(a); verdict {
	case Fresh:
		if s.placed[p.psn] {
			s.t.Fatalf("psn %d is fresh twice", p.psn)
		}
		tracker.Placed(a.PSN)
		s.placed[p.psn] = true
	case Duplicate, Copy:
		if !s.placed[p.psn] && p.psn >= s.floorSeen {
			s.t.Fatalf("psn %d counts as seen (%d) and was not", p.psn, verdict)
		}
	case Outside:
		s.t.Fatalf("psn %d is outside the window", p.psn)
	}
}

// report checks a block against the model: it tells the truth, and all of it.
func (s *scoreboard) report() {
	if !s.receiver.Tracker().Heard() {
		return
	}
	var b wire.PathAck
	s.receiver.Tracker().Report(&b)
	base := s.floorSeen
	for s.placed[base] {
		base++
	}
	if b.Base != s.wire(base) {
		s.t.Fatalf("base %d, want %d", b.Base, s.wire(base))
	}
	for i := range 256 {
		if int64(i) < window(s.receiver.cfg.Space) && b.Sack.Test(i) != s.placed[base+i] {
			s.t.Fatalf("bit %d is %v, placed %v", i, b.Sack.Test(i), s.placed[base+i])
		}
	}
	s.acks = append(s.acks, b)
}

func (s *scoreboard) ack() {
	if len(s.acks) == 0 {
		return
	}
	i := rapid.IntRange(0, len(s.acks)-1).Draw(s.t, "ack")
	b := s.acks[i]
	if rapid.Bool().Draw(s.t, "consume") || len(s.acks) > 8 {
		s.acks = append(s.acks[:i], s.acks[i+1:]...)
	}
	if s.tooOld(&b) {
		return
	}
	if !s.sender.Valid(&b) {
		s.t.Fatalf("a true block is invalid: %+v", b)
	}
	refs, _ := s.sender.Ack(s.now, &b, b.ReceivedAt, nil)
	for _, ref := range refs {
		n := int(ref.Message)
		if s.settled[n] || !s.placed[n] {
			s.t.Fatalf("psn %d is acknowledged: settled %v, placed %v", n, s.settled[n], s.placed[n])
		}
		s.settled[n], s.acked[n] = true, true
	}
}

// tooOld tells whether an ACK has been under way for so long that a narrow space cannot place it any more.
func (s *scoreboard) tooOld(b *wire.PathAck) bool {
	limit := int64(1) << (s.space - 2)
	return s.space.Diff(s.wire(s.tsn), b.Largest) > limit || s.space.Diff(s.wire(s.tsn), b.Largest) < 0 ||
		s.space.Diff(s.wire(s.next), b.Base) > limit || s.space.Diff(s.wire(s.next), b.Base) < 0
}

func (s *scoreboard) check() {
	if err := s.sender.Check(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.receiver.Check(); err != nil {
		s.t.Fatal(err)
	}
	if got, want := s.sender.ledger.floor, s.wire(s.floor()); got != want {
		s.t.Fatalf("floor %d, want %d", got, want)
	}
}

// Sender and receiver agree with a model of sets, over spaces so narrow that they wrap.
//
//mr:prop P1 P2 P3 P5 P6 P7 P11 P13
//mr:test MR-PATH-004 MR-PATH-005 MR-PATH-006 MR-PATH-008 MR-ACK-002 MR-ACK-003 MR-LOSS-001 MR-LOSS-003
func TestScoreboardEqualsSets(t *testing.T) { rapid.Check(t, playScoreboard) }

func playScoreboard(t *rapid.T) {
	s := newScoreboard(t)
	many := func(step func()) func(*rapid.T) {
		return func(t *rapid.T) {
			s.t = t
			s.now += 1000
			for range rapid.IntRange(1, 40).Draw(t, "times") {
				step()
			}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"send":    many(s.send),
		"arrive":  many(s.arrive),
		"arrive2": many(s.arrive),
		"resend":  many(s.resend),
		"drop":    func(t *rapid.T) { s.t = t; s.drop() },
		"abandon": func(t *rapid.T) { s.t = t; s.abandon() },
		"probe":   func(t *rapid.T) { s.t = t; s.probe() },
		"copy":    func(t *rapid.T) { s.t = t; s.copyArrives() },
		"report":  func(t *rapid.T) { s.t = t; s.report() },
		"ack":     func(t *rapid.T) { s.t = t; s.ack() },
		"":        func(t *rapid.T) { s.t = t; s.check() },
	})
}

// FuzzScoreboard: sender and receiver agree with a model of sets under whatever the fuzzer lets happen.
//
//mr:prop P46
func FuzzScoreboard(f *testing.F) { f.Fuzz(rapid.MakeFuzz(playScoreboard)) }
