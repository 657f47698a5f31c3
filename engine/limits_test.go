// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Each limit of the configuration: one less, the limit, and one more than it. Where one less is 0, which means the default, it is
// the number below that.
func TestConfigurationHoldsItsLimits(t *testing.T) {
	cases := []struct {
		name        string
		least, most int
		step        int
		set         func(c *engine.Config, n int)
	}{
		{"Chunk", 8, engine.MaxChunk, 8, func(c *engine.Config, n int) { c.Chunk = n }},
		{"Paths", 1, engine.MaxPaths, 1, func(c *engine.Config, n int) { c.Paths = n }},
		{"Burst", 1, 256, 1, func(c *engine.Config, n int) { c.Burst = n }},
		{"MaxAckDelay", 1, int(time.Second), 1, func(c *engine.Config, n int) { c.MaxAckDelay = time.Duration(n) }},
		{"AckEvery", 1, 256, 1, func(c *engine.Config, n int) { c.AckEvery = n }},
		{"StreamWindow", 1, 65536, 1, func(c *engine.Config, n int) { c.StreamWindow = n }},
		{"Span", 1, 1 << 20, 1, func(c *engine.Config, n int) { c.Span = n }},
		{"Messages", 1, 1 << 20, 1, func(c *engine.Config, n int) { c.Messages = n }},
		{"Disorder", 1, 1 << 30, 1, func(c *engine.Config, n int) { c.Disorder = n }},
		{"Requests", 1, 4096, 1, func(c *engine.Config, n int) { c.Requests = n }},
		{"Streams", 1, 65536, 1, func(c *engine.Config, n int) { c.Streams = n }},
		{"SeqBits", 8, 32, 1, func(c *engine.Config, n int) { c.SeqBits = n }},
	}
	for _, c := range cases {
		below := c.least - c.step
		if below == 0 {
			below = -c.step
		}
		for n, ok := range map[int]bool{
			below: false, c.least: true, c.least + c.step: true, c.most - c.step: true, c.most: true, c.most + c.step: false,
		} {
			t.Run(fmt.Sprintf("%s %d", c.name, n), func(t *testing.T) {
				var cfg engine.Config
				c.set(&cfg, n)
				if _, err := engine.New(cfg); (err == nil) != ok || err != nil && !errors.Is(err, engine.ErrConfig) {
					t.Errorf("%v", err)
				}
			})
		}
	}
	if _, err := engine.New(engine.Config{Chunk: 12}); !errors.Is(err, engine.ErrConfig) {
		t.Errorf("a chunk of 12 bytes: %v", err)
	}
}

func TestStreamsBeyondTheLimitAreRefusedToThePoster(t *testing.T) {
	p := newPair(t, engine.Config{Streams: 4})
	ids := p.connect(1)
	for stream, ok := range map[uint16]bool{2: true, 3: true, 4: false, 5: false} {
		err := p.ends[0].Post(p.now, ids[0], engine.Work{Stream: stream, Op: engine.OpSend})
		if (err == nil) != ok || err != nil && !errors.Is(err, engine.ErrStream) {
			t.Errorf("stream %d: %v", stream, err)
		}
		err = p.ends[1].PostReceive(p.now, ids[1], engine.Receive{Stream: stream})
		if (err == nil) != ok || err != nil && !errors.Is(err, engine.ErrStream) {
			t.Errorf("receive on stream %d: %v", stream, err)
		}
	}
}

func TestPostedWorkIsBounded(t *testing.T) {
	p := newPair(t, engine.Config{Posted: 3})
	ids := p.connect(1)
	for n := range 5 {
		err := p.ends[0].Post(p.now, ids[0], engine.Work{Stream: 1, Op: engine.OpSend, Data: make([]byte, 10)})
		if (err == nil) != (n < 3) || err != nil && !errors.Is(err, engine.ErrBusy) {
			t.Errorf("operation %d: %v", n, err)
		}
	}
}

// Never are more messages begun and incomplete, nor more requests served, than the receiver has announced.
//
//mr:prop P43
//mr:test MR-STREAM-004 MR-CONN-016
func TestSenderKeepsToTheReceiversLimits(t *testing.T) {
	for _, limit := range []int{1, 2, 7} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			p := newPair(t, engine.Config{Chunk: 512, Messages: limit, Requests: limit})
			ids := p.connect(4)
			p.lose(uint64(limit), 0.05)
			memory := make([]byte, 20_000)
			key, err := p.ends[1].Register(memory, engine.RemoteWrite|engine.RemoteRead)
			p.must(err)
			const n = 60
			for i := range n {
				w := engine.Work{Stream: uint16(i % 10), Op: engine.OpWrite, ID: uint64(i), Key: key, Data: make([]byte, 3000)}
				if i%3 == 0 {
					w = engine.Work{Stream: uint16(i % 10), Op: engine.OpRead, ID: uint64(i), Key: key, Into: make([]byte, 3000)}
				}
				p.must(p.ends[0].Post(p.now, ids[0], w))
			}
			p.run("operations", func() bool { return p.count(0, engine.Completed) == n })
			for _, ev := range p.events[0] {
				if ev.Err != nil {
					t.Errorf("operation %d: %v", ev.ID, ev.Err)
				}
			}
			if refusals := p.ends[1].Stats().SentOf(wire.OpcodeNotice); refusals > n {
				t.Errorf("the receiver had to refuse %d times", refusals)
			}
		})
	}
}

// A cookie is good for ten seconds, for its address, and from its maker.
//
//mr:test MR-CONN-003
func TestCookieIsGoodForTenSecondsAtItsAddress(t *testing.T) {
	cases := []struct {
		name string
		age  time.Duration
		port uint16
		ok   bool
	}{
		{"fresh", 0, 10000, true},
		{"other port", 0, 10001, true},
		{"nine seconds old", 9 * time.Second, 10000, true},
		{"ten seconds old", 10 * time.Second, 10000, true},
		{"eleven seconds old", 11 * time.Second, 10000, false},
		{"twelve seconds old", 12 * time.Second, 10000, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, engine.Config{})
			var held []engine.Datagram
			p.drop = func(from int, d engine.Datagram) bool {
				if from == 0 && wire.Opcode(d.Bytes[1]) == wire.OpcodeOpen && p.ends[1].Stats().SentOf(wire.OpcodeRetry) > 0 {
					d.Bytes = append([]byte(nil), d.Bytes...)
					held = append(held, d)
					return true
				}
				return false
			}
			_, err := p.ends[0].Open(p.now, routes(1))
			p.must(err)
			p.run("the second OPEN", func() bool { return len(held) > 0 })
			d := held[0]
			d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
			d.Route.Remote = routes(2)[c.port-10000].Local
			p.ends[1].HandleDatagram(p.now.Add(c.age), d)
			drops := p.ends[1].Stats().Drops
			if accepted := drops[engine.DropCookie] == 0; accepted != c.ok {
				t.Errorf("accepted: %v", accepted)
			}
		})
	}
}

func TestEndpointHasSixteenAddressesAtMost(t *testing.T) {
	for n, ok := range map[int]bool{15: true, 16: true, 17: false} {
		_, err := engine.New(engine.Config{Addresses: make([]netip.AddrPort, n)})
		if (err == nil) != ok || err != nil && !errors.Is(err, engine.ErrConfig) {
			t.Errorf("%d addresses: %v", n, err)
		}
	}
}
