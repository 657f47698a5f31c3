// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"sort"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// fabric gives each path of a pair, in each direction, a link of its own: with a rate, and a queue that marks packets and is
// bounded. A link can be cut, whatever port the path uses.
type fabric struct {
	p     *pair
	bits  int64 // per second, of a link
	mark  int   // bytes in a queue from which on packets are marked
	most  int   // bytes that a queue holds
	delay time.Duration
	free  [2]map[uint16]engine.Time
	cut   [2]map[uint16]bool
	spy   func(from int, d engine.Datagram, lost bool) // sees every packet; may be nil
	drops int                                          // of full queues
}

func newFabric(p *pair, gigabits, mark, most int) *fabric {
	f := &fabric{p: p, bits: int64(gigabits) * 1e9, mark: mark, most: most, delay: wireDelay}
	for i := range f.free {
		f.free[i], f.cut[i] = map[uint16]engine.Time{}, map[uint16]bool{}
	}
	p.drop = f.carry
	return f
}

// carry takes a datagram off its pair and delivers it when its link has. It returns true always: the pair is done with it.
func (f *fabric) carry(from int, d engine.Datagram) bool {
	id := pathOf(d)
	lost := f.cut[from][id]
	queued := int64(max(f.free[from][id]-f.p.now, 0)) * f.bits / 8e9
	if !lost && queued > int64(f.most) {
		lost = true
		f.drops++
	}
	if f.spy != nil {
		f.spy(from, d, lost)
	}
	if lost {
		return true
	}
	if queued > int64(f.mark) && d.ECN == engine.ECT0 {
		d.ECN = engine.CE
	}
	lasts := time.Duration(int64(len(d.Bytes)+42) * 8e9 / f.bits)
	f.free[from][id] = max(f.free[from][id], f.p.now).Add(lasts)
	f.deliver(flight{f.free[from][id].Add(f.delay), 1 - from, seen(d)})
	return true
}

// deliver enters a flight by its time of arrival, behind those of the same time.
func (f *fabric) deliver(fl flight) {
	w := f.p.wire
	i := sort.Search(len(w), func(i int) bool { return w[i].at > fl.at })
	w = append(w, flight{})
	copy(w[i+1:], w[i:])
	w[i] = fl
	f.p.wire = w
}
