// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// allOptions are the four combinations of the options.
var allOptions = []gopacket.SerializeOptions{
	{}, {FixLengths: true}, {ComputeChecksums: true}, {FixLengths: true, ComputeChecksums: true},
}

// crc returns a packet with the right CRC at its end.
func crc(packet []byte) []byte {
	end := len(packet) - 4
	return binary.BigEndian.AppendUint32(packet[:end:end], crc32.Checksum(packet[:end], crc32.MakeTable(crc32.Castagnoli)))
}

// expected is what the codec makes of a struct under options.
func expected(t *testing.T, p *wire.Packet, opts gopacket.SerializeOptions) []byte {
	t.Helper()
	appendTo := p.AppendRaw
	if opts.FixLengths {
		appendTo = p.Append
	}
	out, err := appendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case p.Base.Secure:
	case opts.ComputeChecksums:
		out = crc(out)
	default:
		binary.BigEndian.PutUint32(out[len(out)-4:], p.Crc)
	}
	return out
}

// dirtyBuffer is a buffer whose memory is not zero.
func dirtyBuffer(t *testing.T) gopacket.SerializeBuffer {
	t.Helper()
	buf := gopacket.NewSerializeBufferExpectedSize(wire.PacketMax, 64)
	for _, grow := range []func(int) ([]byte, error){buf.PrependBytes, buf.AppendBytes} {
		b, err := grow(64)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			b[i] = 0xa5
		}
	}
	if err := buf.Clear(); err != nil {
		t.Fatal(err)
	}
	return buf
}

func TestPacketSerializesVectors(t *testing.T) {
	buf := dirtyBuffer(t)
	for _, v := range accepted(t) {
		var p, before Packet
		if err := p.DecodeFromBytes(v.src, &feedback{}); err != nil {
			t.Fatal(err)
		}
		if err := before.DecodeFromBytes(v.src, &feedback{}); err != nil {
			t.Fatal(err)
		}
		for _, opts := range allOptions {
			want := expected(t, &p.Packet, opts)
			if v.Canonical && !bytes.Equal(want, v.src) {
				t.Fatalf("%s: the codec writes %x", v.ID, want)
			}
			for name, inner := range map[string][]gopacket.SerializableLayer{
				"with a payload layer": {&p, gopacket.Payload(p.payload)},
				"alone":                {&p},
			} {
				if err := gopacket.SerializeLayers(buf, opts, inner...); err != nil {
					t.Errorf("%s %s, %+v: %v", v.ID, name, opts, err)
				} else if !bytes.Equal(buf.Bytes(), want) {
					t.Errorf("%s %s, %+v:\n%x, want\n%x", v.ID, name, opts, buf.Bytes(), want)
				}
			}
		}
		if diff := cmp.Diff(before, p, same...); diff != "" {
			t.Errorf("%s: serializing changed the struct:\n%s", v.ID, diff)
		}
	}
}

func TestOptionsDecideAboutTheirFieldsOnly(t *testing.T) {
	var p Packet
	p.Base = wire.Base{Version: 3, Opcode: wire.OpcodeAck, Tag: 7}
	p.Plain.Ack.Ack = wire.Ack{Blocks: 9}
	p.Plain.Ack.Blocks = []wire.PathAck{{Path: 1, HasSack: true}, {Path: 2, Sack: wire.Bits256{5}}}
	p.Crc = 0xdeadbeef
	for _, opts := range allOptions {
		buf := dirtyBuffer(t)
		if err := p.SerializeTo(buf, opts); err != nil {
			t.Fatal(err)
		}
		out := buf.Bytes()
		version, blocks := out[0]>>4, out[wire.BaseSize+7]
		if opts.FixLengths && (version != 1 || blocks != 2) || !opts.FixLengths && (version != 3 || blocks != 9) {
			t.Errorf("%+v: version %d, %d blocks", opts, version, blocks)
		}
		if stored := binary.BigEndian.Uint32(out[len(out)-4:]) == p.Crc; stored == opts.ComputeChecksums {
			t.Errorf("%+v: stored CRC: %v", opts, stored)
		}
		if right := bytes.Equal(crc(out), out); right != opts.ComputeChecksums {
			t.Errorf("%+v: right CRC: %v", opts, right)
		}
		if want := expected(t, &p.Packet, opts); !bytes.Equal(out, want) {
			t.Errorf("%+v:\n%x, want\n%x", opts, out, want)
		}
	}
}

func TestPayloadLayerReplacesTheStructsOwn(t *testing.T) {
	var p Packet
	p.Base.Opcode = wire.OpcodeWrite
	p.Plain.Write.Message.Length = 100
	p.Plain.Write.Data = []byte("own")
	for _, opts := range allOptions {
		p.Base.Version = 1
		buf := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(buf, opts, &p, gopacket.Payload("from the layer within")); err != nil {
			t.Fatal(err)
		}
		var got Packet
		if err := got.DecodeFromBytes(buf.Bytes(), &feedback{}); err != nil {
			t.Fatal(err)
		}
		if string(got.payload) != "from the layer within" || string(p.Plain.Write.Data) != "own" {
			t.Errorf("%+v: wrote %q; own is %q", opts, got.payload, p.Plain.Write.Data)
		}
	}
}

func TestPacketWithoutPayloadRefusesOne(t *testing.T) {
	var p Packet
	p.Base.Opcode = wire.OpcodeConfirm
	for _, opts := range allOptions {
		err := gopacket.SerializeLayers(gopacket.NewSerializeBuffer(), opts, &p, gopacket.Payload("x"))
		if !errors.Is(err, ErrNoPayload) {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

func TestSerializeReportsTheCodecsErrors(t *testing.T) {
	for _, opts := range allOptions {
		var p Packet
		p.Base = wire.Base{Opcode: wire.OpcodeConfirm, Path: 0x1000}
		if err := p.SerializeTo(gopacket.NewSerializeBuffer(), opts); !errors.Is(err, wire.ErrNofit) {
			t.Errorf("%+v: path: %v", opts, err)
		}
		p.Base = wire.Base{Opcode: 0xff}
		if err := p.SerializeTo(gopacket.NewSerializeBuffer(), opts); !errors.Is(err, wire.ErrOpcode) {
			t.Errorf("%+v: opcode: %v", opts, err)
		}
		p.Base = wire.Base{Opcode: wire.OpcodeVendorMin}
		p.Plain.Vendor.Data = make([]byte, wire.PacketMax)
		if err := p.SerializeTo(gopacket.NewSerializeBuffer(), opts); !errors.Is(err, wire.ErrSize) {
			t.Errorf("%+v: size: %v", opts, err)
		}
	}
}

func TestBodySerializesWithItsBase(t *testing.T) {
	base := wire.Base{Opcode: wire.OpcodeSend}
	var body Body
	body.Send.Message.Length = 4
	buf := gopacket.NewSerializeBuffer()
	if err := body.SerializeTo(buf, allOptions[3]); !errors.Is(err, ErrParameter) {
		t.Errorf("without a base: %v", err)
	}
	body.SetBase(&base)
	for _, opts := range allOptions {
		if err := gopacket.SerializeLayers(buf, opts, &body, gopacket.Payload("data")); err != nil {
			t.Fatal(err)
		}
		var got Body
		got.SetBase(&base)
		if err := got.DecodeFromBytes(buf.Bytes(), &feedback{}); err != nil || string(got.payload) != "data" {
			t.Errorf("%+v: %q, %v", opts, got.payload, err)
		}
	}
}

// shifting is a buffer that moves its bytes within the same memory to make room in front.
type shifting struct{ data []byte }

func (s *shifting) Bytes() []byte { return s.data }

func (s *shifting) PrependBytes(n int) ([]byte, error) {
	held := len(s.data)
	s.data = s.data[:n+held]
	copy(s.data[n:], s.data[:held])
	return s.data[:n], nil
}

func (s *shifting) AppendBytes(n int) ([]byte, error) {
	s.data = s.data[:len(s.data)+n]
	return s.data[len(s.data)-n:], nil
}

func (s *shifting) Clear() error                   { s.data = s.data[:0]; return nil }
func (s *shifting) Layers() []gopacket.LayerType   { return nil }
func (s *shifting) PushLayer(_ gopacket.LayerType) {}

func TestPacketSerializesIntoABufferThatMovesItsBytes(t *testing.T) {
	var p Packet
	p.Base = wire.Base{Version: 1, Opcode: wire.OpcodeReadReply}
	p.Plain.ReadReply.Message.Length = 64
	p.Plain.ReadReply.Data = []byte("from the layer within")
	for _, opts := range allOptions {
		want := expected(t, &p.Packet, opts)
		buf := &shifting{make([]byte, 0, 1000)}
		if err := gopacket.SerializeLayers(buf, opts, &p, gopacket.Payload(p.Plain.ReadReply.Data)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf.Bytes(), want) {
			t.Errorf("%+v:\n%x, want\n%x", opts, buf.Bytes(), want)
		}
	}
}
