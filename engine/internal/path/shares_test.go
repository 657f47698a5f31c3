// SPDX-License-Identifier: Apache-2.0

package path

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// lane is a path through a queue of its own, which marks what finds too much before it.
type lane struct {
	sender, receiver *Path
	free             mono.Time // when the queue is empty
	marksUntil       mono.Time // everything is marked until then
	data             []passing
	acks             []passing
	acked            int
}

// passing is a packet or a block under way.
type passing struct {
	at    mono.Time
	a     Arrival
	block wire.PathAck
}

const (
	laneSize    = 1000                  // bytes of a packet
	laneService = 2 * time.Microsecond  // of a packet by the queue
	laneDelay   = 20 * time.Microsecond // one way
	laneMark    = 20 * laneService      // waiting time from which packets are marked
)

func (l *lane) send(now mono.Time) {
	s := l.sender.Record(now, Moved{Size: laneSize})
	wait := max(l.free.Sub(now), 0)
	l.free = now.Add(wait + laneService)
	a := Arrival{At: l.free.Add(laneDelay), PSN: s.PSN, TSN: s.TSN, Floor: s.Floor, ECN: l.sender.ECN()}
	if wait > laneMark || now < l.marksUntil {
		a.ECN = ce
	}
	l.data = append(l.data, passing{at: a.At, a: a})
}

// turn lets arrive what is due at either end.
func (l *lane) turn(now mono.Time) {
	for len(l.data) > 0 && l.data[0].at <= now {
		a := l.data[0].a
		l.data = l.data[1:]
		l.receiver.Tracker().Admit(a)
		l.receiver.Tracker().Placed(a.PSN)
		ack := passing{at: a.At.Add(laneDelay)}
		l.receiver.Tracker().Report(&ack.block)
		l.acks = append(l.acks, ack)
	}
	for len(l.acks) > 0 && l.acks[0].at <= now {
		refs, _ := l.sender.Ack(now, &l.acks[0].block, l.acks[0].block.ReceivedAt, nil)
		l.acked += len(refs)
		l.acks = l.acks[1:]
	}
}

// jain is the fairness of shares: 1 when all are equal, 1/n when one has everything.
func jain(shares []int) float64 {
	sum, squares := 0.0, 0.0
	for _, s := range shares {
		sum += float64(s)
		squares += float64(s) * float64(s)
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// Equal paths, each with a marking queue of its own, get equal shares of a sender that always has more to send, although for the
// first 20 ms half of them were marked all the time. While that lasts the others go on as if nothing had happened.
//
//mr:prop P34
//mr:test MR-PATH-011 MR-CC-002
func TestEqualPathsGetEqualShares(t *testing.T) {
	const paths, bad = 8, mono.Time(20 * time.Millisecond)
	cfg := testConfig(32, 0)
	cfg.Congestion.Initial, cfg.Congestion.Least, cfg.Congestion.Step = 10*laneSize, laneSize, laneSize
	set := NewSet(paths, 1, rand.New(rand.NewPCG(34, 0)))
	lanes := make([]*lane, paths)
	for i := range lanes {
		lanes[i] = &lane{sender: New(uint16(i), Route{}, cfg), receiver: New(uint16(i), Route{}, cfg)}
		if i%2 == 0 {
			lanes[i].marksUntil = bad
		}
		set.Add(lanes[i].sender)
	}
	run := func(from, to mono.Time) (shares []int) {
		for _, l := range lanes {
			l.acked = 0
		}
		for now := from; now < to; now += 500 {
			for _, l := range lanes {
				l.turn(now)
			}
			for p := set.Pick(laneSize); p != nil; p = set.Pick(laneSize) {
				lanes[p.ID].send(now)
			}
		}
		for _, l := range lanes {
			shares = append(shares, l.acked)
		}
		return shares
	}
	marked := run(0, bad)
	for i, n := range marked {
		if full := int(bad / mono.Time(laneService)); i%2 == 1 && n < full*9/10 || i%2 == 0 && n > full/10 {
			t.Errorf("path %d delivers %d packets of %d while every second path is marked", i, n, full)
		}
	}
	run(bad, 3*bad)
	shares := run(3*bad, 5*bad)
	if index := jain(shares); index < 0.9 {
		t.Errorf("fairness %.3f of %v", index, shares)
	} else {
		t.Logf("fairness %.4f of %v, while half of them was marked %.4f", index, shares, jain(marked))
	}
}
