// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/docgen"
)

var errNoMarks = errors.New("no page has a part that is printed from the schema")

type docsCmd struct {
	Schema string   `help:"Schema, instead of the project's." placeholder:"FILE"`
	Check  bool     `xor:"do" help:"Name the marked parts of pages that are not what the schema says; exit status 1 when there are any."`
	Write  bool     `xor:"do" help:"Renew the marked parts of pages."`
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
		files, err := docgen.Generate(p)
		if err != nil {
			return err
		}
		_, err = s.out.Write(files[0].Data)
		return err
	}
	marked, stale := 0, 0
	for _, name := range c.Pages {
		parts, err := c.page(name, p)
		if err != nil {
			return err
		}
		marked += len(parts)
		for _, x := range parts {
			if !x.Stale {
				continue
			}
			stale++
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
