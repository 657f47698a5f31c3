// SPDX-License-Identifier: Apache-2.0

package gen

import "strings"

// builtin returns a built-in code of this protocol.
func (c *compiler) builtin(number int) *Code { return c.p.Codes[number-1] }

// nameSpace collects what one target declares in one scope.
type nameSpace struct {
	c      *compiler
	target string
	seen   map[string]any // identifier → what declares it
}

func (c *compiler) nameSpace(target string) *nameSpace {
	return &nameSpace{c: c, target: target, seen: map[string]any{}}
}

// add reports an identifier that two declarations need.
func (n *nameSpace) add(identifier string, owner any) {
	other, taken := n.seen[identifier]
	if !taken || other == owner {
		n.seen[identifier] = owner
		return
	}
	at := n.c.origin[owner]
	if at.Line == 0 {
		at = n.c.origin[other]
	}
	r := n.c.report("E0105", at, "two names become `%s` in %s", identifier, n.target)
	if p := n.c.origin[other]; p.Line > 0 && p != at {
		r.Label(n.c.f.At(p), "the other one")
	}
}

// checkNames reports names that become equal in a target.
func (c *compiler) checkNames() {
	goNames, cTypes, cMacros := c.nameSpace("Go"), c.nameSpace("C"), c.nameSpace("C")
	for _, k := range c.p.Codes {
		suffix := camel(strings.ToLower(strings.TrimPrefix(k.Name, "E_")))
		goNames.add("Code"+suffix, k)
		goNames.add("Err"+suffix, k)
		cMacros.add(strings.ToUpper(k.Name), k)
		if n := c.names[k.Name]; n != nil {
			c.origin[k] = n.pos
		}
	}
	for _, k := range c.p.Consts {
		goNames.add(k.Name.Go, k)
		cMacros.add(strings.ToUpper(k.Name.C), k)
	}
	for _, e := range c.p.Enums {
		goNames.add(e.Name.Go, e)
		cTypes.add(e.Name.C, e)
		for _, m := range e.Members {
			goNames.add(e.Name.Go+m.Name.Go, m)
			cMacros.add(strings.ToUpper(e.Name.C+"_"+m.Name.C), m)
		}
	}
	for _, l := range c.p.Lists {
		goNames.add(l.Name.Go, l)
		cTypes.add(l.Name.C, l)
		c.caseNames(l)
	}
	for _, s := range c.p.Structs {
		goNames.add(s.Name.Go, s)
		if s.FixedSize {
			goNames.add(s.Name.Go+"View", s)
		}
		cTypes.add(s.Name.C, s)
		for _, it := range s.Items {
			if it.Kind == KindSwitch {
				goNames.add(s.Name.Go+it.Name.Go, it)
			}
		}
		c.itemNames(s)
	}
}

func (c *compiler) itemNames(s *Struct) {
	goNames, cNames, paths := c.nameSpace("Go"), c.nameSpace("C"), c.nameSpace("display filters")
	for _, it := range s.Items {
		if it.Name.Schema == "_" {
			continue
		}
		goNames.add(it.Name.Go, it)
		cNames.add(it.Name.C, it)
		paths.add(it.Name.Filter, it)
		if it.When != nil {
			goNames.add(it.Name.Go+"Present", it)
		}
		if it.Kind != KindSwitch {
			continue
		}
		for _, a := range it.Switch.Arms {
			if a.Struct != nil {
				goNames.add(a.Name.Go, a)
				cNames.add(a.Name.C, a)
				paths.add(a.Name.Filter, a)
			}
		}
	}
}

func (c *compiler) caseNames(l *List) {
	goNames, cNames := c.nameSpace("Go"), c.nameSpace("C")
	goNames.add("Padding", l)
	cNames.add("padding", l)
	for _, k := range l.Cases {
		goNames.add(k.Name.Go, k)
		cNames.add(k.Name.C, k)
		if k.Unique {
			goNames.add(k.Name.Go+"Present", k)
		}
	}
}
