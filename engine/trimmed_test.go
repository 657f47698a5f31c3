// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// A packet that a switch cuts short is sent again within a round trip, also when nothing follows it, and changes nothing
// at the receiver.
//
//mr:test MR-LOSS-014
func TestTrimmedPacketIsSentAgainAtOnce(t *testing.T) {
	p := newPair(t, engine.Config{Chunk: 1024, InitialRTT: 10 * time.Millisecond, MinRTO: 10 * time.Millisecond})
	ids := p.connect(2)
	memory := make([]byte, 1024)
	key, err := p.ends[1].Register(memory, engine.RemoteWrite)
	p.must(err)
	cut := 0
	p.drop = func(from int, d engine.Datagram) bool {
		if wire.Opcode(d.Bytes[1]) != wire.OpcodeWrite || cut > 0 {
			return false
		}
		cut++
		d.Bytes = d.Bytes[:64]
		d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
		p.ends[1].HandleDatagram(p.now, d)
		return true
	}
	data := pattern(1024, 8)
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: data}))
	began := p.now
	p.run("the Write", func() bool { return p.count(0, engine.Completed) == 1 })
	if took := p.now.Sub(began); cut != 1 || took > 6*wireDelay {
		t.Errorf("it took %v with %d cut packets", took, cut)
	}
	if !bytes.Equal(memory, data) {
		t.Error("memory differs")
	}
	if n := p.ends[1].Stats().Drops[engine.DropChecksum]; n != 1 {
		t.Errorf("%d packets were dropped for their checksum", n)
	}
}
