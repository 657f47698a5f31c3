// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func TestInterpreterDecodesEveryKindOfItem(t *testing.T) {
	p := newToy().p
	for _, c := range []struct {
		name, in string
		want     map[string]string
	}{
		{"text", "20 01 00 c3a9 00", map[string]string{"version": "2", "wide": "0", "kind": "1", "count": "0", "text.text": "text:é", "sum": "0"}},
		{"words", "28 03 02 8001 feff 0100 07", map[string]string{"version": "2", "wide": "1", "kind": "3", "count": "2", "map": "hex:8001",
			"words[0]": "-2", "words[1]": "1", "sum": "7"}},
		{"list", "20 02 00 01020005 02000000 02000000 7f000000 0000 09", map[string]string{"version": "2", "wide": "0", "kind": "2", "count": "0",
			"list.list.small.value": "5", "list.list.named[0]": "1", "list.list.named[1]": "1", "sum": "9"}},
	} {
		v, n, err := Decode(p, "Toy", unhex(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, Flatten(v)); diff != "" || n != len(unhex(c.in)) {
			t.Errorf("%s: used %d; (-want +got)\n%s", c.name, n, diff)
		}
	}
}

func TestInterpreterNamesCodeAndPlaceOfTheFirstError(t *testing.T) {
	p := newToy().p
	for _, c := range []struct {
		in, code, field string
		off, bit        int
	}{
		{"20 01", "E_SHORT", "version", 0, 0},
		{"30 01 00 61 00", "E_FIXED", "version", 0, 0},
		{"21 01 00 61 00", "E_RESERVED", "_", 0, 5},
		{"28 03 00 00", "E_SHORT", "map", 3, 0},
		{"20 03 02 0000 00", "E_SHORT", "words[1]", 5, 0},
		{"20 05 00 00", "E_SWITCH", "body", 3, 0},
		{"20 04 00 00", "E_TOY", "body", 3, 0},
		{"20 01 00", "E_SHORT", "body", 3, 0},
		{"20 01 00 00", "E_RANGE", "text.text", 3, 0},
		{"20 01 00 6161616161 00", "E_RANGE", "text.text", 3, 0},
		{"20 01 00 61ff 00", "E_STRING", "text.text", 3, 0},
		{"20 03 00 00 00", "E_TRAILING", "", 4, 0},
		{"20 03 00", "E_SHORT", "sum", 3, 0},
		{"20 02 00" + strings.Repeat("00", 65) + "00", "E_SIZE", "list.list", 3, 0},
		{"20 02 00" + strings.Repeat("00", 198), "E_SIZE", "", 0, 0},
		{"20 02 00 00", "E_TLV_MISSING", "list.list.small", 3, 0},
		{"20 02 00 01020005 00000100 00", "E_PADDING", "list.list", 7, 0},
		{"20 02 00 01020005 02 00", "E_SHORT", "list.list", 7, 0},
		{"20 02 00 01020005 0200 00", "E_SHORT", "list.list.named[0]", 7, 0},
		{"20 02 00 01020005 7f00 00", "E_SHORT", "list.list", 7, 0},
		{"20 02 00 02000000 01020005 00", "E_TLV_ORDER", "list.list", 7, 0},
		{"20 02 00 01020005 80000000 00", "E_TLV_UNKNOWN", "list.list", 7, 0},
		{"20 02 00 01020005 01020005 00", "E_TLV_DUPLICATE", "list.list.small", 7, 0},
		{"20 02 00 01010500 00", "E_TLV_LENGTH", "list.list.small", 3, 0},
		{"20 02 00 01040005 00000000 00", "E_TLV_LENGTH", "list.list.small", 3, 0},
		{"20 02 00 01040000 00000000 00", "E_RANGE", "list.list.small.value", 5, 0},
		{"20 02 00 01020005 02000000 02010000 00", "E_TLV_LENGTH", "list.list.named[1]", 11, 0},
		{"20 02 00 01020005 02000001 00", "E_PADDING", "list.list.named[0]", 7, 0},
		{"20 02 00 01020005 7f000001 00", "E_PADDING", "list.list", 7, 0},
	} {
		_, _, err := Decode(p, "Toy", unhex(c.in))
		var e *DecodeError
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v, want %s", c.in, err, c.code)
			continue
		}
		if e.Code.Name != c.code || e.Field != c.field || e.Off != c.off || e.Bit != c.bit {
			t.Errorf("%s: got %s at %q (%d.%d), want %s at %q (%d.%d)", c.in, e.Code.Name, e.Field, e.Off, e.Bit, c.code, c.field, c.off, c.bit)
		}
	}
}

func TestInterpreterEncodesSolvedFixedAndSummedFields(t *testing.T) {
	ty := newToy()
	v, _, err := Decode(ty.p, "Toy", unhex("20 03 02 feff 0100 00"))
	if err != nil {
		t.Fatal(err)
	}
	v.Find(ty.version).Num = 9
	words := v.Find(ty.words)
	words.Kids = words.Kids[:1]
	got, err := Encode(ty.p, v)
	if err != nil {
		t.Fatal(err)
	}
	want := unhex("20 03 01 feff")
	want = append(want, byte(ty.sum.Scalar.Sum.Sum.Of(want)))
	if !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	if err := VerifyPacket(ty.p, "Toy", got); err != nil {
		t.Error(err)
	}
	got[len(got)-1] ^= 1
	var e *DecodeError
	if err := VerifyPacket(ty.p, "Toy", got); !errors.As(err, &e) || e.Code.Number != ChecksumNumber || e.Field != "sum" || e.Off != 5 {
		t.Errorf("broken sum: got %v", err)
	}
}

func TestInterpreterRefusesValuesThatDoNotFit(t *testing.T) {
	ty := newToy()
	v, _, err := Decode(ty.p, "Toy", unhex("20 03 00 00"))
	if err != nil {
		t.Fatal(err)
	}
	words := v.Find(ty.words)
	for range 256 {
		words.Kids = append(words.Kids, &Value{Scalar: ty.words.Array.Scalar})
	}
	var e *DecodeError
	if _, err := Encode(ty.p, v); !errors.As(err, &e) || e.Code.Number != NoFitNumber || e.Field != "count" {
		t.Errorf("256 words in 8 bits: got %v", err)
	}
}

func TestSumGivesPublishedCheckValues(t *testing.T) {
	for _, s := range []Sum{
		{Width: 32, Poly: 0x1edc6f41, Init: 0xffffffff, XorOut: 0xffffffff, ReflectIn: true, ReflectOut: true, Check: 0xe3069283},
		{Width: 16, Poly: 0x1021, Init: 0xffff, Check: 0x29b1},
		{Width: 8, Poly: 7, Check: 0xf4},
		{Width: 64, Poly: 0x42f0e1eba9ea3693, Check: 0x6c40df5f0b497347},
	} {
		if got := s.Of([]byte("123456789")); got != s.Check {
			t.Errorf("CRC-%d over 123456789 = %x, want %x", s.Width, got, s.Check)
		}
	}
}

func TestInterpreterRoundTripsWhatItAccepts(t *testing.T) {
	p := newToy().p
	rapid.Check(t, func(rt *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(rt, "bytes")
		if len(b) > 1 {
			b[0] = b[0]&8 | 0x20
			b[1] = b[1] % 6
		}
		checkRoundTrip(rt, p, "Toy", b)
	})
}

// checkRoundTrip demands that encoding gives bytes which decode to the same fields, and which encoding leaves alone.
func checkRoundTrip(t interface{ Fatalf(string, ...any) }, p *Protocol, name string, b []byte) {
	v, _, err := Decode(p, name, b)
	if err != nil {
		return
	}
	once, err := Encode(p, v)
	if err != nil {
		t.Fatalf("encode %x: %v", b, err)
	}
	again, n, err := Decode(p, name, once)
	if err != nil || n != len(once) {
		t.Fatalf("%x encodes to %x: %v, used %d", b, once, err, n)
	}
	if err := VerifyPacket(p, name, once); err != nil {
		t.Fatalf("%x encodes to %x: %v", b, once, err)
	}
	twice, err := Encode(p, again)
	if err != nil || !bytes.Equal(once, twice) {
		t.Fatalf("%x encodes to %x, then to %x: %v", b, once, twice, err)
	}
}
