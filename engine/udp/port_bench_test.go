// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// window bounds the bytes under way in the benchmark, which has no transport to do so.
const window = 2 << 20

// BenchmarkPort moves datagrams from 16 sockets to one over loopback, in bursts, without an engine: the most that the
// sockets give.
func BenchmarkPort(b *testing.B) {
	for _, c := range []struct{ size, burst int }{{8248, 14}, {8248, 7}, {4152, 15}, {1456, 44}, {1456, 16}, {1456, 1}} {
		b.Run(fmt.Sprintf("%dB/burst%d", c.size, c.burst), func(b *testing.B) { benchmarkPort(b, c.size, c.burst) })
	}
}

func benchmarkPort(b *testing.B, size, burst int) {
	from, at := open(b, "127.0.0.1", 16), open(b, "127.0.0.1", 1)
	var arrived atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		runtime.LockOSThread()
		for {
			select {
			case <-stop:
				return
			default:
			}
			if at.Wait(10*time.Millisecond) != nil {
				return
			}
			in, err := at.Receive()
			if err != nil {
				return
			}
			arrived.Add(int64(len(in)))
		}
	}()
	b.SetBytes(int64(size))
	b.ResetTimer()
	b.ReportAllocs()
	out := make([]engine.Datagram, 0, maxBatch)
	for sent := 0; sent < b.N; {
		for int64(sent)-arrived.Load() > int64(window/size) {
			runtime.Gosched()
		}
		out = out[:0]
		for i, buffer := range from.Buffers() {
			local := from.sockets[(sent+i)/burst%16].local
			out = append(out, engine.Datagram{Route: engine.Route{Local: local, Remote: at.sockets[0].local}, ECN: engine.ECT0, Bytes: buffer[:size]})
		}
		if err := from.Send(out); err != nil {
			b.Fatal(err)
		}
		sent += len(out)
	}
	b.StopTimer()
	close(stop)
	<-stopped
}
