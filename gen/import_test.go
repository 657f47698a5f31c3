// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written puts schemas into a directory; each text follows the name and the imports of its file.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range files {
		imports, rest, ok := strings.Cut(body, "\n---\n")
		if !ok {
			imports, rest = "", body
		}
		src := "edition 1;\npackage test." + strings.TrimSuffix(filepath.Base(name), ".mrs") + ";\n" + imports + "\nbyteorder big;\nbitorder msb;\n" + rest
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestImportBringsWhatTheSchemaUses(t *testing.T) {
	dir := written(t, map[string]string{
		"main.mrs": "import \"lib/two.mrs\" as t;\nimport \"lib/one.mrs\";\n---\n" +
			"header Own { k : one.Kind; wide : u16 as one.Kind; w : one.Wide; p : t.Point; n : u8 in 0..one.Most; where k != one.Kind.A else E_OWN; }\n" +
			"error E_OWN = 64 \"own\"; assert minsize(one.Wide) == 4;\npacket P { own : Own; body : switch own.k { A => t.Point; _ => nothing; } }",
		"lib/one.mrs": "enum Kind : u8 open { A = 1; } header Wide { x : u32; where x > 0 else E_WIDE; } const Most = 9; header Unused { x : u8; }\nerror E_WIDE = 65 \"wide\";",
		"lib/two.mrs": "import \"one.mrs\" as one;\n---\npacket Point { at : one.Wide; }",
	})
	p, err := Load(filepath.Join(dir, "main.mrs"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Structs {
		line := s.Import + " " + s.Name.Schema
		if s.Packet {
			line += " packet"
		}
		got = append(got, line)
	}
	want := []string{"test.one Wide", "test.two Point", " Own", " P packet"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("structs (-want +got):\n%s", diff)
	}
	if len(p.Enums) != 1 || p.Enums[0].Held != 16 || p.Codes[len(p.Codes)-1].Name != "E_WIDE" || p.Codes[len(p.Codes)-2].Name != "E_OWN" {
		t.Errorf("enums %v, codes %v", p.Enums, p.Codes)
	}
	v, n, err := Decode(p, "P", []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 4, 0, 0, 0, 5})
	if err == nil || n != 14 && v == nil {
		t.Errorf("k == Kind.A must break the rule, got %v", err)
	}
}

func TestImportFaultsNameTheirFile(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"cycle": {map[string]string{
			"main.mrs": "import \"a.mrs\";\n---\nheader H { x : a.A; }", "a.mrs": "import \"b.mrs\";\n---\nheader A { x : b.B; }",
			"b.mrs": "import \"a.mrs\";\n---\nheader B { x : u8; }",
		}, []string{"b.mrs:3:1: error[E0108]", "a.mrs imports ", "b.mrs imports "}},
		"fault inside":  {map[string]string{"main.mrs": "import \"a.mrs\";\n---\nheader H { x : a.A; }", "a.mrs": "header A { x : u65; }"}, []string{"a.mrs:6:16: error[E0201]"}},
		"missing":       {map[string]string{"main.mrs": "import \"a.mrs\";\n---\nheader H { x : u8; }"}, []string{"main.mrs:3:1: error[E0107]"}},
		"unknown name":  {map[string]string{"main.mrs": "import \"a.mrs\";\n---\nheader H { x : a.B; }", "a.mrs": "header A { x : u8; }"}, []string{"main.mrs:6:16: error[E0101]", "has no `B`"}},
		"clash of code": {map[string]string{"main.mrs": "import \"a.mrs\";\n---\nerror E_X = 64 \"x\"; header H { x : a.A; }", "a.mrs": "error E_Y = 64 \"y\"; header A { x : u8; where x > 1 else E_Y; }"}, []string{"error[E0311]", "imported E_Y = 64"}},
		"clash of name": {map[string]string{"main.mrs": "import \"a.mrs\";\n---\nheader A { x : a.A; }", "a.mrs": "header A { x : u8; }"}, []string{"error[E0105]"}},
	} {
		_, err := Load(filepath.Join(written(t, c.files), "main.mrs"))
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: lacks %q:\n%v", name, w, err)
			}
		}
	}
}

func TestFaultsOfImportsOfImportsAreReportedOnce(t *testing.T) {
	const top = "edition 1;\npackage a.b;\n"
	const order = "byteorder big; bitorder msb;\n"
	files := map[string]string{
		"top.mrs":   top + `import "mid.mrs"; import "other.mrs";` + order + "packet P { a : u8; }",
		"mid.mrs":   top + `import "leaf.mrs";` + order + "header M { a : u8; }",
		"other.mrs": top + `import "leaf.mrs";` + order + "header O { a : u8; }",
		"leaf.mrs":  top + order + "header L { a : u3; }",
	}
	p, diags := CompileFrom("top.mrs", []byte(files["top.mrs"]), func(name string) ([]byte, error) { return []byte(files[name]), nil })
	if p != nil || len(diags) != 1 || diags[0].Code != "E0207" || diags[0].File != "leaf.mrs" {
		t.Errorf("%v %v", p, diags)
	}
}

func TestNothingFollowsFromABrokenImport(t *testing.T) {
	const src = "edition 1;\npackage a.b;\nimport \"gone.mrs\" as g;\nbyteorder big; bitorder msb;\n" +
		"packet H { x : g.A; k : u8; s : switch k { 1 => g.A; 2 => { y : u8; z : g.A; } _ => nothing; } }\npacket Only { x : g.A; }\n" +
		"example \"e\" H { hex \"00\"; x.y = 1; one.y = 2; case2.z = 3; }\n"
	p, diags := CompileFrom("top.mrs", []byte(src), func(string) ([]byte, error) { return nil, os.ErrNotExist })
	if p != nil || len(diags) != 1 || diags[0].Code != "E0107" {
		t.Errorf("%v %v", p, diags)
	}
}
