// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// refused sends n packets, one after another, and returns the codes of the NOTICEs that answer them by packet.
func (f *forger) refused(n int, opcode wire.Opcode, change func(i int, p *wire.Packet)) map[int]wire.NoticeCode {
	f.t.Helper()
	codes := map[int]wire.NoticeCode{}
	first := f.packet.Base
	for i := range n {
		f.end.HandleDatagram(2, f.packetOf(opcode, func(p *wire.Packet) {
			p.Base.Psn, p.Base.Tsn = p.Base.Psn+uint32(i), p.Base.Tsn+uint32(i)
			change(i, p)
		}))
	}
	buf := make([]byte, 10_000)
	for {
		d, ok := f.end.NextDatagram(2, buf)
		if !ok {
			return codes
		}
		var w wire.Packet
		if _, err := w.Decode(d.Bytes); err != nil {
			f.t.Fatal(err)
		}
		if w.Base.Opcode == wire.OpcodeNotice {
			codes[int(w.Plain.Notice.Psn-first.Psn)] = w.Plain.Notice.Code
		}
	}
}

// A receiver takes as many incomplete messages, unanswered requests and streams as it has announced, and refuses the next one.
//
//mr:test MR-STREAM-022 MR-CONN-016
//mr:prop P43
func TestReceiverHoldsItsLimits(t *testing.T) {
	const chunk, window, messages, requests, streams = 4096, 256, 4096, 64, 4096
	incomplete := func(f *forger) func(i int, p *wire.Packet) {
		key, err := f.end.Register(make([]byte, chunk), engine.RemoteWrite)
		if err != nil {
			t.Fatal(err)
		}
		return func(i int, p *wire.Packet) {
			p.Plain.Write = wire.BodyWrite{
				Message:     wire.Message{Stream: uint16(i / window), Message: uint32(i % window), Length: 2 * chunk},
				WriteTarget: wire.WriteTarget{Key: uint64(key)}, Data: bytes.Repeat([]byte{1}, chunk),
			}
		}
	}
	request := func(f *forger) func(i int, p *wire.Packet) {
		key := f.packet.Plain.Write.WriteTarget.Key
		return func(i int, p *wire.Packet) {
			p.Plain.ReadRequest.Message = wire.Message{Message: uint32(i), Length: 8}
			p.Plain.ReadRequest.ReadTarget.Key = key
		}
	}
	onStream := func(f *forger) func(i int, p *wire.Packet) {
		return func(i int, p *wire.Packet) { p.Plain.Write.Message.Stream = uint16(streams - 2 + i) }
	}
	for _, c := range []struct {
		name   string
		opcode wire.Opcode
		change func(f *forger) func(i int, p *wire.Packet)
		limit  int
		code   wire.NoticeCode
	}{
		{"messages", wire.OpcodeWrite, incomplete, messages, wire.NoticeCodeBusy},
		{"requests", wire.OpcodeReadRequest, request, requests, wire.NoticeCodeBusy},
		{"streams", wire.OpcodeWrite, onStream, 2, wire.NoticeCodeBadStream},
	} {
		for n := c.limit - 1; n <= c.limit+1; n++ {
			f := newForger(t)
			codes := f.refused(n, c.opcode, c.change(f))
			if len(codes) != max(n-c.limit, 0) || n > c.limit && codes[c.limit] != c.code {
				t.Errorf("%d %s, allowed are %d: refused are %v", n, c.name, c.limit, codes)
			}
		}
	}
}
