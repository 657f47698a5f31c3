// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkWrite moves messages of 1 MiB into a region over loopback, sixteen under way at once, both ends in this process.
func BenchmarkWrite(b *testing.B) {
	for _, chunk := range []int{1400, 4096, 8192} {
		b.Run(fmt.Sprint(chunk), func(b *testing.B) { benchmarkWrite(b, Config{Chunk: chunk}, 1<<20) })
	}
}

// BenchmarkSmallWrite does the same with messages of 64 bytes.
func BenchmarkSmallWrite(b *testing.B) { benchmarkWrite(b, Config{}, 64) }

func benchmarkWrite(b *testing.B, cfg Config, size int) {
	const depth = 16
	cfg.Depth = max(depth, min(1024, depth<<20/size))
	x, y := pair(b, cfg, cfg)
	region, err := y.RegisterRegion(make([]byte, depth<<20), RemoteWrite)
	if err != nil {
		b.Fatal(err)
	}
	source := noise(depth<<20, 1)
	out, _ := open(b, x, y)
	ctx := context.Background()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	cpu := cpuTime()
	b.ResetTimer()
	var last *Operation
	for i := range b.N {
		at := i * size % (depth << 20)
		if last, err = out.StartWrite(ctx, WriteRequest{Source: source[at : at+size], Key: region.Key(), At: uint64(at)}); err != nil {
			b.Fatal(err)
		}
	}
	if err := last.Wait(ctx); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	b.ReportMetric((cpuTime()-cpu).Seconds()*1e9/float64(b.N*size), "cpu-s/GB")
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRoundTrip sends 8 bytes there and back.
func BenchmarkRoundTrip(b *testing.B) {
	x, y := pair(b, Config{}, Config{})
	there, atY := open(b, x, y)
	back, atX := open(b, y, x)
	for _, in := range []*IncomingStream{atX, atY} {
		for range 2 {
			if err := in.PostReceive(make([]byte, 8)); err != nil {
				b.Fatal(err)
			}
		}
	}
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for range b.N {
			if err := bounce(ctx, atY, back); err != nil {
				b.Error(err)
				return
			}
		}
	}()
	if _, err := there.StartSend(ctx, SendRequest{Data: make([]byte, 8)}); err != nil {
		b.Fatal(err)
	}
	for range b.N - 1 {
		if err := bounce(ctx, atX, there); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := atX.Receive(ctx); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
}

// bounce sends back what arrives.
func bounce(ctx context.Context, in *IncomingStream, out *Stream) error {
	m, err := in.Receive(ctx)
	if err != nil {
		return err
	}
	if _, err := out.StartSend(ctx, SendRequest{Data: []byte(string(m.Data))}); err != nil {
		return err
	}
	return in.PostReceive(m.Data)
}
