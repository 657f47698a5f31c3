// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// function is one decode function while it is printed. It has the state o (next byte), stop (the container's end),
// t (tree item or nil) and a local for every value that its struct needs.
type function struct {
	g     *generator
	s     *gen.Struct
	names map[string]string // value id to local
	taken map[string]bool
}

// local names the variable that holds v.
func (f *function) local(v value) string {
	id := v.id()
	if n, ok := f.names[id]; ok {
		return n
	}
	n := valueName(v)
	for i := 2; f.taken[n]; i++ {
		n = fmt.Sprintf("%s_%d", valueName(v), i)
	}
	f.names[id], f.taken[n] = n, true
	return n
}

var valuePrefix = map[valueKind]string{valNumber: "v_", valBytes: "v_", valSize: "size_", valCount: "count_", valPresent: "has_", valAt: "at_", valEnd: "end_"}

func valueName(v value) string {
	var parts []string
	if v.ref.Param != nil {
		parts = append(parts, v.ref.Param.Name.Schema)
	}
	for _, it := range v.ref.Path {
		name := it.Name.Schema
		if name == "_" {
			name = "reserved"
		}
		parts = append(parts, name)
	}
	return valuePrefix[v.kind] + strings.Join(parts, "_")
}

func (f *function) printer() printer { return printer{f.local} }

// params are the values that the function's callers hand in, in the order of its needs.
func params(u *usage, s *gen.Struct) []value {
	var ps []value
	for _, v := range u.needs[s].list {
		if v.ref.Param != nil {
			ps = append(ps, v)
		}
	}
	return ps
}

// decoder prints D.x(o, stop, t, parameters): the new offset and the exports, or nil, code, path and offset of an error.
func (g *generator) decoder(s *gen.Struct) error {
	f := &function{g: g, s: s, names: map[string]string{}, taken: map[string]bool{}}
	g.fn = f
	defer func() { g.fn = nil }()
	args := []string{"o", "stop", "t"}
	for _, v := range params(g.use, s) {
		args = append(args, f.local(v))
	}
	g.open("function D.%s(%s)", s.Name.Filter, strings.Join(args, ", "))
	f.prologue()
	if err := f.steps(s.Steps); err != nil {
		return err
	}
	if err := f.epilogue(); err != nil {
		return err
	}
	g.shut("end")
	g.line("")
	return nil
}

// prologue declares the locals; an absent item reads as zero, its place as that of the struct. What the first step reads in any
// case needs no such start.
func (f *function) prologue() {
	f.g.line("local at = o")
	if f.s.Packet && f.s.Greedy && f.s.Max >= 0 {
		f.g.line("if stop - o > %d then return nil, %d, \"\", o end", f.s.Max, gen.SizeNumber)
	}
	f.coverSlots()
	var sure, names, zeros []string
	first := f.firstRun()
	for _, v := range f.g.use.needs[f.s].list {
		if v.ref.Param != nil {
			continue
		}
		if inRun(first, v.ref) {
			sure = append(sure, f.local(v))
			continue
		}
		names = append(names, f.local(v))
		if v.kind == valAt || v.kind == valEnd {
			zeros = append(zeros, "at")
		} else {
			zeros = append(zeros, v.zero())
		}
	}
	if len(sure) > 0 {
		f.g.line("local %s", strings.Join(sure, ", "))
	}
	for len(names) > 0 {
		n := min(len(names), 8)
		f.g.line("local %s = %s", strings.Join(names[:n], ", "), strings.Join(zeros[:n], ", "))
		names, zeros = names[n:], zeros[n:]
	}
}

// firstRun is the run with which the struct begins; an empty one when it begins otherwise.
func (f *function) firstRun() *gen.Run {
	if len(f.s.Steps) > 0 {
		if r, ok := f.s.Steps[0].(*gen.Run); ok {
			return r
		}
	}
	return &gen.Run{}
}

func (f *function) epilogue() error {
	g := f.g
	if f.s.Greedy || f.s.Sized != nil {
		g.line("if o < stop then return nil, %d, \"\", o end", gen.TrailingNumber)
	}
	if h := g.hooks[f.s]; h != nil {
		f.hook(h, nil)
	}
	if items := labelScalars(f.s); g.labelled[f.s] && len(items) > 0 {
		f.label(items)
	}
	results := []string{"o"}
	for _, v := range g.use.exports[f.s].list {
		results = append(results, f.local(v))
	}
	f.lints()
	if err := f.coverParts(); err != nil {
		return err
	}
	g.line("return %s", strings.Join(results, ", "))
	return nil
}

// hook prints what the analysis wants of a struct that lies at path.
func (f *function) hook(h *hookSpec, path []*gen.Item) {
	if h.keep {
		for _, v := range h.args {
			f.g.line("%s = %s", h.kept(v), f.local(under(path, v)))
		}
		return
	}
	var args []string
	for _, v := range h.args {
		args = append(args, f.local(under(path, v)))
	}
	f.g.line("hook.%s(%s)", h.st.Name.Filter, strings.Join(args, ", "))
}

// label appends the key numbers of an element to its tree item.
func (f *function) label(items []*gen.Item) {
	var forms, args []string
	for _, it := range items {
		forms = append(forms, it.Name.Schema+" %d")
		args = append(args, f.local(value{valNumber, gen.Ref{Path: []*gen.Item{it}}}))
	}
	f.g.line("if visible and t then t:append_text(format(%s, %s)) end", quote(": "+strings.Join(forms, ", ")), strings.Join(args, ", "))
}

// failure prints the statement that reports an error of this struct.
func failure(code int, path, at string) string {
	return fmt.Sprintf("return nil, %d, %s, %s", code, quote(path), at)
}
