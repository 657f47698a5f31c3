// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"slices"
)

// Packet is what a receiver's path looks at. PSN and TSN count from 0.
type Packet struct {
	PSN, TSN, Floor int64
	Sequenced       bool
	CE, NotECT      bool
}

// Verdict is what a path makes of a packet.
type Verdict int

// The verdicts.
const (
	Heard     Verdict = iota // not sequenced
	New                      // to be placed, or refused
	Duplicate                // received before, or below the floor
	Copy                     // the very transmission was seen
	Outside                  // beyond what a correct sender sends
)

// Counts are the counters of a path's receiving half.
type Counts struct {
	Packets, CE, NotECT, Duplicates, LastDuplicate, Refused, Copies int64
}

// Board is what a receiver knows of a path.
type Board struct {
	window   int64          // PSNs from base that may arrive, and TSNs that are remembered
	received map[int64]bool // PSNs placed
	seen     map[int64]bool // TSNs
	floor    int64          // the highest named by the sender
	largest  int64
	counts   Counts
}

// NewBoard returns a path on which nothing has arrived.
func NewBoard() *Board { return NewBoardWithin(slots) }

// NewBoardWithin is for numbers so narrow that no more than a window of them can be told apart.
func NewBoardWithin(window int64) *Board {
	return &Board{
		window: window, received: map[int64]bool{}, seen: map[int64]bool{}, largest: -1, counts: Counts{LastDuplicate: -1},
	}
}

// Base is the lowest PSN neither received nor below a floor.
func (b *Board) Base() int64 {
	base := b.floor
	for b.received[base] {
		base++
	}
	return base
}

// Arrive takes in a packet.
func (b *Board) Arrive(p Packet) Verdict {
	recent := p.TSN > b.largest-b.window
	if recent && b.seen[p.TSN] {
		b.counts.Copies++
		return Copy
	}
	b.seen[p.TSN] = true
	b.largest = max(b.largest, p.TSN)
	b.floor = max(b.floor, p.Floor)
	if !p.Sequenced {
		return Heard
	}
	if p.PSN >= b.Base()+b.window {
		return Outside
	}
	b.counts.Packets++
	if p.CE {
		b.counts.CE++
	}
	if p.NotECT {
		b.counts.NotECT++
	}
	if p.PSN < b.Base() || b.received[p.PSN] {
		b.counts.Duplicates++
		b.counts.LastDuplicate = p.TSN
		return Duplicate
	}
	return New
}

// Place marks a New packet's PSN as received.
func (b *Board) Place(psn int64) { b.received[psn] = true }

// Refuse counts a New packet that was not placed.
func (b *Board) Refuse() { b.counts.Refused++ }

// Report is what an ACK says now.
func (b *Board) Report() (Block, Counts) {
	block := Block{Base: b.Base(), Largest: b.largest}
	for psn := range maps.Keys(b.received) {
		if psn > block.Base && psn < block.Base+slots {
			block.Sack = append(block.Sack, psn)
		}
	}
	slices.Sort(block.Sack)
	return block, b.counts
}
