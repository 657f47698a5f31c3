// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

var update = flag.Bool("update", false, "rewrite schema/vectors")

func metaroce(t *testing.T) *gen.Protocol {
	t.Helper()
	src, err := os.ReadFile("../../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	p, faults := gen.Compile("metaroce.mrs", src)
	if p == nil {
		t.Fatalf("metaroce.mrs: %v", faults)
	}
	return p
}

type document struct {
	Format  int
	Package string
	Schema  string
	Vectors []*Vector
}

func generate(t *testing.T) ([]byte, *document) {
	t.Helper()
	files, err := Generate(metaroce(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Path != "metaroce.json" {
		t.Fatalf("got %d files, the first is %q", len(files), files[0].Path)
	}
	var d document
	if err := json.Unmarshal(files[0].Data, &d); err != nil {
		t.Fatal(err)
	}
	return files[0].Data, &d
}

func TestVectorsOnDiskAreCurrent(t *testing.T) {
	got, _ := generate(t)
	path := filepath.Join("..", "..", "schema", "vectors", "metaroce.json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go test ./gen/vectorgen -update", path)
	}
}

func TestVectorsAreTheSameEveryTime(t *testing.T) {
	a, _ := generate(t)
	b, _ := generate(t)
	if !bytes.Equal(a, b) {
		t.Error("two runs gave different vectors")
	}
	if len(a) > 4<<20 {
		t.Errorf("the file has %d bytes, more than 4 MiB", len(a))
	}
}

func TestVectorsReachEveryArmCaseAndCode(t *testing.T) {
	p := metaroce(t)
	_, d := generate(t)
	paths, codes, ids := map[string]int{}, map[string]int{}, map[string]bool{}
	opcodes := map[string]int{}
	for _, v := range d.Vectors {
		if ids[v.ID] {
			t.Errorf("two vectors are called %s", v.ID)
		}
		ids[v.ID] = true
		if v.Error != nil {
			codes[v.Error.Code]++
		}
		for path := range v.Fields {
			paths[path]++
		}
		opcodes[v.Fields["base.opcode"]]++
	}
	for _, m := range p.StructNamed("Base").Items {
		if m.Scalar == nil || m.Scalar.Enum == nil {
			continue
		}
		for _, op := range m.Scalar.Enum.Members {
			if n := opcodes[strconv.FormatUint(op.First, 10)]; n == 0 {
				t.Errorf("no valid packet has opcode %s", op.Name.Schema)
			}
		}
	}
	for _, c := range p.Lists[0].Cases {
		if !hasPart(paths, "parameters."+c.Name.Schema) {
			t.Errorf("no valid packet has parameter %s", c.Name.Schema)
		}
	}
	// A caller's faults, and rules that this schema has not.
	except := " E_CAPACITY E_NOFIT E_SWITCH E_TLV_MISSING "
	for _, c := range p.Codes {
		if codes[c.Name] == 0 && !strings.Contains(except, " "+c.Name+" ") {
			t.Errorf("no vector is rejected with %s", c.Name)
		}
	}
}

func hasPart(paths map[string]int, part string) bool {
	for p := range paths {
		if strings.Contains(p, part) {
			return true
		}
	}
	return false
}
