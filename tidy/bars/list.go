// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// contests compares times, each contest in the way that bar says.
func contests(compare func(contest) bar) []bar {
	var out []bar
	for _, c := range slices.Concat(decoders(), layerContests(), patches()) {
		out = append(out, compare(c))
	}
	return out
}

// bars are all bars, in the order of the table. What they share in t is removed by the caller.
func bars(t *tool) []bar {
	out := contests((&layouts{t: t}).bar)
	all := &task{t: t, args: func(t *tool) []string { return []string{"gen", "--out", filepath.Join(t.dir, "out")} }}
	large := &task{t: t, args: func(t *tool) []string { return []string{"check", t.schema()} }}
	return append(out,
		bar{"allocations of Decode and Append", "", 0, allocations},
		bar{"worst inlining cost of a getter or setter", "", 40, worstGetter},
		bar{"bounds checks left in views", "", 0, boundsChecks},
		bar{"mrgen gen, all outputs of the project", "ms", 300, all.measure(wall)},
		bar{"mrgen gen, processor time of it", "ms", 300, all.measure(processor)},
		bar{"mrgen check of a schema of 1 MB", "ms", 3000, large.measure(wall)},
		bar{"mrgen check of 1 MB, processor time of it", "ms", 3000, large.measure(processor)},
		bar{"mrgen check of 1 MB, memory of it", "MB", 300, large.measure(memory)},
	)
}

// allocations counts those of reading a packet and writing it anew into a buffer that is large enough.
func allocations() (samples, error) {
	src := writePacket()
	dst := make([]byte, 0, len(src))
	var p wire.Packet
	var failed error
	n := testing.AllocsPerRun(100, func() {
		if _, err := p.Decode(src); err != nil {
			failed = err
		}
		if _, err := p.Append(dst); err != nil {
			failed = err
		}
	})
	return samples{n}, failed
}
