// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// attr is one property of a declaration. Two values are the same when the texts are, or when the signs are: a sign leaves out
// names, so that a new name alone does not look like a new layout.
type attr struct {
	class Class
	name  string
	text  string
	sign  string
}

func (a attr) same(b attr) bool { return a.text == b.text || a.sign != "" && a.sign == b.sign }

// fact is one declaration, or one part of it that has a place of its own.
type fact struct {
	parent string // key of the declaration that it is a part of; empty = it is one
	key    string // what it is called: unique in its parent
	name   string // what people call it; empty = key
	place  string // what stands at its place in the parent when it is called otherwise; empty = nothing can
	attrs  []attr
	came   Class // of its appearance
	gone   Class // of its disappearance
	quiet  bool  // a new name alone is not worth a word
}

func (f *fact) add(class Class, name, text string) {
	f.attrs = append(f.attrs, attr{class: class, name: name, text: text})
}

func (f *fact) addSigned(name, text, sign string) {
	f.attrs = append(f.attrs, attr{Wire, name, text, sign})
}

// addName adds what a name becomes in the targets.
func (f *fact) addName(n gen.Name) {
	f.add(Source, "name in Go", n.Go)
	f.add(Source, "name in C", n.C)
	f.add(Source, "name in filters", n.Filter)
}

func (f *fact) addDoc(doc []string) { f.add(Doc, "documentation", strings.Join(doc, " ")) }

// factsOf lists everything that a protocol declares, in its order.
func factsOf(p *gen.Protocol) []*fact {
	s := signer{}
	var out []*fact
	out = append(out, schemaFact(p))
	for _, k := range p.Consts {
		f := &fact{key: "const " + k.Name.Schema, came: Source, gone: Source}
		f.add(Source, "value", fmt.Sprint(k.Value))
		f.addDoc(k.Doc)
		out = append(out, f)
	}
	for _, k := range p.Codes {
		f := &fact{key: "error " + k.Name, place: fmt.Sprint("code ", k.Number), came: Source, gone: Source}
		f.add(Source, "number", fmt.Sprint(k.Number))
		f.add(Doc, "text", k.Text)
		out = append(out, f)
	}
	for _, e := range p.Enums {
		out = append(out, enumFacts(e)...)
	}
	for _, c := range p.Sums {
		f := &fact{key: "crc " + c.Name.Schema, place: s.sum(c), came: Source, gone: Source}
		f.add(Wire, "algorithm", s.sum(c))
		f.addDoc(c.Doc)
		out = append(out, f)
	}
	for _, l := range p.Lists {
		out = append(out, s.listFacts(l)...)
	}
	for _, st := range p.Structs {
		out = append(out, s.structFacts(st)...)
	}
	return out
}

func schemaFact(p *gen.Protocol) *fact {
	f := &fact{key: "schema", came: Wire, gone: Wire}
	f.add(Source, "package", p.Package)
	f.add(Source, "Go package", p.Targets.GoPackage)
	f.add(Source, "C prefix", p.Targets.CPrefix)
	f.add(Source, "display filter", p.Targets.LuaProto)
	f.add(Doc, "protocol column", p.Targets.LuaName)
	f.add(Doc, "UDP port of the dissector", fmt.Sprint(p.Targets.UDPPort, p.Targets.MorePorts))
	f.add(Doc, "license", p.License)
	f.addDoc(p.Doc)
	f.add(Doc, "examples", fmt.Sprint(len(p.Examples)))
	return f
}

func enumFacts(e *gen.Enum) []*fact {
	f := &fact{key: "enum " + e.Name.Schema, place: "enum " + memberNumbers(e), came: Source, gone: Source}
	f.add(Wire, "width", fmt.Sprintf("%d bits", e.Bits))
	f.add(Wire, "other numbers", map[bool]string{false: "kept", true: "E_ENUM"}[e.Closed])
	f.add(Source, "reserved numbers", ranges(e.Reserved))
	f.addName(e.Name)
	f.addDoc(e.Doc)
	out := []*fact{f}
	for _, m := range e.Members {
		r := gen.Range{First: m.First, Last: m.Last}
		g := &fact{parent: f.key, key: m.Name.Schema, name: f.key + "." + m.Name.Schema, place: r.Text(), came: Source, gone: Wire}
		g.add(Wire, "number", r.Text())
		if m.Since+m.Until > 0 {
			g.add(map[bool]Class{false: Source, true: Wire}[e.Closed], "versions", fmt.Sprintf("since %d, until %d", m.Since, m.Until))
		}
		g.addName(m.Name)
		g.addDoc(m.Doc)
		out = append(out, g)
	}
	return out
}

// memberNumbers lists the numbers that have names.
func memberNumbers(e *gen.Enum) string {
	var all []gen.Range
	for _, m := range e.Members {
		all = append(all, gen.Range{First: m.First, Last: m.Last})
	}
	return ranges(all)
}

func ranges(all []gen.Range) string {
	var parts []string
	for _, r := range all {
		parts = append(parts, r.Text())
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func (s signer) listFacts(l *gen.List) []*fact {
	f := &fact{key: "tlv " + l.Name.Schema, came: Wire, gone: Wire}
	f.add(Wire, "largest size", fmt.Sprint(l.Max, " B"))
	f.addSigned("head", l.Head.Name.Schema, s.structure(l.Head))
	f.addSigned("key", l.Key.Name.Schema, s.keys(l))
	f.addSigned("length", l.Length.Text(), s.expr(l.Length))
	f.add(Wire, "alignment of elements", fmt.Sprint(l.ElementAlign))
	f.add(Wire, "end", s.ending(l))
	f.add(Wire, "order", map[bool]string{false: "any", true: "ascending"}[l.Ascending]+map[bool]string{true: ", strict"}[l.Strict])
	unknown := "skipped"
	if l.SkipIf != nil {
		unknown += " if " + l.SkipIf.Text()
	}
	f.addSigned("unknown elements", unknown, "skip "+s.expr(l.SkipIf))
	if l.Unknown != nil {
		f.add(Source, "error of unknown elements", l.Unknown.Name)
	}
	f.addName(l.Name)
	f.addDoc(l.Doc)
	out := []*fact{f}
	for _, c := range l.Cases {
		g := &fact{parent: f.key, key: c.Name.Schema, name: f.key + "." + c.Name.Schema, place: fmt.Sprint(c.Key, c.Keys), came: Wire, gone: Wire}
		g.add(Wire, "key", fmt.Sprint(c.Key, c.Keys))
		g.addSigned("value", structName(c.Struct), s.structure(c.Struct))
		g.add(Wire, "how often", map[bool]string{false: "any", true: "once at most"}[c.Unique]+map[bool]string{true: ", required"}[c.Required])
		g.addName(c.Name)
		g.addDoc(c.Doc)
		out = append(out, g)
	}
	return out
}

func structName(s *gen.Struct) string {
	if s == nil {
		return "nothing"
	}
	return s.Name.Schema
}
