// SPDX-License-Identifier: Apache-2.0

package luagen

import "github.com/openmetaroce/metaroce/gen"

// place is an item inside a run, nested structs opened: the path from the struct that owns the run, and the bit offset.
type place struct {
	path []*gen.Item
	bit  int
}

func (p place) last() *gen.Item { return p.path[len(p.path)-1] }

// width is the item's size in bits.
func (p place) width() int { return widthOf(p.last()) }

func widthOf(it *gen.Item) int {
	switch it.Kind {
	case gen.KindScalar, gen.KindReserved:
		return it.Scalar.Bits
	case gen.KindBits:
		return it.Vector.Bits
	case gen.KindSpan:
		return 8 * it.Span.Fixed
	}
	return 8 * it.Struct.Max
}

// window is the range of whole bytes that holds the item: first byte and number of bytes, from the start of the run.
func (p place) window() (first, size int) {
	first = p.bit / 8
	return first, (p.bit+p.width()+7)/8 - first
}

// leavesOf lists the items of a run without inner structure, in wire order.
func leavesOf(r *gen.Run) []place {
	var out []place
	collect(r, place{}, func(p place) {
		if p.last().Kind != gen.KindStruct {
			out = append(out, p)
		}
	})
	return out
}

// nestedIn lists the structs that a run contains, at any depth, outer ones first.
func nestedIn(r *gen.Run) []place {
	var out []place
	collect(r, place{}, func(p place) {
		if p.last().Kind == gen.KindStruct {
			out = append(out, p)
		}
	})
	return out
}

// collect visits the items of a run that begins at outer, containers before what they hold.
func collect(r *gen.Run, outer place, visit func(place)) {
	for _, part := range r.Parts {
		p := place{append(append([]*gen.Item{}, outer.path...), part.Item), outer.bit + part.Bit}
		visit(p)
		if part.Item.Kind == gen.KindStruct {
			collect(runOf(part.Item.Struct), p, visit)
		}
	}
}

// runOf is the one run of a struct of fixed size; nil when the struct is empty.
func runOf(s *gen.Struct) *gen.Run {
	for _, st := range s.Steps {
		if r, ok := st.(*gen.Run); ok {
			return r
		}
	}
	return &gen.Run{}
}

// inRun reports whether the run reads the item that ref names.
func inRun(r *gen.Run, ref gen.Ref) bool {
	_, ok := placeIn(r, ref)
	return ok
}

// placeIn finds an item of a run by its reference.
func placeIn(r *gen.Run, ref gen.Ref) (place, bool) {
	for _, p := range append(leavesOf(r), nestedIn(r)...) {
		if samePath(p.path, ref.Path) {
			return p, true
		}
	}
	return place{}, false
}

func samePath(a, b []*gen.Item) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// eachRun visits every run of a decode program.
func eachRun(steps []gen.Step, visit func(*gen.Run)) {
	for _, step := range steps {
		switch st := step.(type) {
		case *gen.Run:
			visit(st)
		case *gen.Branch:
			eachRun(st.Then, visit)
			eachRun(st.Else, visit)
		case *gen.Window:
			eachRun(st.Body, visit)
		}
	}
}

// group is a series of neighbouring leaves that one tree range covers.
type group struct {
	first, size int // bytes, from the start of the run
	leaves      []place
}

// maxWindow is the widest range that a numeric mask may cover.
const maxWindow = 4

// groupsOf joins the sub-byte leaves that close on a byte together, up to four bytes; all others stand alone.
// The split parts of a longer series get the smallest window that holds them.
func groupsOf(leaves []place) []group {
	var out []group
	for i := 0; i < len(leaves); {
		j, end := i+1, leaves[i].bit+leaves[i].width()
		for end%8 != 0 && j < len(leaves) {
			end = leaves[j].bit + leaves[j].width()
			j++
		}
		series := leaves[i:j]
		first := series[0].bit / 8
		if size := (end+7)/8 - first; size <= maxWindow {
			out = append(out, group{first, size, series})
		} else {
			for _, p := range series {
				f, n := p.window()
				out = append(out, group{f, n, []place{p}})
			}
		}
		i = j
	}
	return out
}
