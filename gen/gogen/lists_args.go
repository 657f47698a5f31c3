// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// hands tells whether a list hands parameters to the values of its elements, so that all of its methods take them.
func hands(l *gen.List) bool {
	return slices.ContainsFunc(l.Cases, func(c *gen.Case) bool { return len(c.Args) > 0 })
}

// listParams declares the parameters of a list's methods but Decode.
func listParams(l *gen.List) string {
	if !hands(l) {
		return ""
	}
	return params(listScope(l))
}

// listPassed passes the own parameters on between these methods.
func listPassed(l *gen.List) string {
	if !hands(l) {
		return ""
	}
	return paramNames(listScope(l))
}

// handed prints what these methods of an item's list receive.
func (s *scope) handed(it *gen.Item) string {
	if !hands(it.List) {
		return ""
	}
	return s.listArgs(it)
}

// caseArgs prints what the value of an element receives.
func (g *generator) caseArgs(c *gen.Case) string {
	if c.Struct == nil {
		return ""
	}
	return (&scope{g: g, known: map[string]val{}}).args(c.Struct, c.Args)
}
