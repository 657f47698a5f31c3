// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// opened is an OPEN with a good cookie, and the acceptor that has made the cookie.
type opened struct {
	t        *testing.T
	now      engine.Time
	acceptor *engine.Endpoint
	open     engine.Datagram // as the acceptor sees it
	buf      []byte
}

func openWithCookie(t *testing.T) *opened {
	t.Helper()
	p := newPair(t, engine.Config{})
	if _, err := p.ends[0].Open(p.now, routes(1)); err != nil {
		t.Fatal(err)
	}
	o := &opened{t: t, now: p.now, acceptor: p.ends[1], buf: p.buf}
	first, _ := p.ends[0].NextDatagram(p.now, p.buf)
	retry := o.answer(seen(first))
	p.ends[0].HandleDatagram(p.now, seen(retry))
	second, ok := p.ends[0].NextDatagram(p.now, p.buf)
	if !ok {
		t.Fatal("the RETRY is not answered")
	}
	o.open = seen(second)
	return o
}

// seen is a datagram as its receiver sees it.
func seen(d engine.Datagram) engine.Datagram {
	d.Bytes = append([]byte(nil), d.Bytes...)
	d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
	return d
}

// answer hands the acceptor a datagram and returns the first packet that it sends.
func (o *opened) answer(d engine.Datagram) engine.Datagram {
	o.acceptor.HandleDatagram(o.now, d)
	out, _ := o.acceptor.NextDatagram(o.now, o.buf)
	return out
}

func opcodeAnswered(d engine.Datagram) wire.Opcode {
	if len(d.Bytes) < 2 {
		return 0
	}
	return wire.Opcode(d.Bytes[1])
}

func (o *opened) expect(what string, d engine.Datagram, want wire.Opcode, drops ...engine.Drop) {
	o.t.Helper()
	before := o.acceptor.Stats()
	if got := opcodeAnswered(o.answer(d)); got != want {
		o.t.Errorf("%s: answered by %v, want %v", what, got, want)
	}
	for _, drop := range drops {
		counted{what, before}.only(o.t, o.acceptor.Stats(), drop)
	}
}

// The cookie proves an address; the port may change.
//
//mr:prop P45
//mr:test MR-CONN-003
func TestCookieIsBoundToTheAddressAndNotToThePort(t *testing.T) {
	o := openWithCookie(t)
	d := o.open
	d.Route.Remote = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 9}), 10000)
	o.expect("another address", d, wire.OpcodeRetry, engine.DropCookie)
	d.Route.Remote = netip.AddrPortFrom(o.open.Route.Remote.Addr(), 10077)
	o.expect("another port", d, wire.OpcodeAccept)
}

//mr:test MR-CONN-002 MR-CONN-003
func TestCookieGrowsOld(t *testing.T) {
	o := openWithCookie(t)
	o.now = o.now.Add(12 * time.Second)
	o.expect("an old cookie", o.open, wire.OpcodeRetry, engine.DropCookie)
	o = openWithCookie(t)
	o.now = o.now.Add(9 * time.Second)
	o.expect("a cookie of nine seconds", o.open, wire.OpcodeAccept)
}

// The cookie covers all that the OPEN says: nobody can prove an address with one and open with another.
//
//mr:test MR-CONN-003
func TestCookieCoversTheWholeOpen(t *testing.T) {
	o := openWithCookie(t)
	var p wire.Packet
	if _, err := p.Decode(o.open.Bytes); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b *wire.BodyOpen){
		"another tag":    func(b *wire.BodyOpen) { b.Open.Tag++ },
		"another first":  func(b *wire.BodyOpen) { b.Open.First++ },
		"other streams":  func(b *wire.BodyOpen) { b.Parameters.Streams.Value-- },
		"another cookie": func(b *wire.BodyOpen) { b.Parameters.Cookie.Value[7] ^= 1 },
	} {
		changed := p
		changed.Plain.Open.Parameters.Cookie.Value = append([]byte(nil), p.Plain.Open.Parameters.Cookie.Value...)
		change(&changed.Plain.Open)
		b, err := changed.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		d := o.open
		d.Bytes = b
		o.expect(name, d, wire.OpcodeRetry, engine.DropCookie)
	}
	o.expect("unchanged", o.open, wire.OpcodeAccept)
}

// No answer is larger than what asked for it.
//
//mr:prop P45
//mr:test MR-CONN-002 MR-CONN-012
func TestSmallOpenGetsNoAnswer(t *testing.T) {
	o := openWithCookie(t)
	var p wire.Packet
	if _, err := p.Decode(o.open.Bytes); err != nil {
		t.Fatal(err)
	}
	sized := func(size int) engine.Datagram {
		p.Plain.Open.Parameters.Padding += size - len(o.with(p).Bytes)
		return o.with(p)
	}
	o.expect("1196 bytes", sized(1196), 0, engine.DropSmall)
	o.expect("1200 bytes", sized(1200), wire.OpcodeAccept)
	o.expect("1204 bytes", sized(1204), wire.OpcodeAccept)
}

// What strangers make an endpoint say is bounded.
//
//mr:prop P43
//mr:test MR-ERR-007
func TestAnswersToStrangersAreBounded(t *testing.T) {
	for _, n := range []int{63, 64, 65, 1000} {
		o := openWithCookie(t)
		o.open.Route.Remote = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 9}), 10000)
		for range n {
			o.acceptor.HandleDatagram(o.now, o.open)
		}
		sent := 0
		for {
			if _, ok := o.acceptor.NextDatagram(o.now, o.buf); !ok {
				break
			}
			sent++
		}
		stats := o.acceptor.Stats()
		if dropped := stats.Drops[engine.DropQueue]; sent != min(n, 64) || int(dropped)+sent != n {
			t.Errorf("%d answers to %d strangers, %d dropped", sent, n, dropped)
		}
	}
}

// MR-ERR-004, MR-WIRE-012: what comes from another address, or damaged, has no effect but a count.
//
//mr:prop P10 P14
//mr:test MR-WIRE-012 MR-PLANE-002 MR-ERR-006
func TestForeignAndDamagedPacketsHaveNoEffect(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *engine.Datagram)
		drop   engine.Drop
	}{
		"another address": {func(d *engine.Datagram) {
			d.Route.Remote = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 9}), d.Route.Remote.Port())
		}, engine.DropAddress},
		"a bit of the payload":  {func(d *engine.Datagram) { d.Bytes[len(d.Bytes)-10] ^= 1 }, engine.DropChecksum},
		"a bit of the checksum": {func(d *engine.Datagram) { d.Bytes[len(d.Bytes)-1] ^= 1 }, engine.DropChecksum},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, engine.Config{})
			ids := p.connect(1)
			memory := make([]byte, 64)
			key, err := p.ends[1].Register(memory, engine.RemoteWrite)
			p.must(err)
			var caught engine.Datagram
			p.drop = func(from int, d engine.Datagram) bool {
				if opcodeAnswered(d) == wire.OpcodeWrite && caught.Bytes == nil {
					caught = seen(d)
				}
				return opcodeAnswered(d) == wire.OpcodeWrite
			}
			p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpWrite, Key: key, Data: []byte("do not write this, anybody else!")}))
			p.turn()
			before := p.ends[1].Stats()
			c.change(&caught)
			p.ends[1].HandleDatagram(p.now, caught)
			after := p.ends[1].Stats()
			if after.Drops[c.drop] != before.Drops[c.drop]+1 {
				t.Errorf("not counted under %v", c.drop)
			}
			if memory[0] != 0 || p.count(1, engine.StreamOpened) != 0 {
				t.Error("the packet has an effect")
			}
		})
	}
}
