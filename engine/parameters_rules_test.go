// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// impossible are changes that make parameters unacceptable.
var impossible = map[string]func(p *wire.Parameters){
	"no chunk":                 func(p *wire.Parameters) { p.ChunkPresent = false },
	"no paths":                 func(p *wire.Parameters) { p.PathsPresent = false },
	"no stream_window":         func(p *wire.Parameters) { p.StreamWindowPresent = false },
	"no span":                  func(p *wire.Parameters) { p.SpanPresent = false },
	"no requests":              func(p *wire.Parameters) { p.RequestsPresent = false },
	"no streams":               func(p *wire.Parameters) { p.StreamsPresent = false },
	"no messages":              func(p *wire.Parameters) { p.MessagesPresent = false },
	"no max_ack_delay":         func(p *wire.Parameters) { p.MaxAckDelayPresent = false },
	"no profile":               func(p *wire.Parameters) { p.ProfilePresent = false },
	"a chunk of 12":            func(p *wire.Parameters) { p.Chunk.Value = 12 },
	"a stream_window of 0":     func(p *wire.Parameters) { p.StreamWindow.Value = 0 },
	"a stream_window of 65537": func(p *wire.Parameters) { p.StreamWindow.Value = 65537 },
	"a span of 0":              func(p *wire.Parameters) { p.Span.Value = 0 },
	"a span of 2^20+1":         func(p *wire.Parameters) { p.Span.Value = 1<<20 + 1 },
	"messages of 0":            func(p *wire.Parameters) { p.Messages.Value = 0 },
	"a delay above a second":   func(p *wire.Parameters) { p.MaxAckDelay.Value = 1_000_000_001 },
	"the secure profile":       func(p *wire.Parameters) { p.Profile.Value = wire.ProfileSecure },
}

// possible are changes that leave parameters acceptable: each limit, and one step inside it.
var possible = map[string]func(p *wire.Parameters){
	"unchanged":                func(*wire.Parameters) {},
	"a chunk of 8":             func(p *wire.Parameters) { p.Chunk.Value = 8 },
	"a chunk of 16":            func(p *wire.Parameters) { p.Chunk.Value = 16 },
	"a chunk of 8864":          func(p *wire.Parameters) { p.Chunk.Value = 8864 },
	"a chunk of 8872":          func(p *wire.Parameters) { p.Chunk.Value = 8872 },
	"one path":                 func(p *wire.Parameters) { p.Paths.Value = 1 },
	"256 paths":                func(p *wire.Parameters) { p.Paths.Value = 256 },
	"a stream_window of 1":     func(p *wire.Parameters) { p.StreamWindow.Value = 1 },
	"a stream_window of 65535": func(p *wire.Parameters) { p.StreamWindow.Value = 65535 },
	"a stream_window of 65536": func(p *wire.Parameters) { p.StreamWindow.Value = 65536 },
	"a span of 1":              func(p *wire.Parameters) { p.Span.Value = 1 },
	"a span of 2^20-1":         func(p *wire.Parameters) { p.Span.Value = 1<<20 - 1 },
	"a span of 2^20":           func(p *wire.Parameters) { p.Span.Value = 1 << 20 },
	"messages of 1":            func(p *wire.Parameters) { p.Messages.Value = 1 },
	"no requests":              func(p *wire.Parameters) { p.Requests.Value = 0 },
	"one stream":               func(p *wire.Parameters) { p.Streams.Value = 1 },
	"65536 streams":            func(p *wire.Parameters) { p.Streams.Value = 65536 },
	"no delay":                 func(p *wire.Parameters) { p.MaxAckDelay.Value = 0 },
	"a delay below a second":   func(p *wire.Parameters) { p.MaxAckDelay.Value = 999_999_999 },
	"a delay of a second":      func(p *wire.Parameters) { p.MaxAckDelay.Value = 1_000_000_000 },
}

// changed is the OPEN after a change, first without and then with the cookie that the acceptor gives it.
func (o *opened) changed(change func(b *wire.BodyOpen)) engine.Datagram {
	o.t.Helper()
	var p wire.Packet
	if _, err := p.Decode(o.open.Bytes); err != nil {
		o.t.Fatal(err)
	}
	open := &p.Plain.Open
	change(open)
	open.Parameters.CookiePresent, open.Parameters.Padding = false, 1200
	var retry wire.Packet
	out := o.answer(o.with(p))
	if _, err := retry.Decode(out.Bytes); err != nil || retry.Base.Opcode != wire.OpcodeRetry {
		o.t.Fatalf("an OPEN without cookie gets %v, %v", retry.Base.Opcode, err)
	}
	open.Parameters.Cookie, open.Parameters.CookiePresent = retry.Plain.Retry.Parameters.Cookie, true
	return o.with(p)
}

// with is the OPEN with other contents.
func (o *opened) with(p wire.Packet) engine.Datagram {
	o.t.Helper()
	b, err := p.Append(nil)
	if err != nil {
		o.t.Fatal(err)
	}
	d := o.open
	d.Bytes = b
	return d
}

//mr:test MR-CONN-006
func TestAcceptorRejectsWhatItCannotServe(t *testing.T) {
	for name, change := range impossible {
		o := openWithCookie(t)
		d := o.changed(func(b *wire.BodyOpen) { change(&b.Parameters) })
		var p wire.Packet
		if _, err := p.Decode(o.answer(d).Bytes); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.Base.Opcode != wire.OpcodeReject || p.Plain.Reject.Code.Code != wire.CloseReasonParameter {
			t.Errorf("%s: answered by %v, reason %v", name, p.Base.Opcode, p.Plain.Reject.Code.Code)
		}
	}
	for name, change := range possible {
		o := openWithCookie(t)
		o.expect(name, o.changed(func(b *wire.BodyOpen) { change(&b.Parameters) }), wire.OpcodeAccept)
	}
}

// forge changes the parameters of the acceptor's ACCEPT on its way.
func (p *pair) forge(change func(p *wire.Parameters)) {
	p.drop = func(from int, d engine.Datagram) bool {
		var w wire.Packet
		if _, err := w.Decode(d.Bytes); err != nil || w.Base.Opcode != wire.OpcodeAccept {
			return false
		}
		change(&w.Plain.Accept.Parameters)
		b, err := w.Append(nil)
		p.must(err)
		d.Bytes = b
		p.wire = append(p.wire, flight{p.now.Add(wireDelay), 0, seen(d)})
		return true
	}
}

//mr:test MR-CONN-006
func TestOpenerGivesUpOnAnImpossibleAccept(t *testing.T) {
	for name, change := range impossible {
		p := newPair(t, engine.Config{})
		p.forge(change)
		_, err := p.ends[0].Open(p.now, routes(1))
		p.must(err)
		p.run(name, func() bool { return p.count(0, engine.Closed) == 1 })
		if ev, _ := p.find(0, engine.Closed); !errors.Is(ev.Err, engine.ErrRejected) || p.count(0, engine.Opened) != 0 {
			t.Errorf("%s: %+v", name, p.events[0])
		}
	}
}

// A peer that announces that it serves no requests is not asked.
//
//mr:test MR-CONN-016
func TestNobodyAsksAPeerThatServesNothing(t *testing.T) {
	p := newPair(t, engine.Config{})
	p.forge(func(a *wire.Parameters) { a.Requests.Value = 0 })
	ids := p.connect(1)
	for _, op := range []engine.Op{engine.OpRead, engine.OpFetchAdd, engine.OpCompareSwap} {
		if err := p.ends[0].Post(p.now, ids[0], engine.Work{Op: op, Into: make([]byte, 8)}); !errors.Is(err, engine.ErrWork) {
			t.Errorf("operation %d: %v", op, err)
		}
	}
	p.must(p.ends[0].Post(p.now, ids[0], engine.Work{Op: engine.OpSend, Data: []byte("a Send")}))
}

// One tag of an opener is one connection. The same OPEN gets the same ACCEPT again, where it came from last; another one
// with that tag gets nothing, and neither does the same one once the connection is confirmed.
//
//mr:test MR-CONN-004
func TestOneConnectionForAnOpenersTag(t *testing.T) {
	o := openWithCookie(t)
	other := o.changed(func(b *wire.BodyOpen) { b.Parameters.Streams.Value-- })
	first := seen(o.answer(o.open))
	again := o.open
	again.Route.Remote = netip.AddrPortFrom(o.open.Route.Remote.Addr(), 10077)
	second := o.answer(again)
	if second.Route.Remote.Port() != 10077 || string(second.Bytes) != string(first.Bytes) {
		t.Errorf("the OPEN, repeated, is answered to %v by %v", second.Route.Remote, opcodeAnswered(second))
	}
	o.expect("another OPEN with the tag", other, 0, engine.DropPhase)
	var accept wire.Packet
	if _, err := accept.Decode(first.Bytes); err != nil {
		t.Fatal(err)
	}
	confirm := wire.Packet{Base: wire.Base{
		Version: 1, Opcode: wire.OpcodeConfirm, Tag: accept.Plain.Accept.Accept.Tag, Psn: 1, Tsn: 1,
	}}
	o.acceptor.HandleDatagram(o.now, o.with(confirm))
	o.expect("the OPEN after CONFIRM", o.open, 0, engine.DropPhase)
	opened := 0
	for ev, ok := o.acceptor.NextEvent(); ok; ev, ok = o.acceptor.NextEvent() {
		if ev.Kind == engine.Opened {
			opened++
		}
	}
	if opened != 1 {
		t.Errorf("%d connections", opened)
	}
}

// An endpoint that takes no connections answers no OPEN.
//
//mr:test MR-CONN-002
func TestOpenMeetsNobody(t *testing.T) {
	o := openWithCookie(t)
	deaf, err := engine.New(engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	o.acceptor = deaf
	o.expect("an OPEN", o.open, 0, engine.DropUnknownTag)
}
