// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"math/big"
	"slices"
)

// NoShare is what a connection is told that nobody limits.
const NoShare = 1<<32 - 1

// Shares divides a receiver's inbound capacity among the connections that are sending to it.
type Shares struct {
	capacity int64 // kbit/s; 0 = not known
	memory   int64 // ns; who is silent for longer has no share
	senders  map[uint64]sender
	serial   int64 // of the set of senders
	told     []uint64
}

// sender is a connection that still lacks bytes.
type sender struct {
	lacks int64
	heard int64 // ns
}

// NewShares returns a receiver to which nobody sends.
func NewShares(capacity, memory int64) *Shares {
	return &Shares{capacity: capacity, memory: memory, senders: map[uint64]sender{}}
}

// Hear takes in that a connection has sent, and what its messages under way still lack.
func (s *Shares) Hear(now int64, conn uint64, lacks int64) {
	if s.capacity == 0 {
		return
	}
	if lacks == 0 {
		delete(s.senders, conn)
	} else {
		s.senders[conn] = sender{lacks, now}
	}
	s.count()
}

// count gives the set of senders a new number when it is another one than before.
func (s *Shares) count() {
	if set := slices.Sorted(maps.Keys(s.senders)); !slices.Equal(set, s.told) {
		s.told = set
		s.serial++
	}
}

// Share is what a connection is granted, in kbit/s, and the number of the set of senders. NoShare as a rate means no limit.
func (s *Shares) Share(now int64, conn uint64) (rate *big.Rat, serial int64) {
	maps.DeleteFunc(s.senders, func(_ uint64, d sender) bool { return now-d.heard > s.memory })
	s.count()
	if _, sends := s.senders[conn]; !sends || len(s.senders) < 2 {
		return big.NewRat(NoShare, 1), s.serial
	}
	mean := new(big.Rat)
	for d := range maps.Values(s.senders) {
		mean.Add(mean, big.NewRat(d.lacks, int64(len(s.senders))))
	}
	// A weight is what is lacking, held within a factor of 1.3 around the mean.
	least, most := new(big.Rat).Mul(mean, big.NewRat(10, 13)), new(big.Rat).Mul(mean, big.NewRat(13, 10))
	sum, own := new(big.Rat), new(big.Rat)
	for id, d := range s.senders {
		w := big.NewRat(d.lacks, 1)
		if w.Cmp(least) < 0 {
			w = least
		}
		if w.Cmp(most) > 0 {
			w = most
		}
		sum.Add(sum, w)
		if id == conn {
			own = w
		}
	}
	rate = new(big.Rat).Mul(big.NewRat(s.capacity, 1), own.Quo(own, sum))
	if one := big.NewRat(1, 1); rate.Cmp(one) < 0 {
		return one, s.serial
	}
	return rate, s.serial
}
