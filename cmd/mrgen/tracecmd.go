// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var errNoModule = errors.New("no go.mod here or in a directory above")

type traceCmd struct {
	Results []string `help:"Output of 'go test -json'; - is standard input. Without it, nobody knows whether the tests ran." placeholder:"FILE"`
	Spec    string   `help:"Directory of the pages that define requirements, relative to the root." default:"docs/spec"`
	Root    string   `help:"Directory of the code; default: that of the nearest go.mod." placeholder:"DIR" type:"existingdir"`
	JSON    bool     `name:"json" help:"Print one JSON object."`
	Quiet   bool     `short:"q" help:"Print the findings only, without the table."`
}

// Run ties requirements to the code that obeys them and to the tests that prove it.
func (c *traceCmd) Run(s streams) error {
	root, module, err := c.module()
	if err != nil {
		return err
	}
	t := &trace{spec: map[string]*requirement{}}
	if err := t.readSpec(root, c.Spec); err != nil {
		return err
	}
	if err := t.readCode(root, module); err != nil {
		return err
	}
	for _, name := range c.Results {
		if err := t.readResults(name, s.in); err != nil {
			return err
		}
	}
	t.judge()
	if c.JSON {
		err = t.printJSON(s.out)
	} else {
		if !c.Quiet {
			t.printTable(s.out)
		}
		t.printFindings(s.out)
	}
	if err == nil && len(t.findings) > 0 {
		return errFault
	}
	return err
}

// module finds the directory and the path of the module.
func (c *traceCmd) module() (root, module string, err error) {
	dir := c.Root
	if dir == "" {
		if dir, err = os.Getwd(); err != nil {
			return "", "", err
		}
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			line, _, _ := strings.Cut(string(text), "\n")
			return dir, strings.TrimSpace(strings.TrimPrefix(line, "module ")), nil
		}
		up := filepath.Dir(dir)
		if !errors.Is(err, os.ErrNotExist) || c.Root != "" || up == dir {
			return "", "", fmt.Errorf("%w: %w", errNoModule, err)
		}
		dir = up
	}
}
