// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// table says which other packages a package may import besides the standard library: folders of this module, and module
// paths of others. A pattern that ends in /... also covers the folders below; wire is short for go-sdk/wire.
var table = map[string][]string{
	// The generator half.
	"gen/syntax":    {"github.com/alecthomas/participle/v2/..."},
	"gen":           {"gen/syntax"},
	"gen/gogen":     {"gen", "github.com/dave/jennifer/jen"},
	"gen/cgen":      {"gen"},
	"gen/luagen":    {"gen", "wireshark"},
	"gen/layergen":  {"gen", "github.com/dave/jennifer/jen"},
	"gen/vectorgen": {"gen"},
	"gen/lint":      {"gen", "gen/syntax"},
	"gen/docgen":    {"gen"},
	"gen/compare":   {"gen", "gen/vectorgen"},
	"gen/proof":     {},
	"cmd/mrgen":     {"gen", "gen/...", kong, toml, pretty, gopacket, diff},

	// What both halves are made of.
	"go-sdk/wire":   {},
	"go-sdk/layers": {"wire", gopacket},

	// What the example schemas become.
	"examples":                    {},
	"examples/bfd/control":        {},
	"examples/bfd/control/layers": {"examples/bfd/control", gopacket},
	"examples/inet/geneve":        {},
	"examples/inet/geneve/layers": {"examples/inet/geneve", gopacket},
	"examples/inet/gre":           {},
	"examples/inet/gre/layers":    {"examples/inet/gre", gopacket},
	"examples/inet/ip":            {},
	"examples/inet/ip/layers":     {"examples/inet/ip", gopacket},
	"examples/inet/vxlan":         {},
	"examples/inet/vxlan/layers":  {"examples/inet/vxlan", gopacket},
	"examples/ptp/v2":             {},
	"examples/ptp/v2/layers":      {"examples/ptp/v2", gopacket},
	"examples/rocev2/wire":        {},
	"examples/rocev2/wire/layers": {"examples/rocev2/wire", gopacket},

	// The transport half.
	"engine/internal/mono":   {},
	"engine/internal/hint":   {"engine/internal/mono"},
	"engine/internal/cc":     {"engine/internal/mono"},
	"engine/internal/path":   {"engine/internal/cc", "engine/internal/mono", "wire"},
	"engine/internal/fifo":   {},
	"engine/internal/stream": {"engine/internal/fifo", "engine/internal/mono", "wire"},
	"engine/internal/region": {"engine/internal/mono", "wire"},
	"engine":                 {"engine/internal/...", "wire"},
	"engine/impair":          {"engine", "wire"},
	"engine/capture":         {"engine", "wire", gopacket},
	"engine/sim":             {"engine", "engine/impair", "wire"},
	"engine/udp":             {"engine", unix},
	"go-sdk/metaroce":        {"engine", "engine/udp", "wire"},
	"cmd/mrsim":              {"engine", "engine/sim", "engine/impair", kong, pretty, progress, unix, term},
	"cmd/mrdemo":             {"go-sdk/metaroce", "engine", "engine/impair", "engine/capture", "engine/udp", "wire", kong, pretty, progress, term, unix},

	// Outside both: the oracle of tests, a file to embed, and the checks of the project itself.
	"fuzz/model":      {},
	"fuzz/mutants":    {kong, pretty, progress, term},
	"fuzz/steps":      {"engine", "wire"},
	"wireshark":       {},
	"tidy":            {"gen", "gen/docgen", "tidy/skip", "golang.org/x/tools/..."},
	"tidy/skip":       {},
	"tidy/stages":     {"tidy/skip"},
	"tidy/bars":       {"wire", "examples/...", "tidy/bars/write", gopacket},
	"tidy/bars/write": {},
	"tidy/cover":      {},
}

const (
	kong     = "github.com/alecthomas/kong"
	toml     = "github.com/pelletier/go-toml/v2"
	pretty   = "github.com/jedib0t/go-pretty/v6/..."
	progress = "github.com/schollz/progressbar/v3"
	gopacket = "github.com/google/gopacket/..."
	unix     = "golang.org/x/sys/unix"
	term     = "golang.org/x/term"
	diff     = "github.com/rogpeppe/go-internal/diff"
)

// inTests are imports that any test may have.
var inTests = []string{
	"github.com/google/go-cmp/cmp/...", "pgregory.net/rapid", "github.com/rogpeppe/go-internal/...", "golang.org/x/tools/txtar", gopacket, unix, "fuzz/model",
}

// halves are the two parts of the project that meet only in generated files.
var halves = []struct {
	name string
	dirs []string
}{
	{"generator", []string{"gen/...", "cmd/mrgen"}},
	{"transport", []string{"engine/...", "go-sdk/metaroce", "cmd/mrsim", "cmd/mrdemo"}},
}

// findImports holds non-test files to the table. Tests may see more of their own half, but never the other one.
func findImports(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.Files {
		if f.Syntax == nil {
			continue
		}
		dir := dirOf(f.Path)
		allowed, known := table[dir]
		for _, spec := range f.Syntax.Imports {
			to, ok := t.foreign(spec)
			if !ok || to == dir {
				continue
			}
			what := ""
			switch {
			case halfOf(dir) != "" && halfOf(to) != "" && halfOf(dir) != halfOf(to):
				what = fmt.Sprintf("the %s half imports the %s half: %s", halfOf(dir), halfOf(to), to)
			case isTest(f.Path):
				if strings.Contains(to, ".") && !matches(allowed, to) && !matches(inTests, to) {
					what = "a test imports " + to
				}
			case known && !matches(allowed, to):
				what = fmt.Sprintf("%s imports %s", dir, to)
			}
			if what != "" {
				found = append(found, Finding{f.Path, t.line(spec), to, what})
			}
		}
	}
	return found, nil
}

// findUnlistedPackages reports packages with code outside tests that the table does not know.
func findUnlistedPackages(t *Tree) ([]Finding, error) {
	var found []Finding
	seen := map[string]bool{}
	for _, f := range t.Files {
		dir := dirOf(f.Path)
		if f.Syntax == nil || isTest(f.Path) || seen[dir] {
			continue
		}
		seen[dir] = true
		if _, ok := table[dir]; !ok && !onlyDoc(t, dir) {
			found = append(found, Finding{f.Path, t.line(f.Syntax), dir, "the package " + dir + " is not in the table of imports"})
		}
	}
	return found, nil
}

// onlyDoc tells packages that hold nothing but tests and their comment.
func onlyDoc(t *Tree, dir string) bool {
	return !slices.ContainsFunc(t.Files, func(f *File) bool {
		return f.Syntax != nil && dirOf(f.Path) == dir && !isTest(f.Path) && len(f.Syntax.Decls) > 0
	})
}

// foreign names an import outside the standard library: a folder of this module, or another module's package.
func (t *Tree) foreign(spec *ast.ImportSpec) (string, bool) {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return "", false
	}
	if own, ok := strings.CutPrefix(p, t.Module+"/"); ok {
		return own, true
	}
	first, _, _ := strings.Cut(p, "/")
	return p, strings.Contains(first, ".")
}

func halfOf(dir string) string {
	for _, h := range halves {
		if matches(h.dirs, dir) {
			return h.name
		}
	}
	return ""
}

// matches tells whether a package is one of the patterns.
func matches(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if pattern == "wire" {
			pattern = "go-sdk/wire"
		}
		base, below := strings.CutSuffix(pattern, "/...")
		return p == base || below && strings.HasPrefix(p, path.Clean(base)+"/")
	})
}
