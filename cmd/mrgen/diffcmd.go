// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/compare"
)

type diffCmd struct {
	Against string `required:"" help:"The old schema: a file, or a git revision such as HEAD, v1.2 or main~3." placeholder:"REV|FILE"`
	JSON    bool   `name:"json" help:"Print one JSON object."`
	File    string `arg:"" optional:"" help:"The new schema. Without it, the project's."`
}

// Run says what changes between two schemas. A change of the bytes is a fault.
func (c *diffCmd) Run(s streams) error {
	file := c.File
	if file == "" {
		p, err := findProject()
		if err != nil {
			return err
		}
		file = p.schemaPath()
	}
	now, err := gen.Load(file)
	if err != nil {
		return err
	}
	old, err := c.old(file)
	if err != nil {
		return err
	}
	r, err := compare.Compare(old, now)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(s.out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		r.Print(s.out)
	}
	if err == nil && r.Verdict == compare.Wire {
		return errFault
	}
	return err
}

// old compiles the schema to compare with.
func (c *diffCmd) old(file string) (*gen.Protocol, error) {
	if isFile(c.Against) {
		return gen.Load(c.Against)
	}
	g := revision{rev: c.Against, dir: filepath.Dir(file)}
	name := filepath.Base(file)
	src, err := g.read(name)
	if err != nil {
		return nil, fmt.Errorf("%s is neither a file nor a revision that has %s: %w", c.Against, file, err)
	}
	p, faults := gen.CompileFrom(name, src, g.read)
	if len(faults) > 0 {
		for i := range faults {
			faults[i].File = c.Against + ":" + faults[i].File
		}
		return nil, &gen.SchemaError{Diagnostics: faults}
	}
	return p, nil
}

// revision reads files as they were.
type revision struct{ rev, dir string }

var errRevision = errors.New("not the name of a revision")

// read returns the text that a file, relative to the directory, had in the revision.
func (g revision) read(name string) ([]byte, error) {
	if strings.HasPrefix(g.rev, "-") || strings.Contains(g.rev, ":") {
		return nil, errRevision
	}
	cmd := exec.Command("git", "-C", g.dir, "show", g.rev+":./"+name)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(errs.String()); text != "" {
			line, _, _ := strings.Cut(text, "\n")
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		return nil, err
	}
	return out, nil
}
