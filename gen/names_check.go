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
		c.report("E0103", id.Pos, "`%s` is a word of the language", id.Text).Help("call it `%s_`, or better something else", id.Text)
	case id.Text != strings.ToLower(id.Text):
		c.report("E0104", id.Pos, "`%s` must be written in lower case", id.Text).Help("write `%s`", snake(id.Text))
	}
}

// typeCase checks the spelling of a type, a constant, an error or a member.
func (c *compiler) typeCase(id *syntax.Ident) {
	switch {
	case slices.Contains(hardWords, id.Text):
		c.report("E0103", id.Pos, "`%s` is a word of the language", id.Text).Help("call it `%s`", camel(id.Text))
	case !isUpper(id.Text):
		c.report("E0104", id.Pos, "`%s` must begin with a capital", id.Text).Help("write `%s`", camel(id.Text))
	}
}

// didYouMean suggests a declared name.
func (c *compiler) didYouMean(name string) string {
	var names []string
	for n := range c.names {
		names = append(names, n)
	}
	slices.Sort(names)
	return nearest(name, names)
}

// nearest suggests the most similar name, or lists the names when none is similar.
func nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	switch {
	case best != "":
		return "did you mean `" + best + "`?"
	case len(names) == 0 || len(names) > 12:
		return "declare it first"
	}
	return "known here: " + strings.Join(names, ", ")
}

// distance is the edit distance of two names of at most 64 letters.
func distance(a, b string) int {
	const most = 64
	if len(a) > most || len(b) > most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
