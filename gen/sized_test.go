// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSizedHeadersEndWhereTheirLengthSays(t *testing.T) {
	p := compiled(t, `
packet P sized total {
  total, words : u8;
  opts : Opts sized words * 4;
  if words == 1 { x : u8; }
  data : payload;
}
header Opts { a : u16; rest : bytes[..]; }`)
	want := `run 2: total@0 words@8
limit total rest=2 at total
window (words * 4) least=2 limited=true
  call opts windowed=true reserve=0
if (words == 1)
  run 1: x@0
take data reserve=0
`
	s := p.StructNamed("P")
	if diff := cmp.Diff(want, program(s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s.Min != 4 || s.Max != 255 || s.Greedy {
		t.Errorf("P has %d..%d bytes, greedy %t", s.Min, s.Max, s.Greedy)
	}
	on(t, p, "P").roundTrip("0801"+"00010203"+"09"+"aa", map[string]string{
		"total": "8", "words": "1", "opts.a": "1", "opts.rest": "hex:0203", "x": "9", "data": "hex:aa",
	})
	if _, n, err := Decode(p, "P", []byte{7, 1, 0, 1, 2, 3, 9, 0xee, 0xee}); n != 7 || err != nil {
		t.Errorf("bytes behind the packet: used %d, %v", n, err)
	}
	on(t, p, "P").rejects("0801000102", "E_SHORT total")
	on(t, p, "P").rejects("03010001", "E_SIZE total")
	on(t, p, "P").rejects("0500"+"000000", "E_SIZE opts")
	on(t, p, "P").rejects("0502"+"000000", "E_SIZE opts")
	on(t, p, "P").rejects("0601"+"00010203", "E_SHORT x")
}

func TestSizedIsFilledExactly(t *testing.T) {
	p := compiled(t, `
header In sized n { n : u8; x : u16; y : u16 if x == 1; }
packet P max 100 { a : In; b : In[2] sized a.n * 2; c : u8; }`)
	on(t, p, "P").roundTrip("030002"+"030002"+"030003"+"07", map[string]string{
		"a.n": "3", "a.x": "2", "b[0].n": "3", "b[0].x": "2", "b[1].n": "3", "b[1].x": "3", "c": "7",
	})
	on(t, p, "P").rejects("04000200"+"07", "E_TRAILING a")
	on(t, p, "P").rejects("030001"+"07", "E_SHORT a.y")
	on(t, p, "P").rejects("0500010001"+"030002"+"030002"+"00000000"+"07", "E_TRAILING b")
}

func TestEncoderComputesSizes(t *testing.T) {
	p := compiled(t, `
packet P sized 2 + rest { rest : u16; n : u4 in 1..15; k : u4; words : W[..] sized n * 4 - 4; tail : bytes[k]; data : payload; }
header W { x : u32; }`)
	v, _, err := Decode(p, "P", []byte{0, 8, 0x21, 0, 0, 0, 5, 9, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	words := v.Lookup("words")
	words.Kids = append(words.Kids, words.Kids[0].Clone(), words.Kids[0].Clone())
	v.Lookup("tail").Bytes = []byte{7, 7, 7}
	b, err := Encode(p, v)
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{0, 18, 0x43, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 7, 7, 7, 1, 2}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	v.Lookup("tail").Bytes = make([]byte, 16)
	if _, err := Encode(p, v); err == nil || err.(*DecodeError).Code.Name != "E_NOFIT" {
		t.Errorf("a tail of 16 bytes: %v", err)
	}
}

func TestTrailersMayHaveSizesThatAreKnownBefore(t *testing.T) {
	p := compiled(t, `
packet P max 1000 {
  pads : u4; tagged : bit; _ : rsvd 3 zero;
  data : payload;
  pad : bytes[pads];
  if tagged { count : u8; tag : bytes[pads + 1]; }
  sums : u16[pads];
  crc : u8;
}`)
	want := `run 1: pads@0 tagged@4 _@5
  E_RESERVED _@5: (_ == 0)
take data reserve=1 + (pads + ((tagged ? (1 + (pads + 1)) : 0) + (pads * 2)))
take pad reserve=0
if tagged
  run 1: count@0
  take tag reserve=0
repeat sums reserve=0
run 1: crc@0
`
	if diff := cmp.Diff(want, program(p.StructNamed("P"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	on(t, p, "P").roundTrip("18"+"aabbcc"+"01"+"05"+"0203"+"0004"+"ff", map[string]string{
		"pads": "1", "tagged": "1", "data": "hex:aabbcc", "pad": "hex:01", "count": "5", "tag": "hex:0203", "sums[0]": "4", "crc": "255",
	})
	on(t, p, "P").rejects("18"+"01"+"05"+"02"+"0004"+"ff", "E_SHORT data")
}

func TestPayloadNamesWhatSelectsTheNextProtocol(t *testing.T) {
	p := compiled(t, "packet P { in_ : H; n : u16; b : payload by in_.kind, n sized n; c : u8; }\nheader H { kind : u8; }")
	by := p.StructNamed("P").item("b").Span.By
	if len(by) != 2 || by[0].String() != "in_.kind" || by[1].String() != "n" {
		t.Errorf("by %v", by)
	}
	on(t, p, "P").roundTrip("01"+"0002"+"aabb"+"07", map[string]string{"in_.kind": "1", "n": "2", "b": "hex:aabb", "c": "7"})
}

func TestGroupsAreBodiesWithoutAName(t *testing.T) {
	p := compiled(t, `
packet P max 99 { n : u8; in_ : { a : u8; b : u8 if n == 2; } list : { left, right : u16; where left < right + n; }[n]; all : { x : u24; }[..]; }`)
	on(t, p, "P").roundTrip("02"+"0102"+"00010001"+"00020003"+"000005000006", map[string]string{
		"n": "2", "in_.a": "1", "in_.b": "2", "list[0].left": "1", "list[0].right": "1", "list[1].left": "2", "list[1].right": "3",
		"all[0].x": "5", "all[1].x": "6",
	})
	if p.StructNamed("PList") == nil || p.StructNamed("PIn") == nil {
		t.Error("groups are called after their field")
	}
}

func TestPaddingAlignsFromTheStartOfItsHeader(t *testing.T) {
	p := compiled(t, "packet P { n : u8; a : H; b : u8; }\nheader H { k : u8; s : bytes[k]; p : pad align 4 zero; q : pad align 2 ignore; }")
	on(t, p, "P").roundTrip("09"+"02aabb00"+"05", map[string]string{"n": "9", "a.k": "2", "a.s": "hex:aabb", "a.p": "1", "a.q": "0", "b": "5"})
	on(t, p, "P").roundTrip("09"+"03aabbcc"+"05", nil)
	on(t, p, "P").rejects("09"+"02aabb01"+"05", "E_PADDING a.p")
	on(t, p, "P").rejects("09"+"00"+"00", "E_SHORT a.p")
}
