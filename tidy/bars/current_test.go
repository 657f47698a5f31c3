// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/gogen"
)

var update = flag.Bool("update", false, "write the generated package instead of comparing it")

func TestGeneratedWriteIsCurrent(t *testing.T) {
	p, err := gen.Load("../../schema/bars.mrs")
	if err != nil {
		t.Fatal(err)
	}
	files, err := gogen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join("write", f.Path)
		if *update {
			if err := os.MkdirAll("write", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, f.Data) {
			t.Errorf("%s is stale; run go test ./tidy/bars -update (%v)", name, err)
		}
	}
}
