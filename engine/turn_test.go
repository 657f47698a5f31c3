// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"hash/crc32"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// loop is two endpoints whose datagrams meet in preallocated memory: what is left is the engine's own cost.
type loop struct {
	now   engine.Time
	ends  [2]*engine.Endpoint
	pumps [2]engine.Pump
	ports [2]*memoryPort
}

// memoryPort hands what one end sends to the other.
type memoryPort struct {
	peer    *memoryPort
	buffers [][]byte
	inbox   []engine.Datagram
	inUse   int
	memory  [][]byte
}

func newMemoryPort(n, size int) *memoryPort {
	p := &memoryPort{inbox: make([]engine.Datagram, 0, 4*n)}
	for range n {
		p.buffers = append(p.buffers, make([]byte, size))
	}
	for range 4 * n {
		p.memory = append(p.memory, make([]byte, size))
	}
	return p
}

func (p *memoryPort) Receive() ([]engine.Datagram, error) {
	in := p.inbox
	p.inbox, p.inUse = p.inbox[:0], 0
	return in, nil
}

func (p *memoryPort) Buffers() [][]byte {
	room := len(p.peer.memory) - p.peer.inUse
	return p.buffers[:min(room, len(p.buffers))]
}

func (p *memoryPort) Send(out []engine.Datagram) error {
	for _, d := range out {
		b := p.peer.memory[p.peer.inUse]
		p.peer.inUse++
		d.Bytes = b[:copy(b, d.Bytes)]
		d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
		p.peer.inbox = append(p.peer.inbox, d)
	}
	return nil
}

func newLoop(tb testing.TB, cfg engine.Config) *loop {
	tb.Helper()
	l := &loop{now: 1}
	for i := range l.ends {
		cfg.Seed[0], cfg.Seed[9], cfg.Accept = byte(i+1), endSeed(), i == 1
		end, err := engine.New(cfg)
		if err != nil {
			tb.Fatal(err)
		}
		l.ends[i], l.ports[i] = end, newMemoryPort(64, 9000)
		l.pumps[i] = engine.Pump{Endpoint: end, Port: l.ports[i]}
	}
	l.ports[0].peer, l.ports[1].peer = l.ports[1], l.ports[0]
	return l
}

// turn runs both pumps once.
func (l *loop) turn(tb testing.TB) {
	l.now += 1000
	for i := range l.pumps {
		if _, err := l.pumps[i].Turn(l.now); err != nil {
			tb.Fatal(err)
		}
	}
}

// drain counts an end's completions.
func (l *loop) drain(end int) (done int) {
	for {
		ev, ok := l.ends[end].NextEvent()
		if !ok {
			return done
		}
		if ev.Kind == engine.Completed {
			done++
		}
	}
}

// stream prepares endless Writes of size bytes.
func (l *loop) stream(tb testing.TB, size int) (post func()) {
	tb.Helper()
	id, err := l.ends[0].Open(l.now, routes(16))
	if err != nil {
		tb.Fatal(err)
	}
	for range 1000 {
		l.turn(tb)
	}
	l.drain(0)
	key, err := l.ends[1].Register(make([]byte, size), engine.RemoteWrite)
	if err != nil {
		tb.Fatal(err)
	}
	data := make([]byte, size)
	n := uint64(0)
	return func() {
		n++
		if err := l.ends[0].Post(l.now, id, engine.Work{Stream: uint16(n % 4), Op: engine.OpWrite, ID: n, Data: data, Key: key}); err != nil {
			tb.Fatal(err)
		}
	}
}

func TestTurnDoesNotAllocate(t *testing.T) {
	for _, c := range []struct{ size, writes int }{{100_000, 1}, {64, 40}} {
		l := newLoop(t, engine.Config{})
		post := l.stream(t, c.size)
		cycle := func() {
			for range c.writes {
				post()
			}
			for done := 0; done < c.writes; {
				l.turn(t)
				done += l.drain(0)
			}
		}
		for range 2000 {
			cycle()
		}
		if n := testing.AllocsPerRun(500, cycle); n > 0 {
			t.Fatalf("%v allocations for %d Writes of %d bytes", n, c.writes, c.size)
		}
	}
}

// touching is the time of copying and summing the bytes of a packet as often as here, in the same memory: to the buffer, to
// the peer and to its region, and once at each end.
func touching(size int) time.Duration {
	table := crc32.MakeTable(crc32.Castagnoli)
	from, to := make([]byte, size), make([]byte, size)
	port := newMemoryPort(64, 9000)
	least := time.Hour
	for range 50 {
		began := time.Now()
		for i, arrived := range port.memory {
			sent := port.buffers[i%len(port.buffers)][:size]
			copy(sent, from)
			crc32.Update(0, table, sent)
			copy(arrived, sent)
			crc32.Update(0, table, arrived[:size])
			copy(to, arrived)
		}
		least = min(least, time.Since(began)/time.Duration(len(port.memory)))
	}
	return least
}

// BenchmarkPacket is the cost of one data packet at both ends, its share of the ACKs included. Beside it stands what of it
// is copying and summing the bytes.
func BenchmarkPacket(b *testing.B) {
	for _, c := range []struct {
		name string
		size int
	}{{"64B", 64}, {"4KiB", 4096}} {
		b.Run(c.name, func(b *testing.B) {
			l := newLoop(b, engine.Config{Burst: 16})
			post := l.stream(b, c.size)
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			outstanding := 0
			for b.Loop() {
				post()
				outstanding++
				for outstanding > 128 {
					l.turn(b)
					outstanding -= l.drain(0)
				}
			}
			b.ReportMetric(float64(touching(c.size)), "copy+crc-ns")
		})
	}
}
