// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// loadFeatures compiles the test schema. Edition 1 cannot say which numbers are signed or little-endian, but backends
// must print both: names decide it here.
func loadFeatures(t testing.TB) *gen.Protocol {
	t.Helper()
	p, err := gen.Load("testdata/features.mrs")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Structs {
		for _, it := range s.Items {
			if it.Scalar != nil {
				it.Scalar.Signed = strings.Contains(it.Name.Schema, "signed")
				it.Scalar.Little = strings.Contains(it.Name.Schema, "little")
			}
		}
	}
	return p
}

// features is a directory with the code of the test schema.
func features(t testing.TB) string {
	t.Helper()
	files, err := Generate(loadFeatures(t))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(built.dir, "features")
	writeFiles(t, dir, files)
	return dir
}

func featureVectors(t testing.TB) []vector {
	t.Helper()
	return vectorsOf(t, loadFeatures(t))
}

func TestGeneratedCReplaysVectorsOfEveryConstruct(t *testing.T) {
	vectors := featureVectors(t)
	dir := features(t)
	compare(t, vectors, query(t, buildDump(t, dir), vectors))
	t.Logf("%d vectors replayed", len(vectors))
	run(t, buildDump(t, dir), "selftest")
}

// TestGeneratedCAgreesWithTheInterpreterOnNoise looks for disagreements that nobody has written a vector for: packets
// broken in several places at once.
func TestGeneratedCAgreesWithTheInterpreterOnNoise(t *testing.T) {
	metaroce, err := gen.Load(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		p       *gen.Protocol
		dir     string
		vectors []vector
	}{
		{"metaroce", metaroce, sdk(t), readVectors(t)},
		{"features", loadFeatures(t), features(t), featureVectors(t)},
	} {
		t.Run(c.name, func(t *testing.T) {
			noise := make([]vector, 4000)
			r := rand.New(rand.NewPCG(1, 2))
			accepted := 0
			for i := range noise {
				noise[i] = judge(t, c.p, mutate(t, r, c.vectors))
				if noise[i].OK {
					accepted++
				}
			}
			compare(t, noise, query(t, buildDump(t, c.dir), noise))
			t.Logf("%d packets, of which %d are accepted", len(noise), accepted)
		})
	}
}

// mutate damages a random vector.
func mutate(t testing.TB, r *rand.Rand, vectors []vector) vector {
	t.Helper()
	v := vectors[r.IntN(len(vectors))]
	for !v.OK && r.IntN(4) > 0 {
		v = vectors[r.IntN(len(vectors))]
	}
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 600 {
		b = b[:600]
	}
	for range 1 + r.IntN(3) {
		at := r.IntN(len(b) + 1)
		switch r.IntN(8) {
		case 0:
			b = b[:at]
		case 1:
			b = append(b, make([]byte, r.IntN(9))...)
		case 2:
			b = append(append(append([]byte{}, b[:at]...), byte(r.Uint32())), b[at:]...)
		case 3:
			other, _ := hex.DecodeString(vectors[r.IntN(len(vectors))].Hex)
			b = append(append([]byte{}, b[:at]...), other[min(at, len(other)):]...)
		default:
			if at < len(b) {
				b[at] ^= 1 << r.IntN(8)
			}
		}
	}
	stage := "decode"
	if r.IntN(2) == 0 {
		stage = "verify"
	}
	return vector{ID: fmt.Sprintf("noise %s %x", v.Packet, b), Packet: v.Packet, Params: otherParams(r, v.Params), Hex: hex.EncodeToString(b), Stage: stage}
}

// otherParams leaves out or damages parameters now and then.
func otherParams(r *rand.Rand, params map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value := params[name]
		header, digits, isHeader := strings.Cut(value, " hex:")
		b, err := hex.DecodeString(digits)
		switch n := r.IntN(16); {
		case n == 0:
			continue
		case n > 3 || !isHeader || err != nil || len(b) == 0:
			out[name] = value
			continue
		case n == 1:
			b = b[:r.IntN(len(b))]
		default:
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		out[name] = header + " hex:" + hex.EncodeToString(b)
	}
	return out
}

// judge fills in what the interpreter says about v.
func judge(t testing.TB, p *gen.Protocol, v vector) vector {
	t.Helper()
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	params := paramValues(t, p, v)
	tree, n, err := gen.Decode(p, v.Packet, b, params...)
	if err == nil && v.Stage == "verify" {
		err = gen.VerifyPacket(p, v.Packet, b, params...)
	}
	if err != nil {
		var e *gen.DecodeError
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		v.Error = &vectorError{Code: e.Code.Name, Field: e.Field, Off: e.Off}
		return v
	}
	v.OK, v.Consumed, v.Fields, v.Lint = true, n, gen.Flatten(tree), lintOf(t, p, v)
	again, err := gen.Encode(p, tree, params...)
	v.Canonical = err == nil && string(again) == string(b[:n])
	return v
}
