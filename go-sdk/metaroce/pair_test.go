// SPDX-License-Identifier: Apache-2.0

package metaroce

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/impair"
)

// patience bounds what a test waits for; it never should.
func patience(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// lossy is a Config whose sent datagrams vanish with probability p.
func lossy(p float64, seed uint64) Config {
	return Config{Wrap: func(port engine.Port) engine.Port {
		return impair.Wrap(port, impair.Config{Loss: p}, rand.New(rand.NewPCG(seed, 1)))
	}}
}

// pair returns both ends of a connection over loopback, closed when the test ends.
func pair(t testing.TB, dial, listen Config) (dialled, accepted *Conn) {
	t.Helper()
	ctx := patience(t)
	l, err := Listen("127.0.0.1:0", listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if dialled, err = Dial(ctx, l.Addr().String(), dial); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialled.Close() })
	if accepted, err = l.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	return dialled, accepted
}

// open returns a new stream of from and its other end at to. It moves an empty message to do so.
func open(t testing.TB, from, to *Conn) (*Stream, *IncomingStream) {
	t.Helper()
	out, err := from.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	in, err := to.IncomingStream(out.ID())
	if err != nil {
		t.Fatal(err)
	}
	return out, in
}

// noise fills memory with bytes that tell where they are.
func noise(n int, seed uint64) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}
