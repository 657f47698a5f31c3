// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// sending is a datagram and when it left.
type sending struct {
	at engine.Time
	engine.Datagram
}

// collect notes what an end sends of an opcode, and loses what lose says.
func (p *pair) collect(end int, opcode wire.Opcode, lose func(from int, d engine.Datagram) bool) *[]sending {
	var list []sending
	p.drop = func(from int, d engine.Datagram) bool {
		if from == end && opcodeAnswered(d) == opcode {
			d.Bytes = bytes.Clone(d.Bytes)
			list = append(list, sending{p.now, d})
		}
		return lose(from, d)
	}
	return &list
}

func everything(int, engine.Datagram) bool { return true }

// growing fails the test unless the pauses between packets never shrink, and end at one second.
func growing(t *testing.T, list []sending) {
	t.Helper()
	if len(list) < 5 {
		t.Fatalf("only %d packets were sent", len(list))
	}
	before := time.Duration(0)
	for i := 1; i < len(list); i++ {
		pause := list[i].at.Sub(list[i-1].at)
		if pause < before || pause > time.Second {
			t.Errorf("pause %d is %v, after %v", i, pause, before)
		}
		before = pause
	}
	if first := list[1].at.Sub(list[0].at); before < 8*first {
		t.Errorf("pauses grow from %v to %v only", first, before)
	}
}

// The same OPEN goes out again over another path each time, every second one without ECN, until the opener gives up.
//
//mr:test MR-CONN-025
func TestOpenIsRepeatedOverOtherPaths(t *testing.T) {
	p := newPair(t, engine.Config{})
	opens := p.collect(0, wire.OpcodeOpen, everything)
	_, err := p.ends[0].Open(p.now, routes(3))
	p.must(err)
	began := p.now
	p.run("giving up", func() bool { return p.count(0, engine.Closed) == 1 })
	if took := p.now.Sub(began); took < 10*time.Second || took > 11*time.Second {
		t.Errorf("it gave up after %v", took)
	}
	if ev, _ := p.find(0, engine.Closed); !errors.Is(ev.Err, engine.ErrDead) {
		t.Errorf("closed with %v", ev.Err)
	}
	growing(t, *opens)
	for i, d := range *opens {
		if i > 0 && d.Route == (*opens)[i-1].Route {
			t.Errorf("OPEN %d goes over the path of the one before", i)
		}
		if !bytes.Equal(d.Bytes, (*opens)[0].Bytes) {
			t.Errorf("OPEN %d differs from the first one", i)
		}
		if want := []uint8{engine.ECT0, engine.NotECT}[i%2]; d.ECN != want {
			t.Errorf("OPEN %d leaves with codepoint %d, want %d", i, d.ECN, want)
		}
	}
}

// Every connection has a tag and a first number of its own, and another endpoint draws others.
//
//mr:test MR-CONN-010
func TestTagsAndFirstNumbersAreDrawn(t *testing.T) {
	const n = 200
	tags, firsts := map[uint64]bool{}, map[uint32]bool{}
	buf := make([]byte, 2000)
	for seed := range byte(2) {
		end, err := engine.New(engine.Config{Seed: [32]byte{seed}})
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if _, err := end.Open(1, routes(1)); err != nil {
				t.Fatal(err)
			}
			d, _ := end.NextDatagram(1, buf)
			var w wire.Packet
			if _, err := w.Decode(d.Bytes); err != nil {
				t.Fatal(err)
			}
			tags[w.Plain.Open.Open.Tag], firsts[w.Plain.Open.Open.First] = true, true
		}
	}
	if tags[0] || len(tags) != 2*n || len(firsts) < 2*n-2 {
		t.Errorf("%d connections have %d tags and %d first numbers; tag 0: %v", 2*n, len(tags), len(firsts), tags[0])
	}
}

// ACCEPT goes out again until a packet of the opener comes, and the connection is forgotten when none does: the accepting
// application never hears of it.
//
//mr:test MR-CONN-014 MR-CONN-007
func TestAcceptIsRepeatedAndForgotten(t *testing.T) {
	p := newPair(t, engine.Config{})
	accepts := p.collect(1, wire.OpcodeAccept, func(_ int, d engine.Datagram) bool {
		return opcodeAnswered(d) != wire.OpcodeOpen && opcodeAnswered(d) != wire.OpcodeRetry
	})
	_, err := p.ends[0].Open(p.now, routes(1))
	p.must(err)
	p.run("an ACCEPT", func() bool { return len(*accepts) > 0 })
	began := p.now
	p.drop = p.onlyFrom(1, accepts)
	for p.now < began.Add(12*time.Second) {
		p.now = max(p.now+1, min(p.turn(), began.Add(12*time.Second)))
	}
	growing(t, *accepts)
	if len(p.events[1]) != 0 {
		t.Errorf("the acceptor has heard of it: %+v", p.events[1])
	}
	if next := p.ends[1].NextTimeout(); next != engine.Never {
		t.Errorf("the acceptor still waits until %v", time.Duration(next))
	}
}

// onlyFrom loses everything and goes on to collect what an end sends of ACCEPT.
func (p *pair) onlyFrom(end int, list *[]sending) func(int, engine.Datagram) bool {
	return func(from int, d engine.Datagram) bool {
		if from == end && opcodeAnswered(d) == wire.OpcodeAccept {
			*list = append(*list, sending{p.now, d})
		}
		return true
	}
}

// CONFIRM is not needed: any packet with the acceptor's tag shows that the opener hears.
//
//mr:test MR-CONN-007
func TestAnyPacketConfirms(t *testing.T) {
	p := newPair(t, engine.Config{})
	p.drop = func(_ int, d engine.Datagram) bool { return opcodeAnswered(d) == wire.OpcodeConfirm }
	p.connect(2)
}

// Both ends use the smaller chunk and the smaller number of paths, whoever has announced it.
//
//mr:test MR-CONN-015
func TestSmallerChunkAndFewerPathsCount(t *testing.T) {
	for small := range 2 {
		p := newPair(t, engine.Config{Chunk: 1024, Paths: 8})
		end, err := engine.New(engine.Config{Chunk: 512, Paths: 3, Accept: small == 1, Seed: [32]byte{9}})
		p.must(err)
		p.ends[small] = end
		ids := p.connect([]int{3, 8}[small])
		largest, highest := 0, uint16(0)
		p.drop = func(_ int, d engine.Datagram) bool {
			var w wire.Packet
			if _, err := w.Decode(d.Bytes); err == nil && w.Base.Opcode == wire.OpcodeWrite {
				largest = max(largest, len(w.Plain.Write.Data))
			}
			highest = max(highest, pathOf(d))
			return false
		}
		for from := range 2 {
			memory := make([]byte, 20_000)
			key, err := p.ends[1-from].Register(memory, engine.RemoteWrite)
			p.must(err)
			p.must(p.ends[from].Post(p.now, ids[from], engine.Work{Op: engine.OpWrite, Key: key, Data: pattern(len(memory), 1)}))
		}
		p.run("Writes", func() bool { return p.count(0, engine.Completed) == 1 && p.count(1, engine.Completed) == 1 })
		if largest != 512 || highest != 2 {
			t.Errorf("end %d is small: chunks of %d bytes, paths up to %d", small, largest, highest)
		}
	}
}
