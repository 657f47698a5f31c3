// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"testing"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// vectorsOf makes the vectors of a schema that has no vector file.
func vectorsOf(t *testing.T, p *gen.Protocol) []*vector {
	t.Helper()
	files, err := vectorgen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	return parseVectors(t, p, files[0].Data)
}

func TestDissectorAgreesWithVectorsOfOtherSchema(t *testing.T) {
	p, err := gen.Load("testdata/features.mrs")
	if err != nil {
		t.Fatal(err)
	}
	agree(t, p, vectorsOf(t, p))
}

// TestDissectorAgreesOnSignedAndLittleEndianNumbers changes the compiled schema: its numbers become signed or little-endian,
// and its checksum is mirrored on one side only.
func TestDissectorAgreesOnSignedAndLittleEndianNumbers(t *testing.T) {
	p, err := gen.Load("testdata/features.mrs")
	if err != nil {
		t.Fatal(err)
	}
	p.Sums[0].ReflectIn = true
	for _, s := range p.Structs {
		for _, it := range s.Items {
			if it.Kind != gen.KindScalar || it.Scalar.Flag || it.Scalar.Enum != nil || it.Scalar.In != nil || s.Name.Schema == "Wide" {
				continue
			}
			it.Scalar.Signed = s.Name.Schema == "Numbers"
			it.Scalar.Little = it.Scalar.Bits >= 16
		}
	}
	agree(t, p, vectorsOf(t, p))
}
