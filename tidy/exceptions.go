// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed exceptions.txt
var exceptions string

// Exception allows one rule to be broken by one symbol of one file.
type Exception struct {
	Rule, File, Symbol, Reason string
}

// Exceptions reads exceptions.txt.
func Exceptions() ([]Exception, error) { return parseExceptions(exceptions) }

func parseExceptions(text string) ([]Exception, error) {
	var out []Exception
	for _, line := range listed(text) {
		head, reason, ok := strings.Cut(line, ": ")
		words := strings.Fields(head)
		if !ok || len(words) != 3 || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("tidy: exceptions.txt: %q is not `rule file symbol: reason`", line)
		}
		out = append(out, Exception{words[0], words[1], words[2], reason})
	}
	return out, nil
}

// Excuse splits findings of one rule into those that stand and marks in used the exceptions that were needed.
func Excuse(rule string, found []Finding, list []Exception, used map[Exception]bool) []Finding {
	var stand []Finding
	for _, f := range found {
		excused := false
		for _, e := range list {
			if e.Rule == rule && e.File == f.File && e.Symbol == f.Symbol {
				used[e], excused = true, true
			}
		}
		if !excused {
			stand = append(stand, f)
		}
	}
	return stand
}
