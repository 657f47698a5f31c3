// SPDX-License-Identifier: Apache-2.0

package path

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/openmetaroce/metaroce/engine/internal/cc"
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// shifted is a sender and a receiver whose numbers begin anywhere. Its diary holds all that they say, with numbers as
// distances from the first one.
type shifted struct {
	space            wire.Space
	first            uint32
	now              mono.Time
	sender, receiver *Path
	channel          []Stamp
	acks             []wire.PathAck
	next             uint32 // message
	tsns             int64
	diary            []int64
}

func newShifted(space wire.Space, first uint32) *shifted {
	cfg := testConfig(space, first)
	cfg.Congestion = cc.Config{Initial: 200_000, Least: 1000, Most: 1 << 20, Step: 1000}
	return &shifted{space: space, first: first, sender: New(0, Route{}, cfg), receiver: New(0, Route{}, cfg)}
}

func (s *shifted) note(words ...int64) { s.diary = append(s.diary, words...) }

func (s *shifted) distance(n uint32) int64 { return int64((n - s.first) & s.space.Mask()) }

func (s *shifted) transmit(stamp Stamp) {
	s.note(1, s.distance(stamp.PSN), s.distance(stamp.TSN), int64(stamp.Floor))
	s.channel = append(s.channel, stamp)
	s.tsns++
}

func (s *shifted) arrive(stamp Stamp, ecn uint8) {
	a := Arrival{At: s.now, PSN: stamp.PSN, TSN: stamp.TSN, Floor: stamp.Floor, ECN: ecn}
	verdict, newest, urgent := s.receiver.Tracker().Admit(a)
	s.note(2, int64(verdict), fact(newest).word(), fact(urgent).word())
	if verdict == Fresh {
		s.receiver.Tracker().Placed(a.PSN)
	}
}

// fact is something that is so or not, for the diary.
type fact bool

func (f fact) word() int64 {
	if f {
		return 1
	}
	return 0
}

func (s *shifted) report() {
	if !s.receiver.Tracker().Heard() {
		return
	}
	var b wire.PathAck
	s.receiver.Tracker().Report(&b)
	s.note(3, s.distance(b.Base), s.distance(b.Largest), int64(b.Packets), int64(b.Ce), int64(b.Counters.Duplicates))
	for _, word := range b.Sack {
		s.note(int64(word))
	}
	s.acks = append(s.acks, b)
}

func (s *shifted) ack(i int) {
	b := s.acks[i]
	s.acks = slices.Delete(s.acks, 0, i+1)
	if !s.sender.Valid(&b) {
		s.note(4)
		return
	}
	refs, v := s.sender.Ack(s.now, &b, b.ReceivedAt+10, nil)
	for _, r := range refs {
		s.note(5, int64(r.Message))
	}
	s.note(6, int64(v.Lost), fact(v.Progress).word(), int64(v.SentAt), int64(v.Feedback.Marked), int64(v.Feedback.Bytes))
}

// step does one thing, which the numbers of a trace choose: the same one wherever the space begins.
func (s *shifted) step(op, n int) {
	s.now += mono.Time(1000 * n)
	switch {
	case op < 10:
		for range n%12 + 1 {
			if s.sender.Room(1000) {
				s.transmit(s.sender.Record(s.now, Moved{Ref: Ref{Message: s.next}, Size: 1000}))
				s.next++
			}
		}
	case op < 20:
		for range min(n%12+1, len(s.channel)) {
			ecn := uint8(ect0)
			if n%16 == 0 {
				ecn = ce
			}
			s.arrive(s.channel[0], ecn)
			s.channel = s.channel[1:]
		}
	case op == 20 && len(s.channel) > 0:
		s.channel = s.channel[1:]
	case op == 21 && len(s.channel) > 0:
		s.arrive(s.channel[0], ect0)
	case op < 26:
		s.report()
	case op < 30 && len(s.acks) > 0:
		s.ack(n % len(s.acks))
	case op < 34 && s.sender.HasLost():
		_, psn, fits := s.sender.NextLost()
		if n%5 == 0 {
			s.sender.Abandon(psn)
		} else if fits {
			s.transmit(s.sender.Resend(s.now, psn))
		}
	case op == 34:
		p := s.sender.Probe(s.now)
		s.note(7, s.distance(p.PSN), s.distance(p.TSN))
		s.tsns++
		s.receiver.Tracker().Hear(Arrival{At: s.now, PSN: p.PSN, TSN: p.TSN})
	case op == 35:
		s.note(8, fact(s.sender.Expire(s.now)).word())
	case op == 36 && n < 64 && !s.sender.Down():
		for _, m := range s.sender.Fail(s.now, Route{}, nil) {
			s.note(10, int64(m.Ref.Message))
		}
	}
	s.note(11, fact(s.sender.Down()).word())
	s.note(9, int64(s.sender.InFlight()), int64(s.sender.Window()), int64(s.sender.Deadline()))
}

// play runs a trace of steps and returns the diary.
func (s *shifted) play(t *testing.T, trace [][2]int) []int64 {
	t.Helper()
	for _, step := range trace {
		s.step(step[0], step[1])
	}
	for _, p := range []*Path{s.sender, s.receiver} {
		if err := p.Check(); err != nil {
			t.Fatalf("%d bits from %d: %v", s.space, s.first, err)
		}
	}
	return s.diary
}

// drawTrace draws steps.
func drawTrace(seed uint64, steps int) [][2]int {
	rng := rand.New(rand.NewPCG(seed, 36))
	trace := make([][2]int, steps)
	for i := range trace {
		trace[i] = [2]int{rng.IntN(37), rng.IntN(256)}
	}
	return trace
}

// edges are first numbers of 32 bits from which a trace meets the wrap, or the middle, at every distance within two windows.
func edges() (firsts []uint32) {
	for _, edge := range []uint32{0, 1 << 31} {
		for off := -int64(2 * slots); off <= 2*slots; off++ {
			firsts = append(firsts, edge+uint32(off))
		}
	}
	return firsts
}

// A trace says the same wherever its numbers begin: at each of the 256 numbers of an 8-bit space, in which it wraps again and
// again, and at 32 bits around the wrap and the middle.
//
//mr:prop P36
//mr:test MR-PATH-014
func TestTraceShiftsWithItsFirstNumber(t *testing.T) {
	eight := make([]uint32, 256)
	for i := range eight {
		eight[i] = uint32(i)
	}
	traces := 5
	if testing.Short() {
		traces = 1
	}
	for _, c := range []struct {
		space  wire.Space
		firsts []uint32
		traces int
	}{{8, eight, traces}, {10, eight, 1}, {32, edges(), 1}} {
		t.Run(fmt.Sprintf("%d bits", c.space), func(t *testing.T) {
			wraps, acked := int64(0), uint64(0)
			for seed := range uint64(c.traces) {
				trace := drawTrace(seed, 1500)
				want := newShifted(c.space, 0).play(t, trace)
				for _, first := range c.firsts {
					s := newShifted(c.space, first)
					if got := s.play(t, trace); !slices.Equal(got, want) {
						t.Fatalf("trace %d from %d differs from entry %d on", seed, first, firstDifference(got, want))
					}
					wraps += (int64(first) + s.tsns) >> c.space
					acked += s.sender.Sent.Acked
				}
			}
			t.Logf("%d wraps, %d chunks acknowledged", wraps, acked)
			if least := int64(len(c.firsts) / 4); wraps < least || c.space == 8 && wraps < int64(1000*c.traces) {
				t.Errorf("only %d wraps", wraps)
			}
		})
	}
}

func firstDifference(a, b []int64) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
