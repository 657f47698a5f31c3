// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"math"
	"testing"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
)

// A message of 2^32 - 1 bytes travels from the first chunk to the last. Chunks arrive in pairs, the second one first, and every
// 1000th only after many others; nothing is copied here, since bytes are not the stream's business.
//
//mr:test MR-STREAM-027 MR-STREAM-004
func TestLargestMessageTravels(t *testing.T) {
	for _, chunk := range []uint32{8872, 4096} {
		cfg := &Config{Chunk: chunk, Window: 4, Span: 4096}
		part := make([]byte, 1<<26)
		m := Message{Op: Write, ID: 7}
		for range 1<<6 - 1 {
			m.Pieces = append(m.Pieces, part)
		}
		m.Pieces = append(m.Pieces, part[1:])
		from, to := NewOutgoing(1, cfg, &Budget{Messages: 1}), NewIncoming(1, cfg, new(Memory))
		if err := from.Post(&m); err != nil {
			t.Fatal(err)
		}
		var bytes uint64
		var late []Header
		arrive := func(h Header) {
			if f := to.Examine(&h); f.Verdict != Place {
				t.Fatalf("the chunk at %d of %d: %+v", h.Offset, h.Length, f)
			}
			to.Placed(&h)
			bytes += uint64(h.Payload)
			from.Retire(Ref{Message: h.Number, Chunk: h.Offset / chunk})
		}
		next := func() (h Header, ok bool) {
			var c Chunk
			if hold := from.Next(mono.Time(1), &c); hold != Free {
				return h, false
			}
			from.Take(1)
			return Header{
				Op: Write, Number: c.Ref.Message, Offset: c.Offset, Length: c.Length, Payload: uint32(len(c.Payload)),
			}, true
		}
		for n := 0; ; n++ {
			first, ok := next()
			if !ok && len(late) == 0 {
				break
			}
			second, more := next()
			if more {
				arrive(second)
			}
			if ok && n%1000 == 0 {
				late = append(late, first)
			} else if ok {
				arrive(first)
			}
			if len(late) > 0 && (!ok || n%1000 == 999) {
				arrive(late[0])
				late = late[1:]
			}
		}
		d, ok := from.NextDone()
		if !ok || d.ID != 7 || d.Err != nil || bytes != math.MaxUint32 || to.Begun() != 0 || to.Expected() != 0 {
			t.Errorf("chunks of %d: done %v %+v, %d bytes, %d begun, %d expected", chunk, ok, d, bytes, to.Begun(), to.Expected())
		}
	}
}
