// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// duel is a connection whose network and whose applications do what the bytes of a fuzzer say. It knows what every operation
// must leave behind.
type duel struct {
	t       testing.TB
	input   []byte
	now     engine.Time
	ends    [2]*engine.Endpoint
	conns   [2]engine.ConnID
	opened  [2]int
	wire    [2][]engine.Datagram // by sender
	buf     []byte
	streams [duelStreams]duelStream // end 0 sends on the even ones, end 1 on the odd ones
	key     [2]engine.Key
	memory  [2][]byte // a guard, what the peer may write to, a guard
	used    [2]int    // bytes of memory that belong to operations
}

const (
	duelStreams = 4
	duelMemory  = 1 << 16
	duelPaths   = 3
	duelOps     = 64 // of a stream, at most
)

// duelStream is one stream as both of its applications see it.
type duelStream struct {
	ops      []duelOp
	receives []duelReceive
	ended    bool // EndStream was called
	closed   int
	over     int // times that the receiver heard of its end
	shaken   bool
	filled   int // receives with an event
	next     int // first operation that may fill the next receive
}

type duelOp struct {
	op   engine.Op
	data []byte
	at   int // in the peer's memory
	into []byte
	done int // events
	err  error
}

type duelReceive struct{ buffer []byte }

// take returns the next byte; ok is false at the end of the input.
func (d *duel) take() (b byte, ok bool) {
	if len(d.input) == 0 {
		return 0, false
	}
	b, d.input = d.input[0], d.input[1:]
	return b, true
}

func (d *duel) byte() int {
	b, _ := d.take()
	return int(b)
}

func newDuel(t testing.TB, input []byte) *duel {
	d := &duel{t: t, input: input, now: engine.Time(time.Second), buf: make([]byte, 2048)}
	cfg := engine.Config{
		Chunk: 64, Paths: duelPaths, InitialRTT: 50 * time.Microsecond, MinRTO: 20 * time.Microsecond,
		StreamWindow: 1 + d.byte()%8, Span: 1 + d.byte()%16, Messages: 1 + d.byte()%16, Requests: 1 + d.byte()%4,
		InitialWindow: (1 + d.byte()%8) * (64 + engine.Overhead), Burst: 1 + d.byte()%4,
	}
	if d.byte()%2 == 0 {
		cfg.SeqBits = 12
	}
	routes := make([]engine.Route, duelPaths)
	for i := range routes {
		routes[i] = engine.Route{Local: netip.AddrPortFrom(there.Addr(), uint16(20000+i)), Remote: here}
	}
	for i := range d.ends {
		cfg.Accept, cfg.Seed[0] = i == 1, byte(i)
		d.ends[i] = newEnd(t, cfg)
		d.memory[i] = bytes.Repeat([]byte{guardByte}, guard+duelMemory+guard)
		var err error
		rights := engine.RemoteWrite | engine.RemoteRead
		if d.key[i], err = d.ends[i].Register(d.memory[i][guard:guard+duelMemory], rights); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.ends[0].Open(d.now, routes); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		d.pass(20 * time.Microsecond)
	}
	if d.opened != [2]int{1, 1} {
		t.Fatalf("connections: %v", d.opened)
	}
	return d
}

// guardByte fills memory that belongs to nobody.
const guardByte = 0xa5

// pass is a perfect network for one round, and then time goes on.
func (d *duel) pass(step time.Duration) {
	d.pump()
	for from := range d.wire {
		for len(d.wire[from]) > 0 {
			d.deliver(from, 0)
		}
	}
	d.advance(step)
}

func (d *duel) advance(step time.Duration) {
	d.now = d.now.Add(step)
	for i, e := range d.ends {
		e.Advance(d.now)
		d.listen(i)
	}
	d.pump()
}

// pump puts on the wire what the ends want to send.
func (d *duel) pump() {
	for i, e := range d.ends {
		for n := 0; ; n++ {
			p, ok := e.NextDatagram(d.now, d.buf)
			if !ok {
				break
			}
			if n > 10_000 {
				d.t.Fatalf("end %d never stops sending", i)
			}
			p.Bytes = slices.Clone(p.Bytes)
			d.wire[i] = append(d.wire[i], p)
		}
		if err := e.Check(); err != nil {
			d.t.Fatalf("end %d: %v", i, err)
		}
	}
}

// deliver hands the k-th packet of a wire to its end.
func (d *duel) deliver(from, k int) {
	p := d.wire[from][k]
	d.wire[from] = slices.Delete(d.wire[from], k, k+1)
	d.arrive(from, p)
}

func (d *duel) arrive(from int, p engine.Datagram) {
	p.Route.Local, p.Route.Remote = p.Route.Remote, p.Route.Local
	d.ends[1-from].HandleDatagram(d.now, p)
	d.listen(1 - from)
	d.pump()
}

// step carries out what the next bytes say; it returns false when there are no more.
func (d *duel) step() bool {
	what, ok := d.take()
	if !ok {
		return false
	}
	from := int(what >> 7)
	if what&0x7f < 0x50 {
		d.disturb(int(what&0x7f)%8, from)
	} else {
		d.apply(int(what&0x7f)%8, d.byte())
	}
	return true
}

// disturb is what the network does.
func (d *duel) disturb(what, from int) {
	if what == 0 {
		d.advance(time.Duration(1<<(d.byte()%12)) * time.Microsecond)
		return
	}
	n := len(d.wire[from])
	if n == 0 {
		return
	}
	switch p := &d.wire[from][0]; what {
	case 1, 2:
		d.deliver(from, 0)
	case 3:
		d.deliver(from, d.byte()%n)
	case 4:
		d.wire[from] = d.wire[from][1:]
	case 5:
		again := *p
		again.Bytes = slices.Clone(p.Bytes)
		d.wire[from] = append(d.wire[from], again)
	case 6:
		p.ECN = engine.CE
	case 7:
		spoilt := *p
		spoilt.Bytes = slices.Clone(p.Bytes)
		at := d.byte() * len(spoilt.Bytes) / 256
		if spoilt.Bytes[at] ^= byte(1 + d.byte()%255); d.byte()%2 == 0 {
			spoilt.Bytes = spoilt.Bytes[:at]
		}
		d.arrive(from, spoilt)
	}
}

// apply is what an application does.
func (d *duel) apply(what, with int) {
	id := with % duelStreams
	s := &d.streams[id]
	switch what {
	case 0, 1:
		d.post(id, engine.OpWrite)
	case 2:
		d.post(id, engine.OpSend)
	case 3:
		d.post(id, engine.OpRead)
	case 4, 5:
		d.receive(id)
	case 6:
		if n := len(s.ops); n > 0 {
			s.shaken = true
			op := (with / duelStreams) % n
			if err := d.ends[id%2].Cancel(d.now, d.conns[id%2], uint16(id), uint64(op)); err != nil {
				d.t.Fatal(err)
			}
			d.listen(id % 2)
		}
	case 7:
		d.end(id)
	}
	d.pump()
}

func (d *duel) end(id int) {
	s := &d.streams[id]
	if s.ended || s.closed > 0 {
		return
	}
	err := d.ends[id%2].EndStream(d.now, d.conns[id%2], uint16(id))
	if err != nil && !(s.shaken && errors.Is(err, engine.ErrEnded)) {
		d.t.Fatalf("end of stream %d: %v", id, err)
	}
	s.ended = true
}

// post lets a stream's sender do something with bytes of its own.
func (d *duel) post(id int, op engine.Op) {
	s, from := &d.streams[id], id%2
	size := d.byte()
	if s.ended || s.closed > 0 || len(s.ops) == duelOps || d.used[1-from]+size > duelMemory {
		return
	}
	o := duelOp{op: op, data: bytes.Repeat([]byte{byte(len(s.ops) + 1)}, size)}
	w := engine.Work{Stream: uint16(id), Op: op, ID: uint64(len(s.ops)), Match: uint64(len(s.ops)), Key: d.key[1-from]}
	if op != engine.OpSend {
		o.at = d.used[1-from]
		w.At = uint64(o.at)
		d.used[1-from] += size
	}
	if op == engine.OpRead {
		o.into = make([]byte, size)
		w.Into = o.into
		copy(d.memory[1-from][guard+o.at:], o.data)
	} else {
		w.Data = slices.Clone(o.data)
	}
	err := d.ends[from].Post(d.now, d.conns[from], w)
	switch {
	case err == nil:
		s.ops = append(s.ops, o)
	case s.shaken && errors.Is(err, engine.ErrEnded):
		s.ended = true
	default:
		d.t.Fatalf("post on stream %d: %v", id, err)
	}
}

// receive lets a stream's receiver post a buffer that any message fits.
func (d *duel) receive(id int) {
	s, at := &d.streams[id], 1-id%2
	if len(s.receives) == duelOps || s.over > 0 {
		return
	}
	r := duelReceive{make([]byte, 256)}
	work := engine.Receive{Stream: uint16(id), ID: uint64(len(s.receives)), Buffer: r.buffer}
	if err := d.ends[at].PostReceive(d.now, d.conns[at], work); err != nil {
		d.t.Fatal(err)
	}
	s.receives = append(s.receives, r)
}
