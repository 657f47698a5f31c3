// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlacesFollowTheProgram(t *testing.T) {
	src := `edition 1; package a.b; byteorder big; bitorder msb;
header Head { a : u4; b : u12; }
packet P max 300 {
  Head;
  n : u8;
  data : bytes[n];
  flag : bit;
  _ : rsvd 7 zero;
  if flag { x : u32; } else { y : u8; }
  z : u16 if flag;
  rest : payload;
  tail : u16;
}`
	p, faults := Compile("a.mrs", []byte(src))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	got := map[string][4]int{}
	for _, x := range Places(p.StructNamed("P")) {
		got[x.Item.Name.Schema] = [4]int{x.Off.Min, x.Off.Max, x.Width.Min, x.Width.Max}
	}
	want := map[string][4]int{
		"head": {0, 0, 16, 16}, "n": {16, 16, 8, 8}, "data": {24, 24, 0, 2040}, "flag": {24, 2064, 1, 1}, "_": {25, 2065, 7, 7},
		"x": {32, 2072, 32, 32}, "y": {32, 2072, 8, 8}, "z": {40, 2104, 16, 16}, "rest": {40, 2120, 0, -1}, "tail": {40, -1, 16, 16},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPlacesCoverEveryItem holds every struct of the protocol to its size: what is behind the last item is Min to Max.
func TestPlacesCoverEveryItem(t *testing.T) {
	src, err := os.ReadFile("../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	p, faults := Compile("metaroce.mrs", src)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, s := range p.Structs {
		places := Places(s)
		if len(places) != len(s.Items) {
			t.Errorf("%s has %d items and %d places", s.Name.Schema, len(s.Items), len(places))
			continue
		}
		for i, x := range places {
			if x.Item != s.Items[i] {
				t.Errorf("%s: place %d is %s, want %s", s.Name.Schema, i, x.Item.Name.Schema, s.Items[i].Name.Schema)
			}
		}
		if last := places[len(places)-1]; s.FixedSize && last.Off.Max+last.Width.Max != s.Max*8 {
			t.Errorf("%s ends at bit %d, want %d", s.Name.Schema, last.Off.Max+last.Width.Max, s.Max*8)
		}
	}
}
