// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

func TestDissectorAgreesOnChecksumsContainersAndListsEverywhere(t *testing.T) {
	p, err := gen.Load("testdata/general.mrs")
	if err != nil {
		t.Fatal(err)
	}
	script, rng := generated(t, p), rand.New(rand.NewPCG(7, 8))
	for _, b := range append(batches(t, p), otherLimit(t, p)) {
		b.agree(t, p, script)
		b.resum(t, p, rng)
		b.agree(t, p, script)
		b.flip(rng)
		b.agree(t, p, script)
	}
}

func TestDissectorAgreesOnSumsThatAreNoCRC(t *testing.T) { agreeDamaged(t, "../testdata/sums.mrs") }

func TestDissectorAgreesOnTheWholeLanguage(t *testing.T) { agreeDamaged(t, "../testdata/whole.mrs") }

// agreeDamaged compares dissector and interpreter on the vectors of a schema, and on the same with bits flipped.
func agreeDamaged(t *testing.T, schema string) {
	t.Helper()
	p, err := gen.Load(schema)
	if err != nil {
		t.Fatal(err)
	}
	script, rng := generated(t, p), rand.New(rand.NewPCG(9, 10))
	for _, b := range batches(t, p) {
		b.agree(t, p, script)
		b.flip(rng)
		b.agree(t, p, script)
	}
}

// otherLimit is the packets with a parameter, set to something else than its default.
func otherLimit(t *testing.T, p *gen.Protocol) *batch {
	t.Helper()
	for _, b := range batches(t, p) {
		if b.packet == "Small" {
			b.settings = `{"limit":"3"}`
			return b
		}
	}
	t.Fatal("no packet has the parameter")
	return nil
}

// resum changes bytes and then computes some checksums anew, so that those which stay wrong lie at different places.
func (b *batch) resum(t *testing.T, p *gen.Protocol, rng *rand.Rand) {
	t.Helper()
	for i, data := range b.bytes {
		data = append([]byte{}, data...)
		data[rng.IntN(len(data))] ^= 1
		if gen.Resum(p, b.packet, data, b.params(t, p)...) != nil {
			continue
		}
		if rng.IntN(2) == 0 {
			data[rng.IntN(len(data))] ^= 0x10
		}
		b.bytes[i] = data
	}
}

func TestGenerateRefusesWhatItCannotPrint(t *testing.T) {
	for text, want := range map[string]string{
		"packet P(a : A) { x : u8 if a.x == 1; } header A { x : u8; }":                                                                                  "t.mrs:3:10: error[E0803]: `a` of `P` is a parameter that only a caller can give",
		"sum I : u16 { algorithm ones_complement; width 16; check 0xf62a; } packet P { n : u8; o : u8 if n == 1; s : I over self except (o) as ones; }": "t.mrs:3:105: error[E0803]: the checksum `s` leaves `o` out",
	} {
		p, err := gen.Compile("t.mrs", []byte("edition 1; package a.b; byteorder big; bitorder msb;\noption lua { proto = \"zz\"; name = \"Z\"; }\n"+text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := Generate(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
