// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

type fmtCmd struct {
	Write bool     `short:"w" help:"Write the result into the files."`
	Diff  bool     `short:"d" help:"Print what would change."`
	Check bool     `help:"Print the names of the files that would change; exit status 1 when there are any."`
	JSON  bool     `name:"json" help:"Print one JSON object a line for each file: whether it is, or was, in its canonical form."`
	Files []string `arg:"" optional:"" name:"file" help:"Schemas to lay out; - is standard input. Without any, the project's."`
}

// Run prints schemas in their canonical form, or does with them what the flags say.
func (c *fmtCmd) Run(s streams) error {
	files, err := schemaFiles(c.Files)
	if err != nil {
		return err
	}
	var faults []syntax.Diagnostic
	changed := false
	for _, name := range files {
		src, err := readSchema(name, s.in)
		if err != nil {
			return err
		}
		text, diags := syntax.Format(name, src)
		if len(diags) > 0 {
			faults = append(faults, diags...)
			continue
		}
		changed = changed || !bytes.Equal(src, text)
		if err := c.deliver(s.out, name, src, text); err != nil {
			return err
		}
	}
	printText(s.err, faults)
	if len(faults) > 0 || c.Check && changed {
		return errFault
	}
	return nil
}

// deliver writes one formatted text to where it belongs.
func (c *fmtCmd) deliver(w io.Writer, name string, src, text []byte) error {
	same := bytes.Equal(src, text)
	if !c.Write && !c.Diff && !c.Check && !c.JSON {
		_, err := w.Write(text)
		return err
	}
	if c.JSON {
		if err := json.NewEncoder(w).Encode(object{"file": name, "formatted": same}); err != nil {
			return err
		}
	}
	if same {
		return nil
	}
	if c.Check && !c.JSON {
		fmt.Fprintln(w, name)
	}
	if c.Diff && !c.JSON {
		if _, err := w.Write(diff.Diff(name+".orig", src, name, text)); err != nil {
			return err
		}
	}
	if !c.Write {
		return nil
	}
	if name == "-" {
		return fmt.Errorf("standard input cannot be written to")
	}
	_, err := replaceFile(name, text)
	return err
}

func readSchema(name string, in io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(in, syntax.MaxSource+1))
	}
	return syntax.ReadFile(name)
}
