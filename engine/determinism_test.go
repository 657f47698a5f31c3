// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
)

// The same seeds, inputs and times give the same datagrams at the same times, to the byte; another seed gives others.
//
//mr:prop P48
func TestOneSeedGivesOneRun(t *testing.T) {
	run := func(seed byte) uint64 {
		h := fnv.New64a()
		p := newPair(t, engine.Config{Chunk: 512, Seed: [32]byte{1: seed}})
		ids := p.connect(8)
		p.lose(1, 0.1)
		lossy := p.drop
		p.drop = func(from int, d engine.Datagram) bool {
			fmt.Fprint(h, p.now, from, d.Route, d.ECN)
			_, err := h.Write(d.Bytes)
			p.must(err)
			return lossy(from, d)
		}
		key, err := p.ends[1].Register(make([]byte, 1<<16), engine.RemoteWrite|engine.RemoteRead)
		p.must(err)
		for i := range uint64(20) {
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: uint16(i % 5), Op: engine.OpWrite, ID: i, Key: key, Data: make([]byte, 5000)}))
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Stream: uint16(i % 3), Op: engine.OpRead, ID: 100 + i, Key: key, Into: make([]byte, 5000)}))
		}
		p.run("operations", func() bool { return p.count(0, engine.Completed) == 40 })
		for end := range p.events {
			fmt.Fprint(h, p.events[end])
		}
		return h.Sum64()
	}
	if a, b := run(1), run(1); a != b {
		t.Errorf("one seed gives %x and %x", a, b)
	}
	if run(1) == run(2) {
		t.Error("the seed changes nothing")
	}
}
