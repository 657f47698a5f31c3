// SPDX-License-Identifier: Apache-2.0

package gogen_test

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/gogen"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// TestGeneratedPackagesReplayTheirVectors prints packages for schemas with what metaroce.mrs does not use, and lets them read
// the vectors that the interpreter has made.
func TestGeneratedPackagesReplayTheirVectors(t *testing.T) {
	for schema, packets := range map[string][]string{
		"testdata/kitchen": {"Order"}, "testdata/beacon": {"Beacon"}, "testdata/report": {"Report"}, "testdata/window": {"Window"},
		"testdata/tags": {"Tagged"}, "testdata/padded": {"Padded"}, "testdata/sorted": {"Sorted"}, "testdata/masked": {"Masked"}, "testdata/trailing": {"Trailing"},
		"testdata/twice": {"Twice"}, "testdata/fixed": {"Fixed"}, "testdata/nested": {"Nested"},
		"../testdata/whole": {"Ages", "Switches", "Numbers", "Words", "Names", "Questions", "Shares", "Carried", "Elements"},
		"../testdata/sums":  {"Added", "Plain", "Xored", "Fletched", "Behind"},
	} {
		t.Run(filepath.Base(schema), func(t *testing.T) { replay(t, schema, packets) })
	}
}

func replay(t *testing.T, schema string, packets []string) {
	p := load(t, schema+".mrs")
	files, err := gogen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := vectorgen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/replay_test.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("package sink"), []byte("package "+p.Targets.GoPackage))
	const row = "\t\"Order\": {new(Order), VerifyOrder},\n"
	rows := ""
	for _, packet := range packets {
		rows += strings.ReplaceAll(row, "Order", packet)
	}
	if text, err = format.Source(bytes.ReplaceAll(text, []byte(row), []byte(rows))); err != nil {
		t.Fatal(err)
	}
	files = append(files,
		gen.File{Path: "vectors.json", Data: vectors[0].Data},
		gen.File{Path: "replay_test.go", Data: text},
		gen.File{Path: "go.mod", Data: []byte("module replay\n\ngo 1.26\n")},
	)
	dir := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Path), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"vet", "."}, {"test", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command("gofmt", "-l", dir).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("gofmt: %v\n%s", err, out)
	}
}
