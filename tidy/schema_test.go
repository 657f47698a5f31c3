// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/docgen"
)

var update = flag.Bool("update", false, "rewrite the parts of docs/spec that are printed from the schema")

func TestSpecificationShowsTheSchema(t *testing.T) {
	p, err := gen.Load("../schema/metaroce.mrs")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../docs/spec/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	shown := map[string]bool{}
	for _, page := range pages {
		have, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		want, parts, err := docgen.Renew(have, p)
		if err != nil {
			t.Errorf("%s: %v", page, err)
			continue
		}
		for _, x := range parts {
			shown[x.Kind+" "+x.Name] = true
			if x.Stale && !*update {
				t.Errorf("%s:%d: the %s %s is not what the schema says; run `mrgen docs --write %s`", page, x.Line, x.Kind, x.Name, page)
			}
		}
		if *update && !bytes.Equal(have, want) {
			if err := os.WriteFile(page, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range toShow(p) {
		if !shown["diagram "+name] {
			t.Errorf("no page shows the header %s", name)
		}
	}
}

// toShow lists the headers that the specification must draw: those with a name of their own.
func toShow(p *gen.Protocol) []string {
	inList := map[*gen.Struct]bool{}
	for _, l := range p.Lists {
		inList[l.Head] = true
		for _, c := range l.Cases {
			inList[c.Struct] = true
		}
	}
	var names []string
	for _, s := range p.Structs {
		if s.Owner == nil && !s.Packet && !inList[s] {
			names = append(names, s.Name.Schema)
		}
	}
	return names
}
