// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A requirement stands at the beginning of a line: **MR-ACK-007** MUST [public] text. Its level may also be a negative one.
var (
	requirement = regexp.MustCompile(`^\*\*(MR-[A-Z]+-\d{3})\*\*(.*)$`)
	wellFormed  = regexp.MustCompile(`^ (MUST|MUST NOT|SHOULD|SHOULD NOT|MAY) \[(public|our choice)\] \S`)
	citation    = regexp.MustCompile(`\bMR-[A-Z]+-\d{3}\b`)
	looseForm   = regexp.MustCompile(`MR-[A-Z]+-\d+`)
	levels      = regexp.MustCompile(`\b(MUST|SHOULD|MAY)\b`)
)

// specs returns the documents that define requirements.
func (t *Tree) specs() []*File {
	var files []*File
	for _, f := range t.markdown() {
		if dirOf(f.Path) == "docs/spec" {
			files = append(files, f)
		}
	}
	return files
}

// Requirements returns the ids that docs/spec defines, with file:line of each.
func Requirements(t *Tree) map[string]string {
	ids := map[string]string{}
	for _, f := range t.specs() {
		prose(f, func(n int, line string, state fence) {
			if m := requirement.FindStringSubmatch(line); m != nil && state == outside {
				ids[m[1]] = fmt.Sprintf("%s:%d", f.Path, n)
			}
		})
	}
	return ids
}

// findBadRequirements reports requirements without level or mark, doubled ids, and levels in words outside any requirement.
func findBadRequirements(t *Tree) ([]Finding, error) {
	var found []Finding
	first := map[string]string{}
	for _, f := range t.specs() {
		current := ""
		prose(f, func(n int, line string, state fence) {
			if state == inside {
				return
			}
			report := func(symbol, what string) { found = append(found, Finding{f.Path, n, symbol, what}) }
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
				current = ""
			}
			m := requirement.FindStringSubmatch(line)
			if m == nil {
				if current == "" && levels.MatchString(codeSpan.ReplaceAllString(line, "")) {
					report("level", "a level stands outside a numbered requirement")
				}
				return
			}
			current = m[1]
			if !wellFormed.MatchString(m[2]) {
				report(m[1], m[1]+" is not followed by a level, [public] or [our choice], and a sentence")
			}
			if at := first[m[1]]; at != "" {
				report(m[1], m[1]+" is already defined at "+at)
				return
			}
			first[m[1]] = fmt.Sprintf("%s:%d", f.Path, n)
		})
	}
	return found, nil
}

// findDanglingRequirements reports ids that are cited anywhere but defined nowhere.
func findDanglingRequirements(t *Tree) ([]Finding, error) {
	defined := Requirements(t)
	var found []Finding
	for _, f := range t.Files {
		if dirOf(f.Path) == "tidy" || path.Base(f.Path) == "STYLE.md" {
			continue
		}
		for i, line := range lines(f.Text) {
			for _, id := range looseForm.FindAllString(line, -1) {
				if !citation.MatchString(id) || defined[id] == "" {
					found = append(found, Finding{f.Path, i + 1, id, id + " is defined nowhere"})
				}
			}
		}
	}
	return found, nil
}
