// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// example resolves an example or a reject block.
func (c *compiler) example(d *syntax.Example) {
	n := c.lookup(d.Struct.Text, d.Struct.Pos)
	if n == nil || n.missing {
		return
	}
	if n.str == nil {
		c.report("E0301", d.Struct.Pos, "`%s` is no header", d.Struct.Text)
		return
	}
	at := c.f.At(d.Pos)
	e := &Example{
		Name: syntax.Unquote(d.Name), Struct: n.str, Consumed: -1, Params: make([]Argument, len(n.str.Params)),
		Pos: fmt.Sprintf("%s:%d:%d", c.f.Name, at.Line, at.Col),
	}
	c.origin[e] = d.Pos
	faults := len(c.f.Diags)
	seen := map[string]bool{}
	for _, l := range d.Lines {
		c.exampleLine(e, l, seen)
	}
	c.missingParam(e, d.Struct.Pos)
	switch {
	case !seen["hex"]:
		c.report("E0702", d.Pos, "`hex` is missing")
	case d.Kind == "reject" && e.Code == nil && len(c.f.Diags) == faults:
		c.report("E0702", d.Pos, "`error` is missing")
	case d.Kind == "example" && e.Code != nil:
		c.report("E0702", d.Pos, "an example names no error").Help("write `reject` instead of `example`").
			Fix("write `reject`", syntax.Edit{Off: d.Pos.Offset, End: d.Pos.Offset + len(d.Kind), Text: "reject"})
	case d.Kind == "reject" && len(e.Fields) > 0:
		c.report("E0702", d.Pos, "a reject names no values")
	}
	if len(c.f.Diags) == faults {
		c.p.Examples = append(c.p.Examples, e)
	}
}

func (c *compiler) exampleLine(e *Example, l *syntax.ExampleLine, seen map[string]bool) {
	once := func(word string) bool {
		if seen[word] {
			c.report("E0702", l.Pos, "`%s` stands twice", word)
			return false
		}
		seen[word] = true
		return true
	}
	switch {
	case l.Hex != nil:
		seen["hex"] = true
		c.hexBytes(e, l)
	case l.Param != nil:
		c.exampleParam(e, l)
	case l.Consumed != "":
		if v, ok := syntax.ParseNumber(l.Consumed); once("consumed") && ok {
			e.Consumed = int(min(v.Uint64(), maxSpan))
		}
	case l.NonCanonical:
		once("noncanonical")
		e.NonCanonical = true
	case l.Error != nil:
		if once("error") {
			e.Code = c.errorNamed(l.Error)
			e.At = c.examplePath(e.Struct, l.At)
		}
	case l.Path != nil:
		if x, ok := c.expect(e.Struct, l); ok {
			e.Fields = append(e.Fields, x)
		}
	}
}

func (c *compiler) hexBytes(e *Example, l *syntax.ExampleLine) {
	b, err := hexText(syntax.Unquote(*l.Hex))
	if err != nil {
		c.report("E0702", l.Pos, "the bytes are not pairs of hex digits")
		return
	}
	e.Bytes = append(e.Bytes, b...)
}

func hexText(text string) ([]byte, error) {
	return hex.DecodeString(strings.Join(strings.Fields(text), ""))
}

// missingParam reports a parameter that decoding needs and no line gives.
func (c *compiler) missingParam(e *Example, at syntax.Pos) {
	for i, p := range e.Struct.Params {
		if !e.Params[i].Given && !p.Cover && p.Default == nil {
			c.report("E0702", at, "the parameter `%s` is missing", p.Name.Schema).Help("add `param %s = value;`", p.Name.Schema)
		}
	}
}

// exampleParam reads `param strict = 1;` or `param pseudo = Pseudo4("hex:…");`.
func (c *compiler) exampleParam(e *Example, l *syntax.ExampleLine) {
	i := slices.IndexFunc(e.Struct.Params, func(p *Param) bool { return p.Name.Schema == l.Param.Text })
	switch {
	case i < 0:
		c.report("E0703", l.Param.Pos, "`%s` has no parameter `%s`", e.Struct.Name.Schema, l.Param.Text)
		return
	case e.Params[i].Given:
		c.report("E0702", l.Param.Pos, "`%s` is given twice", l.Param.Text)
		return
	}
	p, out := e.Struct.Params[i], &e.Params[i]
	if p.Bits > 0 {
		v, ok := c.constUint(l.Value, maxOfBits(p.Bits))
		out.Number, out.Given = v, ok
		return
	}
	call := l.Value
	if call.Kind != syntax.ExprCall || len(call.Args) != 1 || call.Args[0].Kind != syntax.ExprText {
		c.reportExpr("E0702", call, "a header is written Name(\"hex:…\")")
		return
	}
	scope, names := importedName(call.Names)
	n := c.scoped(scope, names[0].Text, names[0].Pos)
	if n == nil {
		return
	}
	b, err := hexText(strings.TrimPrefix(call.Args[0].Text, "hex:"))
	switch {
	case n.str == nil || n.str != p.Struct && !slices.Contains(p.Any, n.str):
		c.reportExpr("E0301", call, "`%s` does not fit the parameter `%s`", n.name, p.Name.Schema)
	case err != nil:
		c.reportExpr("E0702", call.Args[0], "the bytes are not pairs of hex digits")
	default:
		*out = Argument{Given: true, Struct: n.str, Bytes: b}
	}
}

// examplePath checks a path of an item and returns it as vectors write it.
func (c *compiler) examplePath(s *Struct, p *syntax.ItemPath) string {
	if p == nil {
		return ""
	}
	text, _ := c.walkPath(s, p)
	return text
}

// walkPath follows a path through structs, arms and lists.
func (c *compiler) walkPath(s *Struct, p *syntax.ItemPath) (string, *Item) {
	var parts []string
	var list *List
	var last *Item
	var head []*Item // items of a list's head that the element keeps
	for _, step := range p.Steps {
		last = nil
		var next *Struct
		found := false
		kept := slices.IndexFunc(head, func(it *Item) bool { return it.Name.Schema == step.Name })
		switch {
		case kept >= 0:
			last, next, found = head[kept], head[kept].Struct, true
		case list == nil && s != nil:
			last, next, found = s.step(step.Name)
		}
		head = nil
		if list != nil {
			if k := list.caseNamed(step.Name); k != nil {
				next, head, found = k.Struct, k.Head, true
			}
		}
		if !found && (c.partial[s] || c.partial[list]) {
			return "", nil
		}
		if !found {
			c.f.Report("E0703", c.f.Range(p.Pos, p.EndPos), "there is no `%s` on this path", step.Name)
			return "", nil
		}
		list = nil
		if last != nil {
			list = last.List
		}
		s = next
		part := step.Name
		for _, i := range step.Index {
			part += "[" + i + "]"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "."), last
}

// step finds an item or an arm by its part of a path.
func (s *Struct) step(name string) (*Item, *Struct, bool) {
	for _, it := range s.Items {
		if it.Kind == KindSwitch {
			for _, a := range it.Switch.Arms {
				if armName(a) == name {
					return nil, a.Struct, true
				}
			}
		}
		if it.Name.Schema != name {
			continue
		}
		if it.Array != nil {
			return it, it.Array.Struct, true
		}
		return it, it.Struct, true
	}
	return nil, nil, false
}

func (l *List) caseNamed(name string) *Case {
	for _, k := range l.Cases {
		if k.Name.Schema == name {
			return k
		}
	}
	return nil
}

// expect resolves `path = value;`.
func (c *compiler) expect(s *Struct, l *syntax.ExampleLine) (Expect, bool) {
	path, it := c.walkPath(s, l.Path)
	if path == "" {
		return Expect{}, false
	}
	if l.Want.Kind == syntax.ExprText {
		v := l.Want.Text
		text := it != nil && it.Kind == KindSpan && it.Span.Kind == SpanString
		switch {
		case text:
			v = "text:" + strings.TrimPrefix(v, "text:")
		case !strings.HasPrefix(v, "hex:"):
			c.reportExpr("E0702", l.Want, "bytes are written \"hex:…\"")
			return Expect{}, false
		default:
			v = "hex:" + strings.ToLower(strings.Join(strings.Fields(v[4:]), ""))
		}
		return Expect{path, v}, true
	}
	v := new(big.Int)
	if l.Want.Kind == syntax.ExprBool {
		v = truths[l.Want.Text == "true"]
	} else if n, ok := c.constInt(l.Want); ok {
		v = n
	} else {
		return Expect{}, false
	}
	return Expect{path, v.String()}, true
}

// runExamples runs the examples through the interpreter.
func (c *compiler) runExamples() {
	for _, e := range c.p.Examples {
		if err := c.p.CheckExample(e); err != nil {
			lines := strings.Split(err.Error(), "\n")
			r := c.report("E0701", c.origin[e], "%s", lines[0])
			if len(lines) > 1 {
				r.Help("the bytes:\n%s", strings.TrimRight(strings.Join(lines[1:], "\n"), "\n "))
			}
		}
	}
}
