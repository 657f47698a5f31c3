// SPDX-License-Identifier: Apache-2.0

// Package gogen prints a compiled schema as a Go package: a codec without allocations, views, names and text.
//
// Files, declarations and imports are built with jennifer. Function bodies are lines of Go text, because that is what they
// are read as; package names in them become imports. The decode program comes from the IR's steps: this package decides how
// a step is written, never what it means.
package gogen

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// Generate prints p. Paths are file names within the package's directory; the order is that of the names.
// What this backend cannot print is a *gen.Refused.
func Generate(p *gen.Protocol) ([]gen.File, error) {
	g := newGenerator(p)
	parts := []struct {
		path  string
		print func(*jen.File)
	}{
		{"enums.gen.go", g.enums},
		{"errors.gen.go", g.errors},
		{"structs.gen.go", g.structs},
		{"views.gen.go", g.views},
		{"decode.gen.go", g.decoders},
		{"encode.gen.go", g.encoders},
		{"length.gen.go", g.lengths},
		{"validate.gen.go", g.validators},
		{"lint.gen.go", g.lints},
		{"defaults.gen.go", g.defaults},
		{"lists.gen.go", g.lists},
		{"text.gen.go", g.texts},
		{"bits.gen.go", g.vectors},
		{"sums.gen.go", g.sums},
		{"layout_gen_test.go", g.layoutTest},
	}
	var files []gen.File
	for _, part := range parts {
		f := g.newFile()
		empty, err := render(f)
		if err != nil {
			return nil, err
		}
		part.print(f)
		if !g.refused.None() {
			continue // the other parts may be refused as well
		}
		data, err := render(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.path, err)
		}
		if !bytes.Equal(data, empty) {
			files = append(files, gen.File{Path: part.path, Data: data})
		}
	}
	if err := g.refused.Err(); err != nil {
		return nil, err
	}
	helpers, err := g.helperFile()
	if err != nil {
		return nil, err
	}
	files = append(files, helpers...)
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	return files, nil
}

// known are the constructs that this backend prints besides those that every backend does.
var known = []gen.Feature{
	gen.FeatureSigned, gen.FeatureSignedRange, gen.FeatureLittle, gen.FeatureVector, gen.FeatureSized, gen.FeatureTail, gen.FeatureLint,
	gen.FeatureCover, gen.FeatureOnes, gen.FeatureUnion, gen.FeatureDefault,
	gen.FeatureListParam, gen.FeatureListKeys, gen.FeatureListHead, gen.FeatureListLength, gen.FeatureListBare, gen.FeatureListFill,
	gen.FeatureListUnknown, gen.FeatureAlign, gen.FeatureListStrict,
}

// generator holds what all files share.
type generator struct {
	p       *gen.Protocol
	all     []*gen.Struct     // declared and synthetic structs, heads of lists included
	taken   map[string]bool   // package-level names that the schema decides
	pieces  map[*gen.Sum]bool // checksums that are computed piece by piece
	masked  map[*gen.Sum]bool // and those of bytes some of whose bits count as others
	moved   map[*gen.Sum]bool // and those that change without reading all bytes
	helpers map[string]bool   // small functions that some printed body calls
	refused *gen.Refusals     // what has no Go form
}

func newGenerator(p *gen.Protocol) *generator {
	g := &generator{p: p, taken: map[string]bool{}, pieces: map[*gen.Sum]bool{}, masked: map[*gen.Sum]bool{}, moved: map[*gen.Sum]bool{}, helpers: map[string]bool{}}
	g.refused = p.Refusals("E0801", "the Go backend cannot print this")
	g.refused.Features(known...)
	g.reserve()
	return g
}

// fail refuses a part of the schema.
func (g *generator) fail(at gen.Declared, format string, args ...any) gen.Refusal {
	return g.refused.Add(at, format, args...)
}

// holder is the item whose number a scalar is.
func (g *generator) holder(s *gen.Scalar) gen.Declared {
	return g.itemWhere(func(it *gen.Item) bool { return it.Scalar == s || it.Array != nil && it.Array.Scalar == s })
}

// itemWhere is the first item of the schema that a test accepts; nil = none.
func (g *generator) itemWhere(wanted func(*gen.Item) bool) gen.Declared {
	for _, s := range g.all {
		if i := slices.IndexFunc(s.Items, wanted); i >= 0 {
			return s.Items[i]
		}
	}
	return nil
}

// reserve collects the structs to print and the names that layout constants must not take.
func (g *generator) reserve() {
	g.all = g.p.Structs
	for _, l := range g.p.Lists {
		if !slices.Contains(g.all, l.Head) {
			g.all = append([]*gen.Struct{l.Head}, g.all...)
		}
	}
	for _, c := range g.p.Consts {
		g.taken[c.Name.Go] = true
	}
	for _, c := range g.p.Codes {
		g.taken[codeConst(c)] = true
	}
	for _, s := range g.all {
		g.taken[s.Name.Go] = true
	}
}

func (g *generator) newFile() *jen.File {
	f := jen.NewFile(g.p.Targets.GoPackage)
	for _, line := range g.headerLines() {
		f.HeaderComment(line)
	}
	for path, name := range imports {
		f.ImportName(path, name)
	}
	return f
}

// headerLines begin every file.
func (g *generator) headerLines() []string {
	lines := []string{
		"Code generated by mrgen; DO NOT EDIT.",
		fmt.Sprintf("Source: %s, package %s, language edition %d.", g.p.Source, g.p.Package, g.p.Edition),
		"Wire hash: " + g.p.WireHash,
	}
	if g.p.License != "" {
		lines = append(lines, "", "SPDX-License-Identifier: "+g.p.License)
	}
	return lines
}

func render(f *jen.File) ([]byte, error) {
	var out bytes.Buffer
	if err := f.Render(&out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// imports are the packages that printed bodies use, by import path.
var imports = map[string]string{
	"encoding/binary": "binary",
	"encoding/hex":    "hex",
	"hash/crc32":      "crc32",
	"iter":            "iter",
	"math/bits":       "bits",
	"slices":          "slices",
	"strconv":         "strconv",
	"testing":         "testing",
	"unicode/utf8":    "utf8",
}

// doc puts the schema's comment lines above a declaration, after an introduction that names it.
func doc(f *jen.File, lines ...string) {
	for _, l := range lines {
		f.Comment(commentLine(l))
	}
}

// commentLine keeps each comment on one line; jennifer would print others as a block.
func commentLine(l string) string {
	if strings.HasPrefix(l, "//") {
		return l
	}
	return strings.TrimRight("// "+strings.ReplaceAll(l, "\n", " "), " ")
}

// titled joins a name and its schema comment to a Go doc comment: "Name: text" with the text's own lines kept.
func titled(name string, lines []string) []string {
	if len(lines) == 0 {
		return []string{name + " stands in the schema without a comment."}
	}
	out := append([]string(nil), lines...)
	out[0] = name + ": " + lowerFirst(out[0])
	return out
}

// lowerFirst lowers a sentence's first letter unless the word is an abbreviation or a name in capitals.
func lowerFirst(s string) string {
	if len(s) < 2 || s[0] < 'A' || s[0] > 'Z' || s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
