// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/docgen"
)

var errNoMarks = errors.New("no page has a part that is printed from the schema")

type docsCmd struct {
	Schema string   `help:"Schema, instead of the project's." placeholder:"FILE"`
	Check  bool     `xor:"do" help:"Name the marked parts of pages that are not what the schema says; exit status 1 when there are any."`
	Write  bool     `xor:"do" help:"Renew the marked parts of pages."`
	Out    string   `xor:"do" help:"Write the reference and its pictures below a directory." placeholder:"DIR"`
	JSON   bool     `name:"json" help:"With --check or --write: print one JSON object a line for each marked part."`
	Pages  []string `arg:"" optional:"" name:"page" help:"Markdown pages with <!-- mrgen:diagram NAME --> before a text block, or <!-- mrgen:enum NAME --> or <!-- mrgen:tlv NAME --> up to <!-- mrgen:end -->."`
}

// Run prints the reference of a schema, or holds pages to it.
func (c *docsCmd) Run(s streams) error {
	p, err := loadSchema(c.Schema)
	if err != nil {
		return err
	}
	if !c.Check && !c.Write {
		if len(c.Pages) > 0 {
			return errors.New("say --check or --write")
		}
		return c.reference(s.out, p)
	}
	marked, stale := 0, 0
	enc := json.NewEncoder(s.out)
	for _, name := range c.Pages {
		parts, err := c.page(name, p)
		if err != nil {
			return err
		}
		marked += len(parts)
		for _, x := range parts {
			if c.JSON {
				if err := enc.Encode(object{"page": name, "line": x.Line, "kind": x.Kind, "name": x.Name, "stale": x.Stale}); err != nil {
					return err
				}
			}
			if !x.Stale {
				continue
			}
			stale++
			if c.JSON {
				continue
			}
			verb := "is stale"
			if c.Write {
				verb = "is new"
			}
			fmt.Fprintf(s.out, "%s:%d: %s %s %s\n", name, x.Line, x.Kind, x.Name, verb)
		}
	}
	if marked == 0 {
		return errNoMarks
	}
	if c.Check && stale > 0 {
		return errFault
	}
	return nil
}

// reference prints the reference, or writes it with its pictures below a directory.
func (c *docsCmd) reference(w io.Writer, p *gen.Protocol) error {
	files, err := docgen.Generate(p)
	if err != nil {
		return err
	}
	if c.Out == "" {
		_, err = w.Write(files[0].Data)
		return err
	}
	for _, f := range files {
		if _, err := replaceFile(filepath.Join(c.Out, filepath.FromSlash(f.Path)), f.Data); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(w, "%d files below %s\n", len(files), c.Out)
	return err
}

// page renews one page, or only finds what is stale in it.
func (c *docsCmd) page(name string, p *gen.Protocol) ([]docgen.Part, error) {
	have, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	want, parts, err := docgen.Renew(have, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c.Write {
		_, err = replaceFile(name, want)
	}
	return parts, err
}
