// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
)

// atomicLane returns a lane of six atomic operations, the first three of them fenced.
func atomicLane(seed uint64) *lane {
	return newLane(&Config{Streams: []Stream{{Messages: []Message{
		{Op: engine.OpFetchAdd, Fence: true}, {Op: engine.OpCompareSwap, Fence: true}, {Op: engine.OpFetchAdd, Fence: true},
		{Op: engine.OpFetchAdd}, {Op: engine.OpCompareSwap}, {Op: engine.OpFetchAdd},
	}}}}, 0, concern(seed, concernMessages))
}

// execute does to memory what the peer's engine does, and returns the word before.
func execute(l *lane, i int) uint64 {
	l.sender.posted = i
	w := l.work()
	word := l.words.shadow.region()[w.At:][:8]
	before := binary.NativeEndian.Uint64(word)
	switch {
	case w.Op == engine.OpFetchAdd:
		binary.NativeEndian.PutUint64(word, before+w.Operand)
	case before == w.Compare:
		binary.NativeEndian.PutUint64(word, w.Operand)
	}
	return before
}

func TestWordsAcceptOperationsDoneOnce(t *testing.T) {
	swaps := map[bool]int{}
	for seed := range uint64(20) {
		l := atomicLane(seed)
		for _, i := range []int{4, 0, 1, 5, 2, 3} { // those without a fence in any order
			o := &l.operations[i]
			if o.Op == engine.OpCompareSwap {
				swaps[o.effect.before != o.effect.after]++
			}
			if err := l.words.completed(o, execute(l, i)); err != nil {
				t.Fatalf("seed %d, operation %d: %v", seed, i, err)
			}
		}
		if err := l.words.verify(); err != nil {
			t.Fatal(err)
		}
	}
	if swaps[true] == 0 || swaps[false] == 0 {
		t.Errorf("%d swaps succeed, %d fail; want some of both", swaps[true], swaps[false])
	}
}

func TestWordsRefuseWhatDidNotHappenExactlyOnce(t *testing.T) {
	for name, wrong := range map[string]func(l *lane) error{
		"not at all":   func(l *lane) error { return l.words.completed(&l.operations[0], l.operations[0].effect.before) },
		"twice":        func(l *lane) error { execute(l, 3); return l.words.completed(&l.operations[3], execute(l, 3)) },
		"twice, later": func(l *lane) error { execute(l, 3); execute(l, 3); return l.words.verify() },
		"wrong result": func(l *lane) error { return l.words.completed(&l.operations[0], execute(l, 0)+1) },
		"out of order": func(l *lane) error { return l.words.completed(&l.operations[2], execute(l, 2)) },
		"beside the words": func(l *lane) error {
			l.words.shadow.memory[0]++
			return l.words.verify()
		},
	} {
		if err := wrong(atomicLane(1)); !errors.Is(err, ErrViolation) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadsLandInMemoryOfTheirOwn(t *testing.T) {
	l := newLane(&Config{Streams: []Stream{{Messages: []Message{{Op: engine.OpRead, Size: 100}, {Op: engine.OpRead}, {Op: engine.OpRead, Size: 7}}}}}, 0, concern(1, 1))
	for i := range l.operations {
		o := &l.operations[i]
		l.sender.posted = i
		w := l.work()
		if err := l.landed(o, 0); o.Size > 0 && !errors.Is(err, ErrViolation) {
			t.Errorf("read %d, not yet done: %v", i, err)
		}
		copy(w.Into, l.library.region()[w.At:][:o.Size])
		if err := l.landed(o, 0); err != nil {
			t.Errorf("read %d: %v", i, err)
		}
	}
	for _, s := range []*shadow{l.into, l.library} {
		if err := s.verify(); err != nil {
			t.Error(err)
		}
	}
}

func TestPiecesMakeUpTheMessage(t *testing.T) {
	for pieces := range 6 {
		l := newLane(&Config{Streams: []Stream{{Messages: []Message{{Op: engine.OpSend, Size: 11, Pieces: pieces}}}}}, 0, concern(1, 1))
		w := l.work()
		whole := append([]byte(nil), w.Data...)
		for _, p := range w.Pieces {
			whole = append(whole, p...)
		}
		if len(w.Pieces) != pieces || len(whole) != 11 || l.operations[0].pattern.differs(whole) >= 0 {
			t.Errorf("%d pieces asked for: %d, %d bytes", pieces, len(w.Pieces), len(whole))
		}
	}
}
