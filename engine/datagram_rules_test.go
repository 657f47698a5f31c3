// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// observer reads every datagram of a pair and holds it against the rules of the wire.
type observer struct {
	t       *testing.T
	chunk   int
	first   [2]uint32               // as OPEN and ACCEPT announce it
	tsns    [2]map[[2]uint32]bool   // path and TSN, by sender
	next    [2]map[uint16]uint32    // TSN expected on a path
	psns    [2]map[uint16]uint32    // PSN expected on a path
	routes  map[uint16]engine.Route // of paths, as end 0 sees them
	chunks  [2]map[uint16]int       // chunks on a path
	bodies  [2]map[[2]uint32]string // of a path's PSN: all but the floor
	opcodes map[wire.Opcode]int
	resent  int
}

func newObserver(t *testing.T, chunk int) *observer {
	o := &observer{t: t, chunk: chunk, routes: map[uint16]engine.Route{}, opcodes: map[wire.Opcode]int{}}
	for i := range 2 {
		o.tsns[i], o.next[i] = map[[2]uint32]bool{}, map[uint16]uint32{}
		o.psns[i], o.chunks[i] = map[uint16]uint32{}, map[uint16]int{}
		o.bodies[i] = map[[2]uint32]string{}
	}
	return o
}

// see checks one datagram of an end.
func (o *observer) see(from int, d engine.Datagram) {
	var p wire.Packet
	n, err := p.Decode(d.Bytes)
	if err != nil || n != len(d.Bytes) {
		o.t.Fatalf("a datagram of %d bytes is a packet of %d: %v", len(d.Bytes), n, err)
	}
	body := len(d.Bytes) - 4
	sum := crc32.Checksum(d.Bytes[:body], crc32.MakeTable(crc32.Castagnoli))
	if got := binary.BigEndian.Uint32(d.Bytes[body:]); got != sum {
		o.t.Fatalf("%v: trailer %#x, want %#x", p.Base.Opcode, got, sum)
	}
	o.opcodes[p.Base.Opcode]++
	if d.ECN != engine.ECT0 {
		o.t.Errorf("%v leaves with codepoint %d", p.Base.Opcode, d.ECN)
	}
	switch p.Base.Opcode {
	case wire.OpcodeOpen, wire.OpcodeRetry, wire.OpcodeAccept, wire.OpcodeReject, wire.OpcodeVersions:
		o.handshake(from, &p)
	default:
		o.onPath(from, &p, d)
	}
}

func (o *observer) handshake(from int, p *wire.Packet) {
	if b := p.Base; b.Path != 0 || b.Epoch != 0 || b.Psn != 0 || b.Tsn != 0 {
		o.t.Errorf("%v names a path or a number: %+v", b.Opcode, b)
	}
	switch p.Base.Opcode {
	case wire.OpcodeOpen:
		o.first[from] = p.Plain.Open.Open.First
	case wire.OpcodeAccept:
		o.first[from] = p.Plain.Accept.Accept.First
	}
}

func (o *observer) onPath(from int, p *wire.Packet, d engine.Datagram) {
	b := p.Base
	if len(d.Bytes) > o.chunk+engine.Overhead {
		o.t.Errorf("%v has %d bytes", b.Opcode, len(d.Bytes))
	}
	if o.tsns[from][[2]uint32{uint32(b.Path), b.Tsn}] {
		o.t.Errorf("end %d uses TSN %d of path %d again", from, b.Tsn, b.Path)
	}
	o.tsns[from][[2]uint32{uint32(b.Path), b.Tsn}] = true
	if _, known := o.next[from][b.Path]; !known {
		o.next[from][b.Path], o.psns[from][b.Path] = o.first[from], o.first[from]
	}
	if want := o.next[from][b.Path]; b.Tsn != want {
		o.t.Errorf("end %d, path %d: TSN %d, want %d", from, b.Path, b.Tsn, want)
	}
	o.next[from][b.Path]++
	if b.Opcode < wire.OpcodeAck {
		o.chunks[from][b.Path]++
		o.sameAgain(from, p, d)
		if ahead := int32(b.Psn - o.psns[from][b.Path]); ahead > 0 {
			o.t.Errorf("end %d, path %d: PSN %d leaves %d out", from, b.Path, b.Psn, ahead)
		} else if ahead == 0 {
			o.psns[from][b.Path]++
		}
	}
	r := d.Route
	if from == 1 {
		r.Local, r.Remote = r.Remote, r.Local
	}
	if known, ok := o.routes[b.Path]; ok && known != r {
		o.t.Errorf("end %d sends path %d between %v, not %v", from, b.Path, r, known)
	}
	o.routes[b.Path] = r
}

// sameAgain holds a chunk that is sent again to what it was before, byte for byte.
func (o *observer) sameAgain(from int, p *wire.Packet, d engine.Datagram) {
	body := append([]byte{byte(p.Base.Opcode)}, d.Bytes[wire.BaseSize:len(d.Bytes)-4]...)
	body[1+3] = 0 // the floor
	psn := [2]uint32{uint32(p.Base.Path), p.Base.Psn}
	if known, ok := o.bodies[from][psn]; ok {
		o.resent++
		if known != string(body) {
			o.t.Errorf("end %d: PSN %d of path %d names another chunk than before", from, p.Base.Psn, p.Base.Path)
		}
	}
	o.bodies[from][psn] = string(body)
}

// Whatever two ends say to each other: each datagram is one packet with a true checksum and the codepoint ECT(0), no larger
// than agreed; TSNs and PSNs follow one another from the announced number on; a path has one pair of addresses in both
// directions, and every path has its share of the chunks.
//
//mr:prop P12
//mr:test MR-WIRE-001 MR-WIRE-004 MR-WIRE-008 MR-WIRE-011 MR-WIRE-018 MR-CONN-017 MR-PATH-003 MR-PATH-004
//mr:test MR-PATH-009 MR-PATH-012
func TestEveryDatagramKeepsTheRulesOfTheWire(t *testing.T) {
	const chunk, paths = 1024, 8
	p := newPair(t, engine.Config{Chunk: chunk})
	o := newObserver(t, chunk)
	p.lose(11, 0.05)
	lossy := p.drop
	p.drop = func(from int, d engine.Datagram) bool {
		o.see(from, d)
		return o.opcodes[wire.OpcodeProbe] > paths && lossy(from, d)
	}
	ids := p.connect(paths)
	memory := make([]byte, 1<<18)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite|engine.RemoteRead|engine.RemoteAtomic)
	p.must(err)
	works := []engine.Work{
		{Op: engine.OpWrite, Key: key, Data: pattern(len(memory), 1), Immediate: true},
		{Op: engine.OpSend, Data: pattern(5000, 2)},
		{Op: engine.OpRead, Key: key, Into: make([]byte, len(memory))},
		{Op: engine.OpFetchAdd, Key: key, Operand: 1},
		{Op: engine.OpCompareSwap, Key: key, Operand: 1, Compare: 2},
	}
	for i, w := range works {
		w.ID, w.Stream = uint64(i), uint16(i%2)
		p.must(p.ends[0].Post(p.now, ids[0], w))
	}
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpSend, ID: 9, Stream: 5, Data: pattern(100, 3)}))
	waited := p.now.Add(200 * 1000)
	p.run("a refusal", func() bool { return p.now > waited })
	for _, stream := range []uint16{0, 1, 5} {
		p.must(p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: stream, Buffer: make([]byte, 5000)}))
	}
	p.run("operations", func() bool { return p.count(0, engine.Completed) == len(works)+1 })
	p.must(p.ends[0].Close(p.now, ids[0]))
	p.run("the end", func() bool { return p.count(0, engine.Closed) == 1 && p.count(1, engine.Closed) == 1 })
	for _, opcode := range []wire.Opcode{
		wire.OpcodeWrite, wire.OpcodeSend, wire.OpcodeReadRequest, wire.OpcodeReadReply, wire.OpcodeAtomicRequest, wire.OpcodeAtomicReply,
		wire.OpcodeAck, wire.OpcodeNotice, wire.OpcodeReceiveReady, wire.OpcodeProbe, wire.OpcodeOpen, wire.OpcodeRetry, wire.OpcodeAccept,
		wire.OpcodeConfirm, wire.OpcodeClose, wire.OpcodeClosed,
	} {
		if o.opcodes[opcode] == 0 {
			t.Errorf("no %v was seen", opcode)
		}
	}
	if o.resent == 0 {
		t.Error("nothing was sent again")
	}
	for path := range uint16(paths) {
		if n := o.chunks[0][path]; n < 10 {
			t.Errorf("path %d carried %d chunks", path, n)
		}
	}
}
