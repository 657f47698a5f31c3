// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// testBase is the first number of the layers in these tests.
const testBase = 1970

func TestMain(m *testing.M) {
	Register(testBase)
	os.Exit(m.Run())
}

// vector is one packet that every implementation must read in the same way.
type vector struct {
	ID        string
	Hex       string
	Stage     string
	OK        bool
	Canonical bool
	Fields    map[string]string
	Error     *struct{ Code string }

	src []byte
}

// loadVectors reads the vectors. A file without any, or of another wire format, fails the test.
func loadVectors(t testing.TB) []vector {
	t.Helper()
	data, err := os.ReadFile("../../schema/vectors/metaroce.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Format  int
		Schema  string
		Vectors []vector
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if file.Format != 1 || file.Schema != wire.WireHash || len(file.Vectors) == 0 {
		t.Fatalf("%d vectors of format %d and wire hash %s; want 1 and %s", len(file.Vectors), file.Format, file.Schema, wire.WireHash)
	}
	for i := range file.Vectors {
		v := &file.Vectors[i]
		if v.src, err = hex.DecodeString(v.Hex); err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
	}
	return file.Vectors
}

// decodes tells whether a vector must be decoded without an error.
func (v vector) decodes() bool { return v.OK || v.Stage == "verify" }

// hasText tells whether a packet has text, the only thing that decoding copies.
func (v vector) hasText() bool {
	for _, value := range v.Fields {
		if strings.HasPrefix(value, "text:") {
			return true
		}
	}
	return false
}

// accepted are the vectors that decode and verify.
func accepted(t testing.TB) []vector {
	t.Helper()
	out := slices.DeleteFunc(loadVectors(t), func(v vector) bool { return !v.OK })
	if len(out) == 0 {
		t.Fatal("no vector is accepted")
	}
	return out
}

// feedback records what a decoder says about the packet.
type feedback struct{ truncated bool }

func (f *feedback) SetTruncated() { f.truncated = true }

// same compares layers; empty slices are equal whether or not they have memory.
var same = cmp.Options{cmp.AllowUnexported(Packet{}, Body{}), cmpopts.EquateEmpty()}

func TestPacketAcceptsWhatTheCodecAccepts(t *testing.T) {
	short := 0
	for _, v := range loadVectors(t) {
		var codec wire.Packet
		_, want := codec.Decode(v.src)
		var layer Packet
		var df feedback
		got := layer.DecodeFromBytes(v.src, &df)
		if !sameError(want, got) {
			t.Errorf("%s: codec: %v, layer: %v", v.ID, want, got)
		}
		if (got == nil) != v.decodes() {
			t.Errorf("%s: got %v", v.ID, got)
		}
		if isShort := v.Error != nil && v.Error.Code == "E_SHORT"; df.truncated != isShort {
			t.Errorf("%s: truncated %v, want %v", v.ID, df.truncated, isShort)
		} else if isShort {
			short++
		}
		if got != nil {
			continue
		}
		if diff := cmp.Diff(codec, layer.Packet, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: fields (-codec +layer):\n%s", v.ID, diff)
		}
	}
	if short == 0 {
		t.Error("no vector is short")
	}
}

func TestPacketSplitsItsBytes(t *testing.T) {
	payloads := 0
	for _, v := range accepted(t) {
		var p Packet
		if err := p.DecodeFromBytes(v.src, &feedback{}); err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		var want []byte
		switch {
		case p.Base.Secure:
		case p.Base.Opcode == wire.OpcodeWrite:
			want = p.Plain.Write.Data
		case p.Base.Opcode == wire.OpcodeSend:
			want = p.Plain.Send.Data
		case p.Base.Opcode == wire.OpcodeReadReply:
			want = p.Plain.ReadReply.Data
		}
		if !bytes.Equal(p.LayerPayload(), want) {
			t.Errorf("%s: payload %x, want %x", v.ID, p.LayerPayload(), want)
		}
		if len(want) > 0 {
			payloads++
		}
		trailer := 4
		if p.Base.Secure {
			trailer = len(p.Auth)
		}
		if len(p.Trailer()) != trailer {
			t.Errorf("%s: trailer of %d bytes, want %d", v.ID, len(p.Trailer()), trailer)
		}
		if all := slices.Concat(p.LayerContents(), p.LayerPayload(), p.Trailer()); !bytes.Equal(all, v.src) {
			t.Errorf("%s: the parts are\n%x of\n%x", v.ID, all, v.src)
		}
		for _, part := range [][]byte{p.contents, p.payload, p.trailer} {
			if cap(part) != len(part) {
				t.Errorf("%s: %d bytes with capacity %d", v.ID, len(part), cap(part))
			}
		}
	}
	if payloads == 0 {
		t.Error("no vector has a payload")
	}
}

func TestPacketDecodedAgainEqualsAFreshOne(t *testing.T) {
	var reused Packet
	var dirty wire.Packet
	dirty.Plain.Vendor.Data = []byte("filled by hand")
	dirty.Plain.Ack.Blocks = make([]wire.PathAck, 3)
	for i, v := range loadVectors(t) {
		if i%50 == 0 {
			reused.Packet = dirty
		}
		var fresh Packet
		errFresh := fresh.DecodeFromBytes(v.src, &feedback{})
		errReused := reused.DecodeFromBytes(v.src, &feedback{})
		if !sameError(errFresh, errReused) {
			t.Fatalf("%s: fresh: %v, reused: %v", v.ID, errFresh, errReused)
		}
		if errFresh != nil {
			fresh = Packet{} // what an error must leave
		}
		if diff := cmp.Diff(fresh, reused, same...); diff != "" {
			t.Fatalf("%s (-fresh +reused):\n%s", v.ID, diff)
		}
	}
}

func TestPacketStringListsItems(t *testing.T) {
	for _, v := range accepted(t) {
		var p Packet
		if err := p.DecodeFromBytes(v.src, &feedback{}); err != nil {
			t.Fatal(err)
		}
		items := strings.Split(p.String(), " ")
		if !slices.Contains(items, "base.opcode="+v.Fields["base.opcode"]) || len(items) < len(v.Fields) {
			t.Errorf("%s: %s", v.ID, p.String())
		}
		for _, it := range items {
			if !v.hasText() && len(it) > 150 {
				t.Errorf("%s: %d characters: %s", v.ID, len(it), it)
			}
		}
	}
}

func TestBodyDecodesWhatASealedPacketHolds(t *testing.T) {
	var body Body
	body.SetBase(&wire.Base{Opcode: wire.OpcodeWrite})
	for _, v := range accepted(t) {
		var p Packet
		if err := p.DecodeFromBytes(v.src, &feedback{}); err != nil {
			t.Fatal(err)
		}
		if p.Base.Secure {
			continue
		}
		body.SetBase(&p.Base)
		plain := v.src[wire.BaseSize : len(v.src)-4]
		if err := body.DecodeFromBytes(plain, &feedback{}); err != nil {
			t.Errorf("%s: %v", v.ID, err)
			continue
		}
		if diff := cmp.Diff(p.Plain, body.Body, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-packet +body):\n%s", v.ID, diff)
		}
		if !bytes.Equal(body.payload, p.payload) || len(body.Trailer()) != 0 || len(body.contents) != len(p.contents)-wire.BaseSize {
			t.Errorf("%s: contents %x, payload %x, trailer %x", v.ID, body.contents, body.payload, body.Trailer())
		}
	}
}

func TestBodyNeedsABase(t *testing.T) {
	var body Body
	if err := body.DecodeFromBytes(make([]byte, 100), &feedback{}); !errors.Is(err, ErrParameter) {
		t.Errorf("decode: %v", err)
	}
	if body.String() != ErrParameter.Error() {
		t.Error(body.String())
	}
}
