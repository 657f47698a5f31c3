// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"regexp"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

var (
	goName    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)
	lowerName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// nameAttrs applies the attributes of a declaration, of which there is only @name.
func (c *compiler) nameAttrs(n *Name, attrs []*syntax.Attr) {
	seen := false
	for _, a := range attrs {
		if a.Name.Text != "name" || len(a.Args) > 0 || seen {
			c.report("E0012", a.Name.Pos, "only `@name` fits a declaration, once")
			return
		}
		seen = true
		c.rename(n, a)
	}
}

// rename applies `@name(go = "X", c = "x", filter = "x")`; nil does nothing.
func (c *compiler) rename(n *Name, a *syntax.Attr) {
	if a == nil {
		return
	}
	if len(a.Named) == 0 {
		c.report("E0012", a.Name.Pos, "`@name` takes go, c and filter").Help("write `@name(go = \"Name\", c = \"name\", filter = \"name\")`")
		return
	}
	type target struct {
		name  *string
		form  *regexp.Regexp
		words string
	}
	targets := map[string]target{
		"go": {&n.Go, goName, goMethods + goWords}, "c": {&n.C, lowerName, cWords}, "filter": {&n.Filter, lowerName, luaWords},
	}
	seen := map[string]bool{}
	for _, arg := range a.Named {
		t, ok := targets[arg.Key.Text]
		text := syntax.Unquote(arg.Value)
		switch {
		case !ok:
			c.report("E0012", arg.Key.Pos, "`@name` takes go, c and filter, not `%s`", arg.Key.Text)
		case seen[arg.Key.Text]:
			c.report("E0102", arg.Key.Pos, "`%s` stands twice", arg.Key.Text)
		case !t.form.MatchString(text) || escape(text, t.words) != text:
			c.report("E0012", arg.Key.Pos, "%q is no name for %s", text, arg.Key.Text)
		default:
			*t.name = text
		}
		seen[arg.Key.Text] = true
	}
}
