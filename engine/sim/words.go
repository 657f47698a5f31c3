// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/openmetaroce/metaroce/engine"
)

// effect is what an atomic operation does to its word.
type effect struct {
	operand, compare uint64
	before, after    uint64 // the word
	turn             int    // of a fenced operation, among those
}

// words is the memory of atomic operations, with what it must hold. Fenced operations share the first word, because their
// order is known; every other one has a word of its own, which shows whether it happens exactly once.
type words struct {
	shadow   *shadow
	values   []uint64
	fenced   []uint64       // what the first word is after each of the fenced operations
	doubtful map[int]uint64 // by word: what it may be instead, after an operation that failed
}

// newWords draws what the atomic operations of a lane do.
func newWords(l *lane, operations []int, rng *rand.Rand) *words {
	w := &words{values: []uint64{rng.Uint64()}, doubtful: map[int]uint64{}}
	last := w.values[0] // of the first word, once all fenced operations so far are done
	for _, i := range operations {
		o := &l.operations[i]
		o.Size = 0
		o.Fence = o.Fence && !l.troubled
		a := &o.effect
		if o.Fence {
			o.slot, a.before = 0, last
		} else {
			o.slot, a.before = len(w.values), rng.Uint64()
			w.values = append(w.values, a.before)
		}
		a.operand = rng.Uint64()
		a.after = a.before + a.operand
		if o.Op == engine.OpCompareSwap {
			a.compare, a.after = a.before, a.operand
			if half(rng) {
				a.compare, a.after = ^a.before, a.before
			}
		}
		if o.Fence {
			last, a.turn = a.after, len(w.fenced)
			w.fenced = append(w.fenced, last)
		}
	}
	w.shadow = newShadow("words", []int{8 * len(w.values)})
	for i, v := range w.values {
		binary.NativeEndian.PutUint64(w.bytes(i), v)
	}
	return w
}

func (w *words) bytes(i int) []byte { return w.shadow.region()[8*i:][:8] }

// completed judges a complete operation: the word that it reports, and the word that it leaves behind.
func (w *words) completed(o *operation, result uint64) error {
	if result != o.effect.before {
		return violation("word %d was %#x before the operation, reported is %#x", o.slot, o.effect.before, result)
	}
	w.values[o.slot] = o.effect.after
	got := binary.NativeEndian.Uint64(w.bytes(o.slot))
	if o.Fence && slices.Contains(w.fenced[o.effect.turn:], got) {
		return nil // the next one on this word may have been carried out before the application looks
	}
	if got != o.effect.after {
		return violation("word %d is %#x after the operation, must be %#x", o.slot, got, o.effect.after)
	}
	return nil
}

// verify looks at every word and at the guards.
func (w *words) verify() error {
	if w.shadow.sealed != nil {
		return w.shadow.unchanged()
	}
	for i, v := range w.values {
		other, doubt := w.doubtful[i]
		if got := binary.NativeEndian.Uint64(w.bytes(i)); got != v && (!doubt || got != other) {
			return violation("word %d is %#x, must be %#x", i, got, v)
		}
	}
	return w.shadow.guards()
}

// doubt notes that an operation has failed: its word may hold either value.
func (w *words) doubt(o *operation) { w.doubtful[o.slot] = o.effect.after }
