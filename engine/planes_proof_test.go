// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// P45, MR-PLANE-004: who claims somebody else's address cannot see the challenge that goes there, and a guessed answer proves
// nothing.
func TestGuessedAnswerProvesNoAddress(t *testing.T) {
	p := newPlanes(t, 2)
	rs := planeRoutes(8, 2)
	victim, guesses := 0, 0
	p.drop = func(from int, d engine.Datagram) bool {
		if !onPlane(d, 1) {
			return false
		}
		if from == 1 {
			victim += len(d.Bytes)
			return true
		}
		claimed := engine.Route{Local: rs[1].Remote, Remote: rs[1].Local}
		p.ends[1].HandleDatagram(p.now, engine.Datagram{Route: claimed, Bytes: d.Bytes})
		var w wire.Packet
		if _, err := w.Decode(d.Bytes); err != nil {
			t.Fatal(err)
		}
		w.Base.Opcode, w.Base.AckRequest = wire.OpcodeProbeReply, false
		w.Base.Tsn++
		for token := range uint64(4) {
			w.Plain.ProbeReply = wire.Probe{Token: token * 0x123456789}
			b, err := w.Append(nil)
			p.must(err)
			p.ends[1].HandleDatagram(p.now, engine.Datagram{Route: claimed, Bytes: b})
			guesses++
		}
		return true
	}
	ids := p.connectOver(rs)
	key, err := p.ends[0].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[1].Post(p.now, ids[1], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
	p.run("the Write", func() bool { return p.count(1, engine.Completed) == 1 })
	later := p.now.Add(5 * time.Second)
	p.run("probing", func() bool { return p.now >= later })
	t.Logf("%d bytes went to the claimed address, %d guesses", victim, guesses)
	if guesses == 0 {
		t.Error("nothing was guessed")
	}
	if victim > 3*guesses*40+2000 {
		t.Errorf("%d bytes went to the claimed address after %d guesses", victim, guesses)
	}
}
