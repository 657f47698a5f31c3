// SPDX-License-Identifier: Apache-2.0

package gogen

import "github.com/openmetaroce/metaroce/gen"

// optional is the condition under which a solved item follows from its measure. Where that is absent, the item keeps what it
// has. nil = always: the measure is always there, or its own presence follows from what is computed.
func (so solved) optional() *gen.Expr {
	if so.by.Whole != nil || so.by.Of.Last().Sized != nil {
		return nil
	}
	when := so.by.Of.Last().When
	if when == nil || readsAny(when, func(it *gen.Item) bool { return it == so.item() || it.Scalar != nil && it.Scalar.Derived != nil }) {
		return nil
	}
	return when
}

// readsAny tells whether an expression reads an item of a kind.
func readsAny(e *gen.Expr, kind func(*gen.Item) bool) bool {
	if it := e.Ref.Last(); it != nil && kind(it) {
		return true
	}
	for _, a := range e.Args {
		if readsAny(a, kind) {
			return true
		}
	}
	return false
}

// settleOrder puts solved items behind those on which the presence of their measures depends.
func settleOrder(all []solved) []solved {
	var out []solved
	for len(all) > 0 {
		next := 0
		for i, so := range all {
			when := so.optional()
			waits := when != nil && readsAny(when, func(it *gen.Item) bool {
				for _, other := range all {
					if other.item() == it {
						return true
					}
				}
				return false
			})
			if !waits {
				next = i
				break
			}
		}
		out = append(out, all[next])
		all = append(append([]solved(nil), all[:next]...), all[next+1:]...)
	}
	return out
}
