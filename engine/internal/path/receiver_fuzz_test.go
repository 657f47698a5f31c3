// SPDX-License-Identifier: Apache-2.0

package path

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/fuzz/model"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// verdicts are the model's words for what a tracker says.
var verdicts = map[Admission]model.Verdict{
	Fresh: model.New, Duplicate: model.Duplicate, Copy: model.Copy, Outside: model.Outside,
}

// fuzzedFirst is the number at which sequences begin: they wrap soon.
const fuzzedFirst = 0xffffff00

// F5: the receiving half of a path against a model of sets: P1, P2, P3, P9. Each byte of the input is one packet: a new one, one
// that skips others, a resend under a new TSN, a copy of a transmission, or one that raises the floor.
//
//mr:test MR-ACK-002 MR-ACK-003
func FuzzReceiver(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{0x08, 0, 0x1a, 0, 0x09, 0x0b, 0x13})
	f.Add([]byte{0xf8, 0xf8, 0xf8, 0xf8, 0xf8, 0xf8, 0xf8, 0xf8, 0xf8, 0x02, 0x0a, 0x0c})
	f.Add([]byte{0, 0, 0x11, 0x21, 0, 0x0d, 0x15, 0x1d, 0, 0xfd})
	f.Fuzz(func(t *testing.T, input []byte) {
		tracker := New(0, Route{}, testConfig(32, fuzzedFirst)).Tracker()
		board := model.NewBoard()
		var sent []model.Packet
		next, tsn, floor := int64(0), int64(-1), int64(0)
		for _, b := range input[:min(len(input), 400)] {
			p := model.Packet{PSN: next, Sequenced: true, CE: b&4 != 0}
			far := int64(b >> 3)
			switch {
			case b&3 == 2 && len(sent) > 0: // a resend
				p.PSN = sent[len(sent)-1-int(far)%len(sent)].PSN
			case b&3 == 3 && len(sent) > 0: // a copy
				p = sent[len(sent)-1-int(far)%len(sent)]
			case b&3 == 1: // all below is given up
				floor = max(floor, next-far)
			default:
				p.PSN += far
			}
			if b&3 != 3 || len(sent) == 0 {
				tsn++
				p.TSN = tsn
				p.Floor = max(min(floor, p.PSN), p.PSN-255) // as far back as the wire can tell
				next = max(next, p.PSN+1)
				sent = append(sent, p)
			}
			receive(t, tracker, board, p)
		}
	})
}

// receive gives a packet to both, and compares what they say.
func receive(t *testing.T, tracker *Tracker, board *model.Board, p model.Packet) {
	t.Helper()
	space := wire.Space(32)
	a := Arrival{PSN: space.Add(fuzzedFirst, p.PSN), TSN: space.Add(fuzzedFirst, p.TSN), Floor: uint8(p.PSN - p.Floor), ECN: 2}
	if p.CE {
		a.ECN = 3
	}
	got, _, _ := tracker.Admit(a)
	want := board.Arrive(p)
	if verdicts[got] != want {
		t.Fatalf("%+v: %v, the model says %v", p, got, want)
	}
	if want == model.New {
		tracker.Placed(a.PSN)
		board.Place(p.PSN)
	}
	var b wire.PathAck
	tracker.Report(&b)
	block, counts := board.Report()
	var sack wire.Bits256
	for _, psn := range block.Sack {
		sack.Set(int(psn - block.Base))
	}
	type report struct {
		Base, Largest, Packets, CE uint32
		Sack                       wire.Bits256
	}
	engine := report{b.Base, b.Largest, b.Packets, b.Ce, b.Sack}
	if !b.HasSack {
		engine.Sack = wire.Bits256{}
	}
	oracle := report{space.Add(fuzzedFirst, block.Base), space.Add(fuzzedFirst, block.Largest), uint32(counts.Packets), uint32(counts.CE), sack}
	if diff := cmp.Diff(oracle, engine); diff != "" {
		t.Fatalf("after %+v (-model +tracker):\n%s", p, diff)
	}
}
