// SPDX-License-Identifier: Apache-2.0

package fifo

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Queues that share a pool are as independent as slices.
func TestQueueEqualsSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var pool Pool[int]
		var queues [3]Queue[int]
		var models [3][]int
		n, at := 0, 0
		pick := func(t *rapid.T) (*Queue[int], *[]int) {
			at = rapid.IntRange(0, len(queues)-1).Draw(t, "queue")
			return &queues[at], &models[at]
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				q, model := pick(t)
				pool.Lend(q)
				for range rapid.IntRange(1, 9).Draw(t, "times") {
					n++
					q.Push(n)
					*model = append(*model, n)
				}
			},
			"extend": func(t *rapid.T) {
				q, model := pick(t)
				if item := q.Extend(); *item != 0 {
					t.Fatalf("a new item is %d", *item)
				}
				*model = append(*model, 0)
			},
			"pop": func(t *rapid.T) {
				q, model := pick(t)
				item, ok := q.Pop()
				if ok != (len(*model) > 0) || ok && item != (*model)[0] {
					t.Fatalf("popped %d, %v from %v", item, ok, *model)
				}
				if ok {
					*model = (*model)[1:]
				}
				pool.Reclaim(q)
			},
			"remove": func(t *rapid.T) {
				if q, model := pick(t); len(*model) > 0 {
					i := rapid.IntRange(0, len(*model)-1).Draw(t, "place")
					q.Remove(i)
					*model = slices.Delete(slices.Clone(*model), i, i+1)
				}
			},
			"clear": func(t *rapid.T) {
				q, model := pick(t)
				q.Clear()
				*model = nil
				q.Rest()
			},
			"": func(t *rapid.T) {
				for i := range queues {
					if q := &queues[i]; q.Len() != len(models[i]) || !slices.Equal(q.Items(), models[i]) {
						t.Fatalf("queue %d holds %v, want %v", i, q.Items(), models[i])
					}
				}
				if q := &queues[at]; q.Len() > 0 && q.Front() != models[at][0] {
					t.Fatalf("%d is in front of %v", q.Front(), models[at])
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
	steady := func() {
		for range 100 {
			q.Pop()
			q.Push(1)
		}
	}
	steady()
	if n := testing.AllocsPerRun(100, steady); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// A queue that fills up takes the memory of one that has run empty.
func TestPoolServesManyQueuesWithTheMemoryOfOne(t *testing.T) {
	var pool Pool[int]
	var queues [8]Queue[int]
	inTurn := func() {
		for i := range queues {
			q := &queues[i]
			pool.Lend(q)
			for n := range 100 {
				q.Push(n)
			}
			for range 100 {
				q.Discard()
			}
			pool.Reclaim(q)
		}
	}
	inTurn()
	if n := testing.AllocsPerRun(10, inTurn); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// What a pool keeps while no queue needs it is bounded.
func TestPoolKeepsNoMoreThanItsBound(t *testing.T) {
	for most, want := range map[int]int{0: 12, 7: 4, 8: 8, 9: 8} {
		pool := Pool[int]{Most: most}
		var queues [3]Queue[int]
		for i := range queues {
			for n := range 4 {
				queues[i].Push(n)
			}
		}
		for range 3 {
			for i := range queues {
				for queues[i].Len() > 0 {
					queues[i].Pop()
				}
				pool.Reclaim(&queues[i])
			}
			kept := 0
			for _, items := range pool.spare {
				kept += cap(items)
			}
			if kept != want || kept != pool.room {
				t.Fatalf("with a bound of %d items room for %d is kept, counted are %d", most, kept, pool.room)
			}
			for i := range queues {
				pool.Lend(&queues[i])
				for n := range 4 {
					queues[i].Push(n)
				}
			}
		}
	}
}
