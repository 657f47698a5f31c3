// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
)

func TestOneRunRefusesAllListsAndPackets(t *testing.T) {
	p, diags := gen.Compile("a.mrs", []byte(`edition 1;
package test.refused;
byteorder big;
bitorder msb;
sum Add : u8 { algorithm sum8; width 8; check 0xdd; }
tlv One max 60 { head { k : u64; l : u8; } key k; length l; 1 => a : u8; }
tlv Two max 60 { head { k : u60; l : u4; } key k; length l; 1 => a : u8; }
packet P max 90 { one : One; }
packet Q max 90 { two : Two; }
packet R max 90 { a : u8; b : u8 if a == 1; c : u8; s : Add over a..c except (b) as zeros; }
`))
	for _, d := range diags {
		t.Fatal(d)
	}
	_, err := Generate(p)
	var got []string
	for _, d := range gen.Diagnostics(err) {
		got = append(got, fmt.Sprintf("%d:%d %s %s", d.Line, d.Col, d.Code, d.Message))
	}
	want := []string{
		"6:5 E0803 the keys of `One` have more than 53 bits, which Lua cannot compare",
		"7:5 E0803 the keys of `Two` have more than 53 bits, which Lua cannot compare",
		"10:53 E0803 the checksum `s` leaves `b` out, which is optional or has no fixed place",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v: -want +got:\n%s", err, diff)
	}
}
