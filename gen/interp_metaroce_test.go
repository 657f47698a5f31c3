// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func metaroce(t *testing.T) *Protocol {
	t.Helper()
	src, err := os.ReadFile("../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	p, faults := Compile("metaroce.mrs", src)
	if p == nil {
		t.Fatalf("metaroce.mrs: %v", faults)
	}
	return p
}

func TestHandWrittenExamplesHold(t *testing.T) {
	p := metaroce(t)
	examples, rejects := 0, 0
	for _, e := range p.Examples {
		if err := p.CheckExample(e); err != nil {
			t.Error(err)
		}
		if e.Code == nil {
			examples++
		} else {
			rejects++
		}
	}
	if examples < 12 || rejects < 6 {
		t.Errorf("metaroce.mrs has %d examples and %d rejects", examples, rejects)
	}
}

func TestCheckExampleFindsEveryKindOfMistake(t *testing.T) {
	p := metaroce(t)
	find := func(name string) Example {
		for _, e := range p.Examples {
			if e.Name == name {
				return *e
			}
		}
		t.Fatalf("no example is called %q", name)
		return Example{}
	}
	for _, c := range []struct {
		name, want string
		spoil      func(e *Example)
	}{
		{"close", "want 1", func(e *Example) { e.Fields = []Expect{{"plain.close.code", "1"}} }},
		{"close", "absent", func(e *Example) { e.Fields = []Expect{{"plain.close.cod", "0"}} }},
		{"close", "E_CHECKSUM", func(e *Example) { e.Bytes[len(e.Bytes)-1] ^= 1 }},
		{"close", "E_FIXED", func(e *Example) { e.Bytes[0] ^= 0x80 }},
		{"close", "want 27", func(e *Example) { e.Consumed = 27 }},
		{"close", "noncanonical", func(e *Example) { e.NonCanonical = true }},
		{"open with an unknown parameter that may be skipped", "^^", func(e *Example) { e.NonCanonical = false }},
		{"version 2", "E_FIXED at base.version", func(e *Example) { e.Code = builtin(ShortNumber) }},
		{"version 2", `at "crc"`, func(e *Example) { e.At = "crc" }},
		{"version 2", "accepted", func(e *Example) { e.Bytes = find("close").Bytes }},
	} {
		e := find(c.name)
		e.Bytes = bytes.Clone(e.Bytes)
		c.spoil(&e)
		err := p.CheckExample(&e)
		if !errors.Is(err, ErrExample) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestInterpreterTakesASealedBodyWithItsBase(t *testing.T) {
	p := metaroce(t)
	for _, e := range p.Examples {
		if e.Code != nil {
			continue
		}
		v, n, err := Decode(p, "Packet", e.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if v.Lookup("crc") == nil {
			continue
		}
		base := v.Lookup("base")
		body, _, err := Decode(p, "Body", e.Bytes[20:n-4], base)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		got, err := Encode(p, body, base)
		if err != nil || !e.NonCanonical && !bytes.Equal(got, e.Bytes[20:n-4]) {
			t.Errorf("%s: body encodes to %x, %v", e.Name, got, err)
		}
	}
}

func TestInterpreterWantsOneValuePerParameter(t *testing.T) {
	p := metaroce(t)
	if _, _, err := Decode(p, "Body", nil); !errors.Is(err, ErrParams) {
		t.Errorf("Body without base: %v", err)
	}
	if _, _, err := Decode(p, "Bodies", nil); !errors.Is(err, ErrUnknownStruct) {
		t.Errorf("unknown struct: %v", err)
	}
}

// TestInterpreterRoundTripsMetaroce feeds valid packets with some bytes changed, and bytes that begin like a packet.
func TestInterpreterRoundTripsMetaroce(t *testing.T) {
	p := metaroce(t)
	rapid.Check(t, func(rt *rapid.T) {
		b := bytes.Clone(rapid.SampledFrom(p.Examples).Draw(rt, "example").Bytes)
		for range rapid.IntRange(0, 4).Draw(rt, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(rt, "length")]
		b = append(b, rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(rt, "more")...)
		checkRoundTrip(rt, p, "Packet", b)
	})
}

// TestInterpreterSurvivesArbitraryBytes draws packets of which only version and opcode are right.
func TestInterpreterSurvivesArbitraryBytes(t *testing.T) {
	p := metaroce(t)
	opcodes := p.Enums[0].Members
	rapid.Check(t, func(rt *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 160).Draw(rt, "bytes")
		if len(b) > 1 {
			b[0] = 0x10 | b[0]&0x0f
			b[1] = byte(rapid.SampledFrom(opcodes).Draw(rt, "opcode").First)
		}
		checkRoundTrip(rt, p, "Packet", b)
	})
}
