// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// textFaults prints the conditions under which bytes are no text of a string, each with its code.
func textFaults(s *gen.Span, bytes string) [][2]string {
	out := [][2]string{{fmt.Sprintf("!utf8.Valid(%s)", bytes), "CodeString"}}
	if s.ASCII {
		out[0][0] = fmt.Sprintf("!isASCII(%s)", bytes)
	}
	if s.Padded {
		out = append(out, [2]string{fmt.Sprintf("!nulPadded(%s)", bytes), "CodePadding"})
	}
	return out
}

// textOf prints the value of a string whose bytes are valid.
func textOf(s *gen.Span, bytes string) string {
	if s.Padded {
		return "untilNul(" + bytes + ")"
	}
	return "string(" + bytes + ")"
}

// misfit prints the condition under which a value cannot be a string of constant size.
func misfit(s *gen.Span, field string) string {
	if s.Padded {
		return fmt.Sprintf("len(%s) > %d", field, s.Fixed)
	}
	return fmt.Sprintf("len(%s) != %d", field, s.Fixed)
}

// text prints the test of a string's value.
func (v *validator) text(it *gen.Item) {
	field := v.sc.self + "." + it.Name.Go
	invalid := fmt.Sprintf("!utf8.ValidString(%s)", field)
	if it.Span.ASCII {
		invalid = fmt.Sprintf("!isASCII(%s)", field)
	}
	v.b.line("if %s {\nreturn fault(CodeString, %q, 0, 0)\n}", invalid, it.Name.Schema)
	if it.Span.Padded {
		v.b.line("if untilNul(%s) != %s {\nreturn fault(CodePadding, %q, 0, 0)\n}", field, field, it.Name.Schema)
	}
}
