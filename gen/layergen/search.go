// SPDX-License-Identifier: Apache-2.0

package layergen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// value is how printed code reaches a struct or a number.
type value struct {
	expr string // the thing itself, or a pointer to it: fields are selected from it
	arg  string // what is passed for it: for a struct a pointer
}

// place is a struct on the way to the payload.
type place struct {
	s      *gen.Struct
	expr   string
	params map[*gen.Param]value
}

// finder prints the function that finds the payload of a packet.
type finder struct {
	codec string
	show  func(at place, payload *gen.Item, tail trailer) // prints the end of the search at a payload
	none  func(tail trailer)                              // and where there is none
	strings.Builder
	refused *gen.Refusals
}

// search prints the body of that function. It follows the items that take the rest of their containers: only those can be,
// or hold, a payload, and the IR says of each how many bytes stand behind it.
func search(l *layer) string {
	f := &finder{codec: l.Package.Codec, refused: l.Package.refused}
	f.show = func(at place, it *gen.Item, tail trailer) { f.line("return &%s.%s, %s", at.expr, it.Name.Go, tail) }
	f.none = func(tail trailer) { f.line("return nil, %s", tail) }
	if !l.HasPayload {
		f.none = func(tail trailer) { f.line("return %s", tail) } // the size alone
	}
	return f.root(l)
}

// root prints the search in a layer's packet.
func (f *finder) root(l *layer) string {
	root := place{s: l.Struct, expr: l.Recv, params: map[*gen.Param]value{}}
	for i, a := range l.Struct.Params {
		if a.Cover {
			continue
		}
		root.params[a] = value{l.Params[i].Name, l.Params[i].Name}
	}
	if !f.walk(root, trailer{}) {
		f.none(trailer{})
	}
	return f.String()
}

func (f *finder) line(format string, args ...any) { fmt.Fprintf(f, format+"\n", args...) }

// fail refuses a part of the schema.
func (f *finder) fail(at gen.Declared, format string, args ...any) {
	f.refused.Add(at, format, args...)
}

// walk prints the search in one struct with tail behind it. True: the printed code always returns.
func (f *finder) walk(at place, tail trailer) bool {
	for _, r := range rests(at.s.Steps) {
		if r.item.When != nil {
			if it := computed(r.item.When); it != nil {
				f.fail(r.item, "whether `%s` is present depends on `%s`, which the encoder computes", r.item.Name.Schema, it.Name.Schema)
			}
			f.line("if %s.%sPresent(%s) {", at.expr, r.item.Name.Go, f.own(at))
		}
		f.rest(at, r.item, f.behind(at, r, tail))
		if r.item.When == nil {
			return true
		}
		f.line("}")
	}
	return false
}

// rest prints the search in an item that takes the rest, with tail behind it. The printed code always returns.
func (f *finder) rest(at place, it *gen.Item, tail trailer) {
	field := at.expr + "." + it.Name.Go
	switch {
	case it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPayload:
		f.show(at, it, tail)
	case it.Kind == gen.KindStruct && holdsPayload(it.Struct):
		if !f.walk(f.inner(at, it.Struct, it.Args, field), tail) {
			f.none(tail)
		}
	case it.Kind == gen.KindSwitch && switchHoldsPayload(it.Switch):
		if !f.choose(at, it.Switch, tail) {
			f.none(tail)
		}
	default:
		f.none(tail)
	}
}

// choose prints the search in the arms of a switch. The selector decides, as it does for the encoder. True: the printed
// code always returns.
func (f *finder) choose(at place, sw *gen.Switch, tail trailer) bool {
	selector := f.reach(at, sw.Selector).expr
	if it := sw.Selector.Last(); settled(it) {
		f.fail(it, "a switch depends on `%s`, which the encoder computes", it.Name.Schema)
	}
	arms := telling(sw.Arms)
	plain, other := true, false
	for _, a := range arms {
		other = other || len(a.Labels) == 0
		for _, r := range a.Labels {
			plain = plain && r.First == r.Last
		}
	}
	labels := f.values
	if plain {
		f.line("switch %s {", selector)
	} else {
		f.line("switch selector := %s; {", selector)
		labels = f.conditions
	}
	for _, a := range arms {
		if len(a.Labels) == 0 {
			f.line("default:")
		} else {
			f.line("case %s:", labels(sw.Selector.Last(), a.Labels))
		}
		if !holdsPayload(a.Struct) || !f.walk(f.inner(at, a.Struct, a.Args, at.expr+"."+a.Name.Go), tail) {
			f.none(tail)
		}
	}
	f.line("}")
	return other
}

// computed is an item that an expression reads and whose stored value the encoder may replace; nil = none.
func computed(e *gen.Expr) *gen.Item {
	if it := e.Ref.Last(); settled(it) {
		return it
	}
	for _, a := range e.Args {
		if it := computed(a); it != nil {
			return it
		}
	}
	return nil
}

func settled(it *gen.Item) bool {
	return it != nil && it.Scalar != nil && (it.Scalar.Fixed != nil || it.Scalar.Derived != nil || it.Scalar.Solve != nil)
}

// telling lists the arms that the search must know: those with a payload, and all when one of those is for all other numbers.
func telling(arms []*gen.Arm) []*gen.Arm {
	var out []*gen.Arm
	for _, a := range arms {
		if holdsPayload(a.Struct) {
			out = append(out, a)
			if len(a.Labels) == 0 {
				return arms
			}
		}
	}
	return out
}

// values lists an arm's labels, which are all single numbers.
func (f *finder) values(it *gen.Item, labels []gen.Range) string {
	var out []string
	for _, r := range labels {
		out = append(out, f.label(it, r.First))
	}
	return strings.Join(out, ", ")
}

// conditions lists what an arm's labels ask of the selector.
func (f *finder) conditions(it *gen.Item, labels []gen.Range) string {
	var out []string
	for _, r := range labels {
		first, last := f.label(it, r.First), f.label(it, r.Last)
		switch {
		case r.First == r.Last:
			out = append(out, "selector == "+first)
		case r.First == 0:
			out = append(out, "selector <= "+last)
		default:
			out = append(out, fmt.Sprintf("selector >= %s && selector <= %s", first, last))
		}
	}
	return strings.Join(out, ", ")
}

// label spells a number as the selector's type does. it is nil for a scalar parameter.
func (f *finder) label(it *gen.Item, n uint64) string {
	switch {
	case it != nil && it.Scalar.Flag:
		return fmt.Sprint(n != 0)
	case it != nil && it.Scalar.Enum != nil:
		for _, m := range it.Scalar.Enum.Members {
			if m.First == n && m.Last == n {
				return f.codec + "." + it.Scalar.Enum.Name.Go + m.Name.Go
			}
		}
	}
	return fmt.Sprintf("%#x", n)
}

// inner is the place of a struct within another, with the values of its parameters.
func (f *finder) inner(at place, s *gen.Struct, args []*gen.Expr, expr string) place {
	below := place{s: s, expr: expr, params: map[*gen.Param]value{}}
	for i, a := range s.Params {
		if a.Cover {
			continue
		}
		if a.Struct == nil {
			below.params[a] = f.argument(at, a, args[i])
			continue
		}
		below.params[a] = f.reach(at, args[i].Ref)
	}
	return below
}

// numberType is the type of a scalar parameter.
func numberType(p *gen.Param) string {
	if !p.Signed {
		return uintType(p.Bits)
	}
	return strings.TrimPrefix(uintType(p.Bits), "u")
}

// own passes a struct's parameters to its methods.
func (f *finder) own(at place) string {
	var out []string
	for _, a := range at.s.Params {
		if a.Cover {
			continue
		}
		out = append(out, at.params[a].arg)
	}
	return strings.Join(out, ", ")
}

// reach is the value that a reference names.
func (f *finder) reach(at place, r gen.Ref) value {
	v := value{at.expr, at.expr}
	if r.Param != nil {
		v = at.params[r.Param]
	}
	for _, it := range r.Path {
		v.expr += "." + it.Name.Go
		v.arg = "&" + v.expr
	}
	return v
}

// rest is an item that takes the rest of its container, and what stands behind it in bytes.
type rest struct {
	item    *gen.Item
	reserve int
	tail    *gen.Expr
	after   []gen.Step // the steps behind it
}

// rests lists the items that take the rest; on each decode path there is at most one.
func rests(steps []gen.Step) []rest {
	var out []rest
	for i, s := range steps {
		after := steps[i+1:]
		switch s := s.(type) {
		case *gen.Call:
			if s.Item.Struct.Greedy {
				out = append(out, rest{s.Item, s.Reserve, s.Tail, after})
			}
		case *gen.Repeat:
			if s.Item.Array.Count == nil {
				out = append(out, rest{s.Item, s.Reserve, s.Tail, after})
			}
		case *gen.Take:
			if s.Item.Span.Size == nil {
				out = append(out, rest{s.Item, s.Reserve, s.Tail, after})
			}
		case *gen.Elements:
			out = append(out, rest{s.Item, s.Reserve, s.Tail, after})
		case *gen.Branch:
			out = append(append(out, rests(s.Then)...), rests(s.Else)...)
		case *gen.Choose:
			if switchGreedy(s.Item.Switch) {
				out = append(out, rest{s.Item, s.Reserve, s.Tail, after})
			}
		}
	}
	return out
}

func switchGreedy(sw *gen.Switch) bool {
	for _, a := range sw.Arms {
		if a.Struct != nil && a.Struct.Greedy {
			return true
		}
	}
	return false
}

// holdsPayload tells whether some packet has a payload within s.
func holdsPayload(s *gen.Struct) bool {
	if s == nil {
		return false
	}
	for _, r := range rests(s.Steps) {
		it := r.item
		switch {
		case it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPayload:
			return true
		case it.Kind == gen.KindStruct && holdsPayload(it.Struct):
			return true
		case it.Kind == gen.KindSwitch && switchHoldsPayload(it.Switch):
			return true
		}
	}
	return false
}

func switchHoldsPayload(sw *gen.Switch) bool {
	for _, a := range sw.Arms {
		if holdsPayload(a.Struct) {
			return true
		}
	}
	return false
}
