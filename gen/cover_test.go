// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const inet = "sum Inet : u16 { algorithm ones_complement; width 16; check 0xf62a; }\n"

func TestOnesComplementSumsAreThoseOfRFC1071(t *testing.T) {
	s := &Sum{Kind: SumOnes, Width: 16}
	// The example of RFC 1071, section 3.
	if got := s.Of(unhex("0001f203f4f5f6f7")); got != ^uint64(0xddf2)&0xffff {
		t.Errorf("got %#x", got)
	}
	if got := s.Of([]byte{0x12}); got != ^uint64(0x1200)&0xffff {
		t.Errorf("an odd byte gives %#x", got)
	}
}

func TestCoverKnowsPartsMasksAndParameters(t *testing.T) {
	p := compiled(t, inet+`
header A { x : u16; }
header B { x, y : u8; z : u16; }
packet Self { a : u8; n : u8; s : Inet over self; data : bytes[n]; }
packet Range { a : u8; b, c : u4; s : Inet over b..d; d : A if a == 1; e : u8; }
packet Mask max 99 { a : A; b : u4; c : u4; f : u8; s : Inet over ones[2], a except (x) as ones, b..f except (c) as zeros, self except (s, a) as ones; d : bytes[..]; }
packet Union(p : A | B) max 99 { a : u16; s : Inet over zeros[2], p except (x) as ones, a zero_means none; }
`)
	sum := &Sum{Kind: SumOnes, Width: 16}
	check := func(name string, b []byte, at int, covered string, params ...*Value) {
		t.Helper()
		if err := Resum(p, name, b, params...); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if got, want := uint64(b[at])<<8|uint64(b[at+1]), sum.Of(unhex(covered)); got != want {
			t.Errorf("%s: sum %#x, want %#x", name, got, want)
		}
		if unverified, err := VerifySums(p, name, b, params...); err != nil || unverified != nil {
			t.Errorf("%s: %v %v", name, unverified, err)
		}
		v, _, err := Decode(p, name, b, params...)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Encode(p, v, params...)
		if diff := cmp.Diff(b, again); err != nil || diff != "" {
			t.Errorf("%s: %v -want +got:\n%s", name, err, diff)
		}
		b[len(b)-1] ^= 1
		var e *DecodeError
		if err := VerifyPacket(p, name, b, params...); !errors.As(err, &e) || e.Code.Name != "E_CHECKSUM" || e.Field != "s" || e.Off != at {
			t.Errorf("%s: a flipped bit gives %v", name, err)
		}
	}
	check("Self", []byte{9, 3, 7, 7, 1, 2, 3}, 2, "0903"+"0000"+"010203")
	check("Mask", []byte{1, 2, 0x34, 5, 7, 7, 8, 9}, 4, "ffff"+"ffff"+"3005"+"ffff"+"3405"+"ffff"+"0809")
	b := []byte{1, 0x23, 7, 7, 0x45, 0x67, 9}
	if err := Resum(p, "Range", b); err != nil || uint64(b[2])<<8|uint64(b[3]) != sum.Of(unhex("2300004567")) {
		t.Errorf("Range: % x %v", b, err)
	}
	b = []byte{2, 0x23, 7, 7, 9}
	if err := Resum(p, "Range", b); err != nil || uint64(b[2])<<8|uint64(b[3]) != sum.Of(unhex("230000")) {
		t.Errorf("Range without d: % x %v", b, err)
	}
	one, err := Header(p, "A", []byte{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	check("Union", []byte{1, 2, 0, 0}, 2, "0000"+"ffff"+"0102", one)
	two, err := Header(p, "B", []byte{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	b = []byte{0xfb, 0xf8, 0, 0}
	if err := Resum(p, "Union", b, two); err != nil || b[2] == 0 && b[3] == 0 {
		t.Errorf("Union: % x %v", b, err)
	}
}

func TestSumsWithoutTheirParameterAreUnverified(t *testing.T) {
	p := compiled(t, inet+`
header A { x : u16; }
packet P(p : A) { a : u16; s : Inet over p, self zero_means none; }`)
	if q := p.StructNamed("P").Params[0]; !q.Cover {
		t.Error("p is read by a checksum only")
	}
	unverified, err := VerifySums(p, "P", []byte{0, 1, 2, 3})
	if diff := cmp.Diff([]string{"s"}, unverified); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	on(t, p, "P").roundTrip("00010203", nil)
	a, err := Header(p, "A", []byte{0xff, 0xfe})
	if err != nil {
		t.Fatal(err)
	}
	b := []byte{0, 1, 0, 0}
	if err := VerifyPacket(p, "P", b, a); err != nil {
		t.Errorf("a zero means that there is no sum: %v", err)
	}
	if err := Resum(p, "P", b, a); err != nil || b[2] != 0xff || b[3] != 0xff {
		t.Errorf("a computed zero is sent as % x: %v", b[2:], err)
	}
}

func TestSumsInnermostFirst(t *testing.T) {
	p := compiled(t, inet+`
header In { a : u16; s : Inet over self; }
packet P { first : Inet over self except (last) as zeros; in_ : In; last : Inet over before; }`)
	b := make([]byte, 8)
	b[3] = 5
	if err := Resum(p, "P", b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(unhex("00000005fffa0000"), b); diff != "" {
		t.Error(diff)
	}
	if err := VerifyPacket(p, "P", b); err != nil {
		t.Error(err)
	}
}

func TestExamplesTakeParameters(t *testing.T) {
	src := inet + `
header A { x : u16; }
packet P(p : A, n : u8 = 2) max 9 { a : u8[n]; s : Inet over p, self; }
example "both" P { hex "01 02 fbfa"; param p = A("hex:0303"); a[0] = 1; }
example "three" P { hex "01 0203 f8fa"; param p = A("0303"); param n = 3; }
reject "wrong" P { hex "01 02 fbfb"; param p = A("0303"); error E_CHECKSUM at s; }
`
	p := compiled(t, src)
	if len(p.Examples) != 3 {
		t.Errorf("%d examples", len(p.Examples))
	}
}

func TestLintsAreNoErrors(t *testing.T) {
	p := compiled(t, `
packet P { a : u8; b : In; where a < 5 else lint; where b.c != 3; if a == 7 { x : u8; where x > b.c else lint; } }
header In { c : u8; where c < 9 else lint; }`)
	on(t, p, "P").roundTrip("0701"+"00", nil)
	lints, err := Lint(p, "P", unhex("070a00"))
	var got []string
	for _, l := range lints {
		got = append(got, l.Field+": "+l.Text)
	}
	want := []string{"a: a < 5", "x: x > b.c", "b.c: c < 9"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if lints, _ := Lint(p, "P", unhex("0108")); len(lints) != 0 {
		t.Errorf("got %v", lints)
	}
}
