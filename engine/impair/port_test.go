// SPDX-License-Identifier: Apache-2.0

package impair

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// loop is an engine.Port whose datagrams come back to it. It holds its user to Port's rules.
type loop struct {
	lends   int // buffers to lend at a time
	lent    [][]byte
	back    []engine.Datagram
	failure error
}

func (l *loop) Receive() ([]engine.Datagram, error) {
	back := l.back
	l.back = nil
	return back, nil
}

func (l *loop) Buffers() [][]byte {
	l.lent = nil
	for range l.lends {
		l.lent = append(l.lent, make([]byte, 64))
	}
	return l.lent
}

func (l *loop) Send(datagrams []engine.Datagram) error {
	if l.failure != nil {
		return l.failure
	}
	next := 0
	for _, d := range datagrams {
		for next < len(l.lent) && &l.lent[next][0] != &d.Bytes[0] {
			next++
		}
		if next == len(l.lent) {
			return fmt.Errorf("a datagram lies in no buffer, or not in order")
		}
		next++
		d.Bytes = append([]byte(nil), d.Bytes...)
		l.back = append(l.back, d)
	}
	l.lent = nil
	return nil
}

// turn does what engine.Pump does: it receives, and sends as many of n datagrams as there are buffers for.
func turn(p engine.Port, next *byte, n int) (got []engine.Datagram, err error) {
	got, err = p.Receive()
	if err != nil {
		return nil, err
	}
	var out []engine.Datagram
	for _, b := range p.Buffers() {
		if len(out) == n {
			break
		}
		*next++
		out = append(out, engine.Datagram{ECN: engine.ECT0, Bytes: b[:copy(b, datagram(wire.OpcodeWrite, *next))]})
	}
	return got, p.Send(out)
}

func TestPortDeliversEachDatagramAsItsDiceSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		under := &loop{lends: rapid.IntRange(1, 4).Draw(t, "lends")}
		cfg := Config{
			Loss:      rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(t, "loss"),
			Duplicate: rapid.SampledFrom([]float64{0, 0.4, 1}).Draw(t, "duplicate"),
		}
		p := Wrap(under, cfg, pcg(rapid.Uint64().Draw(t, "seed")))
		var next byte
		var seen [256]uint64
		arrived := func(n int) {
			got, err := turn(p, &next, n)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range got {
				seen[d.Bytes[2]]++
			}
		}
		for range rapid.IntRange(1, 30).Draw(t, "turns") {
			arrived(rapid.IntRange(0, 4).Draw(t, "sends"))
		}
		for range 200 {
			arrived(0)
		}
		var zero, once, twice uint64
		for _, n := range seen[1 : int(next)+1] {
			switch n {
			case 0:
				zero++
			case 1:
				once++
			case 2:
				twice++
			default:
				t.Fatalf("one datagram arrives %d times", n)
			}
		}
		if zero != p.Dropped || twice != p.Duplicated || once+twice != p.Passed {
			t.Fatalf("%d never, %d once, %d twice; counted were %+v", zero, once, twice, p.Counts)
		}
	})
}

func TestPortReturnsTheErrorOfASentCopy(t *testing.T) {
	under := &loop{lends: 1}
	p := Wrap(under, Config{Duplicate: 1}, pcg(1))
	var next byte
	if _, err := turn(p, &next, 1); err != nil {
		t.Fatal(err)
	}
	under.failure = errors.New("no route")
	p.Buffers()
	if _, err := p.Receive(); !errors.Is(err, under.failure) {
		t.Errorf("receive: %v", err)
	}
	if _, err := p.Receive(); err != nil {
		t.Errorf("the second time: %v", err)
	}
}

func TestPortPassesErrorsOfSend(t *testing.T) {
	under := &loop{lends: 1, failure: errors.New("no route")}
	p := Wrap(under, Config{}, pcg(1))
	var next byte
	if _, err := turn(p, &next, 1); !errors.Is(err, under.failure) {
		t.Errorf("send: %v", err)
	}
}
