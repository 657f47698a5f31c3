// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// propertiesPage lists what must hold of the engine whatever a network or a peer does, and the fuzz targets.
const propertiesPage = "docs/properties.md"

// A test cites what it proves in a line of its comment: //mr:prop P1 P17.
var (
	propertyRow  = regexp.MustCompile(`^\| (P\d+) \| ([^|]+) \| ([^|]*) \|([^|]*)\|$`)
	propertyGap  = regexp.MustCompile(`^\| (P\d+) \| ([^|]+) \| ([^|]+) \|$`)
	propertyLine = regexp.MustCompile(`^//mr:prop((?: P\d+)+)$`)
	propertyWord = regexp.MustCompile(`\bP\d{1,2}\b`)
	targetRow    = regexp.MustCompile("^\\| `(Fuzz\\w+)` \\| (.+) \\|$")
	testName     = regexp.MustCompile(`^(Test|Fuzz)[A-Z]`)
	fuzzName     = regexp.MustCompile(`^Fuzz[A-Z]`)
)

// property is a row of the page.
type property struct {
	line    int
	tests   string // as the page says
	applies bool   // not one of the rows that tell why there is no test
}

// citedTest is a test that cites a property.
type citedTest struct{ dir, name string }

// properties reads the rows of the page; twice are the lines of those whose id stands there already.
func properties(f *File) (rows map[string]property, twice []int) {
	rows = map[string]property{}
	prose(f, func(n int, line string, state fence) {
		id, row := "", property{line: n}
		if m := propertyRow.FindStringSubmatch(line); m != nil {
			id, row.tests, row.applies = m[1], strings.TrimSpace(m[4]), true
		} else if m := propertyGap.FindStringSubmatch(line); m != nil {
			id = m[1]
		}
		switch _, known := rows[id]; {
		case id == "" || state == inside:
		case known:
			twice = append(twice, n)
		default:
			rows[id] = row
		}
	})
	return rows, twice
}

// findBadProperties holds the page and the tests to each other: every property of the page that applies has a test, every
// citation stands at a test and names a property, and the page names the very tests and fuzz targets that there are.
func findBadProperties(t *Tree) ([]Finding, error) {
	page := t.File(propertiesPage)
	if page == nil {
		return []Finding{{propertiesPage, 1, propertiesPage, "the page of properties is missing"}}, nil
	}
	rows, twice := properties(page)
	cited, found := t.citations(rows)
	for _, n := range twice {
		found = append(found, Finding{page.Path, n, "twice", "the property has a row already"})
	}
	for n := range len(rows) {
		if id := "P" + strconv.Itoa(n+1); rows[id].line == 0 {
			found = append(found, Finding{page.Path, 1, id, id + " is missing: the rows count from P1 on"})
		}
	}
	for id, row := range rows {
		switch want := testsCell(cited[id]); {
		case row.applies && want == "":
			found = append(found, Finding{page.Path, row.line, id, "no test cites " + id})
		case !row.applies && want != "":
			found = append(found, Finding{page.Path, row.line, id, id + " has a test: " + want})
		case row.applies && row.tests != want:
			found = append(found, Finding{page.Path, row.line, id, "the tests of " + id + " are " + want})
		}
	}
	return append(found, t.findTargets(page)...), nil
}

// citations collects the tests that cite each property, and the citations that are wrong.
func (t *Tree) citations(rows map[string]property) (cited map[string][]citedTest, found []Finding) {
	cited = map[string][]citedTest{}
	for _, f := range t.hand() {
		if dirOf(f.Path) == "tidy" {
			continue
		}
		tests := map[*ast.CommentGroup]string{}
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isTest(f.Path) && fn.Doc != nil && testName.MatchString(fn.Name.Name) {
				tests[fn.Doc] = fn.Name.Name
			}
		}
		for _, group := range f.Syntax.Comments {
			for _, c := range group.List {
				report := func(symbol, what string) {
					found = append(found, Finding{f.Path, t.line(c), symbol, what})
				}
				m := propertyLine.FindStringSubmatch(c.Text)
				switch {
				case m == nil && strings.HasPrefix(c.Text, "//mr:prop"):
					report("mr:prop", "mr:prop is followed by ids and nothing else")
				case m == nil && propertyWord.MatchString(c.Text):
					id := propertyWord.FindString(c.Text)
					report(id, id+" is cited in prose, not with //mr:prop")
				case m != nil && tests[group] == "":
					report("mr:prop", "mr:prop does not stand in the comment of a test")
				case m != nil:
					for _, id := range strings.Fields(m[1]) {
						if rows[id].line == 0 {
							report(id, id+" has no row in "+propertiesPage)
						}
						cited[id] = append(cited[id], citedTest{dirOf(f.Path), tests[group]})
					}
				}
			}
		}
	}
	return cited, found
}

// testsCell is how the page lists tests: by package, and those of a package by name.
func testsCell(tests []citedTest) string {
	byDir := map[string][]string{}
	for _, c := range tests {
		byDir[c.dir] = append(byDir[c.dir], "`"+c.name+"`")
	}
	var parts []string
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		slices.Sort(byDir[dir])
		parts = append(parts, dir+": "+strings.Join(slices.Compact(byDir[dir]), ", "))
	}
	return strings.Join(parts, "; ")
}

// findTargets reports fuzz targets that the page does not list, or lists and are not there.
func (t *Tree) findTargets(page *File) (found []Finding) {
	want := t.targetCells()
	prose(page, func(n int, line string, state fence) {
		m := targetRow.FindStringSubmatch(line)
		if m == nil || state == inside {
			return
		}
		if cell := want[m[1]]; cell != m[2] {
			found = append(found, Finding{page.Path, n, m[1], fmt.Sprintf("the row of %s says %q, the code %q", m[1], m[2], cell)})
		}
		delete(want, m[1])
	})
	for name, cell := range t.targetCells() {
		if strings.HasSuffix(cell, "| ") {
			found = append(found, Finding{page.Path, 1, name, "the comment of " + name + " does not say what it claims"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		found = append(found, Finding{page.Path, 1, name, "the fuzz target " + name + " is not listed"})
	}
	return found
}

// targetCells are the fuzz targets of the tree by name, each with its package and what it claims.
func (t *Tree) targetCells() map[string]string {
	cells := map[string]string{}
	for _, f := range t.hand() {
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isTest(f.Path) && fn.Recv == nil && fuzzName.MatchString(fn.Name.Name) {
				cells[fn.Name.Name] = path.Dir(f.Path) + " | " + firstSentence(fn)
			}
		}
	}
	return cells
}

// firstSentence is the first sentence of a function's comment, without its name.
func firstSentence(fn *ast.FuncDecl) string {
	text := strings.Join(strings.Fields(fn.Doc.Text()), " ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, fn.Name.Name), ":")
	text, _, _ = strings.Cut(text, ". ")
	return strings.TrimSuffix(strings.TrimSpace(text), ".")
}

// currentProperties is the page with the tests and the fuzz targets that there are.
func currentProperties(t *Tree, page *File) string {
	rows, _ := properties(page)
	cited, _ := t.citations(rows)
	targets := t.targetCells()
	var out []string
	written := false
	for _, line := range lines(page.Text) {
		if m := propertyRow.FindStringSubmatch(line); m != nil {
			line = fmt.Sprintf("| %s | %s | %s | %s |", m[1], m[2], m[3], testsCell(cited[m[1]]))
		}
		if !targetRow.MatchString(line) {
			out = append(out, line)
		} else if !written {
			written = true
			for _, name := range slices.Sorted(maps.Keys(targets)) {
				out = append(out, fmt.Sprintf("| `%s` | %s |", name, targets[name]))
			}
		}
	}
	return strings.Join(out, "\n") + "\n"
}
