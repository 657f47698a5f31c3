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

// TestLayersOfAnotherSchemaWork prints codec and layers for testdata/sample.mrs, compiles them and runs the tests of
// testdata/sample_test.txt. With MR_GOPACKET=module@version, it does so with a fork of gopacket, which is fetched.
func TestLayersOfAnotherSchemaWork(t *testing.T) {
	m := newModule(t)
	gopacket, fork := layergen.DefaultGopacket, os.Getenv("MR_GOPACKET")
	if fork != "" {
		gopacket, _, _ = strings.Cut(fork, "@")
		m.run("get", fork, gopacket+"/layers")
	}
	p := load(t, "testdata/sample.mrs")
	codec, err := gogen.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range codec {
		m.add(filepath.Join("codec", f.Path), f.Data)
	}
	for _, f := range generate(t, p, layergen.Config{Codec: "sample/codec", Gopacket: gopacket}) {
		m.add(filepath.Join("layers", f.Path), f.Data)
	}
	test, err := os.ReadFile("testdata/sample_test.txt")
	if err != nil {
		t.Fatal(err)
	}
	m.add("layers/sample_test.go", bytes.ReplaceAll(test, []byte(layergen.DefaultGopacket), []byte(gopacket)))
	m.run("vet", "./...")
	m.run("test", "./...")
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
	m.run("vet", "./...")
}

// run runs the go command in the module.
func (m *module) run(args ...string) {
	m.t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("go %v: %v\n%s", args, err, out)
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
		{`crc C : u16 { width 16; poly 0x1021; init 0xffff; xorout 0; check 0x29b1; order big; }
		  packet A max 99 { a : u8; one : C over before; two : C over before; data : payload; }`, "test.mrs:6:12: error[E0804]: `A` has 2 checksums"},
		{`packet LayerContents max 9 { a : u8; data : payload; }`, "LayerContents"},
		{`packet A max 99 { has : bit = count(b) == 2; n : u7; b : u8[n]; if has { data : payload; } }`, "depends on `has`"},
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
