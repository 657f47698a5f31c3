// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"slices"
	"strings"
	"unicode"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

func isUpper(name string) bool { return name != "" && unicode.IsUpper(rune(name[0])) }

var hardWords = []string{"if", "else", "where", "let", "in", "true", "false", "self"}

// fieldCase checks the spelling of a field, a parameter or a TLV case.
func (c *compiler) fieldCase(id *syntax.Ident) {
	switch {
	case slices.Contains(hardWords, id.Text):
		c.report("E0103", id.Pos, "`%s` is a word of the language", id.Text).Help("call it `%s_`, or better something else", id.Text).
			Fix("call it `"+id.Text+"_`", id.Replace(id.Text+"_"))
	case id.Text != strings.ToLower(id.Text):
		c.report("E0104", id.Pos, "`%s` must be written in lower case", id.Text).Help("write `%s`", snake(id.Text)).Fix("write `"+snake(id.Text)+"`", id.Replace(snake(id.Text)))
	}
}

// typeCase checks the spelling of a type, a constant, an error or a member.
func (c *compiler) typeCase(id *syntax.Ident) {
	switch {
	case slices.Contains(hardWords, id.Text):
		c.report("E0103", id.Pos, "`%s` is a word of the language", id.Text).Help("call it `%s`", camel(id.Text)).Fix("call it `"+camel(id.Text)+"`", id.Replace(camel(id.Text)))
	case !isUpper(id.Text):
		c.report("E0104", id.Pos, "`%s` must begin with a capital", id.Text).Help("write `%s`", camel(id.Text)).Fix("write `"+camel(id.Text)+"`", id.Replace(camel(id.Text)))
	}
}

// declared lists the declared names for a suggestion.
func (c *compiler) declared(r *syntax.Report) (names []string) {
	if !r.Kept() {
		return nil
	}
	for n := range c.names {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
