// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// selection is a switch and its printed selector.
type selection struct {
	sw  *gen.Switch
	sel val
}

// printSwitch prints a Go switch over an IR switch: single labels as cases, wide ranges as tests in the default case.
func printSwitch(b *body, s selection, arm func(*gen.Arm), unknown string) {
	var ranged []*gen.Arm
	var rest *gen.Arm
	b.line("switch %s {", s.sel.code)
	for _, a := range s.sw.Arms {
		labels, wide := armLabels(s.sw, a)
		if len(a.Labels) == 0 {
			rest = a
			continue
		}
		if wide {
			ranged = append(ranged, a)
			continue
		}
		b.line("case %s:", labels)
		arm(a)
	}
	b.line("default:")
	if len(ranged) > 0 {
		b.line("switch {")
		for _, a := range ranged {
			labels := armTests(s, a)
			b.line("case %s:", labels)
			arm(a)
		}
		b.line("default:")
	}
	if rest != nil {
		arm(rest)
	} else {
		b.line("%s", unknown)
	}
	if len(ranged) > 0 {
		b.line("}")
	}
	b.line("}")
}

// listedLabels is how long a range of labels may be to be printed number by number.
const listedLabels = 8

// armLabels prints an arm's labels as a case list; wide when one of them is a long range.
func armLabels(sw *gen.Switch, a *gen.Arm) (labels string, wide bool) {
	var list []string
	for _, r := range a.Labels {
		if r.Last-r.First >= listedLabels {
			return "", true
		}
		for n := r.First; ; n++ {
			list = append(list, label(sw, n))
			if n == r.Last {
				break
			}
		}
	}
	return strings.Join(list, ", "), false
}

// label prints a number as the member of the selector's enum that it is.
func label(sw *gen.Switch, n uint64) string {
	if it := sw.Selector.Last(); it != nil && it.Scalar != nil && it.Scalar.Enum != nil {
		for _, m := range it.Scalar.Enum.Members {
			if m.First == n && m.Last == n {
				return it.Scalar.Enum.Name.Go + m.Name.Go
			}
		}
	}
	return fmt.Sprint(n)
}

// armTests prints an arm's labels as one condition.
func armTests(s selection, a *gen.Arm) (cond string) {
	for i, r := range a.Labels {
		if i > 0 {
			cond += " || "
		}
		cond += rangeTest(s, r)
	}
	return cond
}

// rangeTest prints one label; a range member of the selector's enum is asked by its name.
func rangeTest(s selection, r gen.Range) string {
	if it := s.sw.Selector.Last(); it != nil && it.Scalar != nil && it.Scalar.Enum != nil {
		for _, m := range it.Scalar.Enum.Members {
			if m.First == r.First && m.Last == r.Last && m.First != m.Last {
				return s.sel.code + ".Is" + m.Name.Go + "()"
			}
		}
	}
	if r.First == r.Last {
		return s.sel.code + " == " + label(s.sw, r.First)
	}
	return inRange(s.sel, r, ^uint64(0))
}
