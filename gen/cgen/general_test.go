// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// general is the protocol of sizes, coverages, padding and lists, and a directory with its code.
func general(t testing.TB) (*gen.Protocol, string) { return testSchema(t, "testdata/general") }

func testSchema(t testing.TB, name string) (*gen.Protocol, string) {
	t.Helper()
	p, err := gen.Load(name + ".mrs")
	if err != nil {
		t.Fatal(err)
	}
	files, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(built.dir, filepath.Base(name))
	writeFiles(t, dir, files)
	return p, dir
}

// generalPackets are accepted packets, but for their sums: name, parameters and bytes.
const generalPackets = `
Self 0903 0000 010203
Self 0900 0000
Range 0123 0000 4567 09
Range 0223 0000 09
Mask 0102 3405 0000 0809
Mask 0102 3405 0000
Union p=A:0102 0102 0000
Union p=B:01020304 0102 0000
Union p=B:01020304 fbf8 0000
Union p=B:01 fbf8 0000
Union 0102 0000
First 09 0000 0102345f0000 000000
Outer p=A:0102 03 0901000000 00
Outer p=B:01020304 01 0901000000 0900 00
Outer 02 0900 0901000000 0900 00
Words 0801 00010203 09 aa
Words 0701 00010203 09
Words 0b01 00010203 09 aabbccdd eeee
Ins 030002 06 030002030003 07
Ins 0500010001 0a 05000100020500010003 07
Rest 0008 21 00000005 09 0102
Rest 0010 33 0000000500000006 090909 01020304
Optional 84 00010002 01 02 0001 09
Optional 00 02 03 010203 09
Optional 00 03 00 09
Pads 18 aabbcc 01 05 0203 0004 ff
Pads 20 0102 00010002 ff
Pads 00 aabb ff
Aligned 09 02aabb00 05
Aligned 09 03aabbcc 0700 05
Aligned 09 04aabbccdd000000 05
Signs dffffeffffffffffffffff01ff80fd04fefffffeff01020304
Signs 2f00070000000000000001007f809c092c01fefeff01020304
Stricts 10 1001000001000000 1001020002000000
Stricts loud=0 10 00050301 02030400 10090300bb000000
Stricts 10 10010000aa000000 1002000101020300
Bare 20 02040102 0402 f0f0 07
Bare 20 02040102 0402 00aa 07
Bare 10 0402 00aa 07
Bare 20 830405aa 930406bb 07
Bare 20 f1f2f3f4 0402 0402 07
End 010201 02ff55555555
End 01020102 ff555555
End 0305 0500010001 ff
End 0303 030002 04020102 0506 010203040506 ff555555555555
Fixed 000102030405 0000000900000008 010203 01
Fixed n=2 000102030405 0000000900000008 0102 c9
Fixed n=1 000102030405 0000000900000008 01 07
End 
`

// generalVectors are these packets with right sums, as the interpreter judges them.
func generalVectors(t testing.TB, p *gen.Protocol) []vector {
	t.Helper()
	var out []vector
	for line := range strings.Lines(strings.TrimSpace(generalPackets)) {
		v := vector{Stage: "verify", ID: line, Params: map[string]string{}}
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		v.Packet = name
		for _, word := range strings.Fields(rest) {
			if param, value, ok := strings.Cut(word, "="); ok {
				v.Params[param] = strings.Replace(value, ":", " hex:", 1)
			} else {
				v.Hex += word
			}
		}
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(line, err)
		}
		if err := gen.Resum(p, v.Packet, b, paramValues(t, p, v)...); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		v.Hex = hex.EncodeToString(b)
		out = append(out, judge(t, p, v))
	}
	return out
}

func TestGeneratedCReplaysVectorsOfSizesAndCoverages(t *testing.T) {
	p, dir := general(t)
	replay(t, p, dir, generalVectors(t, p))
}

func TestGeneratedCReplaysVectorsOfTheWholeLanguage(t *testing.T) {
	p, dir := testSchema(t, "../testdata/whole")
	replay(t, p, dir, vectorsOf(t, p))
}

func TestGeneratedCReplaysVectorsOfSumsThatAreNoCRC(t *testing.T) {
	p, dir := testSchema(t, "../testdata/sums")
	replay(t, p, dir, vectorsOf(t, p))
}

func TestGeneratedCReplaysVectorsOfTheRicherLanguage(t *testing.T) {
	p, dir := testSchema(t, "testdata/richer")
	replay(t, p, dir, vectorsOf(t, p))
}

// replay compares C with vectors, and with the interpreter on what becomes of them when they are damaged.
func replay(t *testing.T, p *gen.Protocol, dir string, vectors []vector) {
	t.Helper()
	compare(t, vectors, query(t, buildDump(t, dir), vectors))
	t.Logf("%d vectors replayed: %v", len(vectors), tally(vectors))
	run(t, buildDump(t, dir), "selftest")
	r := rand.New(rand.NewPCG(5, 6))
	noise := make([]vector, 8000)
	for i := range noise {
		noise[i] = judge(t, p, mutate(t, r, vectors))
	}
	compare(t, noise, query(t, buildDump(t, dir), noise))
	t.Logf("%d packets: %v", len(noise), tally(noise))
}

// TestGenerateRefusesByNameWhatPackCannotOrder: each is sound, but pack writes forwards and inner structs first.
func TestGenerateRefusesByNameWhatPackCannotOrder(t *testing.T) {
	const top = "edition 1;\npackage test.refused;\nbyteorder big;\nbitorder msb;\n" +
		"sum Inet : u16 { algorithm ones_complement; width 16; check 0xf62a; }\nheader W { x : u32; }\n"
	for _, c := range []struct{ name, schema, want string }{
		{"a size that an earlier item reads", "packet P { n : u8; x : u8 if n == 4; d : W[..] sized n; }", "`n` is computed from a size, and `x` depends on it"},
		{"a size that a derived item reads", "packet P { n : u8; x : u8 = n; d : W[..] sized n; }", "`n` is computed from a size, and `x` depends on it"},
		{"a nested header's size", "packet P { h : H; d : bytes[h.n]; }\nheader H sized n { n : u8; r : u8 if n != 1; }", "items of `P` depend on `n`, which is computed from a size"},
		{"a sum over what comes before it, inside", "packet P max 99 { a : u8; s : Inet over a; i : I; }\nheader I { n : u8; a : bytes[n]; s : Inet over before; }",
			"the checksum `s` covers `before` inside `P`"},
		{"a sum from an optional item on", "packet P { n : u8; a : u16 if n == 1; b : u8; s : Inet over a..b; }", "the checksum `s` covers items of which the first is optional"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "refused.mrs")
			if err := os.WriteFile(path, []byte(top+c.schema), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := gen.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			var refused *gen.Refused
			if _, err := Generate(p); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
