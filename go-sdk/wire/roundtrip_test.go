// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var opcodes = []Opcode{
	OpcodeWrite, OpcodeSend, OpcodeReadRequest, OpcodeReadReply, OpcodeAtomicRequest, OpcodeAtomicReply, OpcodeStreamEnd,
	OpcodeAck, OpcodeNotice, OpcodeReceiveReady, OpcodeProbe, OpcodeProbeReply, OpcodeOpen, OpcodeRetry, OpcodeAccept,
	OpcodeConfirm, OpcodeReject, OpcodeVersions, OpcodeClose, OpcodeClosed, OpcodeAbort, OpcodeVendorMin, OpcodeVendorMax,
}

func genBase(op Opcode) *rapid.Generator[Base] {
	return rapid.Custom(func(t *rapid.T) Base {
		b := Base{
			Version:      1,
			KeyPhase:     rapid.Bool().Draw(t, "key_phase"),
			AckRequest:   rapid.Bool().Draw(t, "ack_request"),
			FeedbackHere: rapid.Bool().Draw(t, "feedback_here"),
			Opcode:       op,
		}
		switch op {
		case OpcodeOpen, OpcodeRetry, OpcodeAccept, OpcodeReject:
		default:
			b.Path = rapid.Uint16Max(0xfff).Draw(t, "path")
			b.Epoch = rapid.Uint8Max(0xf).Draw(t, "epoch")
			b.Psn = rapid.Uint32().Draw(t, "psn")
			b.Tsn = rapid.Uint32().Draw(t, "tsn")
		}
		if op != OpcodeOpen {
			b.Tag = rapid.Uint64().Draw(t, "tag")
		}
		return b
	})
}

// genMessage draws a chunk of size bytes that lies within its message.
func genMessage(size uint32) *rapid.Generator[Message] {
	return rapid.Custom(func(t *rapid.T) Message {
		m := Message{
			Stream:    rapid.Uint16().Draw(t, "stream"),
			Solicited: rapid.Bool().Draw(t, "solicited"),
			Floor:     rapid.Uint8().Draw(t, "floor"),
			Message:   rapid.Uint32().Draw(t, "message"),
		}
		m.Length = rapid.Uint32Range(size, 1<<31).Draw(t, "length")
		if m.Length > size {
			m.Offset = rapid.Uint32Max(m.Length-max(size, 1)).Draw(t, "offset")
		}
		return m
	})
}

var genData = rapid.SliceOfN(rapid.Byte(), 0, 100)

func genPathAck(t *rapid.T) PathAck {
	p := PathAck{
		Path:        rapid.Uint16Max(0xfff).Draw(t, "path"),
		Epoch:       rapid.Uint8Max(0xf).Draw(t, "epoch"),
		HasCounters: rapid.Bool().Draw(t, "has_counters"),
		Base:        rapid.Uint32().Draw(t, "base"),
		Packets:     rapid.Uint32().Draw(t, "packets"),
	}
	if p.HasCounters {
		p.Counters.Refused = rapid.Uint32().Draw(t, "refused")
	}
	for _, i := range rapid.SliceOfN(rapid.IntRange(1, 255), 0, 5).Draw(t, "sack") {
		p.Sack.Set(i)
	}
	p.HasSack = p.Sack.Any()
	return p
}

func genParameters(t *rapid.T) Parameters {
	var p Parameters
	if p.ChunkPresent = rapid.Bool().Draw(t, "has_chunk"); p.ChunkPresent {
		p.Chunk.Value = rapid.Uint32Range(8, 8872).Draw(t, "chunk")
	}
	if p.ReasonPresent = rapid.Bool().Draw(t, "has_reason"); p.ReasonPresent {
		p.Reason.Text = rapid.StringN(0, 20, 128).Draw(t, "reason")
	}
	if p.CookiePresent = rapid.Bool().Draw(t, "has_cookie"); p.CookiePresent {
		p.Cookie.Value = rapid.SliceOfN(rapid.Byte(), 8, 64).Draw(t, "cookie")
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "addresses") {
		p.Address = append(p.Address, ParametersAddress{Plane: uint8(i), Family: 4, Port: rapid.Uint16().Draw(t, "port")})
	}
	p.Padding = rapid.IntRange(0, 40).Draw(t, "padding")
	return p
}

// fillBody draws the arm that the opcode selects.
func fillBody(t *rapid.T, op Opcode, b *Body) {
	switch op {
	case OpcodeWrite:
		b.Kind, b.Write.Data = BodyKindWrite, genData.Draw(t, "data")
		b.Write.Message = genMessage(uint32(len(b.Write.Data))).Draw(t, "message")
		b.Write.WriteTarget = WriteTarget{Key: rapid.Uint64().Draw(t, "key"), At: rapid.Uint64().Draw(t, "at")}
		if b.Write.Message.Immediate = rapid.Bool().Draw(t, "immediate"); b.Write.Message.Immediate {
			b.Write.Immediate = Immediate{Value: rapid.Uint32().Draw(t, "value"), Receive: rapid.Uint32().Draw(t, "receive")}
		}
	case OpcodeSend:
		b.Kind, b.Send.Data = BodyKindSend, genData.Draw(t, "data")
		b.Send.Message = genMessage(uint32(len(b.Send.Data))).Draw(t, "message")
		b.Send.SendTarget.Match = rapid.Uint64().Draw(t, "match")
	case OpcodeReadRequest:
		b.Kind, b.ReadRequest.Message = BodyKindReadRequest, Message{Length: rapid.Uint32().Draw(t, "length")}
	case OpcodeReadReply:
		b.Kind, b.ReadReply.Data = BodyKindReadReply, genData.Draw(t, "data")
		b.ReadReply.Message = genMessage(uint32(len(b.ReadReply.Data))).Draw(t, "message")
	case OpcodeAtomicRequest:
		b.Kind, b.AtomicRequest.Message.Length = BodyKindAtomicRequest, 8
		b.AtomicRequest.Atomic = Atomic{At: 8 * rapid.Uint64Max(1<<60).Draw(t, "at"), Op: AtomicOpFetchAdd, Operand: rapid.Uint64().Draw(t, "operand")}
	case OpcodeAtomicReply:
		b.Kind, b.AtomicReply.AtomicResult.Original = BodyKindAtomicReply, rapid.Uint64().Draw(t, "original")
	case OpcodeStreamEnd:
		b.Kind, b.StreamEnd.End.Code = BodyKindStreamEnd, Status(rapid.Uint16().Draw(t, "code"))
	case OpcodeAck:
		b.Kind, b.Ack.Ack.Rate = BodyKindAck, rapid.Uint32().Draw(t, "rate")
		b.Ack.Blocks = rapid.SliceOfN(rapid.Custom(genPathAck), 1, 5).Draw(t, "blocks")
		b.Ack.Ack.Blocks = uint8(len(b.Ack.Blocks))
	default:
		fillControl(t, op, b)
	}
}

func fillControl(t *rapid.T, op Opcode, b *Body) {
	code := Code{Code: CloseReason(rapid.Uint16().Draw(t, "code")), Echo: rapid.Bool().Draw(t, "echo")}
	switch op {
	case OpcodeNotice:
		b.Kind, b.Notice = BodyKindNotice, Notice{Path: rapid.Uint16Max(0xfff).Draw(t, "path"), Info: rapid.Uint32().Draw(t, "info")}
	case OpcodeReceiveReady:
		b.Kind, b.ReceiveReady.Posted = BodyKindReceiveReady, rapid.Uint32().Draw(t, "posted")
	case OpcodeProbe:
		b.Kind, b.Probe = BodyKindProbe, BodyProbe{Probe: Probe{Ecn: rapid.Uint8Max(3).Draw(t, "ecn")}, Padding: rapid.IntRange(0, 100).Draw(t, "padding")}
	case OpcodeProbeReply:
		b.Kind, b.ProbeReply.Token = BodyKindProbeReply, rapid.Uint64().Draw(t, "token")
	case OpcodeOpen:
		b.Kind, b.Open = BodyKindOpen, BodyOpen{Open: Open{First: rapid.Uint32().Draw(t, "first")}, Parameters: genParameters(t)}
	case OpcodeRetry:
		b.Kind, b.Retry.Parameters = BodyKindRetry, genParameters(t)
	case OpcodeAccept:
		b.Kind, b.Accept.Parameters = BodyKindAccept, genParameters(t)
	case OpcodeConfirm:
		b.Kind, b.Confirm.Parameters = BodyKindConfirm, genParameters(t)
	case OpcodeReject:
		b.Kind, b.Reject = BodyKindReject, BodyReject{Code: code, Parameters: genParameters(t)}
	case OpcodeVersions:
		b.Kind, b.Versions = BodyKindVersions, VersionList{Count: 1, Version: [15]byte{1}}
	case OpcodeClose, OpcodeClosed:
		b.Kind, b.Close = BodyKindClose, code
	case OpcodeAbort:
		b.Kind, b.Abort.Info = BodyKindAbort, rapid.Uint32().Draw(t, "info")
	default:
		b.Kind, b.Vendor.Data = BodyKindVendor, genData.Draw(t, "data")
	}
}

func genPacket(t *rapid.T) *Packet {
	op := rapid.SampledFrom(opcodes).Draw(t, "opcode")
	p := &Packet{Base: genBase(op).Draw(t, "base")}
	if p.Base.Secure = rapid.IntRange(0, 9).Draw(t, "secure") == 0; p.Base.Secure {
		p.Sealed = genData.Draw(t, "sealed")
		p.Auth[3] = rapid.Byte().Draw(t, "auth")
		return p
	}
	fillBody(t, op, &p.Plain)
	return p
}

// What is encoded decodes to the same.
//
//mr:prop P47
func TestPacketRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genPacket(t)
		if err := p.Validate(); err != nil {
			t.Fatalf("the generator draws an invalid packet: %v", err)
		}
		src, err := p.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := VerifyPacket(src); err != nil {
			t.Fatal(err)
		}
		var got Packet
		if _, err := got.Decode(src); err != nil {
			t.Fatalf("%x: %v", src, err)
		}
		p.Crc = got.Crc // computed by Append, which does not change the struct
		if diff := cmp.Diff(p, &got, cmp.Comparer(func(a, b []byte) bool { return string(a) == string(b) })); diff != "" {
			t.Fatalf("written and read back (-written +read):\n%s", diff)
		}
	})
}

func TestAppendComputesWhatTheStructDoesNotKnow(t *testing.T) {
	var p Packet
	p.Base = Base{Version: 9, Opcode: OpcodeAck}
	p.Crc = 1
	p.Plain.Ack.Ack.Blocks = 200
	p.Plain.Ack.Blocks = make([]PathAck, 2)
	p.Plain.Ack.Blocks[1].Sack.Set(9)
	p.Plain.Ack.Blocks[0].HasSack = true // a lie
	before := cmp.Diff(Packet{}, p)
	out, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if after := cmp.Diff(Packet{}, p); after != before {
		t.Errorf("Append has changed the struct:\n%s", after)
	}
	var got Packet
	if _, err := got.Decode(out); err != nil {
		t.Fatal(err)
	}
	ack := &got.Plain.Ack
	if got.Base.Version != 1 || ack.Ack.Blocks != 2 || ack.Blocks[0].SackPresent() || !ack.Blocks[1].SackPresent() {
		t.Errorf("got version %d, %d blocks, sack %v and %v", got.Base.Version, ack.Ack.Blocks, ack.Blocks[0].HasSack, ack.Blocks[1].HasSack)
	}
	if err := VerifyPacket(out); err != nil {
		t.Error(err)
	}
}

func TestAppendRawWritesWhatTheStructHolds(t *testing.T) {
	var p Packet
	p.Base = Base{Version: 9, Opcode: OpcodeAck}
	p.Crc = 0x01020304
	p.Plain.Ack.Ack.Blocks = 200
	p.Plain.Ack.Blocks = make([]PathAck, 1)
	out, err := p.AppendRaw(nil)
	if err != nil {
		t.Fatal(err)
	}
	if base, _ := AsBaseView(out); base.Version() != 9 {
		t.Errorf("version is %d", base.Version())
	}
	if ack, _ := AsAckView(out[BaseSize:]); ack.Blocks() != 200 {
		t.Errorf("block count is %d", ack.Blocks())
	}
	if err := VerifyPacket(out); !errors.Is(err, ErrChecksum) {
		t.Errorf("verify: %v", err)
	}
}

func TestAppendRefusesWhatDoesNotFit(t *testing.T) {
	tests := []struct {
		name, field string
		want        error
		change      func(*Packet)
	}{
		{"path beyond 12 bits", "base.path", ErrNofit, func(p *Packet) { p.Base.Path = 0x1000 }},
		{"epoch beyond 4 bits", "base.epoch", ErrNofit, func(p *Packet) { p.Base.Epoch = 16 }},
		{"unassigned opcode", "plain.kind", ErrOpcode, func(p *Packet) { p.Base.Opcode = 0x99 }},
		{"negative padding", "plain.probe.padding", ErrNofit, func(p *Packet) { p.Base.Opcode, p.Plain.Probe.Padding = OpcodeProbe, -1 }},
		{"more blocks than the count holds", "plain.ack.ack.blocks", ErrNofit, func(p *Packet) {
			p.Base.Opcode, p.Plain.Ack.Blocks = OpcodeAck, make([]PathAck, 256)
		}},
		{"datagram too large", "plain", ErrSize, func(p *Packet) { p.Plain.Write.Data = make([]byte, 65536) }},
		{"list too large", "plain.confirm.parameters", ErrSize, func(p *Packet) {
			p.Base.Opcode, p.Plain.Confirm.Parameters.Padding = OpcodeConfirm, ParametersMax+1
		}},
	}
	for _, tt := range tests {
		p := Packet{Base: Base{Opcode: OpcodeWrite}}
		tt.change(&p)
		dst := []byte("dst")
		out, err := p.Append(dst)
		var e *Error
		if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Field != tt.field {
			t.Errorf("%s: got %v, want %v at %s", tt.name, err, tt.want, tt.field)
		}
		if string(out) != "dst" {
			t.Errorf("%s: Append returns %d bytes beside the error", tt.name, len(out))
		}
		if err := p.Validate(); err == nil {
			t.Errorf("%s: Validate does not mind", tt.name)
		}
	}
}
