// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// elements are the keys and the values that a cursor visits.
func elements(c *ParametersCursor) (keys []uint8, values [][]byte) {
	for head, value, ok := c.Next(); ok; head, value, ok = c.Next() {
		keys, values = append(keys, head.Type()), append(values, value)
	}
	return keys, values
}

func TestCursorVisitsWhatAppendWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := GenParameters().Draw(t, "parameters")
		src, err := first.Append(nil)
		if err != nil {
			return
		}
		c := ScanParameters(src)
		keys, values := elements(&c)
		if c.Err() != nil || !slices.IsSorted(keys) {
			t.Fatalf("keys %v, %v", keys, c.Err())
		}
		addresses := 0
		for i, key := range keys {
			if key == ParametersKeyAddress {
				var a ParametersAddress
				if _, err := a.Decode(values[i]); err != nil || a != first.Address[addresses] {
					t.Fatalf("address %d: %+v, %v", addresses, a, err)
				}
				addresses++
			}
		}
		if addresses != len(first.Address) || slices.Contains(keys, ParametersKeyCookie) != first.CookiePresent {
			t.Fatalf("keys %v of %+v", keys, first)
		}
		var all []uint8
		for head := range ScanParameters(src).All() {
			all = append(all, head.Type())
		}
		if !slices.Equal(all, keys) {
			t.Fatalf("All yields %v, Next %v", all, keys)
		}
	})
}

func TestCursorStopsAtElementsThatDoNotFit(t *testing.T) {
	whole := []byte{200, 0, 0, 3, 1, 2, 3, 0, 201, 0, 0, 0}
	for n := range len(whole) + 1 {
		c := ScanParameters(whole[:n])
		keys, _ := elements(&c)
		if short := n != 0 && n != 8 && n != 12; errors.Is(c.Err(), ErrShort) != short {
			t.Errorf("%d bytes: keys %v, %v", n, keys, c.Err())
		}
	}
	c := ScanParameters([]byte{200, 1, 0, 0})
	if keys, _ := elements(&c); len(keys) > 0 || !errors.Is(c.Err(), ErrReserved) {
		t.Errorf("reserved bits: %v", c.Err())
	}
}

func TestCursorDoesNotAllocate(t *testing.T) {
	src := []byte{200, 0, 0, 3, 1, 2, 3, 0, 201, 0, 0, 0}
	visited := 0
	if n := testing.AllocsPerRun(100, func() {
		c := ScanParameters(src)
		for _, _, ok := c.Next(); ok; _, _, ok = c.Next() {
			visited++
		}
		for range ScanParameters(src).All() {
			visited++
		}
	}); n != 0 || visited == 0 {
		t.Errorf("%v allocations, %d elements", n, visited)
	}
}
