// SPDX-License-Identifier: Apache-2.0

package path

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// sleeper is a sender and a receiver with a lossy, first-in first-out channel between them. One that sleeps rests whenever
// everything has been acknowledged.
type sleeper struct {
	now              mono.Time
	sleeps           bool
	sender, receiver *Path
	said             []any
}

func newSleeper(cfg *Config) *sleeper {
	return &sleeper{sender: New(0, Route{}, cfg), receiver: New(0, Route{}, cfg)}
}

// say notes all that anybody could see of the sender.
func (s *sleeper) say(more ...any) {
	p := s.sender
	fraction, fresh := p.LossFraction()
	s.said = append(s.said, more...)
	s.said = append(s.said, p.PTO(), p.RTO(), p.RTT(), p.Window(), p.Room(1000), p.InFlight(), p.HasLost(), p.Silent(), p.Mute(),
		p.Overdue(), p.WantsProbe(), p.Exposed(), p.Down(), p.Idle(), p.ECN(), p.Narrow(), p.Health(), p.Sent, fraction, fresh, p.Deadline())
}

// carry lets a packet reach the receiver, with its mark, unless it is lost on the way.
func (s *sleeper) carry(stamp Stamp, mark, lost uint8) {
	a := Arrival{At: s.now, PSN: stamp.PSN, TSN: stamp.TSN, Floor: stamp.Floor, ECN: mark}
	if lost != 0 {
		return
	}
	verdict, newest, urgent := s.receiver.Tracker().Admit(a)
	s.said = append(s.said, verdict, newest, urgent)
	if verdict == Fresh {
		s.receiver.Tracker().Placed(stamp.PSN)
	}
}

// report carries an ACK back after a round trip.
func (s *sleeper) report() {
	var b wire.PathAck
	s.receiver.Tracker().Report(&b)
	s.now = s.now.Add(100 * time.Microsecond)
	if !s.sender.Valid(&b) {
		panic("an honest block is not valid")
	}
	refs, v := s.sender.Ack(s.now, &b, b.ReceivedAt, nil)
	s.say(b, refs, v)
}

// burst sends chunks of which some are lost, until all of them are there; then nothing for a while.
func (s *sleeper) burst(fates []uint8) {
	for i, fate := range fates {
		if s.sender.Room(1000) {
			s.carry(s.sender.Record(s.now, Moved{Ref: Ref{Chunk: uint32(i)}, Size: 1000 + int(fate)}), ect0+fate&1, fate&2)
		}
	}
	for !s.sender.Idle() || s.sender.Overdue() {
		s.now = max(s.now, min(s.sender.Deadline(), s.now.Add(time.Second)))
		s.say(s.sender.Expire(s.now))
		for s.sender.HasLost() {
			_, psn, _ := s.sender.NextLost()
			s.carry(s.sender.Resend(s.now, psn), ect0, 0)
		}
		stamp := s.sender.Probe(s.now)
		s.said = append(s.said, s.receiver.Tracker().Hear(Arrival{At: s.now, PSN: stamp.PSN, TSN: stamp.TSN}))
		s.report()
	}
	if s.sleeps {
		s.sender.Rest()
		s.receiver.Rest()
	}
	s.now = s.now.Add(3 * time.Second)
	s.say(s.sender.Expire(s.now), s.sender.Overtake(s.now))
}

// A path that rests between bursts does what one does that never rests, and holds no more than a fixed part meanwhile.
//
//mr:prop P43
func TestRestChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := wire.Space(rapid.SampledFrom([]int{8, 10, 32}).Draw(t, "bits"))
		cfg := testConfig(space, rapid.Uint32().Draw(t, "first")&space.Mask())
		one, other := newSleeper(cfg), newSleeper(cfg)
		other.sleeps = true
		bursts := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint8Range(0, 3), 0, 40), 1, 12).Draw(t, "bursts")
		for i, fates := range bursts {
			one.burst(fates)
			other.burst(fates)
			if diff := cmp.Diff(one.said, other.said); diff != "" {
				t.Fatalf("burst %d (-awake +resting)\n%s", i, diff)
			}
			one.said, other.said = nil, nil
			for _, p := range []*Path{other.sender, other.receiver} {
				if p.ledger.board != nil || p.tracker.rings != nil || p.watch != nil {
					t.Fatalf("a resting path has board %v, rings %v, watch %v", p.ledger.board, p.tracker.rings, p.watch)
				}
				if err := p.Check(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
