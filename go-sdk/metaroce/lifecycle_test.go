// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

func TestClearProfileStaysOnLoopback(t *testing.T) {
	ctx := patience(t)
	if _, err := Listen("0.0.0.0:0", Config{}); !errors.Is(err, ErrInsecure) {
		t.Errorf("Listen: %v", err)
	}
	if _, err := Dial(ctx, "192.0.2.1:4797", Config{}); !errors.Is(err, ErrInsecure) {
		t.Errorf("Dial: %v", err)
	}
	d, err := NewDialer(netip.MustParseAddr("127.0.0.1"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Dial(ctx, "192.0.2.1:4797"); !errors.Is(err, ErrInsecure) {
		t.Errorf("Dialer.Dial: %v", err)
	}
	l, err := Listen("0.0.0.0:0", Config{Insecure: true})
	if err != nil {
		t.Fatalf("Insecure was set: %v", err)
	}
	l.Close()
}

func TestBadConfigIsRefused(t *testing.T) {
	bad := map[string]Config{
		"chunk": {Chunk: 12}, "negative chunk": {Chunk: -engine.Overhead}, "paths": {Paths: 300}, "depth": {Depth: -1},
		"tune": {Tune: func(c *engine.Config) { c.SeqBits = 3 }},
	}
	for name, cfg := range bad {
		if l, err := Listen("127.0.0.1:0", cfg); err == nil {
			l.Close()
			t.Errorf("Listen accepts bad %s", name)
		}
		if _, err := NewDialer(netip.MustParseAddr("127.0.0.1"), cfg); err == nil {
			t.Errorf("NewDialer accepts bad %s", name)
		}
	}
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	// A Dialer's port is bound, so nothing bounces, and nobody accepts there.
	deaf, err := NewDialer(netip.MustParseAddr("127.0.0.1"), Config{Paths: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	ctx, cancel := context.WithTimeout(patience(t), 20*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, deaf.endpoint.local[0].String(), Config{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := Dial(patience(t), deaf.endpoint.local[0].String(), Config{DeadAfter: 50 * time.Millisecond}); !errors.Is(err, ErrDead) {
		t.Errorf("%v", err)
	}
}

func TestWaitersEndWithTheirContext(t *testing.T) {
	a, b := pair(t, Config{Depth: 1}, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	out, err := a.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	op, err := out.StartSend(ctx, SendRequest{Data: []byte("nobody has posted a receive")})
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.AcceptStream(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := op.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
	if _, err := out.StartSend(ctx, SendRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("StartSend: %v", err)
	}
	if _, err := in.Receive(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Receive: %v", err)
	}
	if _, err := b.AcceptStream(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("AcceptStream: %v", err)
	}
	if op.Err() != nil {
		t.Errorf("the message itself ended: %v", op.Err())
	}
	if err := in.PostReceive(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := op.Wait(patience(t)); err != nil {
		t.Errorf("the message did not go on: %v", err)
	}
}

func TestCloseEndsWhateverWaits(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{}, Config{})
	_, in := open(t, a, b)
	if err := in.PostReceive(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	ends := make(chan error)
	go func() {
		_, err := in.Receive(ctx)
		ends <- err
	}()
	go func() {
		_, err := b.AcceptStream(ctx)
		ends <- err
	}()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-ends; !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	}
	<-b.Done()
	if !errors.Is(b.Err(), ErrClosed) || !errors.Is(a.Err(), ErrClosed) {
		t.Errorf("%v and %v", a.Err(), b.Err())
	}
	if err := b.Close(); err != nil {
		t.Errorf("closing after the peer: %v", err)
	}
	if _, err := a.OpenStream(); !errors.Is(err, ErrClosed) {
		t.Errorf("OpenStream: %v", err)
	}
	if err := in.PostReceive(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("PostReceive: %v", err)
	}
}

func TestCloseWaitsForMessagesUnderWay(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, lossy(0.02, 1), lossy(0.02, 2))
	memory := make([]byte, 1<<20)
	region, err := b.RegisterRegion(memory, RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := open(t, a, b)
	op, err := out.StartWrite(ctx, WriteRequest{Source: noise(len(memory), 1), Key: region.Key()})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-op.Done():
		if op.Err() != nil {
			t.Errorf("%v", op.Err())
		}
	default:
		t.Error("Close returned before the message had ended")
	}
}

func TestListenerCloseEndsItsConnections(t *testing.T) {
	ctx := patience(t)
	l, err := Listen("127.0.0.1:0", Config{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDialer(netip.MustParseAddr("0.0.0.0"), Config{Paths: 4, Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var conns []*Conn
	for range 3 {
		c, err := d.Dial(ctx, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		if _, err := l.Accept(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range conns {
		<-c.Done()
		if !errors.Is(c.Err(), ErrClosed) {
			t.Errorf("%v", c.Err())
		}
	}
	if _, err := l.Accept(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("Accept: %v", err)
	}
	if _, err := l.RegisterRegion(nil, RemoteWrite); !errors.Is(err, ErrClosed) {
		t.Errorf("RegisterRegion after the end: %v", err)
	}
	if s := l.Stats(); s.Sockets.Received == 0 {
		t.Error("the counters are gone")
	}
}

func TestBacklogBoundsUnacceptedConnections(t *testing.T) {
	ctx := patience(t)
	l, err := Listen("127.0.0.1:0", Config{Backlog: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := NewDialer(netip.MustParseAddr("127.0.0.1"), Config{Paths: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	first, err := d.Dial(ctx, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// It is closed as soon as it stands, perhaps before Dial has noticed that it does.
	second, err := d.Dial(ctx, l.Addr().String())
	switch {
	case err == nil:
		<-second.Done()
	case !errors.Is(err, ErrClosed):
		t.Fatal(err)
	}
	if first.Err() != nil {
		t.Errorf("the first one ended: %v", first.Err())
	}
}

func TestConnectionsLeakNothing(t *testing.T) {
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := count()
	for range 3 {
		l, err := Listen("127.0.0.1:0", Config{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Dial(patience(t), l.Addr().String(), Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestVanishedPeerEndsWhateverWaits(t *testing.T) {
	ctx := patience(t)
	l, err := Listen("127.0.0.1:0", Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(ctx, l.Addr().String(), Config{DeadAfter: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	region, err := l.RegisterRegion(make([]byte, 1<<20), RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(ctx, make([]byte, 100), region.Key(), 0); err != nil {
		t.Fatal(err)
	}
	// As if the process had been killed: nobody says good-bye.
	if err := l.endpoint.runner.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := out.Write(ctx, make([]byte, 1<<20), region.Key(), 0); !errors.Is(err, ErrDead) {
		t.Errorf("Write: %v", err)
	}
	if _, err := c.AcceptStream(ctx); !errors.Is(err, ErrDead) {
		t.Errorf("AcceptStream: %v", err)
	}
	if err := c.Close(); !errors.Is(err, ErrDead) {
		t.Errorf("Close: %v", err)
	}
}

func TestRestartedPeerIsNoticed(t *testing.T) {
	ctx := patience(t)
	l, err := Listen("127.0.0.1:0", Config{})
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	c, err := Dial(ctx, at, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := l.endpoint.runner.Stop(); err != nil {
		t.Fatal(err)
	}
	again, err := Listen(at, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	out, err := c.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(ctx, make([]byte, 100), 1, 0); !errors.Is(err, ErrAborted) {
		t.Errorf("%v", err)
	}
}
