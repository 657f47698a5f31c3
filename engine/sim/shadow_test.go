// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

func TestPatternFindsTheFirstWrongByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pattern(rapid.Uint64().Draw(t, "pattern"))
		b := make([]byte, rapid.IntRange(0, 100).Draw(t, "size"))
		p.fill(b)
		if at := p.differs(b); at != -1 {
			t.Fatalf("its own byte %d is wrong", at)
		}
		if len(b) == 0 {
			return
		}
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if got := p.differs(b); got != at {
			t.Fatalf("byte %d is wrong, found was %d", at, got)
		}
	})
}

// shadowOf3 returns a shadow with three complete messages of 10, 0 and 20 bytes in rooms of 16, 4 and 20.
func shadowOf3() *shadow {
	s := newShadow("test", []int{16, 4, 20})
	for i, size := range []int{10, 0, 20} {
		s.extents[i].size, s.extents[i].pattern = size, pattern(i+1)
		s.extents[i].pattern.fill(s.bytes(i))
	}
	return s
}

func TestShadowAcceptsCompleteMessages(t *testing.T) {
	s := shadowOf3()
	if err := s.verify(); err != nil {
		t.Fatal(err)
	}
	s.reuse(0)
	s.reuse(0)
	if err := s.verify(); err != nil {
		t.Errorf("after reuse: %v", err)
	}
}

func TestShadowSeesEveryWrongByte(t *testing.T) {
	size := len(shadowOf3().memory)
	for at := range size {
		s := shadowOf3()
		s.memory[at]++
		if err := s.verify(); !errors.Is(err, ErrViolation) {
			t.Errorf("byte %d of %d is wrong: %v", at, size, err)
		}
		outer := at < guardBytes || at >= size-guardBytes
		if err := s.guards(); errors.Is(err, ErrViolation) != outer {
			t.Errorf("byte %d of %d is wrong, guards say %v", at, size, err)
		}
	}
}

func TestShadowSeesALateWrite(t *testing.T) {
	s := shadowOf3()
	s.reuse(2)
	s.extents[2].pattern.fill(s.bytes(2)) // the message arrives once more
	if err := s.complete(2); !errors.Is(err, ErrViolation) {
		t.Errorf("late write: %v", err)
	}
}

func TestRegionLeavesGuardsOut(t *testing.T) {
	s := shadowOf3()
	r := s.region()
	if len(r) != len(s.memory)-2*guardBytes || cap(r) != len(r) || &r[0] != &s.memory[guardBytes] {
		t.Errorf("region of %d bytes, room for %d, in %d", len(r), cap(r), len(s.memory))
	}
}

func TestTraceSeesTimeKindOrderAndEveryByte(t *testing.T) {
	base := func() trace {
		var tr trace
		tr.add(5, markDelivered, []byte("0123456789abc"))
		tr.add(6, markLost, []byte("xyz"))
		return tr
	}
	seen := map[trace]string{base(): "base"}
	if one, two := base(), base(); one != two {
		t.Fatal("not the same twice")
	}
	for name, change := range map[string]func(*trace){
		"time":  func(tr *trace) { tr.add(6, markDelivered, []byte("0123456789abc")); tr.add(6, markLost, []byte("xyz")) },
		"kind":  func(tr *trace) { tr.add(5, markLost, []byte("0123456789abc")); tr.add(6, markLost, []byte("xyz")) },
		"byte":  func(tr *trace) { tr.add(5, markDelivered, []byte("0123456789abd")); tr.add(6, markLost, []byte("xyz")) },
		"first": func(tr *trace) { tr.add(5, markDelivered, []byte("1123456789abc")); tr.add(6, markLost, []byte("xyz")) },
		"zero": func(tr *trace) {
			tr.add(5, markDelivered, []byte("0123456789abc\x00"))
			tr.add(6, markLost, []byte("xyz"))
		},
		"order": func(tr *trace) { tr.add(6, markLost, []byte("xyz")); tr.add(5, markDelivered, []byte("0123456789abc")) },
		"less":  func(tr *trace) { tr.add(5, markDelivered, []byte("0123456789abc")) },
	} {
		var tr trace
		change(&tr)
		if other, ok := seen[tr]; ok {
			t.Errorf("%s and %s have the same trace", name, other)
		}
		seen[tr] = name
	}
}
