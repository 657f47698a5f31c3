// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"regexp"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// setting is one known key of an option block.
type setting struct {
	text  *string        // where a text goes
	form  *regexp.Regexp // what the text must look like
	word  string         // the only word that is accepted, instead of a text
	check func(*syntax.Expr)
}

var (
	anyText    = regexp.MustCompile(`^[^\r\n]{1,100}$`)
	identifier = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
)

// option reads an option block.
func (c *compiler) option(o *syntax.Option) {
	t := &c.p.Targets
	targets := map[string]map[string]setting{
		"schema": {"license": {text: &c.p.License, form: anyText}},
		"go":     {"layer": {word: "gopacket"}, "package": {text: &t.GoPackage, form: identifier}},
		"c":      {"prefix": {text: &t.CPrefix, form: identifier}, "std": {word: "c11"}},
		"lua": {
			"proto": {text: &t.LuaProto, form: identifier}, "name": {text: &t.LuaName, form: anyText},
			"bind": {check: c.bind},
		},
	}
	keys := targets[o.Target.Text]
	if keys == nil {
		c.report("E0012", o.Target.Pos, "`%s` is no target", o.Target.Text).Help("the targets are schema, go, c and lua")
		return
	}
	seen := map[string]bool{}
	for _, s := range o.Settings {
		k, ok := keys[s.Key.Text]
		switch {
		case !ok:
			c.report("E0012", s.Key.Pos, "`%s` has no setting `%s`", o.Target.Text, s.Key.Text)
		case seen[s.Key.Text]:
			c.report("E0102", s.Key.Pos, "`%s` is set twice", s.Key.Text)
		default:
			c.setting(k, s)
		}
		seen[s.Key.Text] = true
	}
}

func (c *compiler) setting(k setting, s *syntax.Setting) {
	v := s.Value
	switch {
	case k.check != nil:
		k.check(v)
	case k.word != "":
		if v.Kind != syntax.ExprPath || len(v.Names) != 1 || v.Names[0].Text != k.word {
			c.reportExpr("E0012", v, "`%s` can only be `%s`", s.Key.Text, k.word)
		}
	case v.Kind != syntax.ExprText:
		c.reportExpr("E0012", v, "`%s` must be a text in quotes", s.Key.Text)
	case !k.form.MatchString(v.Text):
		c.reportExpr("E0012", v, "%q is not fit for `%s`", v.Text, s.Key.Text)
	default:
		*k.text = v.Text
	}
}

// bind reads udp.port(4797) or udp.port(319, 320).
func (c *compiler) bind(e *syntax.Expr) {
	if e.Kind != syntax.ExprCall || e.Text != "udp.port" || len(e.Args) == 0 {
		c.reportExpr("E0012", e, "`bind` can only be udp.port(number)")
		return
	}
	for i, a := range e.Args {
		v, ok := c.constUint(a, 65535)
		switch {
		case !ok:
		case i == 0:
			c.p.Targets.UDPPort = int(v)
		default:
			c.p.Targets.MorePorts = append(c.p.Targets.MorePorts, int(v))
		}
	}
}
