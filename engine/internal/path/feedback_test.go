// SPDX-License-Identifier: Apache-2.0

package path

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/fuzz/model"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"pgregory.net/rapid"
)

// hearsay is a sender with chunks outstanding, some of them lost or sent again, and its model. What it hears need not be true.
type hearsay struct {
	t     rapid.TB
	space wire.Space
	first uint32
	now   mono.Time
	path  *Path
	model *model.Ledger
}

// newHearsay sends up to 300 packets, of which the seed decides what became.
func newHearsay(t rapid.TB, space wire.Space, first uint32, seed uint64) *hearsay {
	h := &hearsay{t: t, space: space, first: first & space.Mask(), now: 1, model: model.NewLedger()}
	h.path = New(0, Route{}, testConfig(space, h.first))
	rng := rand.New(rand.NewPCG(seed, 4))
	for range rng.IntN(300) {
		h.now += mono.Time(rng.IntN(5000))
		switch k := rng.IntN(12); {
		case k == 0:
			h.must(h.model.Use(h.model.TSN()))
			h.path.Probe(h.now)
		case k == 1 && h.path.HasLost():
			m, psn, _ := h.path.NextLost()
			h.must(h.model.Send(int64(m.Ref.Message), h.model.TSN(), m.Size))
			h.path.Resend(h.now, psn)
		case k == 2 && h.model.Next() > h.model.Floor():
			base := h.model.Floor() + rng.Int64N(h.model.Next()-h.model.Floor())
			h.hear(h.block(base, h.model.TSN()-1, nil))
		case h.path.Room(1000):
			h.path.Record(h.now, Moved{Ref: Ref{Message: uint32(h.model.Next())}, Size: 1000})
			h.must(h.model.Send(h.model.Next(), h.model.TSN(), 1000))
		}
	}
	return h
}

func (h *hearsay) must(err error) {
	if err != nil {
		h.t.Helper()
		h.t.Fatal(err)
	}
}

// block is an ACK's block about numbers that count from zero, and the same for the model.
func (h *hearsay) block(base, largest int64, sack []int64) (wire.PathAck, model.Block) {
	b := wire.PathAck{Base: h.space.Add(h.first, base), Largest: h.space.Add(h.first, largest), HasSack: len(sack) > 0}
	for _, psn := range sack {
		b.Sack.Set(int(psn - base))
	}
	return b, model.Block{Base: base, Largest: largest, Sack: sack}
}

// near turns the fields of any block into a block about numbers near those that were sent, so that about half of all blocks
// are possible. Narrow spaces hold fewer numbers that can be told apart.
func (h *hearsay) near(b wire.PathAck) (wire.PathAck, model.Block) {
	span := min(400, int64(1)<<(h.space-1)-20)
	base := h.model.Next() + 3 - int64(b.Base)%span
	largest := h.model.TSN() + 2 - int64(b.Largest)%span
	var sack []int64
	if b.HasSack {
		for i := 1; i < 256; i++ {
			if b.Sack.Test(i) {
				sack = append(sack, base+int64(i))
			}
		}
	}
	return h.block(base, largest, sack)
}

// hear lets both take in a block. An impossible one must be refused; a possible one has the same effects on both.
func (h *hearsay) hear(b wire.PathAck, m model.Block) {
	h.t.Helper()
	if got, want := h.path.Valid(&b), h.model.Possible(m); got != want {
		h.t.Fatalf("%+v counts as valid: %v, want %v", m, got, want)
	} else if !got {
		return
	}
	refs, v := h.path.Ack(h.now, &b, b.ReceivedAt, nil)
	acked, lost := h.model.Ack(m)
	psns := make([]int64, 0, len(refs))
	for _, r := range refs {
		psns = append(psns, int64(r.Message))
	}
	slices.Sort(psns)
	if diff := cmp.Diff(append([]int64{}, acked...), psns); diff != "" {
		h.t.Fatalf("acknowledged by %+v (-model +engine):\n%s", m, diff)
	}
	if v.Lost != len(lost) || h.path.InFlight() != h.model.InFlight() {
		h.t.Fatalf("%+v: %d lost and %d bytes in flight, the model says %d and %d", m, v.Lost, h.path.InFlight(), len(lost), h.model.InFlight())
	}
	h.must(h.path.Check())
}

// hearBlocks takes blocks, one behind the other as on the wire, apart, and lets them be heard.
func hearBlocks(t rapid.TB, setup uint64, blocks []byte) {
	space := []wire.Space{8, 9, 10, 16, 32}[setup%5]
	h := newHearsay(t, space, uint32(setup>>8), setup)
	for len(blocks) > 0 {
		var b wire.PathAck
		n, err := b.Decode(blocks)
		if err != nil {
			return
		}
		blocks = blocks[n:]
		h.now += 1000
		h.hear(h.near(b))
	}
}

// Whatever ACKs say, and in whatever order they come: what was never sent is refused, and what counts as acknowledged, as lost
// and as in flight is what sets of unbounded integers say. A block about the past adds bits and takes none away.
//
//mr:prop P5 P6 P13
//mr:test MR-ACK-005 MR-ACK-006
func TestAnyFeedbackEqualsSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var blocks []byte
		for range rapid.IntRange(1, 12).Draw(t, "blocks") {
			b := wire.PathAck{Base: uint32(rapid.IntRange(0, 400).Draw(t, "base")), Largest: uint32(rapid.IntRange(0, 60).Draw(t, "largest"))}
			for range rapid.IntRange(0, 20).Draw(t, "bits") {
				b.Sack.Set(rapid.IntRange(1, 255).Draw(t, "bit"))
				b.HasSack = true
			}
			var err error
			if blocks, err = b.Append(blocks); err != nil {
				t.Fatal(err)
			}
		}
		hearBlocks(t, rapid.Uint64().Draw(t, "setup"), blocks)
	})
}

// FuzzFeedback: no ACK acknowledges what was never sent, or anything else than what sets of unbounded integers say. The seeds are
// the blocks of the shared vectors.
//
//mr:prop P5 P46
func FuzzFeedback(f *testing.F) {
	for i, b := range vectorBlocks(f) {
		f.Add(uint64(i), b)
		f.Add(uint64(i)*0x9e3779b97f4a7c15, append(b, b...))
	}
	f.Fuzz(func(t *testing.T, setup uint64, blocks []byte) {
		if len(blocks) < 2000 {
			hearBlocks(t, setup, blocks)
		}
	})
}

// A set of true ACKs acknowledges the same chunks in any order and any number of times.
//
//mr:prop P7
//mr:test MR-ACK-006
func TestFeedbackCommutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		space := wire.Space(rapid.SampledFrom([]int{8, 10, 32}).Draw(t, "bits"))
		ends := [2]*hearsay{newHearsay(t, space, uint32(seed), seed), newHearsay(t, space, uint32(seed), seed)}
		var order []wire.PathAck
		for range rapid.IntRange(1, 8).Draw(t, "blocks") {
			b, m := ends[0].near(wire.PathAck{
				Base: uint32(rapid.IntRange(3, 100).Draw(t, "base")), Largest: uint32(rapid.IntRange(2, 60).Draw(t, "largest")),
				HasSack: true, Sack: wire.Bits256{rapid.Uint64().Draw(t, "sack") >> 1},
			})
			if ends[0].model.Possible(m) {
				order = append(order, b)
			}
		}
		again := append(slices.Clone(order), order...)
		var acked [2][]Ref
		for i, blocks := range [][]wire.PathAck{order, rapid.Permutation(again).Draw(t, "order")} {
			for _, b := range blocks {
				acked[i], _ = ends[i].path.Ack(ends[i].now, &b, 0, acked[i])
			}
			slices.SortFunc(acked[i], func(a, b Ref) int { return int(a.Message) - int(b.Message) })
		}
		if diff := cmp.Diff(acked[0], acked[1]); diff != "" {
			t.Fatalf("once in order and twice in another (-order +other):\n%s", diff)
		}
	})
}

// No lie about when an ACK was held back, nor any delay, makes a round-trip time negative or a timer shorter than the clock's
// granularity; nor longer than a second, or what real time and the first guess make of it.
//
//mr:prop P35
//mr:test MR-LOSS-008 MR-LOSS-013
func TestLiesAboutTimeBendNoTimer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(0, Route{}, testConfig(32, 0))
		now, longestRTT := mono.Time(1), p.cfg.InitialRTT
		for range rapid.IntRange(1, 60).Draw(t, "samples") {
			s := p.Record(now, Moved{Size: 1000})
			delay := time.Duration(rapid.OneOf(rapid.Int64Range(0, 100_000), rapid.Int64Range(0, int64(time.Minute))).Draw(t, "delay"))
			now, longestRTT = now.Add(delay), max(longestRTT, delay)
			b := wire.PathAck{Base: s.PSN + 1, Largest: s.TSN, ReceivedAt: rapid.Uint32().Draw(t, "received")}
			if !p.Valid(&b) {
				t.Fatal("a true block is invalid")
			}
			p.Ack(now, &b, rapid.Uint32().Draw(t, "sent"), nil)
			if p.rtt.smoothed < 0 || p.rtt.variance < 0 || p.RTT() < 0 || p.rtt.smoothed > longestRTT || p.rtt.variance > longestRTT {
				t.Fatalf("srtt %v, rttvar %v; nothing took longer than %v", p.rtt.smoothed, p.rtt.variance, longestRTT)
			}
			if pto := p.PTO(); pto < p.cfg.Granularity+p.cfg.PeerDelay || pto > 5*longestRTT+p.cfg.Granularity+p.cfg.PeerDelay {
				t.Fatalf("PTO %v after round trips of at most %v", pto, longestRTT)
			}
			p.Record(now, Moved{Size: 1000})
			began := now
			for range rapid.IntRange(0, 20).Draw(t, "timeouts") {
				at := p.Deadline()
				if wait := at.Sub(now); wait < 0 || wait > max(longest, p.PTO()) {
					t.Fatalf("a deadline in %v", wait)
				}
				if at.Sub(began) > time.Hour {
					break // the connection has failed by now
				}
				now = at
				p.Expire(now)
				if p.ledger.flight.n == 0 {
					_, psn, _ := p.NextLost()
					p.Resend(now, psn)
				}
			}
			longestRTT = max(longestRTT, now.Sub(began))
			b = wire.PathAck{Base: p.ledger.next, Largest: p.space(-1)}
			p.Ack(now, &b, 0, nil)
		}
	})
}

// space is a TSN at a distance from the next one.
func (p *Path) space(off int64) uint32 { return p.cfg.Space.Add(p.ledger.nextTSN, off) }

// vectorBlocks are the blocks of the ACKs among the shared vectors, as bytes.
func vectorBlocks(tb testing.TB) (blocks [][]byte) {
	for _, packet := range vectorPackets(tb) {
		var p wire.Packet
		if _, err := p.Decode(packet); err != nil || p.Base.Opcode != wire.OpcodeAck {
			continue
		}
		var all []byte
		for i := range p.Plain.Ack.Blocks {
			var err error
			if all, err = p.Plain.Ack.Blocks[i].Append(all); err != nil {
				tb.Fatal(err)
			}
		}
		blocks = append(blocks, all)
	}
	if len(blocks) == 0 {
		tb.Fatal("no ACK among the vectors")
	}
	return blocks
}

// Whatever counters a peer reports, and in whatever order: what the window hears of is possible, and once it was not, the path is
// blind for good.
//
//mr:prop P32
//mr:test MR-CC-016
func TestCountersOfAnyKindStayPossible(t *testing.T) {
	blind := 0
	rapid.Check(t, func(t *rapid.T) {
		p := New(0, Route{}, testConfig(32, 0))
		var packets, marked uint64
		var known [2]uint32
		for range rapid.IntRange(1, 30).Draw(t, "blocks") {
			for range rapid.IntRange(1, 30).Draw(t, "sent") {
				if p.Room(1000) {
					p.Record(0, Moved{Size: 1000})
				}
			}
			b := wire.PathAck{Base: p.ledger.next, Largest: p.space(-1)}
			b.Packets = known[0] + uint32(rapid.OneOf(rapid.IntRange(-5, 60), rapid.Int()).Draw(t, "packets"))
			b.Ce = known[1] + uint32(rapid.OneOf(rapid.IntRange(-2, 20), rapid.Int()).Draw(t, "ce"))
			was := p.Blind()
			_, v := p.Ack(1, &b, 0, nil)
			if was && !p.Blind() {
				t.Fatal("a path that has heard lies believes in marks again")
			}
			packets, marked = packets+uint64(v.Feedback.Packets), marked+uint64(v.Feedback.Marked)
			if v.Feedback.Marked > v.Feedback.Packets || packets > 2*p.Sent.Packets+lateCopies || marked != p.Sent.CE {
				t.Fatalf("%+v after %d packets sent: %d have arrived and %d were marked", v.Feedback, p.Sent.Packets, packets, marked)
			}
			if v.Feedback.Packets > 0 {
				known = [2]uint32{b.Packets, b.Ce}
			}
		}
		if p.Blind() {
			blind++
		}
	})
	if blind == 0 {
		t.Error("no path was ever blind")
	}
}
