// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/path"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// acks is what the peer should hear of its packets: which paths have news, since when, and where ACKs go.
type acks struct {
	fresh     idSet // paths with something unreported
	repeat    idSet // paths whose last block goes out once more: the first may have been lost
	requested idSet // paths on which an ACK must go out
	count     int   // packets since the last ACK
	due       Time  // of the next ACK
	named     int   // path on which the peer wants its ACKs; -1 = it has named none
	latest    uint16
	from      int // where the next ACK starts to collect blocks
	most      int // blocks of an ACK
}

// manyBlocks is the number of paths with news that makes an ACK due at once.
const manyBlocks = 8

// blockSize is the largest block: PathAck, SACK and counters.
const blockSize = 76

//mr:req MR-WIRE-018
func newAcks(chunk int) acks {
	room := chunk + Overhead - wire.BaseSize - wire.AckSize - 4
	return acks{due: Never, named: -1, most: max(min(room/blockSize, 255), 1)}
}

// feedback notes the path on which the peer wants its ACKs.
func (a *acks) feedback(id uint16) { a.named = int(id) }

// request makes an ACK go out on a path, whatever else does.
func (a *acks) request(id uint16) {
	a.fresh.add(id)
	a.requested.add(id)
	a.latest = id
	a.due = min(a.due, 0)
}

// elicit notes a sequenced packet on a path. every and delay say how long the ACK may be held back.
//
//mr:req MR-ACK-004
func (a *acks) elicit(now Time, id uint16, every int, delay time.Duration) {
	a.fresh.add(id)
	a.latest = id
	a.count++
	if a.count >= every || a.fresh.len() >= manyBlocks {
		a.due = now
		return
	}
	a.due = min(a.due, now.Add(delay))
}

// route is the path of the next ACK.
//
//mr:req MR-ACK-009
func (a *acks) route() (id uint16) {
	if id, ok := a.requested.next(0); ok {
		return id
	}
	if a.named >= 0 {
		return uint16(a.named)
	}
	return a.latest
}

// nextAck writes the blocks that are due; ok is false when none are.
//
//mr:req MR-ACK-007
func (e *Endpoint) nextAck(c *conn) (p *path.Path, ok bool) {
	a := &c.acks
	if a.due > e.now {
		return nil, false
	}
	id := a.route()
	if a.requested.has(id) {
		a.requested.remove(id)
		a.fresh.add(id) // its state goes out on it, be it news or not
	}
	p = c.paths.Get(id)
	if p == nil || !c.pairOn(p).pays(c.limits.chunk) {
		p = c.paths.Get(c.anyPath())
	}
	ack := &e.out.Plain.Ack
	rate, serial := e.grantOf(c)
	ack.Ack = wire.Ack{Rate: rate, HintSerial: serial, SentAt: e.now.Stamp()}
	ack.Blocks = e.collect(c, ack.Blocks[:0], p.ID)
	ack.Ack.Blocks = uint8(len(ack.Blocks))
	switch {
	case !a.requested.empty():
		a.due = 0
	case !a.fresh.empty():
		a.due = e.now
	default:
		a.due, a.count = Never, 0
	}
	return p, len(ack.Blocks) > 0
}

// noHint in Ack.rate: no limit from here.
const noHint = 1<<32 - 1

// collect gathers the blocks of one ACK: the path it travels on first, then fresh ones in turn, then repeats.
//
//mr:req MR-ACK-012
func (e *Endpoint) collect(c *conn, blocks []wire.PathAck, first uint16) []wire.PathAck {
	a := &c.acks
	if a.fresh.has(first) {
		blocks = appendBlock(c, blocks, first)
	}
	for len(blocks) < a.most {
		id, ok := a.fresh.next(a.from)
		if !ok {
			if a.from == 0 {
				break
			}
			a.from = 0
			continue
		}
		a.from = int(id) + 1
		blocks = appendBlock(c, blocks, id)
	}
	for id, ok := a.repeat.next(0); ok && len(blocks) < a.most; id, ok = a.repeat.next(int(id) + 1) {
		if !reportedIn(blocks, id) {
			a.repeat.remove(id)
			blocks = extend(blocks)
			report(c, &blocks[len(blocks)-1], id)
		}
	}
	return blocks
}

// appendBlock reports a path with news, and marks it for one repetition.
//
//mr:req MR-ACK-008 MR-ACK-012
func appendBlock(c *conn, blocks []wire.PathAck, id uint16) []wire.PathAck {
	c.acks.fresh.remove(id)
	p := c.paths.Get(id)
	if p == nil || !p.Tracker().Heard() {
		return blocks
	}
	c.acks.repeat.add(id)
	blocks = extend(blocks)
	report(c, &blocks[len(blocks)-1], id)
	return blocks
}

// extend adds a block in the memory of an earlier one.
func extend(blocks []wire.PathAck) []wire.PathAck {
	if len(blocks) < cap(blocks) {
		return blocks[:len(blocks)+1]
	}
	return append(blocks, wire.PathAck{})
}

func report(c *conn, b *wire.PathAck, id uint16) {
	b.Path = id
	c.paths.Get(id).Tracker().Report(b)
}

func reportedIn(blocks []wire.PathAck, id uint16) bool {
	for i := range blocks {
		if blocks[i].Path == id {
			return true
		}
	}
	return false
}
