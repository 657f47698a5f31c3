// SPDX-License-Identifier: Apache-2.0

package docgen

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
)

var update = flag.Bool("update", false, "rewrite testdata/want")

func load(t *testing.T, path string) *gen.Protocol {
	t.Helper()
	p, err := gen.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReferenceMatchesItsGolden(t *testing.T) {
	p := load(t, "testdata/kitchen.mrs")
	p.WireHash = "0123" // the hash is not the page's business
	files, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		name := filepath.Join("testdata", "want", filepath.FromSlash(f.Path))
		names = append(names, name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(f.Data)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", f.Path, diff)
		}
	}
	for _, pattern := range []string{"testdata/want/*.md", "testdata/want/svg/*.svg"} {
		have, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range have {
			if !slices.Contains(names, name) {
				t.Errorf("%s is no output any more", name)
			}
		}
	}
}

var (
	anchor  = regexp.MustCompile(`\]\(#([^)]+)\)`)
	picture = regexp.MustCompile(`!\[[^\]]*\]\(([^)]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// TestReferenceIsWholeForEverySchema reads the pages of all schemas: links lead to headings, pictures to drawings, tables
// have as many cells in each line.
func TestReferenceIsWholeForEverySchema(t *testing.T) {
	names, err := filepath.Glob("../*/testdata/*.mrs")
	if err != nil || len(names) < 3 {
		t.Fatal("no schemas", names, err)
	}
	more, err := filepath.Glob("../../schema/examples/*.mrs")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, name := range slices.Concat(names, more, []string{"../../schema/metaroce.mrs"}) {
		t.Run(name, func(t *testing.T) {
			p, err := gen.Load(name)
			var refused *gen.SchemaError
			if errors.As(err, &refused) {
				t.Logf("its owner tests it: %v", err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			read++
			files, err := Generate(p)
			if err != nil {
				t.Fatal(err)
			}
			page := string(files[0].Data)
			headings := map[string]bool{}
			for _, m := range heading.FindAllStringSubmatch(page, -1) {
				headings[strings.ToLower(m[1])] = true
			}
			for _, m := range anchor.FindAllStringSubmatch(page, -1) {
				if !headings[m[1]] {
					t.Errorf("the link #%s leads to no heading", m[1])
				}
			}
			for _, m := range picture.FindAllStringSubmatch(page, -1) {
				if !slices.ContainsFunc(files, func(f gen.File) bool { return f.Path == m[1] }) {
					t.Errorf("the picture %s is missing", m[1])
				}
			}
			checkTables(t, page)
			for _, f := range files[1:] {
				checkXML(t, f)
			}
		})
	}
	if read < 3 {
		t.Errorf("only %d schemas compile", read)
	}
}

func checkTables(t *testing.T, page string) {
	t.Helper()
	columns := 0
	for n, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "|--") {
			columns = 0
			continue
		}
		cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns != 0 && cells != columns {
			t.Errorf("line %d has %d cells, those above have %d: %s", n+1, cells, columns, line)
		}
		columns = cells
	}
}

func checkXML(t *testing.T, f gen.File) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(string(f.Data)))
	for {
		_, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s is no XML: %v", f.Path, err)
			return
		}
	}
}

const handWritten = "before\n<!-- mrgen:diagram Head -->\n\n```text\nold\n```\nbetween\n<!-- mrgen:enum Kind -->\nold\n<!-- mrgen:end -->\n" +
	"<!-- mrgen:tlv Options -->\n<!-- mrgen:end -->\n```\n<!-- mrgen:diagram Nobody -->\n```\nafter"

func TestRenewChangesMarkedPartsOnly(t *testing.T) {
	p := load(t, "testdata/kitchen.mrs")
	got, parts, err := Renew([]byte(handWritten), p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Part{{"diagram", "Head", 2, true}, {"enum", "Kind", 8, true}, {"tlv", "Options", 11, true}}, parts); diff != "" {
		t.Errorf("parts: -want +got:\n%s", diff)
	}
	head := strings.Join(gen.Diagram(p.StructNamed("Head")), "\n")
	for _, want := range []string{
		"before\n<!-- mrgen:diagram Head -->\n\n```text\n" + head + "\n```\nbetween\n<!-- mrgen:enum Kind -->\n| number | name | meaning |\n",
		"<!-- mrgen:end -->\n```\n<!-- mrgen:diagram Nobody -->\n```\nafter",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the page lacks\n%s\nit is\n%s", want, got)
		}
	}
	again, parts, err := Renew(got, p)
	if err != nil || string(again) != string(got) {
		t.Errorf("a fresh page changes: %v\n%s", err, cmp.Diff(string(got), string(again)))
	}
	for _, x := range parts {
		if x.Stale {
			t.Errorf("%+v is stale in a fresh page", x)
		}
	}
}

func TestRenewNamesBadMarkers(t *testing.T) {
	p := load(t, "testdata/kitchen.mrs")
	for text, want := range map[string]string{
		"\n<!-- mrgen:diagram Nobody -->\n```text\n```\n": "line 2: the schema has no diagram Nobody",
		"<!-- mrgen:diagram Head -->\ntext\n":             "line 1: no ```text block follows the diagram Head",
		"<!-- mrgen:diagram Head -->":                     "line 1: no ```text block follows",
		"<!-- mrgen:diagram Head -->\n```text\n":          "line 1: the diagram Head never ends",
		"<!-- mrgen:enum Kind -->\n":                      "line 1: the enum Kind never ends",
		"<!-- mrgen:tlv Kind -->\n<!-- mrgen:end -->\n":   "line 1: the schema has no tlv Kind",
		"<!-- mrgen:table Kind -->\n":                     "line 1: there is no mrgen:table",
	} {
		_, _, err := Renew([]byte(text), p)
		if !errors.Is(err, ErrMarker) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
