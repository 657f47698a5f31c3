// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// signer makes texts that stand for layouts and expressions without their names. It keeps those of structs.
type signer map[*gen.Struct]string

// structure is the sign of a struct: all that decides its bytes, the structs in it included.
func (s signer) structure(st *gen.Struct) string {
	if st == nil {
		return "nothing"
	}
	if sign, ok := s[st]; ok {
		return sign
	}
	s[st] = "recursive" // cannot be: nesting ends
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d %t\n", st.Min, st.Max, st.Greedy)
	for _, x := range gen.Places(st) {
		f := s.itemFact(st, x)
		for _, a := range f.attrs {
			if a.class != Wire {
				continue
			}
			if a.sign != "" {
				a.text = a.sign
			}
			fmt.Fprintf(&b, "%s=%s;", a.name, a.text)
		}
		b.WriteByte('\n')
		if x.Item.Switch == nil {
			continue
		}
		for _, a := range x.Item.Switch.Arms {
			fmt.Fprintf(&b, "%s %t %s\n", ranges(a.Labels), a.Reject != nil, s.structure(a.Struct))
		}
	}
	var held []string
	for _, k := range rules(st) {
		held = append(held, s.expr(k.Hold))
	}
	slices.Sort(held)
	sum := sha256.Sum256([]byte(b.String() + strings.Join(held, "\n")))
	s[st] = hex.EncodeToString(sum[:8])
	return s[st]
}

// typ is the sign of an item's type.
func (s signer) typ(it *gen.Item) string {
	switch it.Kind {
	case gen.KindScalar, gen.KindReserved:
		if it.Scalar.Sum != nil {
			return s.sum(it.Scalar.Sum.Sum)
		}
		return it.Scalar.NumberText()
	case gen.KindStruct:
		return s.structure(it.Struct)
	case gen.KindArray:
		if it.Array.Struct != nil {
			return "array of " + s.structure(it.Array.Struct)
		}
		return "array of " + it.Array.Scalar.NumberText()
	case gen.KindSpan:
		return fmt.Sprint("span ", it.Span.Kind, it.Span.Fixed, it.Span.Align, it.Span.ASCII, it.Span.Padded)
	case gen.KindList:
		return "list" // compared as a declaration of its own
	case gen.KindSwitch:
		return "switch over " + s.ref(it.Switch.Selector)
	}
	return it.TypeText()
}

func (s signer) sum(c *gen.Sum) string {
	return fmt.Sprintf("kind %d, width %d, poly %#x, init %#x, xorout %#x, reflect %t %t, little %t",
		c.Kind, c.Width, c.Poly, c.Init, c.XorOut, c.ReflectIn, c.ReflectOut, c.Little)
}

// cover says what a checksum covers.
// cover is the sign of what a checksum covers.
func (s signer) cover(c *gen.Cover) string {
	text := fmt.Sprint("before ", c.Before, " zero ", c.ZeroNone)
	for _, x := range c.Parts {
		text += fmt.Sprint("; ", x.Kind, " ", x.Count, " ", x.Fill, " ", x.Mask)
		for _, it := range []*gen.Item{x.First, x.Last} {
			if it != nil {
				text += " " + s.ref(gen.Ref{Path: []*gen.Item{it}})
			}
		}
		if x.Param != nil {
			text += " param"
		}
		for _, r := range x.Except {
			text += " except " + s.ref(r)
		}
	}
	return text
}

func (s signer) keys(l *gen.List) string {
	items := l.Keys
	if len(items) == 0 {
		items = []*gen.Item{l.Key}
	}
	var parts []string
	for _, it := range items {
		parts = append(parts, s.ref(gen.Ref{Path: []*gen.Item{it}}))
	}
	return strings.Join(parts, ", ")
}

func (s signer) ending(l *gen.List) string {
	text := "none"
	if l.End != nil {
		text = fmt.Sprint("key ", *l.End)
	}
	for _, b := range l.Bares {
		text += ", bare " + b.Keys.Text()
	}
	if f := l.Fill; f != nil {
		text += fmt.Sprintf(", align %d fill %d ignore %t", f.Align, f.Byte, f.Ignore)
	}
	return text
}

// ref is the sign of a reference: numbers of items instead of names.
func (s signer) ref(r gen.Ref) string {
	text := ""
	if r.Param != nil {
		text = "param "
	}
	for _, it := range r.Path {
		i := -1
		if it.Owner != nil {
			i = slices.Index(it.Owner.Items, it)
		}
		text += fmt.Sprintf("#%d", i)
	}
	return text
}

// expr is the sign of an expression; empty for none.
func (s signer) expr(x *gen.Expr) string {
	if x == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%d", x.Op)
	if x.Value != nil {
		fmt.Fprintf(&b, " %s", x.Value)
	}
	if len(x.Ref.Path) > 0 || x.Ref.Param != nil {
		b.WriteString(" " + s.ref(x.Ref))
	}
	for _, a := range x.Args {
		b.WriteString(" " + s.expr(a))
	}
	if len(x.Set) > 0 {
		b.WriteString(" {" + ranges(x.Set) + "}")
	}
	b.WriteString(")")
	return b.String()
}
