// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

func TestWriteLandsInTheRegion(t *testing.T) {
	for _, loss := range []float64{0, 0.01, 0.1} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			ctx := patience(t)
			a, b := pair(t, lossy(loss, 1), lossy(loss, 2))
			memory := make([]byte, 4<<20+100)
			region, err := b.RegisterRegion(memory, RemoteWrite)
			if err != nil {
				t.Fatal(err)
			}
			source := noise(len(memory)-50, 3)
			out, _ := open(t, a, b)
			var all []*Operation
			for at := 0; at < len(source); at += 100_000 {
				op, err := out.StartWrite(ctx, WriteRequest{
					Source: source[at:min(at+100_000, len(source))], Key: region.Key(), At: uint64(at + 50),
				})
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, op)
			}
			for _, op := range all {
				if err := op.Wait(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if err := region.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(memory[50:], source) || !bytes.Equal(memory[:50], make([]byte, 50)) {
				t.Error("the region differs from what was written")
			}
		})
	}
}

func TestSendFillsReceivesInOrder(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, lossy(0.02, 3), lossy(0.02, 4))
	out, in := open(t, a, b)
	const n = 200
	for range n {
		if err := in.PostReceive(make([]byte, 20_000)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		r := SendRequest{Data: noise(i*97, uint64(i)), Match: uint64(i) << 40, Immediate: i%3 == 0}
		if r.Immediate {
			r.Value = uint32(i)
		}
		if _, err := out.StartSend(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		got, err := in.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Data, noise(i*97, uint64(i))) {
			t.Fatalf("message %d differs: %d bytes", i, len(got.Data))
		}
		got.Data = nil
		want := Message{Match: uint64(i) << 40, Length: i * 97, Immediate: i%3 == 0}
		if want.Immediate {
			want.Value = uint32(i)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("message %d: %s", i, diff)
		}
	}
}

func TestImmediateNeverOvertakesItsData(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, lossy(0.05, 5), lossy(0.05, 6))
	memory := make([]byte, 1<<20)
	region, err := b.RegisterRegion(memory, RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	out, in := open(t, a, b)
	for round := range 8 {
		if err := in.PostReceive(nil); err != nil {
			t.Fatal(err)
		}
		source := noise(len(memory), uint64(round))
		half := len(source) / 2
		if _, err := out.StartWrite(ctx, WriteRequest{Source: source[:half], Key: region.Key()}); err != nil {
			t.Fatal(err)
		}
		if _, err := out.StartWrite(ctx, WriteRequest{
			Source: source[half:], Key: region.Key(), At: uint64(half), Immediate: true, Value: uint32(round),
		}); err != nil {
			t.Fatal(err)
		}
		got, err := in.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		want := Message{Value: uint32(round), Immediate: true, Written: true, Length: len(source) - half}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if !bytes.Equal(memory, source) {
			t.Fatalf("round %d: told before all was there", round)
		}
	}
}

func TestSendWaitsForAReceive(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{}, Config{})
	out, err := a.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	op, err := out.StartSend(ctx, SendRequest{Data: []byte("hello"), Match: 7})
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.AcceptStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.PostReceive(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	got, err := in.Receive(ctx)
	if err != nil || string(got.Data) != "hello" || got.Match != 7 {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := op.Wait(ctx); err != nil {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Receive(ctx); !errors.Is(err, io.EOF) {
		t.Errorf("after the stream's end: %v", err)
	}
}

func TestRefusedWriteNamesItsReason(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{}, Config{})
	readOnly, err := b.RegisterRegion(make([]byte, 100), RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	small, err := b.RegisterRegion(make([]byte, 100), RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		key  Key
		size int
		want wire.NoticeCode
	}{
		{"wrong key", small.Key() + 1, 10, wire.NoticeCodeBadKey},
		{"no right", readOnly.Key(), 10, wire.NoticeCodeRight},
		{"too long", small.Key(), 101, wire.NoticeCodeBounds},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := a.OpenStream()
			if err != nil {
				t.Fatal(err)
			}
			err = out.Write(ctx, make([]byte, c.size), c.key, 0)
			var op *OpError
			if !errors.Is(err, ErrRefused) || !errors.As(err, &op) || op.Code != c.want {
				t.Errorf("%v, want code %v", err, c.want)
			}
		})
	}
}

func TestManyGoroutinesShareAConnection(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, lossy(0.01, 7), lossy(0.01, 8))
	memory := make([]byte, 8<<17)
	region, err := b.RegisterRegion(memory, RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	source := noise(len(memory), 9)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			out, err := a.OpenStream()
			if err != nil {
				t.Error(err)
				return
			}
			for at := i << 17; at < (i+1)<<17; at += 1 << 13 {
				if err := out.Write(ctx, source[at:at+1<<13], region.Key(), uint64(at)); err != nil {
					t.Error(err)
					return
				}
				a.Stats()
			}
			if err := out.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := region.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(memory, source) {
		t.Error("the region differs from what was written")
	}
}
