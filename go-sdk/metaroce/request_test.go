// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"
	"time"
)

func TestReadFetchesTheRegion(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, lossy(0.02, 21), lossy(0.02, 22))
	memory := noise(1<<20, 1)
	region, err := b.RegisterRegion(memory, RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := open(t, a, b)
	into := make([]byte, 1<<20-300)
	if err := out.Read(ctx, into, region.Key(), 300); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(into, memory[300:]) {
		t.Error("what was read differs from the region")
	}
	if err := out.Read(ctx, into, region.Key(), 301); !errors.Is(err, ErrRefused) {
		t.Errorf("beyond the region's end: %v", err)
	}
}

func TestAtomicOperationsHappenOnce(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, lossy(0.05, 23), lossy(0.05, 24))
	memory := make([]byte, 16)
	region, err := b.RegisterRegion(memory, RemoteAtomic)
	if err != nil {
		t.Fatal(err)
	}
	const goroutines, each = 4, 50
	var wait sync.WaitGroup
	var mu sync.Mutex
	seen := map[uint64]bool{}
	for range goroutines {
		out, err := a.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			for range each {
				before, err := out.FetchAdd(ctx, region.Key(), 8, 3)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if seen[before] {
					t.Errorf("two additions found %d", before)
				}
				seen[before] = true
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	out, err := a.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	for _, compare := range []uint64{1, 3 * goroutines * each} {
		before, err := out.CompareSwap(ctx, AtomicRequest{Key: region.Key(), At: 8, Compare: compare, Operand: 77})
		if err != nil || before != 3*goroutines*each {
			t.Errorf("the word was %d, %v", before, err)
		}
	}
	if err := region.Close(); err != nil {
		t.Fatal(err)
	}
	if got := binary.NativeEndian.Uint64(memory[8:]); got != 77 {
		t.Errorf("the word is %d in the end", got)
	}
	if _, err := out.FetchAdd(ctx, region.Key(), 4, 1); !errors.Is(err, ErrWork) {
		t.Errorf("a word that is not aligned: %v", err)
	}
}

func TestPiecesArriveAsOne(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{}, Config{})
	memory := make([]byte, 30_000)
	region, err := b.RegisterRegion(memory, RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	source := noise(len(memory), 5)
	out, in := open(t, a, b)
	if err := in.PostReceive(make([]byte, 30_000)); err != nil {
		t.Fatal(err)
	}
	pieces := [][]byte{source[:1], source[1:20_001], nil, source[20_001:]}
	write, err := out.StartWrite(ctx, WriteRequest{Pieces: pieces, Key: region.Key()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.StartSend(ctx, SendRequest{Pieces: pieces, Order: Order{Fence: true}}); err != nil {
		t.Fatal(err)
	}
	m, err := in.Receive(ctx)
	if err != nil || !bytes.Equal(m.Data, source) {
		t.Errorf("%d bytes, %v", len(m.Data), err)
	}
	if err := write.Wait(ctx); err != nil || !bytes.Equal(memory, source) {
		t.Errorf("the region differs: %v", err)
	}
}

func TestContextGivesMemoryBack(t *testing.T) {
	a, b := pair(t, Config{}, Config{})
	out, _ := open(t, a, b)
	ctx, cancel := context.WithTimeout(patience(t), 10*time.Millisecond)
	defer cancel()
	// No receive is posted.
	if err := out.Send(ctx, []byte("late"), 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if err := out.Send(patience(t), nil, 0); !errors.Is(err, ErrEnded) {
		t.Errorf("the stream of a message that was canceled half-way: %v", err)
	}
}

func TestOperationsEndInTime(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{}, Config{})
	out, _ := open(t, a, b)
	op, err := out.StartSend(ctx, SendRequest{Data: []byte("late"), Order: Order{Within: 10 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	if err := op.Wait(ctx); !errors.Is(err, ErrDeadline) {
		t.Errorf("%v", err)
	}
	second, _ := open(t, a, b)
	if op, err = second.StartSend(ctx, SendRequest{}); err != nil {
		t.Fatal(err)
	}
	op.Cancel()
	if err := op.Wait(ctx); !errors.Is(err, ErrCanceled) {
		t.Errorf("%v", err)
	}
	op.Cancel()
}

func TestStreamIDsAreUsedAgain(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, lossy(0.02, 31), lossy(0.02, 32))
	highest := uint16(0)
	var first *Stream
	for i := range 200 {
		out, err := a.OpenStream()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out
		}
		highest = max(highest, out.ID())
		op, err := out.StartSend(ctx, SendRequest{Data: []byte{byte(i)}})
		if err != nil {
			t.Fatal(err)
		}
		in, err := b.AcceptStream(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.PostReceive(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if m, err := in.Receive(ctx); err != nil || m.Data[0] != byte(i) {
			t.Fatalf("stream %d: %v, %v", i, m.Data, err)
		}
		if err := op.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(out.Close(), out.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Receive(ctx); !errors.Is(err, io.EOF) {
			t.Fatalf("stream %d: %v", i, err)
		}
	}
	if highest > 100 {
		t.Errorf("%d ids for streams that were never open at once", highest+1)
	}
	// The first handle does not reach the stream that has its id now.
	if err := first.Send(ctx, []byte("late"), 0); !errors.Is(err, ErrEnded) {
		t.Errorf("a closed stream: %v", err)
	}
}
