// SPDX-License-Identifier: Apache-2.0

package path

import (
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/mono"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// A path on which a network clears ECN is blind. When it comes back over another route, that one is judged by what arrives on it
// alone, be it clean or not.
//
//mr:test MR-CC-006 MR-FAIL-005
func TestReturningPathTriesMarksAnew(t *testing.T) {
	for name, cleared := range map[string]bool{"the new route is clean": false, "the new route clears, too": true} {
		p := New(0, Route{}, testConfig(32, 0))
		now, notECT := mono.Time(0), uint32(0)
		send := func(n int, cleared bool) {
			for range n {
				s := p.Record(now, Moved{Size: 100})
				if cleared {
					notECT++
				}
				now = now.Add(time.Millisecond)
				p.Ack(now, &wire.PathAck{
					Base: s.PSN + 1, Largest: s.TSN, Packets: uint32(p.Sent.Packets), HasCounters: true,
					Counters: wire.PathCounters{NotEct: notECT},
				}, 0, nil)
			}
		}
		if send(20, true); !p.Blind() {
			t.Fatal("a path without ECN is not blind")
		}
		p.Fail(now, Route{}, nil)
		probe := p.Probe(now)
		now = now.Add(time.Millisecond)
		p.Ack(now, &wire.PathAck{
			Base: probe.PSN, Largest: probe.TSN, Packets: uint32(p.Sent.Packets), HasCounters: true,
			Counters: wire.PathCounters{NotEct: notECT},
		}, 0, nil)
		if p.Down() || p.Blind() {
			t.Errorf("%s: it comes back out of service %v, blind %v", name, p.Down(), p.Blind())
		}
		if send(15, cleared); p.Blind() {
			t.Errorf("%s: it is blind after 15 packets", name)
		}
		if send(25, cleared); p.Blind() != cleared {
			t.Errorf("%s: blind: %v", name, p.Blind())
		}
	}
}

// Every second probe of a silent path leaves as Not-ECT. When nothing else is heard between, the fourth one that is acknowledged
// blinds the path, the third does not; anything else that is heard begins the count anew.
//
//mr:test MR-CC-017
func TestPlainProbesTellWhatECTSuffers(t *testing.T) {
	for name, c := range map[string]struct {
		silences int
		heard    int // after so many of them a packet with the codepoint is heard; 0 = never
		blind    bool
	}{
		"three": {3, 0, false}, "four": {4, 0, true}, "five": {5, 0, true}, "three, and three": {6, 3, false}, "two, and four": {6, 2, true},
	} {
		p := New(0, Route{}, testConfig(32, 0))
		now := mono.Time(1)
		p.Record(now, Moved{Size: 100})
		for n := 1; n <= c.silences; n++ {
			for plain := false; !plain; {
				now = p.Deadline()
				if p.Expire(now); p.HasLost() {
					p.Resend(now, p.ledger.lost.head)
				}
				want := p.timer.unanswered%2 == 0 && !p.Blind()
				s := p.Probe(now)
				if plain = s.Plain; plain != want {
					t.Fatalf("%s: probe %d of silence %d leaves as Not-ECT: %v", name, p.timer.unanswered, n, plain)
				}
				if plain || p.Blind() {
					p.Ack(now, &wire.PathAck{Base: p.ledger.floor, Largest: s.TSN}, 0, nil)
					break
				}
			}
			if n == c.heard {
				s := p.Probe(now)
				p.Ack(now, &wire.PathAck{Base: p.ledger.floor, Largest: s.TSN}, 0, nil)
			}
			if p.HasLost() {
				p.Resend(now, p.ledger.lost.head)
			}
		}
		if p.Blind() != c.blind {
			t.Errorf("%s: blind: %v", name, p.Blind())
		}
	}
}
