// SPDX-License-Identifier: Apache-2.0

package stream

import "testing"

// Whatever order chunks of many messages come in, what is held is what is not delivered, and what is kept for later is
// bounded by what was set aside.
//
//mr:test MR-STREAM-033
//mr:prop P43
func TestMemoryHoldsWhatIsNotDelivered(t *testing.T) {
	const chunks, messages = 200, 20
	cfg := &Config{Chunk: 8, Window: messages, Span: 1000}
	memory := NewMemory(600)
	s := NewIncoming(1, cfg, &memory)
	for round := range uint32(3) {
		for place := range uint32(messages) {
			number := round*messages + (place*7+3)%messages
			for n := range uint32(chunks) {
				h := Header{Op: Write, Number: number, Offset: 8 * ((n*13 + 5) % chunks), Length: 8 * chunks, Payload: 8}
				f, before := s.Examine(&h), memory.Held()
				if f.Verdict != Place {
					t.Fatalf("%+v: %+v", h, f)
				}
				ends := n == chunks-1
				if s.Placed(&h); !ends && memory.Held() != before+f.Needs {
					t.Fatalf("%+v: %d bytes were held, %d more were needed, now it is %d", h, before, f.Needs, memory.Held())
				}
				if memory.Held() != s.Held() {
					t.Fatalf("%d bytes are held, messages say %d", memory.Held(), s.Held())
				}
			}
		}
		kept := 0
		for _, m := range memory.free {
			kept += m.got.bytes()
		}
		if memory.Held() != 0 || kept != memory.kept || kept > 600 || kept == 0 {
			t.Errorf("at the end %d bytes are held and %d kept, counted as %d", memory.Held(), kept, memory.kept)
		}
	}
	if memory.Rest(); memory.kept != 0 || !memory.Affords(600) || memory.Affords(601) {
		t.Errorf("after a rest %+v", memory)
	}
}
