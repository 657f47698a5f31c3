// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// memoryBound is the most that a peer can make an endpoint hold for one connection, in bytes: what docs/fault-model.md says.
func memoryBound(cfg engine.Config) uint64 {
	paths, streams, messages := uint64(cfg.Paths), uint64(cfg.Streams), uint64(cfg.Messages)
	requests, span, disorder := uint64(cfg.Requests), uint64(cfg.Span), uint64(cfg.Disorder)
	return 16<<10 + paths*(20<<10) + streams*1024 + messages*256 + requests*(512+span/4) + 3*disorder
}

// flood is a peer that has opened a connection as anybody does, and then says whatever costs memory.
type flood struct {
	t     *testing.T
	rng   *rand.Rand
	cfg   engine.Config
	end   *engine.Endpoint
	now   engine.Time
	buf   []byte
	tag   uint64
	first uint32
	psn   []uint32
	tsn   []uint32
	key   engine.Key
}

func newFlood(t *testing.T, cfg engine.Config, seed uint64) *flood {
	t.Helper()
	f := &flood{
		t: t, rng: rand.New(rand.NewPCG(seed, 43)), cfg: cfg, now: 1, buf: make([]byte, 10_000),
		psn: make([]uint32, cfg.Paths), tsn: make([]uint32, cfg.Paths),
	}
	opener := newEnd(t, cfg)
	cfg.Accept = true
	f.end = newEnd(t, cfg)
	if _, err := opener.Open(f.now, []engine.Route{{Local: there, Remote: here}}); err != nil {
		t.Fatal(err)
	}
	for opened := false; !opened; {
		f.now = f.now.Add(time.Millisecond)
		opener.Advance(f.now)
		f.carry(opener, f.end, engine.Route{Local: here, Remote: there})
		f.end.Advance(f.now)
		f.carry(f.end, opener, engine.Route{Local: there, Remote: here})
		ev, ok := f.end.NextEvent()
		opened = ok && ev.Kind == engine.Opened
	}
	for i := range f.psn {
		f.psn[i], f.tsn[i] = f.first, f.first+10
	}
	var err error
	if f.key, err = f.end.Register(make([]byte, 64), engine.RemoteWrite|engine.RemoteRead|engine.RemoteAtomic); err != nil {
		t.Fatal(err)
	}
	return f
}

// carry hands over what one end sends, and notes what the peer has to know.
func (f *flood) carry(from, to *engine.Endpoint, route engine.Route) {
	for {
		d, ok := from.NextDatagram(f.now, f.buf)
		if !ok {
			return
		}
		var p wire.Packet
		if _, err := p.Decode(d.Bytes); err != nil {
			f.t.Fatal(err)
		}
		if p.Base.Opcode == wire.OpcodeOpen {
			f.first = p.Plain.Open.Open.First
		} else if to == f.end {
			f.tag = p.Base.Tag
		}
		d.Route = route
		to.HandleDatagram(f.now, d)
	}
}

// say sends the victim packets without end, lets it answer now and then, and lets its application hear of what has happened.
func (f *flood) say(packets int) {
	for n := range packets {
		f.now = f.now.Add(time.Duration(f.rng.IntN(3000)))
		b, err := f.packet().Append(f.buf[:0])
		if err != nil {
			f.t.Fatal(err)
		}
		f.end.HandleDatagram(f.now, engine.Datagram{Route: engine.Route{Local: here, Remote: there}, ECN: uint8(f.rng.IntN(4)), Bytes: b})
		for {
			if ev, ok := f.end.NextEvent(); !ok {
				break
			} else if ev.Kind == engine.Closed {
				f.t.Fatalf("the connection ends with %v", ev.Err)
			}
		}
		if n%1000 > 500 { // for half of the time nothing leaves
			f.end.Advance(f.now)
			f.end.NextDatagram(f.now, f.buf)
		}
	}
	if err := f.end.Check(); err != nil {
		f.t.Fatal(err)
	}
}

// packet draws one of the kinds that begin something at the receiver.
func (f *flood) packet() *wire.Packet {
	path := f.rng.IntN(len(f.psn))
	p := &wire.Packet{Base: wire.Base{Tag: f.tag, Path: uint16(path), Epoch: uint8(f.rng.IntN(16)), Tsn: f.tsn[path], AckRequest: f.rng.IntN(4) == 0}}
	f.tsn[path]++
	m := wire.Message{
		Stream: uint16(f.rng.IntN(f.cfg.Streams + 2)), Message: uint32(f.rng.IntN(2 * f.cfg.StreamWindow)), Floor: uint8(f.rng.IntN(256)),
	}
	chunks := f.rng.IntN(f.cfg.Span + 8)
	at := f.rng.IntN(chunks + 1)
	m.Offset, m.Length = uint32(at*f.cfg.Chunk), uint32((chunks+1)*f.cfg.Chunk)
	body := &p.Plain
	p.Base.Psn = f.psn[path]
	f.psn[path]++
	switch f.rng.IntN(12) {
	case 0, 1, 2, 3:
		p.Base.Opcode, body.Write.Message = wire.OpcodeWrite, m
		body.Write.WriteTarget = wire.WriteTarget{Key: uint64(f.key) + uint64(f.rng.IntN(8)/7)}
		body.Write.Data = make([]byte, f.cfg.Chunk)
	case 4:
		p.Base.Opcode, body.Send.Message = wire.OpcodeSend, m
		body.Send.SendTarget.Receive, body.Send.Data = uint32(f.rng.IntN(1000)), make([]byte, f.cfg.Chunk)
	case 5:
		m.Offset = 0
		p.Base.Opcode, body.ReadRequest.Message = wire.OpcodeReadRequest, m
		body.ReadRequest.ReadTarget = wire.ReadTarget{Key: uint64(f.key)}
	case 6:
		m.Offset, m.Length = 0, 8
		p.Base.Opcode, body.AtomicRequest.Message = wire.OpcodeAtomicRequest, m
		body.AtomicRequest.Atomic = wire.Atomic{Key: uint64(f.key), Op: wire.AtomicOpFetchAdd}
	case 7:
		m.Offset, m.Length = 0, 0
		p.Base.Opcode, body.StreamEnd.Message = wire.OpcodeStreamEnd, m
		body.StreamEnd.End.Code = wire.Status(f.rng.IntN(2) * 22)
	case 8:
		p.Base.Opcode, body.Probe.Probe.Token = wire.OpcodeProbe, f.rng.Uint64()
	case 9:
		p.Base.Opcode, body.ProbeReply.Token = wire.OpcodeProbeReply, f.rng.Uint64()
	case 10:
		p.Base.Opcode, body.ReceiveReady = wire.OpcodeReceiveReady, wire.Ready{Stream: m.Stream, Posted: f.rng.Uint32()}
	default:
		p.Base.Opcode, body.Notice = wire.OpcodeNotice, wire.Notice{Path: uint16(path), Code: wire.NoticeCodeBusy, Stream: m.Stream}
	}
	if p.Base.Opcode >= wire.OpcodeAck {
		f.psn[path]--
		p.Base.Psn -= uint32(f.rng.IntN(200))
	}
	return p
}

// heapBytes is what is reachable.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Whatever a peer sends, what an endpoint holds for its connection stays below a bound that its own limits set, however long it
// goes on.
//
//mr:prop P43 P46
//mr:test MR-STREAM-022 MR-ERR-007
func TestPeerCannotMakeMemoryGrow(t *testing.T) {
	for name, cfg := range map[string]engine.Config{
		"few streams, wide windows": {Chunk: 64, Paths: 4, Streams: 4, StreamWindow: 256, Span: 4096, Messages: 64, Requests: 16, Disorder: 16 << 10},
		"many streams":              {Chunk: 64, Paths: 2, Streams: 256, StreamWindow: 16, Span: 16, Messages: 1024, Requests: 4, Disorder: 64 << 10},
		"many paths":                {Chunk: 64, Paths: 64, Streams: 4, StreamWindow: 4, Span: 16, Messages: 4, Requests: 1, Disorder: 1 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			before := heapBytes()
			f := newFlood(t, cfg, 1)
			f.say(120_000)
			early := heapBytes() - before
			f.say(120_000)
			late := heapBytes() - before
			bound := memoryBound(cfg)
			t.Logf("%d B after 120,000 packets, %d B after 240,000; the bound is %d B", early, late, bound)
			if late > bound || late > early+early/10 {
				t.Errorf("%d B after 120,000 packets, %d B after 240,000; at most %d B", early, late, bound)
			}
			if received := f.end.Stats().ReceivedOf(wire.OpcodeWrite); received < 10_000 {
				t.Errorf("only %d Writes got inside", received)
			}
			runtime.KeepAlive(f)
		})
	}
}

// Strangers cost nothing: before a cookie has come back an acceptor keeps no state, but a bounded queue of answers.
//
//mr:prop P43 P45
//mr:test MR-CONN-002 MR-ERR-007
func TestStrangersCostNoMemory(t *testing.T) {
	end := newEnd(t, engine.Config{Accept: true})
	opener := newEnd(t, engine.Config{})
	if _, err := opener.Open(1, []engine.Route{{Local: there, Remote: here}}); err != nil {
		t.Fatal(err)
	}
	d, ok := opener.NextDatagram(1, make([]byte, 10_000))
	if !ok {
		t.Fatal("no OPEN")
	}
	d.Route = engine.Route{Local: here}
	knock := func(n int) {
		var address [4]byte
		for i := range uint32(n) {
			binary.BigEndian.PutUint32(address[:], 0x0a000000+i)
			d.Route.Remote = netip.AddrPortFrom(netip.AddrFrom4(address), uint16(i))
			end.HandleDatagram(engine.Time(i)*1000, d)
		}
	}
	knock(1000)
	before := heapBytes()
	knock(100_000)
	after := heapBytes()
	if after > before+4096 {
		t.Errorf("100,000 strangers cost %d B", after-before)
	}
	if s := end.Stats(); s.ReceivedOf(wire.OpcodeOpen) != 101_000 || s.Drops[engine.DropQueue] == 0 {
		t.Errorf("%d OPENs, %d without room for an answer", s.ReceivedOf(wire.OpcodeOpen), s.Drops[engine.DropQueue])
	}
	runtime.KeepAlive(opener)
}
