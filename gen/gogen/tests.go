// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"slices"
	"strings"
	"text/template"

	"github.com/openmetaroce/metaroce/gen"
)

//go:embed templates/fuzz.tmpl
var fuzzText string

//go:embed templates/rapid.tmpl
var rapidText string

// Tests prints tests for the package that Generate prints: fuzz_gen_test.go with a fuzz target for each packet, which begins
// with the vectors in a file that the vectors backend has written, and rapid_gen_test.go with generators of random values.
// vectors is that file's path as seen from the package.
func Tests(p *gen.Protocol, vectors string) ([]gen.File, error) {
	g := newGenerator(p)
	data := testData{g: g, Package: p.Targets.GoPackage, Lines: g.headerLines(), Vectors: vectors}
	for _, s := range p.Structs {
		if s.Packet {
			data.Packets = append(data.Packets, g.packetTest(s))
		}
	}
	var files []gen.File
	for _, t := range []struct{ path, text string }{{"fuzz_gen_test.go", fuzzText}, {"rapid_gen_test.go", rapidText}} {
		var out bytes.Buffer
		if err := template.Must(template.New(t.path).Parse(t.text)).Execute(&out, data); err != nil {
			return nil, fmt.Errorf("%s: %w", t.path, err)
		}
		if err := g.refused.Err(); err != nil {
			return nil, err
		}
		formatted, err := format.Source(out.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", t.path, err, out.Bytes())
		}
		files = append(files, gen.File{Path: t.path, Data: formatted})
	}
	return files, nil
}

// testData is what the templates know.
type testData struct {
	g       *generator
	Package string
	Lines   []string
	Vectors string
	Packets []packetTest
}

// packetTest is a packet to be tested.
type packetTest struct {
	Name, Schema string
	Params       []testParam
	Verify       bool // it has checksums that need nothing from outside
	Header       int  // size of the header that is its only parameter; 0 = numbers at most
}

// testParam is a parameter that decoding needs.
type testParam struct {
	Name, Schema, Type string
	Struct             bool
}

func (g *generator) packetTest(s *gen.Struct) packetTest {
	t := packetTest{Name: s.Name.Go, Schema: s.Name.Schema, Verify: len(s.Params) == 0 && len(sumItems(s)) > 0}
	for _, p := range decodeParams(s.Params) {
		par := testParam{Name: lowerCamel(p.Name), Schema: p.Name.Schema, Type: uintType(p.Bits)}
		if p.Struct != nil {
			par.Type, par.Struct = p.Struct.Name.Go, true
		}
		t.Params = append(t.Params, par)
	}
	if len(t.Params) == 1 && t.Params[0].Struct {
		t.Header = max(decodeParams(s.Params)[0].Struct.Max, 1)
	}
	return t
}

// Fuzzed are the packets that have a fuzz target: those with no header as a parameter besides others.
func (d testData) Fuzzed() []packetTest {
	return slices.DeleteFunc(slices.Clone(d.Packets), func(t packetTest) bool {
		return t.Header == 0 && slices.ContainsFunc(t.Params, func(p testParam) bool { return p.Struct })
	})
}

// Plain tells whether some of them has vectors of its own, Nested whether some has none.
func (d testData) Plain() bool {
	return slices.ContainsFunc(d.Fuzzed(), func(t packetTest) bool { return t.Header == 0 })
}

func (d testData) Nested() bool {
	return slices.ContainsFunc(d.Fuzzed(), func(t packetTest) bool { return t.Header > 0 })
}

// Args passes the parameters behind a first argument.
func (t packetTest) Args() string {
	var out strings.Builder
	for _, p := range t.Params {
		if p.Struct {
			out.WriteString(", &" + p.Name)
		} else {
			out.WriteString(", " + p.Name)
		}
	}
	return out.String()
}

// OnlyArgs is Args without a first argument.
func (t packetTest) OnlyArgs() string { return strings.TrimPrefix(t.Args(), ", ") }

// Inputs declares what the fuzzer gives besides the packet.
func (t packetTest) Inputs() string {
	var out strings.Builder
	for _, p := range t.Params {
		if p.Struct {
			out.WriteString(", " + p.Name + "Bytes []byte")
		} else {
			out.WriteString(", " + p.Name + " " + p.Type)
		}
	}
	return out.String()
}

// Generators are the printed functions that draw random values.
func (d testData) Generators() string {
	var b body
	for _, s := range d.g.all {
		d.g.drawStruct(&b, s)
	}
	for _, l := range d.g.p.Lists {
		d.g.drawList(&b, l)
	}
	return b.String()
}
