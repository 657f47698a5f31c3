// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// valueKind says what of an item a local holds.
type valueKind int

const (
	valNumber  valueKind = iota // scalar: number, boolean when a flag, 8 bytes in a string when wider than 53 bits
	valBytes                    // vector: its bytes as a string
	valSize                     // bytes
	valCount                    // array: elements
	valPresent                  // whether the item was there
	valAt                       // offset of the item in the packet
	valEnd                      // offset behind the item
)

// value is something that expressions, errors or hooks read: a local, a parameter or a result of a decode function.
type value struct {
	kind valueKind
	ref  gen.Ref
}

// id tells values of one struct apart; items count by identity, so two unnamed ones differ.
func (v value) id() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", v.kind)
	if v.ref.Param != nil {
		fmt.Fprintf(&b, "/%p", v.ref.Param)
	}
	for _, it := range v.ref.Path {
		fmt.Fprintf(&b, "/%p", it)
	}
	return b.String()
}

// zero is what an absent item reads as.
func (v value) zero() string {
	it := v.ref.Last()
	switch {
	case v.kind == valPresent, v.kind == valNumber && it.Scalar.Flag:
		return "false"
	case v.kind == valBytes:
		return `""`
	case v.kind == valNumber && wide(it.Scalar):
		return "ZERO"
	}
	return "0"
}

// wide reports whether a scalar does not fit a Lua 5.2 number exactly.
func wide(s *gen.Scalar) bool { return s.Bits > exactBits }

// exactBits is the width that a double holds exactly.
const exactBits = 53

// valueSet is an ordered set.
type valueSet struct {
	list []value
	has  map[string]bool
}

func newValueSet() *valueSet { return &valueSet{has: map[string]bool{}} }

func (s *valueSet) add(v value) bool {
	id := v.id()
	if s.has[id] {
		return false
	}
	s.has[id] = true
	s.list = append(s.list, v)
	return true
}

// usage holds, per struct, the values that its decode function needs and those that it returns.
type usage struct {
	needs   map[*gen.Struct]*valueSet
	exports map[*gen.Struct]*valueSet
	grown   bool
}

// newUsage finds what every struct must read and hand on. Schemas have no recursive types, so the rounds end.
func newUsage(g *generator) *usage {
	u := &usage{needs: map[*gen.Struct]*valueSet{}, exports: map[*gen.Struct]*valueSet{}}
	for _, s := range g.structs {
		u.needs[s], u.exports[s] = newValueSet(), newValueSet()
	}
	for u.grown = true; u.grown; {
		u.grown = false
		for _, s := range g.structs {
			u.steps(s, s.Steps)
			u.hooks(s, g.hooks)
			u.labels(s, g)
			u.lints(s)
			u.cover(s)
			for _, v := range u.exports[s].list {
				u.need(s, v)
			}
		}
		for _, l := range g.lists {
			for _, it := range l.KeyItems() {
				u.need(l.Head, value{valNumber, gen.Ref{Path: []*gen.Item{it}}})
			}
			u.expr(l.Head, l.Length)
			u.expr(l.Head, l.SkipIf)
		}
	}
	return u
}

// need records that s reads v; a value behind a call becomes a result of what is called.
func (u *usage) need(s *gen.Struct, v value) {
	if u.needs[s].add(v) {
		u.grown = true
	}
	if v.ref.Param != nil {
		return
	}
	if it := v.ref.Last(); v.kind == valSize && it.Kind != gen.KindSpan {
		u.need(s, value{valAt, v.ref})
	}
	for i, it := range v.ref.Path[:len(v.ref.Path)-1] {
		if it.Kind == gen.KindStruct && !it.Struct.FixedSize {
			inner := value{v.kind, gen.Ref{Path: v.ref.Path[i+1:]}}
			if u.exports[it.Struct].add(inner) {
				u.grown = true
			}
			return
		}
	}
}

func (u *usage) steps(s *gen.Struct, steps []gen.Step) {
	for _, step := range steps {
		switch st := step.(type) {
		case *gen.Run:
			u.checks(s, st.Checks, st)
		case *gen.Verify:
			u.checks(s, st.Checks, nil)
		case *gen.Limit:
			u.expr(s, st.Size)
			if st.Item.Param == nil && len(st.Item.Path) > 0 {
				u.need(s, value{valAt, st.Item})
			}
		case *gen.Window:
			u.expr(s, st.Size)
			u.steps(s, st.Body)
		case *gen.Elements:
			u.expr(s, st.Tail)
			u.list(s, st.Item)
		case *gen.Branch:
			u.expr(s, st.Cond)
			u.steps(s, st.Then)
			u.steps(s, st.Else)
		case *gen.Call:
			u.expr(s, st.Tail)
			u.call(s, st.Item.Struct, st.Item.Args)
		case *gen.Repeat:
			a := st.Item.Array
			u.expr(s, st.Tail)
			u.expr(s, a.Count)
			if a.Struct != nil {
				u.call(s, a.Struct, a.Args)
			}
		case *gen.Take:
			u.expr(s, st.Tail)
			u.expr(s, st.Item.Span.Size)
			if handsOn(st.Item) {
				for _, r := range numbers(st.Item) {
					u.need(s, value{valNumber, r})
				}
			}
		case *gen.Choose:
			u.expr(s, st.Tail)
			sw := st.Item.Switch
			u.need(s, value{valNumber, sw.Selector})
			for _, arm := range sw.Arms {
				if arm.Struct != nil {
					u.call(s, arm.Struct, arm.Args)
				}
			}
		}
	}
}

// call makes the caller need what the callee reads through its parameters.
func (u *usage) call(s, callee *gen.Struct, args []*gen.Expr) {
	u.through(s, u.needs[callee].list, callee.Params, args)
}

// through makes the caller need what arguments read that the callee uses.
func (u *usage) through(s *gen.Struct, used []value, params []*gen.Param, args []*gen.Expr) {
	for _, v := range used {
		switch i := slices.Index(params, v.ref.Param); {
		case i < 0:
		case len(v.ref.Path) == 0 && params[i].Bits > 0:
			u.expr(s, args[i])
		default:
			u.need(s, value{v.kind, through(v.ref, params, args)})
		}
	}
}

// list makes the struct that holds a list need what the list reads through its parameters.
func (u *usage) list(s *gen.Struct, it *gen.Item) {
	for _, c := range it.List.Cases {
		if c.Struct != nil {
			u.through(it.List.Head, u.needs[c.Struct].list, c.Struct.Params, c.Args)
		}
	}
	u.through(s, u.needs[it.List.Head].list, it.List.Params, it.Args)
}

// throughArg is a callee's reference through a parameter, seen from the caller.
func throughArg(r gen.Ref, callee *gen.Struct, args []*gen.Expr) gen.Ref {
	return through(r, callee.Params, args)
}

func through(r gen.Ref, params []*gen.Param, args []*gen.Expr) gen.Ref {
	for i, p := range params {
		if p == r.Param {
			arg := args[i].Ref
			path := append(append([]*gen.Item{}, arg.Path...), r.Path...)
			return gen.Ref{Param: arg.Param, Path: path}
		}
	}
	panic("luagen: a reference through the unknown parameter " + r.Param.Name.Schema)
}

func (u *usage) checks(s *gen.Struct, checks []*gen.Check, run *gen.Run) {
	for _, c := range checks {
		u.expr(s, c.Hold)
		if c.Item.Param == nil && len(c.Item.Path) > 0 && (run == nil || !inRun(run, c.Item)) {
			u.need(s, value{valAt, c.Item})
		}
	}
}

func (u *usage) expr(s *gen.Struct, e *gen.Expr) {
	if e == nil {
		return
	}
	if v, ok := valueOf(e); ok {
		u.need(s, v)
	}
	for _, a := range e.Args {
		u.expr(s, a)
	}
}

// valueOf returns the value that a leaf of an expression reads.
func valueOf(e *gen.Expr) (value, bool) {
	switch e.Op {
	case gen.OpRef:
		return value{valNumber, e.Ref}, true
	case gen.OpSize:
		if last := e.Ref.Last(); last.Kind == gen.KindSpan && last.Span.Fixed >= 0 {
			return value{}, false
		}
		return value{valSize, e.Ref}, true
	case gen.OpCount:
		return value{valCount, e.Ref}, true
	case gen.OpPresent:
		return value{valPresent, e.Ref}, true
	case gen.OpAny, gen.OpTest:
		return value{valBytes, e.Ref}, true
	}
	return value{}, false
}

// hooks makes s read what the hooks of its own and of the structs inside its runs want.
func (u *usage) hooks(s *gen.Struct, hooks map[*gen.Struct]*hookSpec) {
	if h := hooks[s]; h != nil {
		for _, v := range h.args {
			u.need(s, v)
		}
	}
	eachRun(s.Steps, func(r *gen.Run) {
		for _, n := range nestedIn(r) {
			if h := hooks[n.last().Struct]; h != nil {
				for _, v := range h.args {
					u.need(s, under(n.path, v))
				}
			}
		}
	})
}

// labels makes s read what its tree items show: the numbers that tell elements apart, and what vectors count from.
func (u *usage) labels(s *gen.Struct, g *generator) {
	var items []*gen.Item
	if g.labelled[s] {
		items = labelScalars(s)
	}
	for _, it := range s.Items {
		if it.Kind == gen.KindBits && baseOf(s, it) != nil {
			items = append(items, baseOf(s, it))
		}
	}
	for _, it := range items {
		u.need(s, value{valNumber, gen.Ref{Path: []*gen.Item{it}}})
	}
}
