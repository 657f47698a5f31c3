// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/cc"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

const (
	testPacket = 1000
	testRTT    = 100 * time.Microsecond
)

// controlAt is a connection's control with a window of 100 packets and a measured round-trip time.
func controlAt(t *testing.T) *control {
	t.Helper()
	k := newControl(&Config{InitialRTT: testRTT, InitialWindow: 100 * testPacket, MaxWindow: 100 * testPacket}, testPacket, 1)
	k.learn(0, cc.Feedback{RTT: int64(testRTT), Base: int64(testRTT)})
	return &k
}

// A hint lowers the limit, an older one changes nothing while it holds, and it ends after eight round trips; one that grants
// more than the window changes nothing.
//
//mr:prop P33
//mr:test MR-CC-007 MR-CC-014
func TestGrantLowersTheLimitAndEnds(t *testing.T) {
	k := controlAt(t)
	const mbit80 = 80_000 // kbit/s; 1.5 round trips of 100 µs are 1500 bytes
	k.hint(0, &wire.Ack{Rate: mbit80, HintSerial: 5})
	if got := k.limit(0); got != 1500+testPacket {
		t.Errorf("limit %d under the grant", got)
	}
	for _, older := range []uint32{10 * mbit80, noHint, 1} {
		k.hint(1, &wire.Ack{Rate: older, HintSerial: 4})
		if got := k.limit(1); got != 1500+testPacket || k.rate(1) != mbit80*1000 {
			t.Errorf("limit %d, rate %d after an older hint of %d", got, k.rate(1), older)
		}
	}
	if at := Time(8*testRTT) - 1; k.limit(at) != 1500+testPacket || k.rate(at) == 0 {
		t.Errorf("limit %d just before the grant ends", k.limit(at))
	}
	if at := Time(8 * testRTT); k.limit(at) != 100*testPacket || k.rate(at) != 0 {
		t.Errorf("limit %d when the grant has ended", k.limit(at))
	}
	k.hint(Time(time.Second), &wire.Ack{Rate: 1 << 31, HintSerial: 6})
	if got := k.limit(Time(time.Second)); got != 100*testPacket {
		t.Errorf("a large grant makes the limit %d", got)
	}
	k.hint(Time(time.Second), &wire.Ack{Rate: noHint, HintSerial: 7})
	if got := k.rate(Time(time.Second)); got != 0 {
		t.Errorf("rate %d without a limit of the receiver", got)
	}
	k.hint(Time(time.Second), &wire.Ack{Rate: 80_000, HintSerial: 6})
	if got := k.rate(Time(time.Second)); got != 0 {
		t.Errorf("rate %d after an older hint, when there is no limit any more", got)
	}
	for _, serial := range []uint16{1 << 15, 1<<16 - 1, 0, 5} { // each is newer than the one before
		k.hint(Time(time.Second), &wire.Ack{Rate: mbit80 + uint32(serial), HintSerial: serial})
		if got, want := k.rate(Time(time.Second)), uint64(mbit80+uint32(serial))*1000; got != want {
			t.Errorf("rate %d after hint number %d, want %d", got, serial, want)
		}
	}
}

// While a hint binds, marks do not lower the connection's window; without it they do.
//
//mr:test MR-CC-014 MR-CC-004
func TestMarksCountUnlessTheGrantBinds(t *testing.T) {
	marked := cc.Feedback{Bytes: testPacket, InFlight: 100 * testPacket, Packets: 1, Marked: 1, RTT: int64(testRTT), Base: int64(testRTT)}
	k := controlAt(t)
	k.hint(0, &wire.Ack{Rate: 80_000, HintSerial: 1})
	k.learn(1, marked)
	if got := k.window.Window(); got != 100*testPacket {
		t.Errorf("window %d after a mark under a grant", got)
	}
	k = controlAt(t)
	k.learn(1, marked)
	if got := k.window.Window(); got != 50*testPacket {
		t.Errorf("window %d after a mark", got)
	}
}

// Marks without end drive the connection's window down to 1/64 of a packet. What it then allows is one packet at a time, with a
// gap; it grows by eight packets in a round.
//
//mr:prop P31
//mr:test MR-CC-004 MR-CC-013
func TestSmallWindowBecomesAGap(t *testing.T) {
	k := controlAt(t)
	now := Time(0)
	for range 1000 {
		now = now.Add(2 * testRTT)
		k.learn(now, cc.Feedback{Bytes: testPacket, InFlight: testPacket, Packets: 1, Marked: 1, RTT: int64(testRTT), Base: int64(testRTT)})
	}
	if got := k.window.Window(); got != testPacket/64 {
		t.Fatalf("window %d", got)
	}
	if k.allows(now, 1, testPacket) {
		t.Error("a second packet may be in flight")
	}
	for range 3 { // the first two may leave together
		if at := k.pacer.Next(); at > now {
			now = at
		}
		if !k.allows(now, 0, testPacket) {
			t.Fatal("no packet may leave although none is in flight")
		}
		k.sent(now, testPacket)
	}
	gap := k.pacer.Next().Sub(now)
	if most := 64 * testRTT; gap < most/2 || gap > most*11/10 {
		t.Errorf("a gap of %v, one packet in 64 round trips of %v may always leave", gap, testRTT)
	}
	w := k.window.Window()
	now = now.Add(2 * testRTT)
	k.learn(now, cc.Feedback{Bytes: testPacket, InFlight: testPacket, Packets: 1, RTT: int64(testRTT), Base: int64(testRTT)})
	if got := k.window.Window(); got != w+8*testPacket {
		t.Errorf("the window grows from %d to %d", w, got)
	}
}
