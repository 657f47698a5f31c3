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
		if s.Kind != SumCRC {
			fmt.Fprintf(h, " kind %d\n", s.Kind)
		}
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
	hashRules(w, l)
	for _, c := range l.Cases {
		fmt.Fprintf(w, " case %s %d %t %t %s\n", c.Name.Schema, c.Key, c.Unique, c.Required, structName(c.Struct))
		if c.Keys != nil {
			fmt.Fprintf(w, "  keys %v\n", c.Keys)
		}
		for _, a := range c.Args {
			fmt.Fprintf(w, "  given %s\n", key(a))
		}
	}
}

// hashRules covers the rules that few lists have.
func hashRules(w io.Writer, l *List) {
	for _, p := range l.Params {
		hashParam(w, p)
	}
	for _, it := range l.Keys {
		fmt.Fprintf(w, " key %s\n", it.Name.Schema)
	}
	for _, b := range l.Bares {
		fmt.Fprintf(w, " bare %s %v\n", b.Name.Schema, b.Keys)
	}
	if l.Fill != nil {
		fmt.Fprintf(w, " fill %v\n", *l.Fill)
	}
	if l.Strict {
		fmt.Fprintln(w, " strict")
	}
	if l.Unknown != nil {
		fmt.Fprintf(w, " unknown %d\n", l.Unknown.Number)
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
		if p.Signed {
			fmt.Fprint(w, " signed")
		}
		hashParam(w, p)
	}
	if s.Sized != nil {
		fmt.Fprintf(w, " sized %s\n", key(s.Sized))
	}
	for _, k := range s.Lints {
		fmt.Fprintf(w, " lint %s\n", key(k.Hold))
	}
	for _, it := range s.Items {
		hashItem(w, it)
	}
	hashSteps(w, s.Steps)
}

func hashParam(w io.Writer, p *Param) {
	fmt.Fprintf(w, " param %s %s %d", p.Name.Schema, structName(p.Struct), p.Bits)
	for _, s := range p.Any {
		fmt.Fprintf(w, " or %s", s.Name.Schema)
	}
	if p.Default != nil {
		fmt.Fprintf(w, " default %d", *p.Default)
	}
	fmt.Fprintln(w)
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
		if s.Align > 0 {
			fmt.Fprintf(w, " align %d", s.Align)
		}
		if s.ASCII || s.Padded {
			fmt.Fprintf(w, " ascii %t padded %t", s.ASCII, s.Padded)
		}
	}
	if it.Sized != nil {
		fmt.Fprintf(w, " sized %s", key(it.Sized))
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
	if s.Signed {
		fmt.Fprint(w, " signed")
	}
	if s.Solve != nil {
		fmt.Fprintf(w, " solve %s %d %d", s.Solve.Of, s.Solve.A, s.Solve.B)
		for _, so := range s.Others {
			fmt.Fprintf(w, " solve %s %d %d", so.Of, so.A, so.B)
		}
		if s.Solve.Whole != nil {
			fmt.Fprintf(w, " whole %s", s.Solve.Whole.Name.Schema)
		}
	}
	if s.Sum != nil {
		hashCover(w, s.Sum)
	}
}

func hashCover(w io.Writer, k *Cover) {
	fmt.Fprintf(w, " sum %s %t", k.Sum.Name.Schema, k.Before)
	if k.ZeroNone {
		fmt.Fprint(w, " zero_means none")
	}
	for _, p := range k.Parts {
		fmt.Fprintf(w, " part %d %d %d %v %d", p.Kind, p.Count, p.Fill, p.Except, p.Mask)
		if p.First != nil {
			fmt.Fprintf(w, " %s %s", p.First.Name.Schema, p.Last.Name.Schema)
		}
		if p.Param != nil {
			fmt.Fprintf(w, " %s", p.Param.Name.Schema)
		}
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
		case *Limit:
			fmt.Fprintf(w, " %s\n", key(s.Size))
		case *Window:
			fmt.Fprintf(w, " %s\n", key(s.Size))
			hashSteps(w, s.Body)
		default:
			fmt.Fprintf(w, " %s\n", firstItem(s).Name.Schema)
		}
	}
}
