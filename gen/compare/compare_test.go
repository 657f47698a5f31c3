// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/openmetaroce/metaroce/gen"
)

var update = flag.Bool("update", false, "rewrite the wanted reports of testdata")

func compile(t *testing.T, name, src string) *gen.Protocol {
	t.Helper()
	p, faults := gen.Compile(name, []byte(src))
	if len(faults) > 0 {
		t.Fatalf("%s: %v", name, faults)
	}
	return p
}

// base is the schema that all goldens change. A golden lists pairs of lines: what is replaced, and by what.
func base(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("testdata/base.mrs")
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// edit applies the lines `- old` and `+ new` of an edit script.
func edit(t *testing.T, src, script string) string {
	t.Helper()
	old := ""
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "- "):
			old = line[2:]
			if strings.Count(src, old) == 0 {
				t.Fatalf("the base lacks %q", old)
			}
		case strings.HasPrefix(line, "+"):
			src = strings.ReplaceAll(src, old, strings.TrimPrefix(line[1:], " "))
		}
	}
	return src
}

func TestReportMatchesItsGoldens(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			src := base(t)
			r, err := Compare(compile(t, "old.mrs", src), compile(t, "new.mrs", edit(t, src, string(a.Files[0].Data))))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			r.Print(&got)
			if *update {
				a.Files = []txtar.File{a.Files[0], {Name: "want.txt", Data: got.Bytes()}}
				if err := os.WriteFile(name, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkReport(t, r)
		})
	}
}

// checkReport tests what every report promises.
func checkReport(t *testing.T, r *Report) {
	t.Helper()
	if r.disagree() && r.Verdict != Wire {
		t.Errorf("a witness exists and the verdict is %s", r.Verdict)
	}
	if (r.OldHash == r.NewHash) != (r.Verdict == "" || r.Verdict == Doc) && r.Verdict != Source {
		t.Errorf("verdict %q, hashes %s %s", r.Verdict, r.OldHash, r.NewHash)
	}
	for _, d := range r.Directions {
		if d.Breaks != (d.Witness != nil) {
			t.Errorf("%+v breaks without a witness, or the reverse", d)
		}
	}
}

func TestSchemaIsCompatibleWithItself(t *testing.T) {
	for _, name := range []string{"testdata/base.mrs", "../../schema/metaroce.mrs"} {
		p, err := gen.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		again, err := gen.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Compare(p, again)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != "" || len(r.Changes) > 0 || r.disagree() || r.Compared < 20 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
