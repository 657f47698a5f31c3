// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/impair"
)

// plain returns a Config that moves one Write of size bytes over a clean network.
func plain(size int) Config {
	return Config{
		Seed: 1,
		Network: Network{
			Rate: 100e9, Latency: time.Microsecond, Paths: 4,
			Hops: []Hop{{Rate: 100e9, Latency: time.Microsecond}},
		},
		Streams:    []Stream{{Messages: []Message{{Op: engine.OpWrite, Size: size}}}},
		CheckEvery: 1,
	}
}

func TestRunRefusesWrongConfigs(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"no paths":            func(c *Config) { c.Network.Paths = 0 },
		"too many paths":      func(c *Config) { c.Network.Paths = 257 },
		"negative rate":       func(c *Config) { c.Network.Rate = -1 },
		"negative skew":       func(c *Config) { c.Network.Skew = -1 },
		"negative queue":      func(c *Config) { c.Network.Hops[0].Queue = -1 },
		"marks in reverse":    func(c *Config) { c.Network.Hops[0].MarkFrom, c.Network.Hops[0].MarkTo = 2, 1 },
		"chance above 1":      func(c *Config) { c.Faults = []Fault{{Kind: Lose, Chance: 1.1}} },
		"chance not a number": func(c *Config) { c.Faults = []Fault{{Kind: Lose, Chance: math.NaN()}} },
		"cut nowhere":         func(c *Config) { c.Faults = []Fault{{Kind: Cut, Path: 4}} },
		"third host's fault":  func(c *Config) { c.Faults = []Fault{{Kind: Cut, Host: 2}} },
		"second plane of one": func(c *Config) { c.Faults = []Fault{{Kind: Cut, Plane: 1}} },
		"no kind":             func(c *Config) { c.Faults = []Fault{{}} },
		"pause for ever":      func(c *Config) { c.Faults = []Fault{{Kind: Pause}} },
		"whose packet":        func(c *Config) { c.Faults = []Fault{{Kind: Lose, Host: All, Packet: 1}} },
		"which operation":     func(c *Config) { c.Faults = []Fault{{Kind: Cancel, Operation: 1}} },
		"too many planes":     func(c *Config) { c.Network.Planes = 17 },
		"plane without path":  func(c *Config) { c.Network.Planes = 5 },
		"third host":          func(c *Config) { c.Streams[0].From = 2 },
		"negative size":       func(c *Config) { c.Streams[0].Messages[0].Size = -1 },
		"no operation":        func(c *Config) { c.Streams[0].Messages[0].Op = 0 },
		"engine's chunk":      func(c *Config) { c.Engine.Chunk = 7 },
	} {
		cfg := plain(1)
		spoil(&cfg)
		if _, err := Run(cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRunEndsAtItsDeadline(t *testing.T) {
	cfg := plain(1 << 20)
	cfg.Deadline = 50 * time.Microsecond
	res, err := Run(cfg)
	if !errors.Is(err, ErrUnfinished) || res.Ended > cfg.Deadline {
		t.Errorf("at %v: %v", res.Ended, err)
	}
}

func TestRunEndsAtItsBoundOnEvents(t *testing.T) {
	cfg := plain(1 << 20)
	cfg.MaxEvents = 100
	res, err := Run(cfg)
	if !errors.Is(err, ErrUnfinished) || res.Events > 101 {
		t.Errorf("after %d events: %v", res.Events, err)
	}
}

func TestRunNeverBeatsTheIdeal(t *testing.T) {
	for _, size := range []int{0, 1, 4096, 4097, 1 << 20} {
		cfg := plain(size)
		res, err := Run(cfg)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		f := res.Flows[0]
		if took, ideal := f.Finished-f.Begun, cfg.Network.Ideal(size, 4096); took < ideal {
			t.Errorf("%d bytes took %v, ideal is %v", size, took, ideal)
		}
	}
}

// faulty returns a Config that loses and doubles much.
func faulty(size int) Config {
	cfg := plain(size)
	lose, double, flip := Everywhere(Lose), Everywhere(Copy), Everywhere(Flip)
	lose.Chance, double.Chance, flip.Chance = 0.05, 0.05, 0.02
	double.Span = 30 * time.Microsecond
	cfg.Faults = []Fault{lose, double, flip}
	return cfg
}

//mr:prop P48
func TestRunRepeatsItself(t *testing.T) {
	cfg := faulty(1 << 18)
	first, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two runs of one Config differ (-first +second):\n%s", diff)
	}
	cfg.Seed++
	third, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if third.Trace == first.Trace {
		t.Errorf("seeds %d and %d have the same trace", cfg.Seed-1, cfg.Seed)
	}
}

func TestIdealCountsRealBytes(t *testing.T) {
	fabric := Network{Rate: 400e9, Latency: time.Microsecond}
	for range 5 {
		fabric.Hops = append(fabric.Hops, Hop{Rate: 400e9, Latency: time.Microsecond})
	}
	const packet, ack = 83.88, 2.04 // ns at 400 Gb/s: 4096 + 56 + 42 and 60 + 42 bytes
	for _, c := range []struct {
		size int
		want float64 // ns
	}{
		{4096, 12_000 + 6*packet + 6*ack},
		{2 << 20, 12_000 + (512+5)*packet + 6*ack},
		{0, 12_000 + 6*98*0.02 + 6*ack},
		{4097, 12_000 + 6*packet + 99*0.02 + 6*ack}, // the last byte catches up with the chunk ahead
	} {
		got := fabric.Ideal(c.size, 4096)
		if math.Abs(float64(got.Nanoseconds())-c.want) > 1 {
			t.Errorf("%d bytes: %v, want %.1f ns", c.size, got, c.want)
		}
	}
	if got := fabric.RoundTrip(4096); got != fabric.Ideal(4096, 4096) {
		t.Errorf("round trip %v", got)
	}
}

func TestNICLendsOneBufferWhenItIsFree(t *testing.T) {
	net := testNetwork(t, Config{Network: Network{Rate: 8e9, Paths: 1}})
	n := &nic{network: net, rate: 8e9, free: make([]instant, 1)}
	b := n.Buffers()
	if len(b) != 1 || len(b[0]) < 4096+engine.Overhead {
		t.Fatalf("%d buffers", len(b))
	}
	if again := n.Buffers(); len(again) != 1 || &again[0][0] != &b[0][0] {
		t.Error("an unused buffer is not lent again")
	}
	if err := n.Send([]engine.Datagram{{Bytes: make([]byte, 10)}}); !errors.Is(err, ErrViolation) {
		t.Errorf("foreign bytes: %v", err)
	}
	if err := n.Send([]engine.Datagram{{Route: routeOf(0, 0), Bytes: b[0][:958]}}); err != nil {
		t.Fatal(err)
	}
	if n.free[0] != 1_000_000 || n.sent != 1 {
		t.Errorf("free at %d ps, %d sent", n.free[0], n.sent)
	}
	if got := n.Buffers(); got != nil {
		t.Errorf("%d buffers while sending", len(got))
	}
	if err := n.Send([]engine.Datagram{{Bytes: b[0][:1]}}); !errors.Is(err, ErrViolation) {
		t.Errorf("nothing lent: %v", err)
	}
	n.now, n.sent = 1_000_000, 0
	if got := n.Buffers(); len(got) != 1 {
		t.Errorf("%d buffers when free again", len(got))
	}
}

func TestRunWorksWithFaultsAroundThePort(t *testing.T) {
	r, err := newRun(plain(1 << 18))
	if err != nil {
		t.Fatal(err)
	}
	var ports [2]*impair.Port
	for i, h := range r.hosts {
		ports[i] = impair.Wrap(h.pump.Port, impair.Config{Loss: 0.05, Duplicate: 0.1}, concern(1, uint64(100+i)))
		h.pump.Port = ports[i]
	}
	if err := r.execute(); err != nil {
		t.Fatal(err)
	}
	for i, p := range ports {
		if p.Dropped == 0 || p.Duplicated == 0 {
			t.Errorf("host %d: %+v", i, p.Counts)
		}
	}
}

func TestFaultsEndWhenTheNetworkHeals(t *testing.T) {
	cfg := plain(1 << 16)
	cfg.HealAt = 300 * time.Millisecond
	cut := Everywhere(Cut)
	cut.End = time.Hour
	cfg.Faults = []Fault{cut}
	res, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if f := res.Flows[0]; f.Begun < cfg.HealAt || res.Injected[Cut] == 0 {
		t.Errorf("begun at %v, %d datagrams swallowed", f.Begun, res.Injected[Cut])
	}
}

func TestProgressOnlyGrows(t *testing.T) {
	cfg := plain(8 << 20)
	cfg.CheckEvery = 0
	var last uint64
	calls := 0
	cfg.Progress = func(placed, total uint64) {
		calls++
		if placed < last || placed > total || total != 8<<20 {
			t.Errorf("%d of %d bytes, after %d", placed, total, last)
		}
		last = placed
	}
	if _, err := Run(cfg); err != nil {
		t.Fatal(err)
	}
	if calls == 0 {
		t.Error("never called")
	}
}
