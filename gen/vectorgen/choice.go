// SPDX-License-Identifier: Apache-2.0

package vectorgen

import "github.com/openmetaroce/metaroce/gen"

// choice builds the arm of a switch: the one that the plan picks, else the one that a number leads to which another switch has
// settled, else the first one.
func (m *maker) choice(sc gen.Scope, k *gen.Value) {
	sw := k.Item.Switch
	sel := sc.Resolve(sw.Selector)
	p, ok := m.plan.picks[sw]
	switch {
	case ok:
	case sel != nil && m.settled[sel]:
		p = pick{armOf(sw, sel.Num), sel.Num}
	default:
		p = m.foretold(sc, sw)
	}
	if sel != nil {
		sel.Num = p.label
		m.settle(sel)
	}
	if k.Arm = p.arm; p.arm != nil && p.arm.Struct != nil {
		m.structure(k, p.arm.Struct, sc.Bind(p.arm.Struct, p.arm.Args))
	}
}

// foretold is the pick that a later switch of the same struct asks for by the same number, else the first one.
func (m *maker) foretold(sc gen.Scope, sw *gen.Switch) pick {
	for _, it := range sc.Self.Struct.Items {
		if it.Kind != gen.KindSwitch || it.Switch == sw {
			continue
		}
		if p, ok := m.plan.picks[it.Switch]; ok && sameItem(it.Switch.Selector, sw.Selector) {
			return pick{armOf(sw, p.label), p.label}
		}
	}
	return picksOf(sw)[0]
}

func sameItem(a, b gen.Ref) bool {
	if a.Param != b.Param || len(a.Path) != len(b.Path) {
		return false
	}
	for i, it := range a.Path {
		if it != b.Path[i] {
			return false
		}
	}
	return true
}

func (m *maker) settle(sel *gen.Value) {
	if m.settled == nil {
		m.settled = map[*gen.Value]bool{}
	}
	m.settled[sel] = true
}

// armOf is the arm with a layout that a number leads to; nil when there is none.
func armOf(sw *gen.Switch, n uint64) *gen.Arm {
	var other *gen.Arm
	for _, a := range sw.Arms {
		if len(a.Labels) == 0 {
			other = a
		}
		for _, r := range a.Labels {
			if r.First <= n && n <= r.Last {
				return laidOut(a)
			}
		}
	}
	return laidOut(other)
}

func laidOut(a *gen.Arm) *gen.Arm {
	if a == nil || a.Reject != nil {
		return nil
	}
	return a
}

// shares tells whether another switch of the same struct selects by the same number, so that some picks cannot be made.
func shares(sw *gen.Item) bool {
	for _, it := range sw.Owner.Items {
		if it != sw && it.Kind == gen.KindSwitch && sameItem(it.Switch.Selector, sw.Switch.Selector) {
			return true
		}
	}
	return false
}

// wanted tells whether the plan asks for an optional item, or for another one that is only there together with it.
func (m *maker) wanted(item *gen.Item) bool {
	for _, it := range item.Owner.Items {
		if m.plan.with[it] && needs(it.When, item.When) {
			return true
		}
	}
	return false
}

// needs tells whether a condition joins another one.
func needs(e, part *gen.Expr) bool {
	return e == part || e != nil && e.Op == gen.OpAndAnd && (needs(e.Args[0], part) || needs(e.Args[1], part))
}
