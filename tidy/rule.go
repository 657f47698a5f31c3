// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"cmp"
	"fmt"
	"slices"
)

// Rule finds one kind of fault in a tree.
type Rule struct {
	Name    string // as in exceptions.txt
	Instead string // what to do about a finding
	Find    func(*Tree) ([]Finding, error)
}

// Finding is one place that breaks a rule.
type Finding struct {
	File   string // slash-separated, relative to the root
	Line   int    // from 1
	Symbol string // what an exception names: a function, a type, an import path; never a line number
	What   string
}

// String is file:line: what.
func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.What) }

// Rules returns every rule, in the order in which they are reported.
func Rules() []Rule {
	return []Rule{
		{"file-length", "split the file by noun; a file is read in one sitting", findLongFiles},
		{"function-length", "name the parts of the function; it must fit on one screen", findLongFunctions},
		{"parameters", "pass a struct, or move the function to the type that owns the values", findManyParameters},
		{"bool-parameter", "make two functions, or a named type whose constants say what is meant", findBoolParameters},
		{"struct-fields", "the struct has two owners: split it", findWideStructs},
		{"spdx", "begin the file with `SPDX-License-Identifier: Apache-2.0` in a comment", findMissingLicense},
		{"package-doc", "say in doc.go what the package promises (`// Package x …`, `// Command x …`)", findMissingDocs},
		{"imports", "hand the value through the package that composes both, or move the code to where its data lives", findImports},
		{"import-table", "add the package to the table in imports.go with the least that it needs", findUnlistedPackages},
		{"purity", "take the instant, the randomness or the bytes as an argument; iterate a slice or sorted keys", findImpurity},
		{"skip", "make the test run, or add its reason to tidy/skip/reasons.txt", findSkips},
		{"path", "name a file that exists", findDeadPaths},
		{"link", "mend the link", findDeadLinks},
		{"make-target", "name a target of the Makefile", findDeadTargets},
		{"requirement", "give the requirement a new number, one level and one mark", findBadRequirements},
		{"requirement-reference", "cite a requirement that docs/spec defines", findDanglingRequirements},
		{"property", "cite the property at a test with //mr:prop; go test ./tidy -run Properties -update writes the tests into the page", findBadProperties},
	}
}

func sortFindings(f []Finding) {
	slices.SortFunc(f, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What))
	})
}
