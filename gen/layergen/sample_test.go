// SPDX-License-Identifier: Apache-2.0

package layergen_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/gogen"
	"github.com/openmetaroce/metaroce/gen/layergen"
)

// module is a directory with a module that has this one's requirements.
type module struct {
	t   *testing.T
	dir string
}

func newModule(t *testing.T) *module {
	t.Helper()
	m := &module{t, t.TempDir()}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		m.add(name, bytes.Replace(data, []byte("module github.com/openmetaroce/metaroce\n"), []byte("module sample\n"), 1))
	}
	return m
}

func (m *module) add(place string, data []byte) {
	m.t.Helper()
	name := filepath.Join(m.dir, place)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// TestLayersOfAnotherSchemaWork runs testdata/sample_test.txt, which is part of the package that is generated from
// testdata/sample.mrs.
func TestLayersOfAnotherSchemaWork(t *testing.T) {
	p := load(t, "testdata/sample.mrs")
	codec, err := gogen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	m := newModule(t)
	for _, f := range codec {
		m.add(filepath.Join("codec", f.Path), f.Data)
	}
	for _, f := range generate(t, p, layergen.Config{Codec: "sample/codec"}) {
		m.add(filepath.Join("layers", f.Path), f.Data)
	}
	test, err := os.ReadFile("testdata/sample_test.txt")
	if err != nil {
		t.Fatal(err)
	}
	m.add("layers/sample_test.go", test)
	m.run("vet", "test")
}

// TestLayersOfTheWholeLanguageCompile prints the layers of a schema with the constructs that the sample has not.
func TestLayersOfTheWholeLanguageCompile(t *testing.T) {
	p := load(t, "../testdata/whole.mrs")
	codec, err := gogen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	m := newModule(t)
	for _, f := range codec {
		m.add(filepath.Join("codec", f.Path), f.Data)
	}
	for _, f := range generate(t, p, layergen.Config{Codec: "sample/codec"}) {
		m.add(filepath.Join("layers", f.Path), f.Data)
	}
	m.run("vet")
}

// run runs commands of the go tool over the module.
func (m *module) run(commands ...string) {
	m.t.Helper()
	for _, what := range commands {
		run := exec.Command("go", what, "./...")
		run.Dir = m.dir
		run.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
		if out, err := run.CombinedOutput(); err != nil {
			m.t.Errorf("go %s: %v\n%s", what, err, out)
		}
	}
}

// compile compiles a schema's text behind the lines that every schema has.
func compile(t *testing.T, text string) *gen.Protocol {
	t.Helper()
	p, diags := gen.Compile("test.mrs", []byte("edition 1;\npackage test.wire;\nbyteorder big;\nbitorder msb;\n"+text))
	for _, d := range diags {
		t.Fatal(d)
	}
	return p
}

func TestGenerateRefusesWhatItCannotPrint(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`packet Contents max 9 { a : u8; data : payload; }`, "Contents"},
		{`packet A max 99 { has : bit = count(b) == 2; n : u7; b : u8[n]; if has { data : payload; } }`, "depends on has"},
		{`packet B(head : u8) max 99 { what : switch head { 1 => { data : payload; } _ => { x : u8; } } }
		  packet A max 99 { one : bit; _ : rsvd 7 zero; b : B(one); }`, "flag one"},
	} {
		_, err := layergen.Generate(compile(t, c.schema), layergen.Config{Codec: wirePath})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want something about %q", c.schema, err, c.want)
		}
	}
}

func TestSchemaWithoutPacketsHasNoLayers(t *testing.T) {
	files, err := layergen.Generate(compile(t, "header A { a : u8; }"), layergen.Config{Codec: wirePath})
	if err != nil || len(files) != 0 || errors.Is(err, layergen.ErrNoCodec) {
		t.Errorf("%d files, %v", len(files), err)
	}
}
