// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/lint"
	"github.com/openmetaroce/metaroce/gen/syntax"
)

type explainCmd struct {
	JSON  bool     `name:"json" help:"Print one JSON object a line."`
	Codes []string `arg:"" optional:"" name:"code" help:"E0207, W1004 or its word, E_SHORT. Without any, all codes are listed."`
}

// Run prints what codes mean, with a schema that has the fault. A code that does not exist is an error of the command.
func (c *explainCmd) Run(s streams) error {
	if len(c.Codes) == 0 {
		return c.list(s.out)
	}
	for i, code := range c.Codes {
		x, ok := explain(code)
		if !ok {
			return unknownCode(code)
		}
		if i > 0 && !c.JSON {
			fmt.Fprintln(s.out)
		}
		if err := c.print(s.out, x); err != nil {
			return err
		}
	}
	return nil
}

func explain(code string) (gen.Explanation, bool) {
	for _, name := range []string{code, strings.ToUpper(code), strings.ToLower(code)} {
		if x, ok := gen.Explain(name); ok {
			return x, true
		}
		if x, ok := lint.Explain(name); ok {
			return x, true
		}
	}
	return gen.Explanation{}, false
}

// known lists every code and word, in the order in which they are explained.
func known() []string {
	out := gen.Explained()
	for _, k := range lint.Codes() {
		out = append(out, k.Code, k.Word)
	}
	return out
}

func unknownCode(code string) error {
	if near := nearestNumber(strings.ToUpper(code)); near != "" {
		return fmt.Errorf("there is no code %s; the nearest is %s", code, near)
	}
	if near := syntax.Nearest(strings.ToUpper(code), known()); near != "" {
		return fmt.Errorf("there is no code %s; did you mean %s?", code, near)
	}
	if near := syntax.Nearest(strings.ToLower(code), known()); near != "" {
		return fmt.Errorf("there is no code %s; did you mean %s?", code, near)
	}
	return fmt.Errorf("there is no code %s; `mrgen explain` lists them", code)
}

// nearestNumber finds the code whose number is closest to one like E0208; empty for anything else.
func nearestNumber(code string) string {
	number := func(s string) int {
		n, err := strconv.Atoi(s[1:])
		if err != nil || len(s) != 5 {
			return -1
		}
		return n
	}
	if code == "" || number(code) < 0 {
		return ""
	}
	best, least := "", 10000
	for _, k := range known() {
		if d := number(k) - number(code); k[0] == code[0] && number(k) >= 0 && max(d, -d) < least {
			best, least = k, max(d, -d)
		}
	}
	return best
}

func (c *explainCmd) list(w io.Writer) error {
	for _, code := range known() {
		x, _ := explain(code)
		if x.Name == code {
			continue // the word of the line before
		}
		if c.JSON {
			x.Bad, x.Says, x.Fixed = "", "", ""
			if err := c.print(w, x); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%-14s %s\n", code, strings.TrimSpace(x.Name+"  "+x.Text))
	}
	return nil
}

func (c *explainCmd) print(w io.Writer, x gen.Explanation) error {
	if c.JSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(x)
	}
	title := x.Code
	if x.Name != "" {
		title += " (" + x.Name + ")"
	}
	fmt.Fprintf(w, "%s: %s\n", title, x.Text)
	if x.Help != "" {
		fmt.Fprintf(w, "\nWhat to do: %s\n", x.Help)
	}
	if x.Bad != "" {
		fmt.Fprintf(w, "\nA schema with this fault:\n\n%s\nWhat mrgen says about it:\n\n%s", indent(x.Bad), indent(x.Says))
	}
	if x.Fixed != "" {
		fmt.Fprintf(w, "\nA schema without it:\n\n%s", indent(x.Fixed))
	}
	return nil
}

// indent sets lines in, and shortens what no screen shows.
func indent(text string) string {
	const most = 160
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if r := []rune(line); len(r) > most {
			line = string(r[:most]) + "…"
		}
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return b.String()
}
