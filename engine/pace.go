// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/cc"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// control is what bounds a connection as a whole: a window of its own, and what the peer has granted.
type control struct {
	window cc.Controller
	pacer  cc.Pacer
	grant  grant
	rtt    time.Duration // of the path heard last
	base   time.Duration // least of all paths
	heard  bool          // base has been measured
	packet int           // bytes of a full one
}

// grant is the peer's hint: a share of its inbound capacity. It only lowers what the window allows, and it ages.
type grant struct {
	rate   uint64 // bit/s of wire bytes; 0 = none
	serial uint16
	known  bool // serial is that of a hint
	until  Time
}

// Bounds of a grant.
const (
	grantLife   = 8   // round trips for which it holds
	grantWindow = 1.5 // base round trips of the granted rate that may be in flight, besides a packet
	slowest     = 64  // base round trips that a packet may take at the least
)

// overheadOnWire is what a link carries of a packet besides the UDP payload: Ethernet, IPv4 and UDP headers, in bytes.
const overheadOnWire = 42

//mr:req MR-CC-004
func newControl(cfg *Config, packet, paths int) control {
	return control{
		packet: packet,
		rtt:    cfg.InitialRTT,
		base:   cfg.InitialRTT,
		window: cfg.Control.New(&cc.Config{
			Initial: min(cfg.MaxWindow, paths*cfg.InitialWindow),
			Least:   packet / slowest,
			Most:    cfg.MaxWindow,
			Step:    connStep * packet,
		}),
	}
}

// connStep is the growth of a connection's window per round, in packets.
const connStep = 8

// allows tells whether a packet of a size may leave now, as far as the connection is concerned. One packet may always be
// in flight; windows below one become gaps.
//
//mr:req MR-CC-004
func (k *control) allows(now Time, flying, size int) bool {
	if flying > 0 && flying+size > k.limit(now) {
		return false
	}
	return k.rate(now) == 0 || k.pacer.Next() <= now
}

// limit is the number of bytes that may be in flight.
//
//mr:req MR-CC-014
func (k *control) limit(now Time) int {
	if !k.granted(now) {
		return k.window.Window()
	}
	share := float64(k.grant.rate) / 8 * k.base.Seconds() * grantWindow
	return min(k.window.Window(), int(share)+k.packet)
}

func (k *control) granted(now Time) bool { return k.grant.rate > 0 && now < k.grant.until }

// rate is the pace in bit/s; 0 = as fast as the window allows.
//
//mr:req MR-CC-013
func (k *control) rate(now Time) uint64 {
	rate := uint64(0)
	if w := k.window.Window(); w < k.packet {
		rate = cc.Rate(w, k.rtt)
	}
	if k.granted(now) && (rate == 0 || k.grant.rate < rate) {
		rate = k.grant.rate
	}
	if rate == 0 {
		return 0
	}
	return max(rate, cc.Rate(k.packet, slowest*k.base))
}

// sent notes a packet that has left.
func (k *control) sent(now Time, size int) {
	if rate := k.rate(now); rate > 0 {
		k.pacer.Sent(now, size+overheadOnWire, rate)
	}
}

// hint takes in the grant of an ACK. An older one than is known changes nothing.
//
//mr:req MR-CC-007
func (k *control) hint(now Time, a *wire.Ack) {
	if k.grant.known && int16(a.HintSerial-k.grant.serial) < 0 {
		return
	}
	k.grant.serial, k.grant.known = a.HintSerial, true
	if a.Rate == noHint {
		k.grant.rate = 0
		return
	}
	k.grant.rate = max(uint64(a.Rate), 1) * 1000
	k.grant.until = now.Add(grantLife * k.rtt)
}

// learn hands the sum of an ACK's feedback to the window. While a grant binds, marks say nothing about this connection's
// own window: the queue that they speak of is the peer's to divide.
//
//mr:req MR-CC-014
func (k *control) learn(now Time, f cc.Feedback) {
	if f.RTT > 0 {
		k.rtt = time.Duration(f.RTT)
	}
	if base := time.Duration(f.Base); base > 0 && (base < k.base || !k.heard) {
		k.base, k.heard = base, true
	}
	if k.granted(now) && k.limit(now) < k.window.Window() {
		f.Marked = 0
	}
	k.window.OnAck(now, f)
}

// gather adds the feedback of one path.
func gather(sum, f *cc.Feedback) {
	sum.Bytes += f.Bytes
	sum.Packets += f.Packets
	sum.Marked += f.Marked
	sum.Lost += f.Lost
	sum.RTT = max(sum.RTT, f.RTT)
	if f.Base > 0 && (sum.Base == 0 || f.Base < sum.Base) {
		sum.Base = f.Base
	}
	sum.Blind = sum.Blind || f.Blind
}

// paced tells whether a packet may leave now, and has the connection woken when only its pace is in the way.
func (e *Endpoint) paced(c *conn, size int) bool {
	if c.control.allows(e.now, c.flying, size) {
		return true
	}
	if next := c.control.pacer.Next(); next > e.now {
		e.touch(c, next)
	}
	return false
}

// grantOf is what the ACKs of a connection say: its share of the inbound capacity.
func (e *Endpoint) grantOf(c *conn) (rate uint32, serial uint16) {
	return e.hints.Share(e.now, uint64(c.id))
}

// observe tells the allocator how much the peer of a connection still has to send.
func (e *Endpoint) observe(c *conn) {
	e.hints.Observe(e.now, uint64(c.id), c.incoming.expected)
}

// hintMemory is how long a silent sender keeps its share, in initial round-trip times.
const hintMemory = 6

// pacedAgain tells whether a resend may leave now. It has left the count of what is in flight, so only its pace matters.
func (e *Endpoint) pacedAgain(c *conn) bool {
	next := c.control.pacer.Next()
	if next <= e.now || c.control.rate(e.now) == 0 {
		return true
	}
	e.touch(c, next)
	return false
}
