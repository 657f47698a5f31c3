// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// claim is an opener that claims somebody else's address on plane 1, and guesses what the challenge that goes there says.
type claim struct {
	p       *pair
	route   engine.Route // as the acceptor sees it
	last    wire.Packet  // of the opener on that plane
	victim  int          // bytes that went to the address
	largest int          // packet that went there
	guesses int
}

func (c *claim) drop(from int, d engine.Datagram) bool {
	if !onPlane(d, 1) {
		return false
	}
	if from == 1 {
		c.victim += len(d.Bytes)
		c.largest = max(c.largest, len(d.Bytes))
		c.guess()
		return true
	}
	if _, err := c.last.Decode(d.Bytes); err != nil {
		c.p.t.Fatal(err)
	}
	c.p.ends[1].HandleDatagram(c.p.now, engine.Datagram{Route: c.route, Bytes: d.Bytes})
	return true
}

// guess answers a challenge that it has not seen.
func (c *claim) guess() {
	w := c.last
	if w.Base.Version == 0 {
		return
	}
	w.Base.Opcode, w.Base.AckRequest = wire.OpcodeProbeReply, false
	for token := range uint64(4) {
		c.guesses++
		w.Base.Tsn = c.last.Base.Tsn + uint32(c.guesses)
		w.Plain.ProbeReply = wire.Probe{Token: token * 0x123456789}
		b, err := w.Append(nil)
		c.p.must(err)
		c.p.ends[1].HandleDatagram(c.p.now, engine.Datagram{Route: c.route, Bytes: b})
	}
}

// A guessed answer to a challenge proves nothing: never does a full packet go to the claimed address.
//
//mr:prop P45
//mr:test MR-PLANE-004 MR-PLANE-003
func TestGuessedAnswerProvesNoAddress(t *testing.T) {
	p := newPlanes(t, 2)
	rs := planeRoutes(8, 2)
	c := &claim{p: p, route: engine.Route{Local: rs[1].Remote, Remote: rs[1].Local}}
	p.drop = c.drop
	ids := p.connectOver(rs)
	key, err := p.ends[0].Register(make([]byte, 1<<20), engine.RemoteWrite)
	p.must(err)
	p.must(p.ends[1].Post(p.now, ids[1], engine.Work{Op: engine.OpWrite, Key: key, Data: make([]byte, 1<<20)}))
	p.run("the Write", func() bool { return p.count(1, engine.Completed) == 1 })
	later := p.now.Add(5 * time.Second)
	p.run("probing", func() bool { return p.now >= later })
	t.Logf("%d bytes went to the claimed address, %d guesses", c.victim, c.guesses)
	if c.guesses == 0 {
		t.Error("nothing was guessed")
	}
	if c.victim > 10_000 || c.largest > 200 {
		t.Errorf("%d bytes went to the claimed address, in packets of up to %d", c.victim, c.largest)
	}
}
