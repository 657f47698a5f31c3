// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// exampleNames are the schemas beside the project's own. Each must be printed in full.
var exampleNames = []string{"vxlan", "gre", "ip", "geneve", "bfd", "rocev2", "ptp"}

func loadExample(t testing.TB, name string) *gen.Protocol {
	t.Helper()
	p, err := gen.Load(filepath.Join("../../schema/examples", name+".mrs"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// exampleCode is a directory with the code of an example schema.
func exampleCode(t testing.TB, p *gen.Protocol, name string) string {
	t.Helper()
	files, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(built.dir, "example-"+name)
	writeFiles(t, dir, files)
	return dir
}

// vectorsOf makes the vectors of p. Those that are fine are verified too.
func vectorsOf(t testing.TB, p *gen.Protocol) []vector {
	t.Helper()
	files, err := vectorgen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(files[0].Data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	for i := range file.Vectors {
		if v := &file.Vectors[i]; v.OK {
			v.Stage = "verify"
			v.Lint = lintOf(t, p, *v)
		}
	}
	return file.Vectors
}

// lintOf is what the interpreter says about the rules of the packet that decoders do not enforce.
func lintOf(t testing.TB, p *gen.Protocol, v vector) string {
	t.Helper()
	st := p.StructNamed(v.Packet)
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	broken, err := gen.Lint(p, v.Packet, b, paramValues(t, p, v)...)
	if err != nil {
		t.Fatal(err)
	}
	bits := uint64(0)
	for _, e := range broken {
		if i := slices.Index(st.Lints, e.Rule); i >= 0 {
			bits |= 1 << uint(i)
		}
	}
	if len(st.Lints) == 0 {
		return ""
	}
	return strconv.FormatUint(bits, 16)
}

func TestGeneratedCReplaysVectorsOfTheExampleSchemas(t *testing.T) {
	for _, name := range exampleNames {
		t.Run(name, func(t *testing.T) {
			p := loadExample(t, name)
			vectors := vectorsOf(t, p)
			program := buildDump(t, exampleCode(t, p, name))
			compare(t, vectors, query(t, program, vectors))
			t.Logf("%d vectors replayed: %v", len(vectors), tally(vectors))
			t.Log(strings.TrimSpace(run(t, program, "selftest")))
		})
	}
}

// tally counts vectors by what they prove.
func tally(vectors []vector) map[string]int {
	n := map[string]int{}
	for _, v := range vectors {
		if v.Lint != "" && v.Lint != "0" {
			n["with broken lints"]++
		}
		if v.OK {
			n["accepted"]++
		} else if v.Error.Code == "E_CHECKSUM" {
			n["wrong sums"]++
		}
		if v.Canonical {
			n["packed byte for byte"]++
		}
		if len(v.Params) > 0 {
			n["with parameters"]++
		}
	}
	return n
}

// TestGeneratedCAgreesWithTheInterpreterOnNoiseOfTheExampleSchemas damages their vectors; parameters stay.
func TestGeneratedCAgreesWithTheInterpreterOnNoiseOfTheExampleSchemas(t *testing.T) {
	for _, name := range exampleNames {
		t.Run(name, func(t *testing.T) {
			p := loadExample(t, name)
			vectors := vectorsOf(t, p)
			r := rand.New(rand.NewPCG(3, 4))
			noise := make([]vector, 1500)
			for i := range noise {
				noise[i] = judge(t, p, mutate(t, r, vectors))
			}
			compare(t, noise, query(t, buildDump(t, exampleCode(t, p, name)), noise))
			t.Logf("%d packets: %v", len(noise), tally(noise))
		})
	}
}

// TestGeneratedCOfTheExampleSchemasCompiles as C and as C++; the test schemas try every other dialect.
func TestGeneratedCOfTheExampleSchemasCompiles(t *testing.T) {
	for _, name := range exampleNames {
		p := loadExample(t, name)
		dir, prefix := exampleCode(t, p, name), strings.ToUpper(p.Targets.CPrefix)+"_"
		for _, d := range dialects {
			if d.name != "gcc c11" && d.name != "g++ c++17" && d.name != "clang 32 bits" {
				continue
			}
			t.Run(name+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				compile(t, dir, strings.Fields(strings.ReplaceAll(strings.ReplaceAll(d.flags, "-DMR_CRC32C_EXTERNAL", ""), "MR_", prefix)))
			})
		}
	}
}

// paramText is how the test program reads the parameters of a vector.
func paramText(v vector) string {
	var b strings.Builder
	for name, value := range v.Params {
		b.WriteString(" " + name + "=" + strings.ReplaceAll(value, " hex:", ":"))
	}
	return b.String()
}

// paramValues is what the interpreter takes for them.
func paramValues(t testing.TB, p *gen.Protocol, v vector) []*gen.Value {
	t.Helper()
	st := p.StructNamed(v.Packet)
	out := make([]*gen.Value, len(st.Params))
	for i, q := range st.Params {
		value, given := v.Params[q.Name.Schema]
		header, digits, isHeader := strings.Cut(value, " hex:")
		switch {
		case !given:
		case isHeader:
			b, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatal(err)
			}
			if out[i], err = gen.Header(p, header, b); err != nil {
				t.Fatal(err)
			}
		default:
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = gen.Number(n)
		}
	}
	return out
}
