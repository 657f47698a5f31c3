// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// vector is one packet that every implementation must read in the same way.
type vector struct {
	ID        string
	Packet    string
	Hex       string
	Stage     string
	OK        bool
	Consumed  int
	Canonical bool
	Fields    map[string]string
	Error     *vectorError
}

type vectorError struct {
	Code   string
	Number int
	Field  string
	Off    int
}

// loadVectors reads the vectors for Packet. A file without vectors, or of another wire format, fails the test.
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
	if file.Format != 1 || file.Schema != WireHash {
		t.Fatalf("vectors have format %d and wire hash %s, want 1 and %s", file.Format, file.Schema, WireHash)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("there are no vectors")
	}
	for _, v := range file.Vectors {
		if v.Packet != "Packet" {
			t.Fatalf("vector %s is for %q", v.ID, v.Packet)
		}
	}
	return file.Vectors
}

func (v vector) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatalf("%s: %v", v.ID, err)
	}
	return b
}

// accepted are the vectors that decode.
func accepted(t testing.TB) []vector {
	var out []vector
	for _, v := range loadVectors(t) {
		if v.OK {
			out = append(out, v)
		}
	}
	return out
}

func fieldsOf(p *Packet) map[string]string {
	m := map[string]string{}
	p.Fields(func(path, value string) { m[path] = value })
	return m
}

// checkError compares an error with the vector's.
func (v vector) checkError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Errorf("%s: got error %v, want %s", v.ID, err, v.Error.Code)
		return
	}
	got := vectorError{e.Code.String(), int(e.Code), e.Field, e.Off}
	if diff := cmp.Diff(*v.Error, got); diff != "" {
		t.Errorf("%s: error (-want +got):\n%s", v.ID, diff)
	}
	if !errors.Is(err, e.Code) {
		t.Errorf("%s: errors.Is does not find the sentinel of %v", v.ID, e.Code)
	}
}

//mr:prop P47
//mr:test MR-WIRE-001 MR-WIRE-003 MR-WIRE-009 MR-WIRE-014 MR-WIRE-016 MR-WIRE-017
func TestPacketDecodesVectors(t *testing.T) {
	var reused Packet // leftovers of one packet must not show in the next
	for _, v := range loadVectors(t) {
		src := v.bytes(t)
		n, err := reused.Decode(src)
		switch {
		case v.Stage == "verify":
			if err != nil {
				t.Errorf("%s: decode: %v", v.ID, err)
			}
			v.checkError(t, VerifyPacket(src))
		case v.OK:
			if err != nil || n != v.Consumed {
				t.Errorf("%s: got %d, %v; want %d", v.ID, n, err, v.Consumed)
				continue
			}
			if diff := cmp.Diff(v.Fields, fieldsOf(&reused)); diff != "" {
				t.Errorf("%s: fields (-want +got):\n%s", v.ID, diff)
			}
			if err := VerifyPacket(src); err != nil {
				t.Errorf("%s: verify: %v", v.ID, err)
			}
		default:
			v.checkError(t, err)
		}
	}
}

func TestDecodeLeavesNothingOfThePacketBefore(t *testing.T) {
	reused := map[Opcode]*Packet{} // one for each opcode: of a body, only the arm that was decoded is defined
	vectors := accepted(t)
	backward := slices.Clone(vectors)
	slices.Reverse(backward)
	for _, v := range append(vectors, backward...) {
		src := v.bytes(t)
		var fresh Packet
		if _, err := fresh.Decode(src); err != nil {
			t.Fatal(err)
		}
		op := fresh.Base.Opcode
		if reused[op] == nil {
			reused[op] = new(Packet)
		}
		if _, err := reused[op].Decode(src); err != nil {
			t.Fatal(err)
		}
		if fresh.Base.Secure {
			if kind := reused[op].Plain.Kind; kind != BodyKindNone {
				t.Errorf("%s: a sealed packet has a body of kind %v", v.ID, kind)
			}
			fresh.Plain = reused[op].Plain
		}
		if diff := cmp.Diff(&fresh, reused[op], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: decoded into a new struct, and into a used one (-new +used):\n%s", v.ID, diff)
		}
	}
}

func TestPathAckDecodeClearsAbsentParts(t *testing.T) {
	full := PathAck{HasCounters: true, Counters: PathCounters{Copies: 9}}
	full.Sack.Set(7)
	for _, p := range []*PathAck{&full, {}} {
		src, err := p.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := full.Decode(src); err != nil || n != len(src) {
			t.Fatalf("got %d, %v; want %d", n, err, len(src))
		}
	}
	if diff := cmp.Diff(PathAck{}, full); diff != "" {
		t.Errorf("an empty block leaves (-want +got):\n%s", diff)
	}
}

//mr:prop P47
//mr:test MR-WIRE-003 MR-WIRE-011 MR-WIRE-016
func TestPacketAppendsVectors(t *testing.T) {
	for _, v := range accepted(t) {
		src := v.bytes(t)
		var p Packet
		if _, err := p.Decode(src); err != nil {
			t.Errorf("%s: %v", v.ID, err)
			continue
		}
		if err := p.Validate(); err != nil {
			t.Errorf("%s: an accepted packet is not valid: %v", v.ID, err)
		}
		prefix := []byte("before")
		for name, appendTo := range map[string]func([]byte) ([]byte, error){"Append": p.Append, "AppendRaw": p.AppendRaw} {
			out, err := appendTo(prefix)
			if err != nil {
				t.Errorf("%s: %s: %v", v.ID, name, err)
				continue
			}
			if got := bytes.Equal(out[len(prefix):], src); name == "Append" && got != v.Canonical || v.Canonical && !got {
				t.Errorf("%s: %s gives\n%x for\n%x, canonical %v", v.ID, name, out[len(prefix):], src, v.Canonical)
			}
			if n, err := p.Len(); err != nil || n != len(out)-len(prefix) {
				t.Errorf("%s: Len is %d, %v; %s wrote %d", v.ID, n, err, name, len(out)-len(prefix))
			}
		}
	}
}

func TestBodyDecodesWhatPacketHolds(t *testing.T) {
	for _, v := range accepted(t) {
		src := v.bytes(t)
		var p Packet
		if _, err := p.Decode(src); err != nil || p.Base.Secure {
			continue
		}
		var body Body
		plain := src[BaseSize : len(src)-4]
		if n, err := body.Decode(plain, &p.Base); err != nil || n != len(plain) {
			t.Errorf("%s: body: %d, %v; want %d", v.ID, n, err, len(plain))
		}
		if diff := cmp.Diff(p.Plain, body); diff != "" {
			t.Errorf("%s: body within packet, and alone (-within +alone):\n%s", v.ID, diff)
		}
	}
}
