// SPDX-License-Identifier: Apache-2.0

package gen_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/cgen"
	"github.com/openmetaroce/metaroce/gen/gogen"
	"github.com/openmetaroce/metaroce/gen/layergen"
	"github.com/openmetaroce/metaroce/gen/luagen"
	"github.com/openmetaroce/metaroce/gen/syntax"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// backends are those that may refuse a sound schema, by their code.
var backends = map[string]func(*gen.Protocol) ([]gen.File, error){
	"E0801": gogen.Generate,
	"E0802": cgen.Generate,
	"E0803": luagen.Generate,
	"E0804": func(p *gen.Protocol) ([]gen.File, error) {
		return layergen.Generate(p, layergen.Config{Codec: "test/codec"})
	},
	"E0805": vectorgen.Generate,
}

// compile compiles a schema without faults.
func compile(t *testing.T, name string, src []byte) *gen.Protocol {
	t.Helper()
	p, diags := gen.Compile(name, src)
	for _, d := range diags {
		t.Fatalf("a schema that a backend refuses is sound:\n%s", d)
	}
	return p
}

// refusals are what a backend refuses of a protocol; all of it under one code.
func refusals(t *testing.T, code string, p *gen.Protocol) []syntax.Diagnostic {
	t.Helper()
	_, err := backends[code](p)
	var refused *gen.Refused
	if !errors.As(err, &refused) {
		t.Fatalf("%s is not raised: %v", code, err)
	}
	for _, d := range refused.Diagnostics {
		if d.Code != code || d.Mark == "" {
			t.Errorf("%s: code %s, mark %q", code, d.Code, d.Mark)
		}
	}
	return refused.Diagnostics
}

func TestRefusalsMatchTheirGoldens(t *testing.T) {
	for _, k := range syntax.Codes() {
		if !strings.HasPrefix(k.Code, "E08") {
			continue
		}
		t.Run(k.Code, func(t *testing.T) {
			if backends[k.Code] == nil {
				t.Fatal("a code of no backend")
			}
			dir := filepath.Join(gen.DiagDir, k.Code)
			bad, err := os.ReadFile(filepath.Join(dir, "bad.mrs"))
			if err != nil {
				t.Fatalf("every code has a golden: %v", err)
			}
			diags := refusals(t, k.Code, compile(t, "bad.mrs", bad))
			var got strings.Builder
			for _, d := range diags {
				got.WriteString(d.String())
			}
			if len(diags) < 2 {
				t.Errorf("one run reports all that is refused, not %d", len(diags))
			}
			gen.Golden(t, filepath.Join(dir, "want.txt"), []byte(got.String()))
			gen.CheckDiagnostics(t, diags)
			fixed, err := os.ReadFile(filepath.Join(dir, "fixed.mrs"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := backends[k.Code](compile(t, "fixed.mrs", fixed)); err != nil {
				t.Errorf("fixed.mrs is refused: %v", err)
			}
		})
	}
}

const lines = "edition 1;\npackage test.%s;\n%sbyteorder big;\nbitorder msb;\n"

// places lists file, line and column of diagnostics.
func places(diags []syntax.Diagnostic) (all []string) {
	for _, d := range diags {
		all = append(all, fmt.Sprintf("%s:%d:%d %s", d.File, d.Line, d.Col, strings.TrimSpace(d.Source)))
	}
	return all
}

func TestRefusalsStandInTheFileThatDeclares(t *testing.T) {
	inner := fmt.Sprintf(lines, "inner", "") + "sum Inet : u16 { algorithm ones_complement; width 16; check 0xf62a; }\n\nheader Part { n : u16; s : Inet over self; }\n"
	outer := fmt.Sprintf(lines, "outer", "import \"in/inner.mrs\";\n") + "sum Add : u8 { algorithm sum8; width 8; check 0xdd; }\nheader Own { s : Add over self; }\npacket P { part : inner.Part; own : Own; }\n"
	p, diags := gen.CompileFrom("some/outer.mrs", []byte(outer), func(name string) ([]byte, error) { return []byte(inner), nil })
	if diags != nil {
		t.Fatal(diags)
	}
	want := []string{"some/in/inner.mrs:7:24 header Part { n : u16; s : Inet over self; }", "some/outer.mrs:7:14 header Own { s : Add over self; }"}
	if diff := cmp.Diff(want, places(refusals(t, "E0801", p))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPlacesOfRefusalsEnterNoHash(t *testing.T) {
	const text = "header Part { a : u8; s : Add over self; }\npacket P { part : Part; }\n"
	var hashes, at []string
	for _, gap := range []string{"", "\n\n"} {
		p := compile(t, "a.mrs", []byte(fmt.Sprintf(lines, "hash", "")+"sum Add : u8 { algorithm sum8; width 8; check 0xdd; }\n"+gap+text))
		hashes, at = append(hashes, p.WireHash), append(at, places(refusals(t, "E0801", p))...)
	}
	want := []string{"a.mrs:6:23 header Part { a : u8; s : Add over self; }", "a.mrs:8:23 header Part { a : u8; s : Add over self; }"}
	if diff := cmp.Diff(want, at); hashes[0] != hashes[1] || diff != "" {
		t.Errorf("hashes %v, places %s", hashes, diff)
	}
}
