// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
)

func textHash(src []byte) string {
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])
}

// wireHash hashes all that decides bytes, in a canonical text: names are included, comments, positions, units, formats and
// the texts of errors are not.
func wireHash(p *Protocol) string {
	h := sha256.New()
	fmt.Fprintf(h, "edition %d\npackage %s\n", p.Edition, p.Package)
	for _, k := range p.Consts {
		fmt.Fprintf(h, "const %s %d\n", k.Name.Schema, k.Value)
	}
	for _, k := range p.Codes {
		fmt.Fprintf(h, "code %d %s\n", k.Number, k.Name)
	}
	for _, e := range p.Enums {
		fmt.Fprintf(h, "enum %s %d %t %v\n", e.Name.Schema, e.Bits, e.Closed, e.Reserved)
		for _, m := range e.Members {
			fmt.Fprintf(h, " %s %d %d\n", m.Name.Schema, m.First, m.Last)
		}
	}
	for _, s := range p.Sums {
		fmt.Fprintf(h, "sum %s %d %d %d %d %t %t %t\n", s.Name.Schema, s.Width, s.Poly, s.Init, s.XorOut, s.ReflectIn, s.ReflectOut, s.Little)
	}
	for _, l := range p.Lists {
		hashList(h, l)
	}
	for _, s := range p.Structs {
		hashStruct(h, s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func hashList(w io.Writer, l *List) {
	end := "none"
	if l.End != nil {
		end = fmt.Sprint(*l.End)
	}
	skip := "always"
	if l.SkipIf != nil {
		skip = key(l.SkipIf)
	}
	fmt.Fprintf(w, "list %s %d %s %s %s %d %s %t %s\n", l.Name.Schema, l.Max, l.Head.Name.Schema, l.Key.Name.Schema,
		key(l.Length), l.ElementAlign, end, l.Ascending, skip)
	for _, c := range l.Cases {
		fmt.Fprintf(w, " case %s %d %t %t %s\n", c.Name.Schema, c.Key, c.Unique, c.Required, structName(c.Struct))
	}
}

func structName(s *Struct) string {
	if s == nil {
		return "none"
	}
	return s.Name.Schema
}

func hashStruct(w io.Writer, s *Struct) {
	fmt.Fprintf(w, "struct %s %t %d %d\n", s.Name.Schema, s.Packet, s.Min, s.Max)
	for _, p := range s.Params {
		fmt.Fprintf(w, " param %s %s %d\n", p.Name.Schema, structName(p.Struct), p.Bits)
	}
	for _, it := range s.Items {
		hashItem(w, it)
	}
	hashSteps(w, s.Steps)
}

func hashItem(w io.Writer, it *Item) {
	fmt.Fprintf(w, " item %s %d %s", it.Name.Schema, it.Kind, hashExpr(it.When))
	if s := it.Scalar; s != nil {
		hashScalar(w, s)
	}
	if v := it.Vector; v != nil {
		fmt.Fprintf(w, " bits %d", v.Bits)
	}
	if a := it.Array; a != nil {
		fmt.Fprintf(w, " array %s %s %v", structName(a.Struct), hashExpr(a.Count), a.Solve)
		if a.Scalar != nil {
			hashScalar(w, a.Scalar)
		}
	}
	if s := it.Span; s != nil {
		fmt.Fprintf(w, " span %d %s %d %d %d %t", s.Kind, hashExpr(s.Size), s.Fixed, s.Min, s.Max, s.Ignore)
	}
	if it.List != nil {
		fmt.Fprintf(w, " list %s", it.List.Name.Schema)
	}
	fmt.Fprintf(w, " %s", structName(it.Struct))
	for _, a := range it.Args {
		fmt.Fprintf(w, " %s", key(a))
	}
	fmt.Fprintln(w)
	if it.Switch != nil {
		hashSwitch(w, it.Switch)
	}
}

func hashSwitch(w io.Writer, sw *Switch) {
	fmt.Fprintf(w, "  switch %s\n", sw.Selector)
	for _, a := range sw.Arms {
		fmt.Fprintf(w, "  arm %s %v %s", a.Name.Schema, a.Labels, structName(a.Struct))
		for _, x := range a.Args {
			fmt.Fprintf(w, " %s", key(x))
		}
		if a.Reject != nil {
			fmt.Fprintf(w, " reject %d", a.Reject.Number)
		}
		fmt.Fprintln(w)
	}
}

func hashScalar(w io.Writer, s *Scalar) {
	enum := "none"
	if s.Enum != nil {
		enum = s.Enum.Name.Schema
	}
	fixed := "free"
	if s.Fixed != nil {
		fixed = fmt.Sprint(*s.Fixed)
	}
	fmt.Fprintf(w, " scalar %d %t %t %s %d %v %s %s %d", s.Bits, s.Flag, s.Little, enum, s.Reserved, s.In, fixed, hashExpr(s.Derived), s.Default)
	if s.Solve != nil {
		fmt.Fprintf(w, " solve %s %d %d", s.Solve.Of, s.Solve.A, s.Solve.B)
	}
	if s.Sum != nil {
		fmt.Fprintf(w, " sum %s %t", s.Sum.Sum.Name.Schema, s.Sum.Before)
	}
}

func hashExpr(x *Expr) string {
	if x == nil {
		return "-"
	}
	return key(x)
}

func hashChecks(w io.Writer, checks []*Check) {
	for _, k := range checks {
		fmt.Fprintf(w, "  check %d %s %s\n", k.Code.Number, k.Item, key(k.Hold))
	}
}

func hashSteps(w io.Writer, steps []Step) {
	for _, s := range steps {
		fmt.Fprintf(w, " %T", s)
		switch s := s.(type) {
		case *Run:
			fmt.Fprintf(w, " %d", s.Size)
			for _, p := range s.Parts {
				fmt.Fprintf(w, " %s@%d", p.Item.Name.Schema, p.Bit)
			}
			fmt.Fprintln(w)
			hashChecks(w, s.Checks)
		case *Verify:
			fmt.Fprintln(w)
			hashChecks(w, s.Checks)
		case *Branch:
			fmt.Fprintf(w, " %s\n", key(s.Cond))
			hashSteps(w, s.Then)
			fmt.Fprintln(w, " else")
			hashSteps(w, s.Else)
		case *Call:
			fmt.Fprintf(w, " %s %t %d\n", s.Item.Name.Schema, s.Windowed, s.Reserve)
		default:
			fmt.Fprintf(w, " %s\n", firstItem(s).Name.Schema)
		}
	}
}
