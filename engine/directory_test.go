// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"pgregory.net/rapid"
)

// A directory finds what was entered, and nothing else, whatever the ids.
func TestDirectoryEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d directory[uint16]
		model := map[uint16]*uint16{}
		ids := rapid.OneOf(rapid.Uint16Range(0, 40), rapid.Uint16(), rapid.Custom(func(t *rapid.T) uint16 {
			return rapid.Uint16Range(0, 255).Draw(t, "stride") << 8
		}))
		for range rapid.IntRange(0, 300).Draw(t, "streams") {
			id := ids.Draw(t, "id")
			if got := d.get(id); got != model[id] {
				t.Fatalf("stream %d: %p, want %p", id, got, model[id])
			}
			if model[id] == nil {
				model[id] = new(uint16)
				d.add(id, model[id])
			}
		}
		for id, want := range model {
			if d.get(id) != want {
				t.Fatalf("stream %d is lost", id)
			}
		}
		if len(d.list) != len(model) {
			t.Fatalf("%d streams, want %d", len(d.list), len(model))
		}
	})
}
