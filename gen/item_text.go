// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"strings"
)

// TypeText is the type of an item in few words, much as a schema writes it.
func (it *Item) TypeText() string {
	switch it.Kind {
	case KindScalar:
		return it.Scalar.TypeText()
	case KindReserved:
		return "reserved"
	case KindBits:
		return fmt.Sprintf("%d bits", it.Vector.Bits)
	case KindStruct:
		return it.Struct.Name.Schema
	case KindArray:
		return it.Array.typeText()
	case KindSpan:
		return it.Span.typeText()
	case KindList:
		return it.List.Name.Schema
	}
	return "switch"
}

// TypeText is the name of the scalar's type: that of its enum or checksum, bit, u16, i8 little.
func (s *Scalar) TypeText() string {
	switch {
	case s.Sum != nil:
		return s.Sum.Sum.Name.Schema
	case s.Enum != nil && s.Enum.Bits != s.Bits:
		return s.NumberText() + " as " + s.Enum.Name.Schema
	case s.Enum != nil:
		return s.Enum.Name.Schema
	case s.Flag:
		return "bit"
	}
	return s.NumberText()
}

// NumberText is the layout of the scalar without the name of its type: u16, i8, u32 little.
func (s *Scalar) NumberText() string {
	text := "u"
	if s.Signed {
		text = "i"
	}
	text += fmt.Sprint(s.Bits)
	if s.Little {
		text += " little"
	}
	return text
}

// RangeText writes a range of the scalar's values.
func (s *Scalar) RangeText(r Range) string {
	if s.Signed {
		return fmt.Sprintf("%d … %d", int64(r.First), int64(r.Last))
	}
	if r.First == r.Last {
		return fmt.Sprint(r.First)
	}
	return fmt.Sprintf("%d … %d", r.First, r.Last)
}

// ValueText writes a value of the scalar that is given by its bits.
func (s *Scalar) ValueText(bits uint64) string {
	if s.Signed {
		return fmt.Sprint(signExtend(bits, s.Bits))
	}
	return fmt.Sprint(bits)
}

func (a *Array) typeText() string {
	element := ""
	if a.Struct != nil {
		element = a.Struct.Name.Schema
	} else {
		element = a.Scalar.TypeText()
	}
	if a.Count == nil {
		return element + "[..]"
	}
	return element + "[" + a.Count.Text() + "]"
}

func (s *Span) typeText() string {
	word := map[SpanKind]string{SpanBytes: "bytes", SpanString: "text", SpanPayload: "payload", SpanPad: "padding"}[s.Kind]
	if s.ASCII {
		word = "ASCII " + word
	}
	switch {
	case s.Align > 0:
		return fmt.Sprintf("%s up to a multiple of %d", word, s.Align)
	case s.Padded:
		return fmt.Sprintf("%d %s, padded with NULs", s.Fixed, word)
	case s.Fixed >= 0:
		return fmt.Sprintf("%d %s", s.Fixed, word)
	case s.Size != nil:
		return word + "[" + s.Size.Text() + "]"
	case s.Max >= 0:
		return fmt.Sprintf("%s, %d … %d B", word, s.Min, s.Max)
	}
	return word
}

// Text says what a checksum covers, much as a schema writes it.
func (c *Cover) Text() string {
	if c.Before {
		return "before"
	}
	var parts []string
	for _, x := range c.Parts {
		parts = append(parts, x.text())
	}
	text := strings.Join(parts, ", ")
	if c.ZeroNone {
		text += " zero_means none"
	}
	return text
}

func (x *CoverPart) text() string {
	word := map[byte]string{0: "zeros", 0xff: "ones"}
	text := ""
	switch x.Kind {
	case CoverFill:
		return fmt.Sprintf("%s[%d]", word[x.Fill], x.Count)
	case CoverBefore:
		text = "before"
	case CoverSelf:
		text = "self"
	case CoverParam:
		text = x.Param.Name.Schema
	case CoverItems:
		text = x.First.Name.Schema
		if x.Last != x.First {
			text += ".." + x.Last.Name.Schema
		}
	}
	if len(x.Except) == 0 {
		return text
	}
	var except []string
	for _, r := range x.Except {
		except = append(except, r.Last().Name.Schema)
	}
	return fmt.Sprintf("%s except (%s) as %s", text, strings.Join(except, ", "), word[x.Mask])
}
