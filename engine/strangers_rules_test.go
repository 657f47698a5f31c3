// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// signed gives a packet a true checksum.
func signed(b []byte) []byte {
	body := len(b) - 4
	binary.BigEndian.PutUint32(b[body:], crc32.Checksum(b[:body], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// What the codec refuses has no effect but a count, whatever its checksum is, and gets no answer: neither under a known tag
// nor under an unknown one.
//
//mr:prop P10
//mr:test MR-WIRE-001 MR-WIRE-009 MR-WIRE-013 MR-WIRE-014 MR-ERR-002 MR-ERR-006
func TestMalformedPacketsHaveNoEffect(t *testing.T) {
	const experiment = "an opcode for experiments"
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		drop   engine.Drop
	}{
		"an opcode that is not assigned": {func(b []byte) []byte { b[1] = 0x42; return b }, engine.DropMalformed},
		experiment:                       {func(b []byte) []byte { b[1] = 0xc0; return b }, engine.DropMalformed},
		"a sealed packet":                {func(b []byte) []byte { b[0] |= 8; return b }, engine.DropSecure},
		"a reserved bit":                 {func(b []byte) []byte { b[wire.BaseSize+2] |= 1; return b }, engine.DropMalformed},
		"a byte too few in the header":   {func(b []byte) []byte { return b[:wire.BaseSize+wire.MessageSize+7] }, engine.DropMalformed},
		"an offset beyond the message": {func(b []byte) []byte {
			binary.BigEndian.PutUint32(b[wire.BaseSize+8:], 1<<20)
			return b
		}, engine.DropMalformed},
		"nothing but a head": {func(b []byte) []byte { return b[:wire.BaseSize] }, engine.DropMalformed},
	} {
		for _, known := range []bool{true, false} {
			if !known && name == experiment {
				continue // an unknown tag is answered whatever the experiment is
			}
			end, write, memory := caughtWrite(t, engine.Config{})
			d := write
			d.Bytes = c.change(bytes.Clone(write.Bytes))
			if !known {
				binary.BigEndian.PutUint64(d.Bytes[4:], 77)
			}
			d.Bytes = signed(d.Bytes)
			before := end.Stats()
			end.HandleDatagram(2, d)
			after := end.Stats()
			if after.Drops[c.drop] != before.Drops[c.drop]+1 {
				t.Errorf("%s, known tag %v: not counted under %v", name, known, c.drop)
			}
			if out, ok := end.NextDatagram(2, make([]byte, 2000)); ok {
				t.Errorf("%s, known tag %v: answered by %v", name, known, opcodeAnswered(out))
			}
			if memory[0] != 0 {
				t.Errorf("%s: placed", name)
			}
		}
	}
}

// caughtWrite is an acceptor, a Write that it would place, and where.
func caughtWrite(t *testing.T, cfg engine.Config) (end *engine.Endpoint, write engine.Datagram, memory []byte) {
	t.Helper()
	p := newPair(t, cfg)
	ids := p.connect(1)
	p.settle()
	memory = make([]byte, 64)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: bytes.Repeat([]byte{1}, 64)}))
	d, ok := p.ends[0].NextDatagram(p.now, p.buf)
	if !ok || opcodeAnswered(d) != wire.OpcodeWrite {
		t.Fatalf("the first packet is %v", opcodeAnswered(d))
	}
	return p.ends[1], seen(d), memory
}

// Nothing that a stranger sends is answered by more bytes than it has, and answers are not answered at all.
//
//mr:prop P45
//mr:test MR-CONN-012 MR-ERR-001 MR-ERR-002 MR-ERR-005
func TestStrangersGetNoMoreThanTheySend(t *testing.T) {
	o := openWithCookie(t)
	var open wire.Packet
	if _, err := open.Decode(o.open.Bytes); err != nil {
		t.Fatal(err)
	}
	open.Plain.Open.Parameters.CookiePresent = false
	open.Plain.Open.Parameters.Padding = 1200
	otherVersion := o.with(open)
	otherVersion.Bytes[0] = otherVersion.Bytes[0]&15 | 2<<4
	otherVersion.Bytes = signed(otherVersion.Bytes)
	cases := map[wire.Opcode][]engine.Datagram{
		wire.OpcodeRetry: {o.with(open)}, wire.OpcodeVersions: {otherVersion},
	}
	stranger := func(opcode wire.Opcode) engine.Datagram {
		p := wire.Packet{Base: wire.Base{Version: 1, Opcode: opcode, Tag: 77}}
		return o.with(p)
	}
	for _, opcode := range []wire.Opcode{wire.OpcodeWrite, wire.OpcodeSend, wire.OpcodeReadRequest, wire.OpcodeProbe, wire.OpcodeClose} {
		cases[wire.OpcodeClosed] = append(cases[wire.OpcodeClosed], stranger(opcode))
	}
	for _, opcode := range []wire.Opcode{
		wire.OpcodeRetry, wire.OpcodeAccept, wire.OpcodeReject, wire.OpcodeClosed, wire.OpcodeAbort, wire.OpcodeProbeReply,
		wire.OpcodeConfirm, // has too few bytes for an answer
	} {
		cases[0] = append(cases[0], stranger(opcode))
	}
	for want, list := range cases {
		for _, d := range list {
			out := o.answer(d)
			if got := opcodeAnswered(out); got != want || len(out.Bytes) > len(d.Bytes) {
				t.Errorf("%v of %d bytes: answered by %v of %d, want %v", opcodeAnswered(d), len(d.Bytes), got, len(out.Bytes), want)
			}
			if _, ok := o.acceptor.NextDatagram(o.now, o.buf); ok {
				t.Errorf("%v: answered twice", opcodeAnswered(d))
			}
		}
	}
}

// Each reason for a drop has a name of its own.
//
//mr:test MR-ERR-006
func TestDropsHaveNames(t *testing.T) {
	names := map[string]bool{}
	for d := range engine.Drop(engine.DropReasons) {
		names[d.String()] = true
	}
	if len(names) != engine.DropReasons || names[""] || names["unknown"] {
		t.Errorf("%d reasons have the names %v", engine.DropReasons, names)
	}
}

// What a peer makes a connection owe it is bounded: refusals that do not fit are dropped and counted.
//
//mr:prop P43
//mr:test MR-ERR-007
func TestAnswersToAPeerAreBounded(t *testing.T) {
	for _, n := range []uint64{63, 64, 65, 1000} {
		refusals(t, n)
	}
}

// refusals has a peer owe n of them at a time.
func refusals(t *testing.T, n uint64) {
	t.Helper()
	end, write, _ := caughtWrite(t, engine.Config{})
	var w wire.Packet
	if _, err := w.Decode(write.Bytes); err != nil {
		t.Fatal(err)
	}
	for i := range uint32(n) {
		w.Base.Tsn++
		w.Plain.Write.Message.Message = i % 200
		w.Plain.Write.WriteTarget.Key++ // of no region
		b, err := w.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		write.Bytes = b
		end.HandleDatagram(2, write)
	}
	stats := end.Stats()
	buf := make([]byte, 2000)
	for {
		if _, ok := end.NextDatagram(2, buf); !ok {
			break
		}
	}
	sent := end.Stats()
	notices, dropped := sent.SentOf(wire.OpcodeNotice), stats.Drops[engine.DropQueue]
	if notices != min(n, 64) || notices+dropped != n {
		t.Errorf("%d refusals of %d were sent, %d dropped", notices, n, dropped)
	}
}
