// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

const preamble = `edition 1;
package t.wire;
byteorder big; bitorder msb;
sum Inet : u16 { algorithm ones_complement; width 16; check 0xf62a; }
crc C8 : u8 { width 8; poly 7; init 0; xorout 0; check 0xf4; order big; }
header B { k : u8; x : u8; n : u16; }
`

// vectorsOf generates the vectors of declarations behind the preamble.
func vectorsOf(t *testing.T, decls string) []*Vector {
	t.Helper()
	p, faults := gen.Compile("t.mrs", []byte(preamble+decls))
	if p == nil {
		t.Fatalf("%s: %v", decls, faults)
	}
	files, err := Generate(p)
	if err != nil {
		t.Fatalf("%s: %v", decls, err)
	}
	var d document
	if err := json.Unmarshal(files[0].Data, &d); err != nil {
		t.Fatal(err)
	}
	return d.Vectors
}

func TestSeedsAreFoundForHardPackets(t *testing.T) {
	for name, c := range map[string]struct {
		decls string
		want  string // a canonical vector of this id exists
	}{
		"words, at least two":        {`packet P sized words * 4 { words : u8 in 2..15; d : bytes[..]; }`, "p/min"},
		"words of a nested header":   {`header H sized words * 4 { words : u8 in 2..15; d : bytes[..]; } packet P max 90 { a : u8; h : H; p : payload; }`, "p/min"},
		"words of a body":            {`packet P max 90 { n : u8; d : { k : u8; x : bytes[..]; } sized n * 4; }`, "p/min"},
		"words of an array":          {`packet P max 90 { n : u8 in 4..9; d : u24[..] sized n * 4; }`, "p/min"},
		"words of headers":           {`header E { a : u8; b : bytes[a]; } packet P max 90 { n : u8 in 4..9; d : B[..] sized n * 4; e : E; }`, "p/min"},
		"words of a list":            {`tlv T max 60 { head { t : u8; l : u8; } key t; length l; 1 => a : { x : u8; } required; 2 => b : bytes[..]; } packet P sized w * 4 { w : u8 in 3..9; t : T; }`, "p/min"},
		"words of a list with end":   {`tlv T max 60 { head { t : u8; l : u8; } key t; length l; bare 0 => end; 1 => a : { x : u8; } required; } packet P sized w * 4 { w : u8 in 3..9; t : T; }`, "p/min"},
		"windows in windows":         {`packet P sized w * 8 { w : u8 in 2..9; n : u8 in 1..9; a : { b : bytes[..]; } sized n * 3; d : bytes[..]; }`, "p/min"},
		"a rule of an arm":           {`packet P max 90 { b : B; s : switch b.k { 1 => { y : u8; where b.x == 3 && y > 2; } _ => nothing; } }`, "case1/min"},
		"a rule of an arm's outside": {`packet P max 90 { b : B; s : switch b.k { 2 => { z : u16; where b.n > 500; } _ => nothing; } }`, "case2/min"},
		"a rule of a parameter":      {`header A(b : B) { y : u8; where b.x > y; w : bytes[y]; where size(w) > 1; } packet P max 90 { b : B; a : A(b)[2]; }`, "p/min"},
		"a sum of two fields":        {`packet P { a, b : u8; where a + b == 300; }`, "p"},
		"a product":                  {`packet P { a, b : u8; where a * 7 - b * 3 == 99 + a; }`, "p"},
		"a count":                    {`packet P { n : u8; d : u16[n * 2]; where count(d) > 5; }`, "p/min"},
		"a number that counts":       {`packet P { n : u8; d : u16[n]; where n == 3 || n == 4; }`, "p/min"},
		"a bit":                      {`packet P { a : u8; v : bits<16>; where test(v, 5) && !test(v, 15); }`, "p"},
		"one of two":                 {`packet P { a : u8 in 4..6; b : u8 in 1..2; where a == 3 || b == 2 && a == 6; }`, "p"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range vectorsOf(t, c.decls) {
				if strings.HasPrefix(v.ID, c.want) && v.OK && *v.Canonical {
					return
				}
			}
			t.Errorf("no canonical vector %s", c.want)
		})
	}
}

func TestSumsInFrontAreBroken(t *testing.T) {
	for _, decls := range []string{
		`packet P max 50 { sum : Inet over self; d : bytes[..]; }`,
		`packet P { sum : C8 over self; d : u8; }`,
		`packet P { a : { sum : C8 over self; }; d : u8; }`,
	} {
		broken := map[string]bool{}
		for _, v := range vectorsOf(t, decls) {
			if v.Stage == "verify" {
				broken[v.ID[strings.LastIndex(v.ID, "/"):]] = true
			}
		}
		if !broken["/flip@0"] {
			t.Errorf("%s: no broken sum, only %v", decls, broken)
		}
	}
}

func TestPacketsThatFitOnlyWithUnknownElementsAreNotCanonical(t *testing.T) {
	const decls = `tlv T max 60 { head { t : u8; l : u8; } key t; length l; bare 0 => end; 1 => a : { x : u8; } required; 2 => b : bytes[..]; } packet P sized w * 4 { w : u8 in 3..9; t : T; }`
	for _, v := range vectorsOf(t, decls) {
		if v.OK && !*v.Canonical && strings.Contains(v.ID, "unknown") {
			return
		}
	}
	t.Error("no such vector")
}

func TestElementsWithLittleEndianLengthsAreVaried(t *testing.T) {
	vs := vectorsOf(t, `tlv T max 90 { head { t : u16; l : u16 little; } key t; length l; 1 => a : bytes[..]; } packet P max 99 { t : T; }`)
	for _, v := range vs {
		if strings.HasSuffix(v.ID, "t:a-shorter1") && v.OK && v.Fields["t.a[0].value"] != "" {
			return
		}
	}
	t.Error("no element was made shorter")
}
