// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/gen"
)

var update = flag.Bool("update", false, "rewrite the parts of docs/spec that are printed from the schema")

func compile(t *testing.T, source string) *gen.Protocol {
	t.Helper()
	p, faults := gen.Compile("metaroce.mrs", []byte(source))
	if len(faults) > 0 {
		t.Fatalf("the schema has faults: %v", faults)
	}
	return p
}

func TestSpecificationShowsTheSchema(t *testing.T) {
	source, err := os.ReadFile("../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	p := compile(t, string(source))
	pages, err := filepath.Glob("../docs/spec/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	printed := 0
	for _, page := range pages {
		have, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		printed += len(diagramBlock.FindAll(have, -1)) + len(tableBlock.FindAll(have, -1))
		want, err := Print(have, p)
		if err != nil {
			t.Errorf("%s: %v", page, err)
			continue
		}
		if *update && !bytes.Equal(have, want) {
			if err := os.WriteFile(page, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(want), string(have)); diff != "" {
			t.Errorf("%s differs from the schema; run go test ./tidy -update (-want +got):\n%s", page, diff)
		}
	}
	inList := map[*gen.Struct]bool{}
	for _, l := range p.Lists {
		inList[l.Head] = true
		for _, c := range l.Cases {
			inList[c.Struct] = true
		}
	}
	for _, s := range p.Structs {
		if s.Owner == nil && !s.Packet && !inList[s] && !mentions(t, pages, "```diagram "+s.Name.Schema+"\n") {
			t.Errorf("no page shows the header %s", s.Name.Schema)
		}
	}
	if printed == 0 {
		t.Error("no page has a part that is printed from the schema")
	}
}

func mentions(t *testing.T, pages []string, text string) bool {
	t.Helper()
	for _, page := range pages {
		have, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(have, []byte(text)) {
			return true
		}
	}
	return false
}

const small = `// SPDX-License-Identifier: Apache-2.0
edition 1;
package small.wire;
byteorder big;
bitorder msb;
option schema { license = "Apache-2.0"; }

/// Kinds.
enum Kind : u8 open {
  /// First.
  One = 1;
  Many = 0x10..0x1f;
}

/// A header.
header Head sized 2 { kind : Kind; rest : u8; }

/// The packet.
packet Packet max 2 { head : Head; }
`

func TestPrintRenewsItsPartsOnly(t *testing.T) {
	p := compile(t, small)
	doc := "before\n```diagram Head\nold\n```\nbetween\n<!-- schema: enum Kind -->\nold\n<!-- end -->\nafter\n"
	got, err := Print([]byte(doc), p)
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n```diagram Head\n" + strings.Join(gen.Diagram(p.Structs[0]), "\n") + "\n```\nbetween\n" +
		"<!-- schema: enum Kind -->\n| number | name | meaning |\n|---|---|---|\n| 0x01 | One | First. |\n| 0x10 to 0x1f | Many |  |\n<!-- end -->\nafter\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestPrintRefusesUnknownNames(t *testing.T) {
	p := compile(t, small)
	for _, doc := range []string{"```diagram Tail\n```\n", "<!-- schema: enum Size -->\n<!-- end -->\n", "<!-- schema: tlv Kind -->\n<!-- end -->\n"} {
		if _, err := Print([]byte(doc), p); err == nil {
			t.Errorf("%q was printed", doc)
		}
	}
}
