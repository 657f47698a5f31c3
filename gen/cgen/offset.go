// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// offset is the C text of where the item at the end of path starts, counted from the start of struct s, which is decoded
// and whose members sc reaches. It reports failure when that depends on a switch or on parameters.
func (sc scope) offset(s *gen.Struct, path []*gen.Item) (string, bool) {
	text, _, ok := sc.before(s.Steps, path)
	return text, ok
}

// before is the C text of the bytes that steps consume before the item at path; found tells whether it is among them.
func (sc scope) before(steps []gen.Step, path []*gen.Item) (text string, found, ok bool) {
	var terms []string
	for _, s := range steps {
		term, here, ok := sc.stepBefore(s, path)
		if !ok {
			return "", false, false
		}
		if term != "0u" {
			terms = append(terms, term)
		}
		if here {
			found = true
			break
		}
	}
	if len(terms) == 0 {
		return "0u", found, true
	}
	return strings.Join(terms, " + "), found, true
}

func (sc scope) stepBefore(s gen.Step, path []*gen.Item) (text string, found, ok bool) {
	switch s := s.(type) {
	case *gen.Run:
		if len(path) > 0 {
			if bit := bitOf(s.Parts, path); bit >= 0 {
				return fmt.Sprintf("%du", bit/8), true, true
			}
		}
		return fmt.Sprintf("%du", s.Size), false, true
	case *gen.Branch:
		return sc.branchBefore(s, path)
	case *gen.Call:
		return sc.callBefore(s.Item, path)
	case *gen.Take:
		return sc.itemBefore(s.Item, path)
	case *gen.Repeat:
		return sc.itemBefore(s.Item, path)
	case *gen.Elements:
		return sc.itemBefore(s.Item, path)
	case *gen.Window:
		if len(path) > 0 && path[0] == s.Item {
			return sc.before(s.Body, path)
		}
		if readsParam(s.Size) {
			return "", false, false
		}
		return "(size_t)" + group1(sc.num(s.Size)), false, true
	case *gen.Verify, *gen.Limit:
		return "0u", false, true
	}
	return "", false, false
}

func (sc scope) branchBefore(b *gen.Branch, path []*gen.Item) (string, bool, bool) {
	then, inThen, ok1 := sc.before(b.Then, path)
	other, inElse, ok2 := sc.before(b.Else, path)
	switch {
	case inThen && ok1:
		return then, true, true
	case inElse && ok2:
		return other, true, true
	case !ok1 || !ok2 || readsParam(b.Cond):
		return "", false, false
	}
	return fmt.Sprintf("(%s ? %s : %s)", sc.cond(b.Cond), then, other), false, true
}

func readsParam(e *gen.Expr) bool {
	for _, r := range exprRefs(e) {
		if r.Param != nil {
			return true
		}
	}
	return false
}

func (sc scope) callBefore(it *gen.Item, path []*gen.Item) (string, bool, bool) {
	inner := sc
	inner.self = sc.self + it.Name.C + "."
	if len(path) == 0 || path[0] != it {
		return inner.before(it.Struct.Steps, nil)
	}
	if len(path) == 1 {
		return "0u", true, true
	}
	return inner.before(it.Struct.Steps, path[1:])
}

func (sc scope) itemBefore(it *gen.Item, path []*gen.Item) (string, bool, bool) {
	if len(path) > 0 && path[0] == it {
		return "0u", true, len(path) == 1
	}
	ref := gen.Ref{Path: []*gen.Item{it}}
	switch {
	case it.Kind == gen.KindSpan && !stored(it):
		if it.Span.Size == nil || readsParam(it.Span.Size) {
			return "", false, false
		}
		return "(size_t)" + group1(sc.num(it.Span.Size)), false, true
	case it.Kind == gen.KindList:
		return sc.path(ref) + ".len", false, true
	}
	text, ok := sc.measure(&gen.Expr{Op: gen.OpSize, Ref: ref})
	return text, false, ok
}
