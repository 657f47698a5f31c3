// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/cgen"
	"github.com/openmetaroce/metaroce/gen/docgen"
	"github.com/openmetaroce/metaroce/gen/gogen"
	"github.com/openmetaroce/metaroce/gen/layergen"
	"github.com/openmetaroce/metaroce/gen/luagen"
	"github.com/openmetaroce/metaroce/gen/syntax"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// configName is where a project's configuration lies, below its root.
const configName = "schema/mrgen.toml"

var errNoProject = errors.New("no " + configName + " here or in a directory above")

// backends prints a protocol for one target each.
var backends = map[string]func(*gen.Protocol, output) ([]gen.File, error){
	"go":      alone(gogen.Generate),
	"c":       alone(cgen.Generate),
	"lua":     alone(luagen.Generate),
	"vectors": alone(vectorgen.Generate),
	"docs":    alone(docgen.Generate),
	"gotests": func(p *gen.Protocol, o output) ([]gen.File, error) { return gogen.Tests(p, o.Vectors) },
	"layers": func(p *gen.Protocol, o output) ([]gen.File, error) {
		return layergen.Generate(p, layergen.Config{Codec: o.Codec, Gopacket: o.Gopacket})
	},
}

// alone is a backend that needs nothing but the protocol.
func alone(print func(*gen.Protocol) ([]gen.File, error)) func(*gen.Protocol, output) ([]gen.File, error) {
	return func(p *gen.Protocol, _ output) ([]gen.File, error) { return print(p) }
}

// backendNames are the targets that need nothing but a schema, in the order in which they are written.
var backendNames = []string{"go", "c", "lua", "vectors", "docs"}

// project is a schema and where its outputs go.
type project struct {
	Schema string   `toml:"schema"` // relative to root, with slashes
	Output []output `toml:"output"`

	root  string
	below string // directory relative to the outermost project; empty for that itself
}

// output is what one backend writes.
type output struct {
	Backend string `toml:"backend"`
	Dir     string `toml:"dir"` // relative to root, with slashes

	// For layers only: the import paths of what the backend go writes, and of a fork of gopacket when it is not gopacket itself.
	Codec    string `toml:"codec"`
	Gopacket string `toml:"gopacket"`

	// For gotests only: the file that the backend vectors writes, as seen from dir.
	Vectors string `toml:"vectors"`
}

// findProject reads the nearest configuration.
func findProject() (*project, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	p, err := projectAbove(dir, func(*project) bool { return true })
	if err == nil && p == nil {
		err = errNoProject
	}
	return p, err
}

// projectAbove reads the configurations of a directory and of those above it until one is wanted; nil = none is.
func projectAbove(dir string, wanted func(*project) bool) (*project, error) {
	for {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(configName)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if err == nil {
			p, err := parseProject(data, dir)
			if err != nil || wanted(p) {
				return p, err
			}
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil, nil
		}
		dir = up
	}
}

func parseProject(data []byte, root string) (*project, error) {
	p := &project{root: root}
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) {
			err = fmt.Errorf("unknown keys:\n%s", strict)
		}
		return nil, fmt.Errorf("%s: %w", configName, err)
	}
	if p.Schema == "" || len(p.Output) == 0 {
		return nil, fmt.Errorf("%s: `schema` and at least one [[output]] are needed", configName)
	}
	for _, o := range p.Output {
		if backends[o.Backend] == nil {
			return nil, fmt.Errorf("%s: there is no backend %q; the backends are %s", configName, o.Backend, strings.Join(slices.Sorted(maps.Keys(backends)), ", "))
		}
		if !filepath.IsLocal(filepath.FromSlash(o.Dir)) {
			return nil, fmt.Errorf("%s: dir %q leaves the project", configName, o.Dir)
		}
	}
	return p, nil
}

// schemaPath is the schema's path for messages and for opening it.
func (p *project) schemaPath() string {
	return relative(filepath.Join(p.root, filepath.FromSlash(p.Schema)))
}

// relative shortens a path when the current directory is above it.
func relative(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// joined makes one error of those of all outputs: what several backends refuse becomes one *gen.Refused.
func joined(outputs []output, faults []error) error {
	var refused []syntax.Diagnostic
	for i, err := range faults {
		diags := gen.Diagnostics(err)
		if err != nil && diags == nil {
			return fmt.Errorf("backend %s: %w", outputs[i].Backend, err)
		}
		refused = append(refused, diags...)
	}
	return gen.Refuse(refused)
}

// render prints all outputs in memory, side by side: no backend changes the protocol. Paths are relative to the root. What
// backends have no form for is a *gen.Refused.
func (p *project) render(protocol *gen.Protocol) ([]gen.File, error) {
	printed, faults := make([][]gen.File, len(p.Output)), make([]error, len(p.Output))
	var work sync.WaitGroup
	for i, o := range p.Output {
		work.Go(func() { printed[i], faults[i] = backends[o.Backend](protocol, o) })
	}
	work.Wait()
	if err := joined(p.Output, faults); err != nil {
		return nil, err
	}
	var all []gen.File
	for i, o := range p.Output {
		for _, f := range printed[i] {
			name := path.Join(o.Dir, f.Path)
			if slices.ContainsFunc(all, func(g gen.File) bool { return g.Path == name }) {
				return nil, fmt.Errorf("two outputs write %s", name)
			}
			all = append(all, gen.File{Path: name, Data: f.Data})
		}
	}
	return all, nil
}
