// SPDX-License-Identifier: Apache-2.0

package fifo

import (
	"testing"

	"pgregory.net/rapid"
)

func TestQueueEqualsSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[int]
		var model []int
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(*rapid.T) {
				n++
				q.Push(n)
				model = append(model, n)
			},
			"pop": func(t *rapid.T) {
				item, ok := q.Pop()
				if ok != (len(model) > 0) || ok && item != model[0] {
					t.Fatalf("popped %d, %v from %v", item, ok, model)
				}
				if ok {
					model = model[1:]
				}
			},
			"": func(t *rapid.T) {
				if q.Len() != len(model) || len(model) > 0 && q.Front() != model[0] {
					t.Fatalf("length %d, want %v", q.Len(), model)
				}
			},
		})
	})
}

func TestQueueDoesNotAllocateInSteadyState(t *testing.T) {
	var q Queue[int]
	for range 10 {
		q.Push(1)
	}
	if n := testing.AllocsPerRun(100, func() { q.Pop(); q.Push(1) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
