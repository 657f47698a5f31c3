// SPDX-License-Identifier: Apache-2.0

//go:build linux

package metaroce

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// lab is two hosts, network namespaces of this test's own, joined by one virtual cable for each plane.
type lab struct {
	t     *testing.T
	hosts [2]string // namespaces
}

const labPlanes = 2

// addr is the address of a host on a plane.
func (l *lab) addr(plane, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 99, byte(plane), byte(1 + host)})
}

// newLab makes the hosts. They are gone when the test ends.
func newLab(t *testing.T) *lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: to make network namespaces")
	}
	l := &lab{t: t}
	for i := range l.hosts {
		l.hosts[i] = fmt.Sprintf("mr%d-%c", os.Getpid(), 'a'+i)
		l.run("ip", "netns", "add", l.hosts[i])
		t.Cleanup(func() { l.run("ip", "netns", "del", l.hosts[i]) })
		l.run("ip", "-n", l.hosts[i], "link", "set", "lo", "up")
	}
	for plane := range labPlanes {
		name := fmt.Sprintf("p%d", plane)
		l.run("ip", "link", "add", name, "netns", l.hosts[0], "type", "veth", "peer", "name", name, "netns", l.hosts[1])
		for i, host := range l.hosts {
			l.run("ip", "-n", host, "addr", "add", l.addr(plane, i).String()+"/24", "dev", name)
			l.run("ip", "-n", host, "link", "set", name, "up")
		}
	}
	return l
}

func (l *lab) run(words ...string) {
	l.t.Helper()
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

// on runs f in a host: the sockets that it opens belong there for good.
func (l *lab) on(host int, f func() error) error {
	done := make(chan error)
	go func() {
		// The thread is never unlocked: it ends with the goroutine, and nobody else wakes up in the namespace.
		runtime.LockOSThread()
		ns, err := os.Open("/run/netns/" + l.hosts[host])
		if err == nil {
			defer ns.Close()
			err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// lose drops one arriving packet in a hundred at a host, in the kernel.
func (l *lab) lose(host int) {
	l.run("ip", "netns", "exec", l.hosts[host], "nft",
		"add table ip loss; add chain ip loss in { type filter hook input priority 0; }; add rule ip loss in udp dport 1-65535 numgen random mod 100 < 1 drop")
}

// pair opens a connection from host 0 to host 1 over all planes.
func (l *lab) pair(cfg Config) (dialled, accepted *Conn) {
	l.t.Helper()
	ctx := patience(l.t)
	cfg.Insecure = true
	var listener *Listener
	var dialer *Dialer
	err := l.on(1, func() (err error) {
		listener, err = Listen(fmt.Sprintf("%v:0,%v:0", l.addr(0, 1), l.addr(1, 1)), cfg)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { listener.Close() })
	err = l.on(0, func() (err error) {
		dialer, err = NewDialer(l.addr(0, 0), cfg, l.addr(1, 0))
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { dialer.Close() })
	addrs := listener.Addrs()
	if dialled, err = dialer.Dial(ctx, addrs[0].String()+","+addrs[1].String()); err != nil {
		l.t.Fatal(err)
	}
	if accepted, err = listener.Accept(ctx); err != nil {
		l.t.Fatal(err)
	}
	return dialled, accepted
}

// Two hosts, two planes, packets lost by the kernel; one plane is pulled out in the middle of the work and put back. The work goes
// on until both have been seen. The data is right, and no call of the application fails.
//
//mr:test MR-PLANE-001 MR-FAIL-003 MR-FAIL-005
func TestPlaneIsPulledOutOfARealNetwork(t *testing.T) {
	l := newLab(t)
	for host := range l.hosts {
		l.lose(host)
	}
	dialled, accepted := l.pair(Config{Paths: 8})
	const size, piece, least = 8 << 20, 1 << 18, 32
	memory, data := make([]byte, size), noise(size, 9)
	region, err := accepted.RegisterRegion(memory, RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := open(t, dialled, accepted)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pulled, back := false, false
	for n := 0; n < least || !back || lost(dialled.Stats().Conn.Paths) == 0; n++ {
		at := n * piece % size
		if err := out.Write(ctx, data[at:at+piece], region.Key(), uint64(at)); err != nil {
			t.Fatalf("piece %d, plane pulled %v, back %v: %v", n, pulled, back, err)
		}
		down, up := planeOneIs(dialled, l.addr(1, 0))
		switch {
		case n == least/2:
			pulled = true
			l.run("ip", "-n", l.hosts[0], "link", "set", "p1", "down")
		case n > least/2 && down:
			l.run("ip", "-n", l.hosts[0], "link", "set", "p1", "up")
		case n > least/2 && up:
			back = true
		}
	}
	if err := region.Close(); err != nil { // from here on nobody else touches the memory
		t.Fatal(err)
	}
	if !bytes.Equal(memory, data) {
		t.Error("what arrived is not what was sent")
	}
}

// planeOneIs tells whether all paths from an address are out of service, or have been and are in service again.
func planeOneIs(c *Conn, local netip.Addr) (down, back bool) {
	down, back = true, true
	for _, p := range c.Stats().Conn.Paths {
		if p.Route.Local.Addr() == local {
			down = down && p.Downs > p.Ups
			back = back && p.Downs > 0 && p.Downs == p.Ups
		}
	}
	return down, back
}

func lost(paths []PathStats) (n uint64) {
	for i := range paths {
		n += paths[i].Lost
	}
	return n
}
