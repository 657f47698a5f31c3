// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// maxImports bounds how deep schemas import each other.
const maxImports = 16

// loader reads the schemas that others import; each one once.
type loader struct {
	read   func(name string) ([]byte, error) // nil = there are no files
	done   map[string]*compiler
	order  []*compiler // as finished: what a schema imports stands before it
	active []string    // files that are being compiled, the outermost first
}

// imported is an import line.
type imported struct {
	pos syntax.Pos
	sub *compiler // nil = broken and reported
}

var importPath = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*\.mrs$`)

// importLine compiles the schema that an import names.
func (c *compiler) importLine(d *syntax.Import) {
	name := syntax.Unquote(d.Path)
	alias := strings.TrimSuffix(path.Base(name), ".mrs")
	at := d.Pos
	if d.As != nil {
		c.fieldCase(d.As)
		alias, at = d.As.Text, d.As.Pos
	}
	if old, ok := c.imports[alias]; ok {
		c.report("E0102", at, "`%s` is an import already", alias).Label(c.f.At(old.pos), "this one")
		return
	}
	c.imports[alias] = imported{at, c.load(d, name)}
}

func (c *compiler) load(d *syntax.Import, name string) *compiler {
	file := path.Join(path.Dir(c.f.Name), name)
	l := c.loader
	switch sub := l.done[file]; {
	case !importPath.MatchString(name):
		c.report("E0107", d.Pos, "%q is no relative path of a schema", name)
		return nil
	case slices.Contains(l.active, file):
		chain := append(slices.Clone(l.active[slices.Index(l.active, file):]), file)
		c.report("E0108", d.Pos, "the imports form a cycle: %s", strings.Join(chain, " imports "))
		return nil
	case sub != nil && sub.faulty():
		return nil // whoever imported it first has reported its faults
	case sub != nil:
		return sub
	case len(l.active) >= maxImports:
		c.report("E0006", d.Pos, "schemas import each other more than %d deep", maxImports)
		return nil
	case l.read == nil:
		c.report("E0107", d.Pos, "%q cannot be read: this schema is not in a file", name)
		return nil
	}
	src, err := l.read(file)
	if err != nil {
		c.report("E0107", d.Pos, "%q cannot be read", name)
		return nil
	}
	sub := newCompiler(l, file, src)
	sub.compile()
	l.done[file] = sub
	l.order = append(l.order, sub)
	if sub.faulty() {
		c.foreign = append(append(c.foreign, sub.foreign...), sub.f.Sorted()...)
		return nil
	}
	maps.Copy(c.nested, sub.nested)
	return sub
}

// faulty tells whether the schema, or one that it imports, has faults.
func (c *compiler) faulty() bool { return len(c.f.Diags)+len(c.foreign) > 0 }

// scoped finds a declaration of an import; nil when the fault is reported. A scope of nil is this schema.
func (c *compiler) scoped(scope *syntax.Ident, name string, at syntax.Pos) *named {
	if scope == nil {
		return c.lookup(name, at)
	}
	i, ok := c.imports[scope.Text]
	if !ok {
		c.report("E0101", scope.Pos, "there is no import `%s`", scope.Text).Suggest(scope.Text, slices.Sorted(maps.Keys(c.imports)))
		return nil
	}
	if i.sub == nil {
		return nil
	}
	n := i.sub.names[name]
	if n == nil {
		r := c.report("E0101", at, "`%s` has no `%s`", i.sub.f.Name, name)
		r.Suggest(name, i.sub.declared(r))
		return nil
	}
	return n
}

// importedName splits `alias.Name…` into the scope and the rest; the scope is nil for a name of this schema.
func importedName(names []*syntax.Ident) (*syntax.Ident, []*syntax.Ident) {
	if len(names) > 1 && !isUpper(names[0].Text) && isUpper(names[1].Text) {
		return names[0], names[1:]
	}
	return nil, names
}

// adopt puts what the schema uses of its imports in front of its own declarations.
func (c *compiler) adopt() {
	if len(c.imports) == 0 {
		return
	}
	r := &reached{seen: map[any]bool{}}
	for _, s := range c.p.Structs {
		r.structure(s)
	}
	for _, l := range c.p.Lists {
		r.list(l)
	}
	var structs []*Struct
	for _, sub := range c.loader.order {
		structs = append(structs, c.adoptFrom(sub, r)...)
	}
	c.p.Structs = append(structs, c.p.Structs...)
	for _, s := range structs {
		s.Packet = false
	}
	c.adoptCodes(r)
}

func (c *compiler) adoptFrom(sub *compiler, r *reached) (structs []*Struct) {
	var at syntax.Pos
	for _, i := range c.imports {
		if i.sub == sub {
			at = i.pos
		}
	}
	own := func(x any) bool {
		if !r.seen[x] || c.origin[x] != (syntax.Pos{}) {
			return false
		}
		c.origin[x] = at
		return true
	}
	for _, s := range sub.p.Structs {
		if own(s) {
			structs = append(structs, s)
			if s.Import == "" {
				s.Import = sub.p.Package
			}
		}
	}
	pick(&c.p.Lists, sub.p.Lists, own)
	pick(&c.p.Enums, sub.p.Enums, own)
	pick(&c.p.Sums, sub.p.Sums, own)
	return structs
}

// pick puts the elements that the schema uses in front of its own.
func pick[T any](to *[]*T, from []*T, own func(any) bool) {
	var out []*T
	for _, x := range from {
		if own(x) {
			out = append(out, x)
		}
	}
	*to = append(out, *to...)
}

// adoptCodes takes over the error codes of imported rules.
func (c *compiler) adoptCodes(r *reached) {
	for _, k := range r.codes {
		if k.Number < firstOwnCode || slices.Contains(c.p.Codes, k) {
			continue
		}
		for _, other := range c.p.Codes {
			if other.Number == k.Number || other.Name == k.Name {
				at := c.f.Decls[0].Pos
				if n := c.names[other.Name]; n != nil {
					at = n.pos
				}
				c.report("E0311", at, "%s clashes with the imported %s = %d", fmt.Sprintf("%s = %d", other.Name, other.Number), k.Name, k.Number)
			}
		}
		c.p.Codes = append(c.p.Codes, k)
	}
	slices.SortFunc(c.p.Codes, func(a, b *Code) int { return a.Number - b.Number })
}

// reached collects all declarations that a schema's own ones lead to.
type reached struct {
	seen  map[any]bool
	codes []*Code
}

func (r *reached) first(x any) bool {
	if r.seen[x] {
		return false
	}
	r.seen[x] = true
	return true
}

func (r *reached) structure(s *Struct) {
	if s == nil || !r.first(s) {
		return
	}
	for _, p := range s.Params {
		r.param(p)
	}
	for _, it := range s.Items {
		r.item(it)
	}
	r.steps(s.Steps)
	r.checks(s.Lints)
}

func (r *reached) param(p *Param) {
	r.structure(p.Struct)
	for _, s := range p.Any {
		r.structure(s)
	}
}

func (r *reached) item(it *Item) {
	r.structure(it.Struct)
	r.scalar(it.Scalar)
	if it.Array != nil {
		r.structure(it.Array.Struct)
		r.scalar(it.Array.Scalar)
	}
	if it.List != nil {
		r.list(it.List)
	}
	if it.Switch != nil {
		for _, a := range it.Switch.Arms {
			r.structure(a.Struct)
			r.code(a.Reject)
		}
	}
}

func (r *reached) scalar(s *Scalar) {
	if s == nil {
		return
	}
	if s.Enum != nil {
		r.first(s.Enum)
	}
	if s.Sum != nil {
		r.first(s.Sum.Sum)
	}
}

func (r *reached) list(l *List) {
	if !r.first(l) {
		return
	}
	r.structure(l.Head)
	r.code(l.Unknown)
	for _, p := range l.Params {
		r.param(p)
	}
	for _, k := range l.Cases {
		r.structure(k.Struct)
	}
}

func (r *reached) code(k *Code) {
	if k != nil && r.first(k) {
		r.codes = append(r.codes, k)
	}
}

func (r *reached) checks(checks []*Check) {
	for _, k := range checks {
		r.code(k.Code)
	}
}

func (r *reached) steps(steps []Step) {
	for _, s := range steps {
		switch s := s.(type) {
		case *Run:
			r.checks(s.Checks)
		case *Verify:
			r.checks(s.Checks)
		case *Window:
			r.steps(s.Body)
		case *Branch:
			r.steps(s.Then)
			r.steps(s.Else)
		}
	}
}
