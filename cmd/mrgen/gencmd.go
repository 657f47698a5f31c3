// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/openmetaroce/metaroce/gen"
)

var errNeedsOut = errors.New("a schema of its own needs --out")

type genCmd struct {
	reportFlags
	Out  string `help:"Directory to write below, instead of the project." type:"path" placeholder:"DIR"`
	File string `arg:"" optional:"" help:"Schema to compile instead of the project's."`
}

// Run writes the outputs: all of a schema, or none when it has faults or a backend refuses parts of it. As JSON it prints an
// object for each file, or for each of those; as SARIF only those.
func (c *genCmd) Run(s streams) error { return c.answer(s.out, c.run(s)) }

func (c *genCmd) run(s streams) error {
	all, err := c.projects()
	if err != nil {
		return err
	}
	for _, p := range all {
		if err := c.write(s, p); err != nil {
			return err
		}
	}
	return nil
}

// write writes the outputs of one project.
func (c *genCmd) write(s streams, p *project) error {
	protocol, err := gen.Load(p.schemaPath())
	if err != nil {
		return err
	}
	files, err := p.render(protocol)
	if err != nil {
		return err
	}
	root := p.root
	if c.Out != "" {
		root = c.Out
	}
	written := 0
	enc := json.NewEncoder(s.out)
	for _, f := range files {
		fresh, err := replaceFile(filepath.Join(root, filepath.FromSlash(f.Path)), f.Data)
		if err != nil {
			return err
		}
		if fresh {
			written++
		}
		if c.JSON {
			if err := enc.Encode(object{"file": p.shown(f.Path), "written": fresh}); err != nil {
				return err
			}
		} else if fresh && !c.SARIF {
			fmt.Fprintf(s.out, "wrote %s\n", p.shown(f.Path))
		}
	}
	if c.machine() {
		return nil
	}
	fmt.Fprintf(s.out, "%s: %d of %d files written, wire hash %s\n", p.shown(p.Schema), written, len(files), protocol.WireHash)
	return nil
}

// projects are those to write: the named schema, the nearest project below --out, or all from here on.
func (c *genCmd) projects() ([]*project, error) {
	switch {
	case c.File == "" && c.Out == "":
		return projects()
	case c.File == "":
		p, err := findProject()
		return []*project{p}, err
	case c.Out == "":
		return nil, errNeedsOut
	}
	file, err := filepath.Abs(c.File)
	if err != nil {
		return nil, err
	}
	p := &project{root: filepath.Dir(file), Schema: filepath.Base(file)}
	for _, name := range backendNames {
		p.Output = append(p.Output, output{Backend: name, Dir: name})
	}
	return []*project{p}, nil
}

// replaceFile writes a file in one step, so that no reader sees half of it. false = it has this content already.
func replaceFile(name string, data []byte) (bool, error) {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return false, nil
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, err
	}
	tmp, err := os.CreateTemp(dir, ".mrgen-*")
	if err != nil {
		return false, err
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return false, errors.Join(err, os.Remove(tmp.Name()))
	}
	return true, nil
}
