// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

func TestDefaultsFitTheInterface(t *testing.T) {
	loopback, err := Config{}.withDefaults(netip.MustParseAddr("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	for chunk, burst := range map[int]int{8: 64, 1400: 44, 4096: 15, 8192: 14, 8872: 14} {
		if got := burstFor(chunk); got != burst {
			t.Errorf("bursts of %d packets of %d bytes, want %d", got, chunk, burst)
		}
	}
	if loopback.Chunk != 8192 || loopback.Paths != 16 || loopback.Burst != 14 || loopback.Window != 3<<20 {
		t.Errorf("%+v", loopback)
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil || i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		for _, a := range addresses {
			ip, _ := netip.AddrFromSlice(a.(*net.IPNet).IP)
			chunk := chunkFor(ip.Unmap())
			if chunk%8 != 0 || chunk > engine.MaxChunk || chunk+engine.Overhead+48 > i.MTU {
				t.Errorf("chunk of %d bytes for %v, MTU %d", chunk, ip, i.MTU)
			}
		}
	}
	if chunk := chunkFor(netip.IPv6Unspecified()); chunk < 8 || chunk > engine.MaxChunk || chunk%8 != 0 {
		t.Errorf("chunk of %d bytes for any interface", chunk)
	}
}

func TestWildcardListenerServesEveryAddress(t *testing.T) {
	ctx := patience(t)
	for _, at := range []string{"0.0.0.0:0", "[::]:0"} {
		l, err := Listen(at, Config{Insecure: true, Chunk: 4096})
		if err != nil {
			t.Fatal(err)
		}
		memory, source := make([]byte, 1<<18), noise(1<<18, 9)
		for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
			clear(memory)
			region, err := l.RegisterRegion(memory, RemoteWrite)
			if err != nil {
				t.Fatal(err)
			}
			c, err := Dial(ctx, netip.AddrPortFrom(netip.MustParseAddr(host), l.Addr().Port()).String(), Config{})
			if err != nil {
				t.Fatalf("%s at %s: %v", host, at, err)
			}
			out, err := c.OpenStream()
			if err != nil {
				t.Fatal(err)
			}
			if err := out.Write(ctx, source, region.Key(), 0); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(c.Close(), region.Close()); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(memory, source) {
				t.Errorf("%s at %s: the region differs", host, at)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSpinningLoopsCarryMessages(t *testing.T) {
	ctx := patience(t)
	a, b := pair(t, Config{Spin: time.Millisecond}, Config{Spin: time.Millisecond})
	out, in := open(t, a, b)
	for range 3 {
		if err := in.PostReceive(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if err := out.Send(ctx, []byte("12345678"), 1); err != nil {
			t.Fatal(err)
		}
		if m, err := in.Receive(ctx); err != nil || string(m.Data) != "12345678" {
			t.Fatalf("%q, %v", m.Data, err)
		}
	}
}
