// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
)

func TestMailboxGivesEachItemOnceAndThenItsEnd(t *testing.T) {
	const takers, items = 4, 1000
	m := newMailbox[int]()
	var wait sync.WaitGroup
	seen := make([][]int, takers)
	for i := range takers {
		wait.Go(func() {
			for {
				item, err := m.take(context.Background())
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Errorf("%v", err)
					}
					return
				}
				seen[i] = append(seen[i], item)
			}
		})
	}
	for i := range items {
		m.put(i)
	}
	m.close(io.EOF)
	m.close(io.ErrUnexpectedEOF)
	m.put(-1)
	wait.Wait()
	total := map[int]int{}
	for _, list := range seen {
		for i, item := range list {
			total[item]++
			if i > 0 && list[i-1] >= item {
				t.Errorf("%d after %d", item, list[i-1])
			}
		}
	}
	if len(total) != items || total[-1] != 0 {
		t.Errorf("%d different items of %d", len(total), items)
	}
}

func TestSlotsUseNumbersAgain(t *testing.T) {
	var s slots[string]
	a, b := s.put("a"), s.put("b")
	if item, ok := s.take(a); item != "a" || !ok {
		t.Errorf("%q, %v", item, ok)
	}
	if _, ok := s.take(a); ok {
		t.Error("taken twice")
	}
	if c := s.put("c"); c != a {
		t.Errorf("number %d instead of %d", c, a)
	}
	if _, ok := s.take(b + 1); ok {
		t.Error("took what was never put")
	}
	if all := s.drain(); len(all) != 2 || all[0] != "c" || all[1] != "b" {
		t.Errorf("%v", all)
	}
}
