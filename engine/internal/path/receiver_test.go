// SPDX-License-Identifier: Apache-2.0

package path

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/fuzz/model"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"pgregory.net/rapid"
)

// vectorPackets are the packets of the shared vectors, valid and invalid ones.
func vectorPackets(tb testing.TB) (packets [][]byte) {
	tb.Helper()
	text, err := os.ReadFile("../../../schema/vectors/metaroce.json")
	if err != nil {
		tb.Fatal(err)
	}
	var file struct {
		Vectors []struct{ Packet, Hex string }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		tb.Fatal(err)
	}
	for _, v := range file.Vectors {
		if b, err := hex.DecodeString(v.Hex); err == nil && v.Packet == "Packet" {
			packets = append(packets, b)
		}
	}
	return packets
}

// listener is a tracker and its model, to which a sender without any manners speaks.
type listener struct {
	t       rapid.TB
	space   wire.Space
	first   uint32
	tracker *Tracker
	board   *model.Board
	tsn     int64 // the largest so far
	last    model.Block
	met     map[Admission]int
}

func newListener(t rapid.TB, space wire.Space, first uint32) *listener {
	cfg := testConfig(space, first&space.Mask())
	return &listener{
		t: t, space: space, first: cfg.First, tracker: New(0, Route{}, cfg).Tracker(), board: model.NewBoardWithin(window(space)), last: model.Block{Largest: -1}, met: map[Admission]int{},
	}
}

// word is a packet in five bytes: the distance of its PSN from base and of its TSN from the largest, the floor, and what else it is.
type word [5]byte

// The bits of a word's last byte.
const (
	unsequenced = 1 << iota
	congested
	unmarked
	refusedByStream
)

// say lets a packet arrive at both, and compares what they make of it and what they report then.
func (l *listener) say(w word) {
	l.t.Helper()
	base := l.board.Base()
	reach := min(500, int64(1)<<(l.space-1)-20) // farther apart, a narrow space does not tell old from new
	within := func(n int64) int64 { return min(max(n, -reach), reach) }
	p := model.Packet{
		PSN: base + within(2*int64(int8(w[0]))+int64(int8(w[1]))), TSN: l.tsn + within(3*int64(int8(w[2]))),
		Sequenced: w[4]&unsequenced == 0, CE: w[4]&congested != 0, NotECT: w[4]&(congested|unmarked) == unmarked,
	}
	if p.PSN-int64(w[3]) < base-reach {
		w[3] = 0
	}
	a := Arrival{PSN: l.space.Add(l.first, p.PSN), TSN: l.space.Add(l.first, p.TSN), Floor: w[3], ECN: ect0}
	switch {
	case p.CE:
		a.ECN = ce
	case p.NotECT:
		a.ECN = notECT
	}
	if p.Floor = p.PSN; p.Sequenced {
		p.Floor = p.PSN - int64(w[3])
	}
	want := l.board.Arrive(p)
	l.tsn = max(l.tsn, p.TSN)
	if !p.Sequenced {
		l.tracker.Hear(a)
		l.report(base)
		return
	}
	got, _, _ := l.tracker.Admit(a)
	if verdict := map[model.Verdict]Admission{model.New: Fresh, model.Duplicate: Duplicate, model.Copy: Copy, model.Outside: Outside}[want]; got != verdict {
		l.t.Fatalf("%+v with base %d: verdict %d, want %d", p, base, got, verdict)
	}
	l.met[got]++
	switch {
	case got == Fresh && w[4]&refusedByStream != 0:
		l.tracker.Refused()
		l.board.Refuse()
	case got == Fresh:
		l.tracker.Placed(a.PSN)
		l.board.Place(p.PSN)
	}
	l.report(base)
	if floor := p.Floor; got == Outside && floor <= base && l.last.Base != base {
		l.t.Fatalf("%+v outside the window moves base from %d to %d", p, base, l.last.Base)
	}
}

// report compares the two reports, and the new one with the one before: nothing is taken back.
func (l *listener) report(base int64) {
	block, counts := l.board.Report()
	var got wire.PathAck
	l.tracker.silent = every // so that the block carries counters
	l.tracker.Report(&got)
	want := wire.PathAck{
		Base: l.space.Add(l.first, block.Base), Largest: l.space.Add(l.first, block.Largest), Packets: uint32(counts.Packets), Ce: uint32(counts.CE),
		HasSack: len(block.Sack) > 0, HasCounters: true,
		Counters: wire.PathCounters{
			NotEct: uint32(counts.NotECT), Duplicates: uint32(counts.Duplicates), Refused: uint32(counts.Refused), Copies: uint32(counts.Copies),
		},
	}
	if counts.Duplicates > 0 {
		want.Counters.LastDuplicate = l.space.Add(l.first, counts.LastDuplicate)
	}
	for _, psn := range block.Sack {
		want.Sack.Set(int(psn - block.Base))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Fatalf("the report (-model +engine):\n%s", diff)
	}
	if block.Base < base || block.Largest < l.last.Largest {
		l.t.Fatalf("base goes from %d to %d, largest from %d to %d", base, block.Base, l.last.Largest, block.Largest)
	}
	for _, psn := range l.last.Sack {
		if at := psn - block.Base; at >= 0 && !got.Sack.Test(int(at)) {
			l.t.Fatalf("PSN %d was reported as received, and is not any more", psn)
		}
	}
	l.last = block
}

// listen lets a program of words be said, and returns how often each verdict was met.
func listen(t rapid.TB, setup uint64, program []byte) map[Admission]int {
	l := newListener(t, []wire.Space{8, 9, 10, 16, 32}[setup%5], uint32(setup>>8))
	for len(program) >= len(word{}) {
		l.say(word(program))
		program = program[len(word{}):]
	}
	return l.met
}

// Whatever arrives, in whatever order and however often: what a receiver admits and reports is what sets say. A PSN beyond the
// window is dropped and changes nothing; base never falls; what was reported as received is so for ever.
//
//mr:prop P1 P2 P3 P9
//mr:test MR-PATH-006 MR-PATH-007 MR-PATH-008 MR-ACK-001 MR-ACK-002 MR-ACK-003 MR-ACK-010
func TestAnyArrivalEqualsSets(t *testing.T) {
	met := map[Admission]int{}
	rapid.Check(t, func(t *rapid.T) {
		var program []byte
		for range rapid.IntRange(1, 200).Draw(t, "words") {
			w := rapid.SliceOfN(rapid.Byte(), 5, 5).Draw(t, "word")
			switch rapid.IntRange(0, 5).Draw(t, "manners") {
			case 0, 1, 2:
				w[0], w[1], w[2], w[3], w[4] = 0, w[1]%8, 1, w[3]%32, 0
			case 3:
				w[0], w[1], w[3], w[4] = 40, w[1]%128, 64+w[3]%64, 0 // up to the window and beyond
			}
			program = append(program, w...)
		}
		for verdict, n := range listen(t, rapid.Uint64().Draw(t, "setup"), program) {
			met[verdict] += n
		}
	})
	least := 10
	if testing.Short() {
		least = 1 // a fifth of the trials
	}
	for _, verdict := range []Admission{Fresh, Duplicate, Copy, Outside} {
		if met[verdict] < least {
			t.Errorf("verdict %d is met %d times only", verdict, met[verdict])
		}
	}
}

// FuzzReceiver: whatever packets arrive on a path, what is admitted and reported is what sets say. The seeds are the heads of the
// shared vectors, and strides.
//
//mr:prop P1 P2 P3 P9 P46
func FuzzReceiver(f *testing.F) {
	for i, b := range vectorPackets(f) {
		if i%10 == 0 {
			f.Add(uint64(i), b)
		}
	}
	for stride := range uint64(8) {
		var program []byte
		for n := range uint64(64) {
			program = append(program, 0, byte(n*(2*stride+1)%64), 1, 0, 0)
		}
		f.Add(stride, append(program, program...))
	}
	f.Fuzz(func(t *testing.T, setup uint64, program []byte) {
		if len(program) < 5000 {
			listen(t, setup, program)
		}
	})
}

// In a space of 8 bits a packet that comes late, by any number of packets that still tells old from new, is never taken for a new
// one, wherever the numbers stand.
//
//mr:prop P37
//mr:test MR-PATH-014
func TestLatePacketIsNeverTakenForANewOne(t *testing.T) {
	const space, window = wire.Space(8), 64
	for first := range uint32(256) {
		for late := int64(1); late <= 128-window; late++ {
			p := New(0, Route{}, testConfig(space, first))
			old := Arrival{PSN: first, TSN: first}
			for n := range late {
				p.Tracker().Admit(Arrival{PSN: space.Add(first, n), TSN: space.Add(first, n)})
				p.Tracker().Placed(space.Add(first, n))
			}
			if verdict, _, _ := p.Tracker().Admit(old); verdict == Fresh || verdict == Outside {
				t.Fatalf("from %d: a packet that comes %d packets late is taken as %d", first, late, verdict)
			}
		}
	}
}
