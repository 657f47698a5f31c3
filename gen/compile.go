// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// Compile turns the text of a schema into a Protocol. It returns either a protocol or the schema's faults in the order of
// the source, never both. file is the name that the faults carry.
func Compile(file string, src []byte) (*Protocol, []syntax.Diagnostic) {
	return CompileFrom(file, src, nil)
}

// CompileFrom compiles a schema that may import others. read returns the text of an imported file, whose name is relative
// like the name of the schema itself; without read, imports are faults.
func CompileFrom(file string, src []byte, read func(name string) ([]byte, error)) (*Protocol, []syntax.Diagnostic) {
	c := newCompiler(&loader{read: read, done: map[string]*compiler{}}, file, src)
	c.compile()
	if len(c.f.Diags) == 0 && len(c.foreign) == 0 {
		c.p.TextHash = textHash(src)
		c.p.WireHash = wireHash(c.p)
		c.p.spots = c.spots()
		c.runExamples()
	}
	if diags := append(c.foreign, c.f.Sorted()...); len(diags) > 0 {
		return nil, diags
	}
	return c.p, nil
}

func newCompiler(l *loader, file string, src []byte) *compiler {
	return &compiler{
		loader:  l,
		f:       syntax.Parse(file, string(src)),
		p:       &Protocol{Codes: BuiltinCodes(), Source: path.Base(strings.ReplaceAll(file, `\`, "/"))},
		names:   map[string]*named{},
		imports: map[string]imported{},
		origin:  map[any]syntax.Pos{},
		nested:  map[*Struct]int{},
		partial: map[any]bool{},
	}
}

// compile does all but the examples.
func (c *compiler) compile() {
	c.loader.active = append(c.loader.active, path.Clean(c.f.Name))
	c.preamble()
	c.loader.active = c.loader.active[:len(c.loader.active)-1]
	c.collect()
	for _, n := range c.order {
		c.resolve(n)
	}
	c.inSourceOrder()
	c.adopt()
	c.decls(func(d *syntax.Decl) {
		switch {
		case d.Option != nil:
			c.option(d.Option)
		case d.Assert != nil:
			c.assert(d.Assert)
		case d.Example != nil:
			c.example(d.Example)
		}
	})
	if len(c.f.Diags) == 0 && len(c.foreign) == 0 {
		c.checkNames()
	}
}

// compiler holds the state of one Compile.
type compiler struct {
	loader  *loader
	f       *syntax.File
	p       *Protocol
	names   map[string]*named
	imports map[string]imported
	foreign []syntax.Diagnostic // faults of imported schemas
	little  bool                // `byteorder little`
	version *versions           // nil = one version
	order   []*named
	origin  map[any]syntax.Pos // where an IR object was declared
	checks  int                // nodes of checks copied so far; bounded by maxChecks
	depth   int                // of resolve
	nested  map[*Struct]int    // how deep structs nest in one
	partial map[any]bool       // structs and lists of which a part is missing, because of a fault that is reported
}

// maxChecks bounds what merging runs may copy.
const maxChecks = 500_000

// named is a declaration that has a name.
type named struct {
	name    string
	pos     syntax.Pos
	decl    *syntax.Decl
	state   resolveState
	value   *big.Int // constant
	code    *Code
	enum    *Enum
	sum     *Sum
	str     *Struct
	list    *List
	missing bool // its declaration is broken and reported
}

type resolveState int

const (
	untouched resolveState = iota
	running
	finished
)

func (c *compiler) decls(visit func(*syntax.Decl)) {
	for _, d := range c.f.Decls {
		visit(d)
	}
}

func (c *compiler) report(code string, at syntax.Pos, format string, args ...any) *syntax.Report {
	return c.f.Report(code, c.f.At(at), format, args...)
}

func (c *compiler) reportExpr(code string, e *syntax.Expr, format string, args ...any) *syntax.Report {
	return c.f.Report(code, c.f.Range(e.Pos, e.EndPos), format, args...)
}

// unsupported refuses a part of the language that this edition of the compiler cannot lay out.
func (c *compiler) unsupported(at syntax.Pos, what string) {
	c.report("E0010", at, "%s: not supported by this compiler", what)
}

// preamble checks the lines that every file begins with.
func (c *compiler) preamble() {
	want := []string{"edition", "package", "byteorder", "bitorder"}
	at := 0
	for _, d := range c.f.Decls {
		word := preambleWord(d)
		if word == "import" {
			if at == len(want) {
				c.report("E0008", d.Pos, "imports stand before `byteorder`")
				return
			}
			c.importLine(d.Import)
			continue
		}
		if at < len(want) && word != want[at] && !c.f.Broken(want[at]) {
			c.fixPreamble(c.report("E0008", d.Pos, "`%s` must stand here", want[at]), d, want[at])
			return
		}
		if word == "" {
			return
		}
		if at == len(want) {
			c.report("E0008", d.Pos, "`%s` stands twice or too late", word)
			return
		}
		c.preambleLine(d)
		at++
	}
	if at < len(want) && len(c.f.Diags) == 0 {
		c.f.Report("E0008", syntax.Span{Line: 1, Col: 1, EndCol: 2}, "`%s` is missing", want[at])
	}
}

func preambleWord(d *syntax.Decl) string {
	switch {
	case d.Edition != nil:
		return "edition"
	case d.Package != nil:
		return "package"
	case d.ByteOrder != nil:
		return "byteorder"
	case d.BitOrder != nil:
		return "bitorder"
	case d.Import != nil:
		return "import"
	}
	return ""
}

func (c *compiler) preambleLine(d *syntax.Decl) {
	switch {
	case d.Edition != nil:
		c.p.Edition = 1
		if d.Edition.Number != "1" {
			c.report("E0009", d.Pos, "edition %s is unknown", d.Edition.Number).Fix("write `edition 1;`", syntax.Replace(d.Pos, d.EndPos, "edition 1;"))
		}
		c.p.Doc = c.f.Doc(d.Pos)
	case d.Package != nil:
		c.packageLine(d.Package)
	case d.ByteOrder != nil:
		if c.little = d.ByteOrder.Order.Text == "little"; !c.little {
			c.word(d.ByteOrder.Order, "big", "byte order")
		}
	case d.BitOrder != nil:
		c.word(d.BitOrder.Order, "msb", "bit order")
	}
}

func (c *compiler) word(got *syntax.Ident, want, what string) {
	if got.Text != want {
		c.report("E0010", got.Pos, "%s `%s`: not supported by this compiler", what, got.Text).Help("write `%s`", want).Fix("write `"+want+"`", got.Replace(want))
	}
}

func (c *compiler) packageLine(p *syntax.Package) {
	var parts []string
	for _, id := range p.Name.Parts {
		c.fieldCase(id)
		parts = append(parts, id.Text)
	}
	last := parts[len(parts)-1]
	c.p.Package = strings.Join(parts, ".")
	c.p.Targets = Targets{GoPackage: last, CPrefix: last, LuaProto: last, LuaName: last}
	if doc := c.f.Doc(p.Pos); doc != nil {
		c.p.Doc = doc
	}
}

// collect gives every declared name to its declaration.
func (c *compiler) collect() {
	for _, name := range c.f.BrokenNames() {
		c.names[name] = &named{name: name, missing: true, state: finished}
	}
	c.decls(func(d *syntax.Decl) {
		id := declName(d)
		if id == nil {
			if d.Versions != nil {
				c.versionsLine(d.Versions)
			}
			return
		}
		c.typeCase(id)
		if old := c.names[id.Text]; old != nil && !old.missing {
			c.report("E0102", id.Pos, "`%s` is declared twice", id.Text).Label(c.f.At(old.pos), "first here")
			return
		}
		n := &named{name: id.Text, pos: id.Pos, decl: d}
		c.names[id.Text] = n
		c.order = append(c.order, n)
	})
}

func declName(d *syntax.Decl) *syntax.Ident {
	switch {
	case d.Const != nil:
		return d.Const.Name
	case d.Error != nil:
		return d.Error.Name
	case d.Enum != nil:
		return d.Enum.Name
	case d.Sum != nil:
		return d.Sum.Name
	case d.Struct != nil:
		return d.Struct.Name
	case d.List != nil:
		return d.List.Name
	}
	return nil
}

// lookup finds a declared name and resolves it; nil when the fault is reported.
func (c *compiler) lookup(name string, at syntax.Pos) *named {
	n := c.names[name]
	if n == nil {
		r := c.report("E0101", at, "`%s` is not declared", name)
		r.Suggest(name, c.declared(r))
		return nil
	}
	if n.missing {
		return nil
	}
	if n.state == running {
		c.report("E0109", at, "`%s` contains itself", name).Label(c.f.At(n.pos), "declared here")
		return nil
	}
	c.resolve(n)
	return n
}

// resolve compiles one declaration and all that it names.
func (c *compiler) resolve(n *named) {
	if n.state != untouched {
		return
	}
	if c.depth++; c.depth > 2*syntax.MaxDepth {
		c.report("E0006", n.pos, "declarations lean on each other more than %d deep", 2*syntax.MaxDepth)
		n.missing = true
	}
	defer func() { c.depth-- }()
	if n.missing {
		n.state = finished
		return
	}
	n.state = running
	switch d := n.decl; {
	case d.Const != nil:
		c.constant(n, d.Const)
	case d.Error != nil:
		c.errorCode(n, d.Error)
	case d.Enum != nil:
		c.enumeration(n, d.Enum)
	case d.Sum != nil:
		c.checksum(n, d.Sum)
	case d.Struct != nil:
		c.structure(n, d.Struct)
	case d.List != nil:
		c.tlv(n, d.List)
	}
	n.state = finished
}

// inSourceOrder sorts what was compiled on demand by its place in the source. A synthetic struct stands before its owner.
func (c *compiler) inSourceOrder() {
	at := func(x any) int { return c.origin[x].Offset }
	slices.SortStableFunc(c.p.Consts, func(a, b *Const) int { return at(a) - at(b) })
	slices.SortStableFunc(c.p.Enums, func(a, b *Enum) int { return at(a) - at(b) })
	slices.SortStableFunc(c.p.Sums, func(a, b *Sum) int { return at(a) - at(b) })
	slices.SortStableFunc(c.p.Lists, func(a, b *List) int { return at(a) - at(b) })
	root := func(s *Struct) int {
		for s.Owner != nil {
			s = s.Owner
		}
		if s.List != nil {
			return at(s.List)
		}
		return at(s)
	}
	slices.SortStableFunc(c.p.Structs, func(a, b *Struct) int { return root(a) - root(b) })
}
