// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"go/ast"
	"path"
	"regexp"
	"strings"

	"github.com/openmetaroce/metaroce/tidy/skip"
)

// license is an identifier that allows use under Apache-2.0, alone or as a choice.
var license = regexp.MustCompile(`SPDX-License-Identifier: ([A-Za-z0-9.-]+ OR )?Apache-2\.0\s*(\*/)?$`)

func findMissingLicense(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.Files {
		if f.Generated || path.Ext(f.Path) == ".md" {
			continue
		}
		head := lines(f.Text)
		if strings.HasPrefix(head[0], "#!") {
			head = head[1:]
		}
		if len(head) == 0 || !license.MatchString(head[0]) {
			found = append(found, Finding{f.Path, 1, path.Base(f.Path), "the licence line is missing"})
		}
	}
	return found, nil
}

func findMissingDocs(t *Tree) ([]Finding, error) {
	first := map[string]*File{}
	documented := map[string]bool{}
	for _, f := range t.Files {
		if f.Syntax == nil {
			continue
		}
		dir := dirOf(f.Path)
		if first[dir] == nil {
			first[dir] = f
		}
		doc := f.Syntax.Doc.Text()
		if !isTest(f.Path) && (strings.HasPrefix(doc, "Package "+f.Syntax.Name.Name+" ") || strings.HasPrefix(doc, "Command "+path.Base(dir)+" ")) {
			documented[dir] = true
		}
	}
	var found []Finding
	for dir, f := range first {
		if !documented[dir] {
			found = append(found, Finding{f.Path, 1, dir, "package " + f.Syntax.Name.Name + " has no package comment outside its tests"})
		}
	}
	return found, nil
}

var skipCall = regexp.MustCompile(`^Skip(f|Now)?$`)

// findSkips reports tests that skip themselves without a reason of the list, or where the reason cannot be read.
func findSkips(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.hand() {
		if !isTest(f.Path) {
			continue
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !skipCall.MatchString(sel.Sel.Name) {
				return true
			}
			reason := ""
			if len(call.Args) > 0 {
				if lit, ok := call.Args[0].(*ast.BasicLit); ok {
					reason = strings.Trim(lit.Value, "\"`")
				}
			}
			if !skip.Allowed(reason) {
				found = append(found, Finding{f.Path, t.line(call), reason, "skips for a reason that is not listed: " + strings.TrimSpace("“"+reason+"”")})
			}
			return true
		})
	}
	return found, nil
}

// listed returns the lines of a list file without comments and empty lines.
func listed(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}
