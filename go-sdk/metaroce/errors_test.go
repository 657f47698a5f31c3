// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// A Read or an atomic operation that is refused ends alone, with a code and a text that tell why; a Write takes its stream with
// it, and what follows on it says so.
func TestRefusalsSayWhyAndWhatTheyEnd(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{}, Config{})
	region, err := b.RegisterRegion(make([]byte, 64), RemoteRead|RemoteAtomic)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		do   func(s *Stream) error
		want wire.NoticeCode
		text string
		ends bool
	}{
		{"a read beyond", func(s *Stream) error { return s.Read(ctx, make([]byte, 65), region.Key(), 0) }, Bounds, "beyond the region", false},
		{"a word of nobody", func(s *Stream) error { _, err := s.FetchAdd(ctx, region.Key()+1, 0, 1); return err }, BadKey, "no region", false},
		{"a write without right", func(s *Stream) error { return s.Write(ctx, []byte("x"), region.Key(), 0) }, Right, "not grant", true},
	} {
		s, err := a.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		err = c.do(s)
		var refused *OpError
		if !errors.As(err, &refused) || !errors.Is(err, ErrRefused) || refused.Code != c.want || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		err = s.Read(ctx, make([]byte, 64), region.Key(), 0)
		if c.ends != errors.Is(err, ErrEnded) || c.ends != errors.Is(err, ErrRefused) || !c.ends && err != nil {
			t.Errorf("a read after %s: %v", c.name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("closing after %s: %v", c.name, err)
		}
		if err := s.Read(ctx, make([]byte, 64), region.Key(), 0); !errors.Is(err, ErrEnded) || !c.ends && !errors.Is(err, ErrClosed) {
			t.Errorf("a read after %s and Close: %v", c.name, err)
		}
	}
}

// An operation that has not begun can be canceled alone.
func TestCanceledBeforeItsBeginningEndsAlone(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{}, Config{})
	out, in := open(t, a, b)
	first, err := out.StartSend(ctx, SendRequest{Data: []byte("first")})
	if err != nil {
		t.Fatal(err)
	}
	fenced, err := out.StartSend(ctx, SendRequest{Data: []byte("fenced"), Order: Order{Fence: true}})
	if err != nil {
		t.Fatal(err)
	}
	fenced.Cancel()
	if err := fenced.Wait(ctx); !errors.Is(err, ErrCanceled) {
		t.Errorf("%v", err)
	}
	last, err := out.StartSend(ctx, SendRequest{Data: []byte("last")})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "last"} {
		if err := in.PostReceive(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if m, err := in.Receive(ctx); err != nil || string(m.Data) != want {
			t.Errorf("%q, %v; want %q", m.Data, err, want)
		}
	}
	if err := errors.Join(first.Wait(ctx), last.Wait(ctx)); err != nil {
		t.Error(err)
	}
}

// While a connection waits for what is under way, nothing new is begun on it, and the error says why.
func TestClosingConnectionBeginsNothing(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{}, Config{})
	out, in := open(t, a, b)
	parked, err := out.StartSend(ctx, SendRequest{Data: []byte("parked")})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- a.Close() }()
	for leaving := false; !leaving && ctx.Err() == nil; {
		a.endpoint.ask(func(engine.Time) { leaving = a.leaving })
	}
	if err := out.Send(ctx, []byte("late"), 0); !errors.Is(err, ErrClosed) {
		t.Errorf("a Send on a closing connection: %v", err)
	}
	if err := in.PostReceive(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(parked.Wait(ctx), <-closed); err != nil {
		t.Errorf("the Send before, and Close: %v", err)
	}
}

func TestRegionEndsOnceAndWithItsOwner(t *testing.T) {
	a, b := pair(t, Config{}, Config{})
	region, err := b.RegisterRegion(make([]byte, 8), RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(region.Close(), region.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.RegisterRegion(make([]byte, 8), RemoteRead); !errors.Is(err, ErrClosed) {
		t.Errorf("a region of a closed connection: %v", err)
	}
}

func TestEveryBadFieldIsABadConfiguration(t *testing.T) {
	for name, cfg := range map[string]Config{
		"Chunk": {Chunk: 100}, "Paths": {Paths: 257}, "Burst": {Burst: 257}, "Window": {Window: 10}, "Depth": {Depth: -1},
		"Backlog": {Backlog: -1}, "DeadAfter": {DeadAfter: -1},
	} {
		if _, err := Listen("127.0.0.1:0", cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("Listen, %s: %v", name, err)
		}
		if _, err := Dial(context.Background(), "127.0.0.1:4797", cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("Dial, %s: %v", name, err)
		}
	}
}
