// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// hookSpec is what decode functions do when they have read a struct: a call, `-- hook path_ack(path, base)`, or where calls
// would cost too much, `-- keep base(opcode, psn)`, the locals base_opcode and base_psn get the values, the first of them nil in packets
// without a base.
// Integers of more than 53 bits and vectors arrive as their bytes in a string, absent items as zero or "".
type hookSpec struct {
	st   *gen.Struct
	args []value
	keep bool
}

var hookLine = regexp.MustCompile(`(?m)^-- (hook|keep) (\w+)\(([\w, ]*)\)$`)

// hooksIn reads the hook lines of an analysis.
func (g *generator) hooksIn(analysis string) (map[*gen.Struct]*hookSpec, error) {
	hooks := map[*gen.Struct]*hookSpec{}
	for _, m := range hookLine.FindAllStringSubmatch(analysis, -1) {
		h, err := g.hookOf(m[2], m[3])
		if err != nil {
			return nil, err
		}
		h.keep = m[1] == "keep"
		hooks[h.st] = h
	}
	return hooks, nil
}

func (g *generator) hookOf(name, args string) (*hookSpec, error) {
	for _, s := range g.structs {
		if s.Name.Filter != name {
			continue
		}
		h := &hookSpec{st: s}
		for _, arg := range strings.Split(args, ",") {
			it := itemNamed(s, strings.TrimSpace(arg))
			if it == nil {
				return nil, g.refusal(s, "the analysis of this package asks for the item `%s`, which `%s` does not have", strings.TrimSpace(arg), s.Name.Schema)
			}
			h.args = append(h.args, hookValue(it))
		}
		return h, nil
	}
	return nil, g.refusal(nil, "the analysis of this package asks for the header `%s`, which no packet has", name)
}

// kept is the local in which an item is kept.
func (h *hookSpec) kept(v value) string { return h.st.Name.Filter + "_" + v.ref.Last().Name.Schema }

// keeps prints the locals that hold what decode functions keep for the analysis.
func (g *generator) keeps() {
	for _, s := range g.structs {
		h := g.hooks[s]
		if h == nil || !h.keep {
			continue
		}
		var names []string
		for _, v := range h.args {
			names = append(names, h.kept(v))
		}
		g.line("local %s -- of the latest %s", strings.Join(names, ", "), s.Name.Schema)
	}
}

// forget prints what tells that a packet's kept headers have not been met yet.
func (g *generator) forget() {
	var firsts []string
	for _, s := range g.structs {
		if h := g.hooks[s]; h != nil && h.keep {
			firsts = append(firsts, h.kept(h.args[0]))
		}
	}
	if len(firsts) > 0 {
		g.line("%s = nil", strings.Join(firsts, ", "))
	}
}

func itemNamed(s *gen.Struct, name string) *gen.Item {
	for _, it := range s.Items {
		if it.Name.Schema == name && (it.Kind == gen.KindScalar || it.Kind == gen.KindBits) {
			return it
		}
	}
	return nil
}

func hookValue(it *gen.Item) value {
	ref := gen.Ref{Path: []*gen.Item{it}}
	switch {
	case it.Kind == gen.KindBits:
		return value{valBytes, ref}
	}
	return value{valNumber, ref}
}

// under is the hook's argument seen from a struct in which the hook's struct lies at path.
func under(path []*gen.Item, v value) value {
	return value{v.kind, gen.Ref{Path: append(append([]*gen.Item{}, path...), v.ref.Path...)}}
}

// plainHooks is the analysis of a schema that has none of its own: the info column shows the number that chooses the
// packet's layout, and the serial numbers beside it.
func plainHooks(roots []*gen.Struct) string {
	s, sel := selectorOf(roots[0])
	if s == nil {
		return "function life.finish() return \"\" end\nfunction life.mark() end\n"
	}
	names, show := []string{sel.Name.Schema}, []string{}
	for _, it := range s.Items {
		if it.Kind == gen.KindScalar && it.Scalar.Serial && it != sel && !wide(it.Scalar) && it.When == nil {
			names = append(names, it.Name.Schema)
			show = append(show, fmt.Sprintf(" .. \" %s \" .. format(\"%%d\", %s)", it.Name.Schema, "v_"+it.Name.Schema))
		}
	}
	title := "format(\"%d\", v_" + sel.Name.Schema + ")"
	if sel.Scalar.Enum != nil {
		title = fmt.Sprintf("nameof(values.%s, v_%s)", sel.Scalar.Enum.Name.Filter, sel.Name.Schema)
	}
	return fmt.Sprintf("-- hook %s(%s)\nlocal info = \"\"\nfunction hook.%s(v_%s)\n  info = %s%s\nend\n"+
		"function life.finish()\n  local line = info\n  info = \"\"\n  return line\nend\nfunction life.mark() end\n",
		s.Name.Filter, strings.Join(names, ", "), s.Name.Filter, strings.Join(names, ", v_"), title, strings.Join(show, ""))
}

// selectorOf finds the struct and the item whose value chooses the packet's layout.
func selectorOf(root *gen.Struct) (*gen.Struct, *gen.Item) {
	for _, it := range root.Items {
		var ref gen.Ref
		switch it.Kind {
		case gen.KindSwitch:
			ref = it.Switch.Selector
		case gen.KindStruct:
			inner := switchIn(it.Struct)
			if inner == nil || inner.Selector.Param == nil {
				continue
			}
			ref = throughArg(inner.Selector, it.Struct, it.Args)
			if ref.Last() == nil || ref.Last().Scalar == nil {
				continue // the size or count of something
			}
		default:
			continue
		}
		if ref.Param != nil || len(ref.Path) == 0 || wide(ref.Last().Scalar) {
			continue
		}
		if len(ref.Path) == 1 {
			return root, ref.Last()
		}
		return ref.Path[len(ref.Path)-2].Struct, ref.Last()
	}
	return nil, nil
}

func switchIn(s *gen.Struct) *gen.Switch {
	for _, it := range s.Items {
		if it.Kind == gen.KindSwitch {
			return it.Switch
		}
	}
	return nil
}
