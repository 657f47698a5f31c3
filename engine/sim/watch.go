// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Meet is something that a run may come across. A soak that never does proves nothing about it.
type Meet uint8

// What runs come across.
const (
	metWrap         Meet = iota // numbers began again at 0
	metWindowFull               // a connection had as much in flight as its window allows
	metLeastWindow              // a path's window was one packet
	metNoReceive                // a message found no posted receive
	metPathDown                 // a path went out of service
	metPathBack                 // and came back
	metPlaneDown                // a plane carried nothing, and all its paths went out of service
	metRestart                  // a host noticed that its peer had forgotten the connection
	metDeregistered             // an operation failed because its memory had been taken back
	metCanceled                 // an operation ended because it was cancelled
	metLate                     // an operation ended because its time was over
	metAborted                  // a receiver heard that a stream had been aborted
	metHintAged                 // data was sent longer after the last hint than hints hold
	metCookie                   // a cookie was rejected
	metFull                     // a queue dropped its tail
	metDuplicate                // a receiver reported duplicates: the sender had taken reordering for loss
	metFloor                    // chunks moved to other paths, below the floor of theirs
	metPartialWord              // a SACK ended within a word
	metLastBit                  // a SACK used its last bit
	metTrimmed                  // a receiver reported a trimmed packet
	meets           = iota
)

var meetNames = [meets]string{
	"wrap", "window full", "least window", "no receive posted", "path down", "path back", "plane down", "restart noticed",
	"memory taken back in flight", "cancelled in flight", "deadline passed", "stream aborted", "hint expired", "cookie rejected",
	"queue full", "duplicates reported", "floor used", "SACK with a partial word", "SACK with all 256 bits", "trimmed packet reported",
}

func (m Meet) String() string { return meetNames[m] }

// Meets lists everything that a run may come across.
func Meets() []Meet {
	list := make([]Meet, meets)
	for i := range list {
		list[i] = Meet(i)
	}
	return list
}

// sampleTurns is the number of turns of a host between two looks at its counters.
const sampleTurns = 64

// watch looks at packets that arrive.
type watch struct {
	met    *[meets]uint64
	space  wire.Space
	hinted [2]instant       // by host that has heard it: when the last hint came
	rtt    [2]time.Duration // by host: the longest round-trip time of its paths when last looked at
	last   [2][]uint32      // by sender and path: the PSN that came last
	packet wire.Packet      // scratch
}

func newWatch(cfg *Config, met *[meets]uint64) watch {
	bits := cfg.Engine.SeqBits
	if bits == 0 {
		bits = 32
	}
	w := watch{met: met, space: wire.Space(bits)}
	for i := range w.last {
		w.last[i] = make([]uint32, engine.MaxPaths)
	}
	return w
}

// arrived looks at a packet that is whole.
func (w *watch) arrived(now instant, p *packet) {
	if len(p.data) < wire.BaseSize+4 {
		return
	}
	to := 1 - p.from
	switch o := wire.Opcode(p.data[1]); {
	case o == wire.OpcodeAck || o == wire.OpcodeNotice:
		if _, err := w.packet.Decode(p.data); err != nil || w.packet.Base.Secure {
			return
		}
		if o == wire.OpcodeAck {
			w.ack(now, &w.packet.Plain.Ack, to)
			return
		}
		switch w.packet.Plain.Notice.Code {
		case wire.NoticeCodeNoReceive:
			w.met[metNoReceive]++
		case wire.NoticeCodeTrimmed:
			w.met[metTrimmed]++
		}
	case o >= wire.OpcodeWrite && o < wire.OpcodeAck:
		w.data(now, p)
	}
}

// data looks at a sequenced packet.
func (w *watch) data(now instant, p *packet) {
	var base wire.Base
	if _, err := base.Decode(p.data); err != nil {
		return
	}
	last := &w.last[p.from][base.Path%engine.MaxPaths]
	if *last > base.Psn && w.space.Diff(base.Psn, *last) > 0 {
		w.met[metWrap]++
	}
	*last = base.Psn
	if h, rtt := w.hinted[p.from], w.rtt[p.from]; h > 0 && rtt > 0 && now-h > instantOf(hintLife*rtt) {
		w.met[metHintAged]++
	}
}

// sackBits is the length of a SACK.
const sackBits = 256

// hintLife is how many round trips a hint holds.
const hintLife = 8

func (w *watch) ack(now instant, a *wire.BodyAck, to uint8) {
	const noHint = 1<<32 - 1
	if a.Ack.Rate != noHint {
		w.hinted[to] = now
	}
	for i := range a.Blocks {
		b := &a.Blocks[i]
		if b.HasCounters && b.Counters.Duplicates > 0 {
			w.met[metDuplicate]++
		}
		if !b.HasSack {
			continue
		}
		if b.Sack.Test(sackBits - 1) {
			w.met[metLastBit]++
		}
		highest := -1
		for bit := range sackBits {
			if b.Sack.Test(bit) {
				highest = bit
			}
		}
		if highest%64 != 63 {
			w.met[metPartialWord]++
		}
	}
}

// sample looks at the counters of a host's newest connection.
func (r *run) sample(h *host) {
	s := r.current()
	stats, ok := h.endpoint.ConnStats(s.ends[h.index].conn)
	if !ok {
		return
	}
	packet := r.config.Engine.Chunk + engine.Overhead
	if stats.InFlight > 0 && stats.InFlight+packet > stats.Window {
		r.result.Met[metWindowFull]++
	}
	for i := range stats.Paths {
		p := &stats.Paths[i]
		if p.Window <= packet {
			r.result.Met[metLeastWindow]++
		}
		r.watch.rtt[h.index] = max(r.watch.rtt[h.index], p.RTT)
	}
}

// meet adds what is known at the end of a run.
func (r *run) meet() {
	met := &r.result.Met
	met[metFull] += r.network.stats.Overflowed
}
