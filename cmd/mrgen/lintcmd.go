// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen/lint"
	"github.com/openmetaroce/metaroce/gen/syntax"
)

type lintCmd struct {
	reportFlags
	Fix   bool     `help:"Apply the fixes of warnings and faults."`
	Allow []string `help:"Warnings to leave out, by number or word." placeholder:"CODE"`
	Files []string `arg:"" optional:"" name:"file" help:"Schemas to look at. Without any, the project's."`
}

// Run reports what a schema may do but should not, and the faults of schemas that do not compile.
func (c *lintCmd) Run(s streams) error {
	for _, name := range c.Allow {
		if lint.Find(name) == nil {
			return unknownCode(name)
		}
	}
	files, err := schemaFiles(c.Files)
	if err != nil {
		return err
	}
	var all []syntax.Diagnostic
	for _, name := range files {
		if c.Fix {
			if err := fixFile(s.err, name, c.findings); err != nil {
				return err
			}
		}
		found, err := c.findings(name)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if err := c.print(s.out, all); err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	if !c.machine() {
		fmt.Fprintf(s.out, "%d %s\n", len(all), plural(len(all), "finding"))
	}
	return errFault
}

// findings are those of a schema that are not allowed.
func (c *lintCmd) findings(name string) ([]syntax.Diagnostic, error) {
	found, err := findingsOf(name)
	return slices.DeleteFunc(found, c.allowed), err
}

func (c *lintCmd) allowed(d syntax.Diagnostic) bool {
	k := lint.Find(d.Code)
	return k != nil && (slices.Contains(c.Allow, k.Code) || slices.Contains(c.Allow, k.Word))
}

// schemaFiles returns the named files, or the project's schema when none is named.
func schemaFiles(names []string) ([]string, error) {
	if len(names) > 0 {
		return names, nil
	}
	p, err := findProject()
	if err != nil {
		return nil, err
	}
	return []string{p.schemaPath()}, nil
}

// plural is a noun for n things.
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
