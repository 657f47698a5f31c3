// SPDX-License-Identifier: Apache-2.0

package gen

// Bound is an inclusive interval of bits. Max < 0 = bounded by the container only.
type Bound struct{ Min, Max int }

// Exact tells whether the interval is one number.
func (b Bound) Exact() bool { return b.Min == b.Max }

// Place is where one item of a struct may lie and how large it is when it is present.
type Place struct {
	Item  *Item
	Off   Bound // from the start of the struct
	Width Bound
}

// Places lists the items of s in wire order, those of both branches of a condition included.
func Places(s *Struct) []Place {
	var out []Place
	placeSteps(s.Steps, extent{}, func(p Place) { out = append(out, p) })
	return out
}

// bits converts an extent to bits.
func (e extent) bits() Bound {
	if e.max < 0 {
		return Bound{e.min * 8, -1}
	}
	return Bound{e.min * 8, e.max * 8}
}

// placeSteps visits the items of some steps that begin at a place; it returns the place behind them.
func placeSteps(steps []Step, at extent, visit func(Place)) extent {
	for _, s := range steps {
		switch s := s.(type) {
		case *Run:
			placeRun(s, at, visit)
		case *Branch:
			placeSteps(s.Then, at, visit)
			placeSteps(s.Else, at, visit)
		default:
			if it := firstItem(s); it != nil {
				visit(Place{it, at.bits(), stepSize(s).bits()})
			}
		}
		at = at.then(stepSize(s))
	}
	return at
}

func placeRun(r *Run, at extent, visit func(Place)) {
	for _, p := range r.Parts {
		off := at.bits()
		off.Min += p.Bit
		if off.Max >= 0 {
			off.Max += p.Bit
		}
		n := itemBits(p.Item)
		visit(Place{p.Item, off, Bound{n, n}})
	}
}
