// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// vectors returns the packets of the shared vectors, valid and invalid ones.
func vectors(tb testing.TB) (packets [][]byte) {
	tb.Helper()
	text, err := os.ReadFile("../schema/vectors/metaroce.json")
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
	if len(packets) == 0 {
		tb.Fatal("no vectors")
	}
	return packets
}

var (
	here  = netip.MustParseAddrPort("127.0.0.1:4797")
	there = netip.MustParseAddrPort("127.0.0.2:20000")
)

// victim is an acceptor with one connection, a region, a posted receive and work of its own, whose peer is the fuzzer.
type victim struct {
	end    *engine.Endpoint
	conn   engine.ConnID
	tag    uint64
	now    engine.Time
	buf    []byte
	memory []byte // guard, region, guard
	key    engine.Key
}

const guard = 64

func newVictim(tb testing.TB) *victim {
	tb.Helper()
	v := &victim{now: 1, buf: make([]byte, 10000), memory: make([]byte, guard+4096+guard)}
	opener := newEnd(tb, engine.Config{Chunk: 1024})
	v.end = newEnd(tb, engine.Config{Chunk: 1024, Accept: true})
	if _, err := opener.Open(v.now, []engine.Route{{Local: there, Remote: here}}); err != nil {
		tb.Fatal(err)
	}
	for v.conn == 0 {
		v.now++
		v.pass(opener, v.end, engine.Route{Local: here, Remote: there})
		v.pass(v.end, opener, engine.Route{Local: there, Remote: here})
		for {
			ev, ok := v.end.NextEvent()
			if !ok {
				break
			}
			v.conn = ev.Conn
		}
		if v.now > 100 {
			tb.Fatal("the victim does not open")
		}
	}
	var err error
	if v.key, err = v.end.Register(v.memory[guard:guard+4096], engine.RemoteWrite); err != nil {
		tb.Fatal(err)
	}
	if err := v.end.PostReceive(v.now, v.conn, engine.Receive{Stream: 1, Buffer: make([]byte, 5000)}); err != nil {
		tb.Fatal(err)
	}
	if err := v.end.Post(v.now, v.conn, engine.Work{Op: engine.OpSend, Data: make([]byte, 10_000)}); err != nil {
		tb.Fatal(err)
	}
	return v
}

func newEnd(tb testing.TB, cfg engine.Config) *engine.Endpoint {
	tb.Helper()
	end, err := engine.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return end
}

// pass carries all that one end sends to the other, and notes the tag that names the victim.
func (v *victim) pass(from, to *engine.Endpoint, route engine.Route) {
	from.Advance(v.now)
	for {
		d, ok := from.NextDatagram(v.now, v.buf)
		if !ok {
			return
		}
		if to == v.end {
			v.tag = binary.BigEndian.Uint64(d.Bytes[4:])
		}
		d.Route = route
		to.HandleDatagram(v.now, d)
	}
}

// take gives the victim a packet, with its own tag and a true checksum so that it gets inside, and lets it answer.
func (v *victim) take(tb testing.TB, packet []byte) {
	if len(packet) >= wire.BaseSize+4 {
		b := append([]byte(nil), packet...)
		if wire.Opcode(b[1]) != wire.OpcodeOpen {
			binary.BigEndian.PutUint64(b[4:], v.tag)
		}
		if wire.Opcode(b[1]) == wire.OpcodeWrite && len(b) >= 44 {
			binary.BigEndian.PutUint64(b[36:], uint64(v.key))
		}
		body := b[:len(b)-4]
		binary.BigEndian.PutUint32(b[len(b)-4:], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		packet = b
	}
	v.now = v.now.Add(10 * time.Microsecond)
	v.end.HandleDatagram(v.now, engine.Datagram{Route: engine.Route{Local: here, Remote: there}, ECN: engine.ECT0, Bytes: packet})
	v.end.Advance(v.now)
	for n := 0; ; n++ {
		if _, ok := v.end.NextDatagram(v.now, v.buf); !ok {
			break
		}
		if n > 1000 {
			tb.Fatal("one packet makes the victim send a thousand")
		}
	}
	if err := v.end.Check(); err != nil {
		tb.Fatal(err)
	}
	for i := range guard {
		if v.memory[i] != 0 || v.memory[len(v.memory)-1-i] != 0 {
			tb.Fatal("a byte outside the region has changed")
		}
	}
}

// FuzzEndpoint: nothing that a peer sends, in any order, panics, breaks an invariant or writes outside a region.
// The input is a sequence of packets, each behind its length in two bytes.
//
//mr:prop P14 P19 P46
//mr:test MR-WIRE-014 MR-ERR-006
//mr:prop P10 P19 P43 P46
func FuzzEndpoint(f *testing.F) {
	var several []byte
	for i, b := range vectors(f) {
		one := append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...)
		if i%20 == 0 {
			f.Add(one)
		}
		if several = append(several, one...); len(several) > 2000 {
			f.Add(several)
			several = nil
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		v := newVictim(t)
		for packets := 0; len(input) >= 2 && packets < 64; packets++ {
			n := min(int(binary.BigEndian.Uint16(input)), len(input)-2)
			v.take(t, input[2:2+n])
			input = input[2+n:]
		}
	})
}
