// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed template/sample.tmpl
var sampleSchema string

var (
	errProjectExists = errors.New(configName + " exists already")
	projectName      = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
)

type initCmd struct {
	Module string `help:"Import path of the Go module; default: that of go.mod, here or above." placeholder:"PATH"`
	Name   string `arg:"" help:"Name of the protocol: of its schema, its Go package, its filters."`
}

// Run begins a project in the current directory: a sample schema and the configuration of its outputs.
func (c *initCmd) Run(s streams) error {
	if !projectName.MatchString(c.Name) {
		return fmt.Errorf("%q is no name: it begins with a small letter and has small letters, digits and _", c.Name)
	}
	if _, err := os.Stat(filepath.FromSlash(configName)); !errors.Is(err, os.ErrNotExist) {
		return errProjectExists
	}
	module, err := c.module()
	if err != nil {
		return err
	}
	schema := "schema/" + c.Name + ".mrs"
	if _, err := os.Stat(filepath.FromSlash(schema)); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s exists already", schema)
	}
	title := strings.ToUpper(c.Name[:1]) + c.Name[1:]
	text := strings.NewReplacer("NAME", c.Name, "TITLE", title).Replace(sampleSchema)
	for _, f := range []struct{ name, text string }{{schema, text}, {configName, c.config(schema, module)}} {
		if _, err := replaceFile(filepath.FromSlash(f.name), []byte(f.text)); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "wrote %s\n", f.name)
	}
	if module == "" {
		fmt.Fprintln(s.out, "there is no go.mod here or above, so gopacket layers are left out; --module PATH adds them")
	}
	fmt.Fprintln(s.out, "edit the schema, then run `mrgen gen`")
	return nil
}

// module is the import path of the current directory; empty when it lies in no module.
func (c *initCmd) module() (string, error) {
	if c.Module != "" {
		return c.Module, nil
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root, module, err := (&traceCmd{}).module()
	if errors.Is(err, errNoModule) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, wd)
	return path.Join(module, filepath.ToSlash(rel)), err
}

// config is the text of the configuration.
func (c *initCmd) config(schema, module string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What `mrgen gen` writes and `mrgen check` compares. Paths are relative to the directory above this file's.\n\nschema = %q\n", schema)
	for _, o := range []struct{ backend, dir string }{
		{"go", c.Name}, {"c", "c"}, {"lua", "wireshark"}, {"vectors", "vectors"}, {"docs", "docs"}, {"layers", c.Name + "/layers"},
	} {
		if o.backend == "layers" && module == "" {
			continue
		}
		fmt.Fprintf(&b, "\n[[output]]\nbackend = %q\ndir = %q\n", o.backend, o.dir)
		if o.backend == "layers" {
			fmt.Fprintf(&b, "codec = %q\n", path.Join(module, c.Name))
		}
	}
	return b.String()
}
