// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"pgregory.net/rapid"
)

var sizes = []int{0, 1, 7, 8, 9, 63, 64, 65, 200, 600, 2000}

// rounds is how often rapid has its hundred runs in each test: rare events must be met for certain. Each has tags, keys and
// first numbers of its own, also when rapid is given a seed.
const rounds = 4

// postAny posts an operation of any kind on any stream of either end.
func (a *arena) postAny() {
	for range rapid.IntRange(1, 4).Draw(a.t, "posts") {
		a.postOne()
	}
}

func (a *arena) postOne() {
	l := a.lane(rapid.IntRange(0, 1).Draw(a.t, "end"), uint16(rapid.IntRange(0, 2).Draw(a.t, "stream")))
	op := rapid.SampledFrom([]engine.Op{engine.OpWrite, engine.OpWrite, engine.OpSend, engine.OpRead, engine.OpFetchAdd}).Draw(a.t, "op")
	size := rapid.SampledFrom(sizes).Draw(a.t, "size")
	if op == engine.OpRead {
		size = min(size, l.written())
	}
	if a.strict {
		a.receive(l)
	}
	a.post(l, op, size)
}

// written is the number of bytes that earlier operations of a lane cover.
func (l *lane) written() (n int) {
	for _, w := range l.works {
		n += len(w.Data)
	}
	return n
}

// some draws a queue that is not empty.
func (a *arena) some() (from, path int, ok bool) {
	var all [][2]int
	for from := range a.wire {
		for path := range a.wire[from] {
			if len(a.wire[from][path]) > 0 {
				all = append(all, [2]int{from, path})
			}
		}
	}
	if len(all) == 0 {
		return 0, 0, false
	}
	at := rapid.SampledFrom(all).Draw(a.t, "queue")
	return at[0], at[1], true
}

// deliverSome delivers the first packets of a queue.
func (a *arena) deliverSome() {
	from, path, ok := a.some()
	if !ok {
		return
	}
	for range min(rapid.IntRange(1, 40).Draw(a.t, "packets"), len(a.wire[from][path])) {
		a.now = a.now.Add(500)
		a.deliver(a.take(from, path))
	}
}

// deliverLater delivers a packet that others have overtaken.
func (a *arena) deliverLater() {
	from, path, ok := a.some()
	if !ok {
		return
	}
	q := &a.wire[from][path]
	i := rapid.IntRange(0, len(*q)-1).Draw(a.t, "which")
	p := (*q)[i]
	*q = append((*q)[:i:i], (*q)[i+1:]...)
	a.deliver(p)
}

// copyFirst delivers the first packet of a queue and leaves it there: the network makes copies.
func (a *arena) copyFirst() {
	if from, path, ok := a.some(); ok {
		p := *a.wire[from][path][0]
		a.deliver(&p)
	}
}

func (a *arena) dropFirst() {
	if from, path, ok := a.some(); ok {
		for range min(rapid.IntRange(1, 5).Draw(a.t, "packets"), len(a.wire[from][path])) {
			a.take(from, path)
		}
	}
}

// dropFeedback loses a packet that is not sequenced.
func (a *arena) dropFeedback() {
	from, path, ok := a.some()
	if ok && a.wire[from][path][0].opcode >= wire.OpcodeAck {
		a.take(from, path)
	}
}

func (a *arena) markFirst() {
	if from, path, ok := a.some(); ok {
		for _, p := range a.wire[from][path] {
			p.packet.CE = !p.packet.NotECT
		}
	}
}

func (a *arena) wait() {
	a.advance(a.now.Add(1000 * (1 << rapid.IntRange(0, 8).Draw(a.t, "microseconds"))))
}

// timeout lets the next timer run out.
func (a *arena) timeout() {
	if next := min(a.ends[0].NextTimeout(), a.ends[1].NextTimeout()); next < a.now.Add(1e9) {
		a.advance(next)
	}
}

// machine drives an arena with actions until rapid has enough, and then to its end.
func machine(t *rapid.T, a *arena, met sometimes, actions map[string]func(*arena)) {
	steps := map[string]func(*rapid.T){}
	for name, act := range actions {
		steps[name] = func(t *rapid.T) {
			a.t = t
			act(a)
		}
	}
	t.Repeat(steps)
	a.t = t
	a.finish()
	met.note(a)
}

// On paths that keep order, under loss and copies, both halves of every path say
// what sets of unbounded integers say, packet by packet, and operations end at the very moment at which they must.
//
//mr:prop P1 P2 P3 P4 P5 P6 P7 P8 P11 P12 P13 P24 P25 P28 P36 P41
//mr:test MR-PATH-001 MR-PATH-004 MR-PATH-005 MR-PATH-006 MR-PATH-009 MR-ACK-001 MR-ACK-003 MR-ACK-010
//mr:test MR-LOSS-001 MR-LOSS-012
func TestOrderedPathsEqualSets(t *testing.T) {
	met := sometimes{}
	for round := range rounds {
		rapid.Check(t, func(t *rapid.T) {
			a := newArena(t, engine.Config{Seed: [32]byte{2: byte(round)}})
			a.strict = true
			machine(t, a, met, map[string]func(*arena){
				"post": (*arena).postAny, "post more": (*arena).postAny, "deliver": (*arena).deliverSome, "deliver more": (*arena).deliverSome,
				"drop": (*arena).dropFirst, "copy": (*arena).copyFirst, "wait": (*arena).wait, "timeout": (*arena).timeout,
			})
		})
	}
	met.require(t, "losses", "resends", "timeouts", "probes", "copies", "failed paths", "revived paths", "wraps", "overtaken routes",
		"more PSNs than a SACK holds")
}

// On a wire that marks chunks and loses feedback only, every window is that of exact fractions.
//
//mr:prop P29 P30 P31 P34
//mr:test MR-CC-002 MR-CC-003 MR-CC-010
func TestWindowsEqualExactFractions(t *testing.T) {
	met := sometimes{}
	for round := range rounds {
		rapid.Check(t, func(t *rapid.T) {
			a := newArena(t, engine.Config{Seed: [32]byte{2: byte(round)}})
			a.strict = true
			machine(t, a, met, map[string]func(*arena){
				"post": (*arena).postAny, "post more": (*arena).postAny, "deliver": (*arena).deliverSome, "deliver more": (*arena).deliverSome,
				"drop": (*arena).dropFeedback, "mark": (*arena).markFirst, "wait": (*arena).wait,
			})
		})
	}
	met.require(t, "marks", "wraps")
}

// Whatever order packets come in, and whether receives are posted in time or not, bytes lie
// where they belong, receives end in order, and nothing changes memory that the application has got back.
//
//mr:prop P14 P16 P17 P21 P22 P23 P24 P25 P26 P40
//mr:test MR-WIRE-010 MR-STREAM-001 MR-STREAM-005 MR-STREAM-012 MR-STREAM-017
func TestMessagesEqualLists(t *testing.T) {
	met := sometimes{}
	for round := range rounds {
		rapid.Check(t, func(t *rapid.T) {
			a := newArena(t, engine.Config{Seed: [32]byte{2: byte(round)}})
			machine(t, a, met, map[string]func(*arena){
				"post": (*arena).postAny, "deliver": (*arena).deliverSome, "deliver more": (*arena).deliverSome,
				"later": (*arena).deliverLater, "drop": (*arena).dropFirst, "copy": (*arena).copyFirst,
				"receive": func(a *arena) {
					a.receive(a.lane(rapid.IntRange(0, 1).Draw(a.t, "end"), uint16(rapid.IntRange(0, 2).Draw(a.t, "stream"))))
				},
				"wait": (*arena).wait, "timeout": (*arena).timeout,
			})
		})
	}
	met.require(t, "losses", "resends", "duplicates", "refusals", "copies")
}
