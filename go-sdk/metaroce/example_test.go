// SPDX-License-Identifier: Apache-2.0

package metaroce_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"

	"github.com/openmetaroce/metaroce/go-sdk/metaroce"
)

// serve tells one client a region's key, waits for the immediate value that says all is written, and prints the region.
func serve(ctx context.Context, l *metaroce.Listener, done chan<- struct{}) {
	defer close(done)
	conn, err := l.Accept(ctx)
	if err != nil {
		log.Fatal(err)
	}
	region, err := l.RegisterRegion(make([]byte, 16), metaroce.RemoteWrite)
	if err != nil {
		log.Fatal(err)
	}
	writes, err := conn.IncomingStream(0)
	if err != nil {
		log.Fatal(err)
	}
	if err := writes.PostReceive(nil); err != nil {
		log.Fatal(err)
	}
	control, err := conn.OpenStream()
	if err != nil {
		log.Fatal(err)
	}
	if err := control.Send(ctx, binary.BigEndian.AppendUint64(nil, uint64(region.Key())), 0); err != nil {
		log.Fatal(err)
	}
	m, err := writes.Receive(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q, immediate value %d\n", region.Bytes(), m.Value)
}

// A client writes into a server's memory. The server hears of it once, at the end.
func Example() {
	ctx := context.Background()
	l, err := metaroce.Listen("127.0.0.1:0", metaroce.Config{})
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan struct{})
	go serve(ctx, l, done)

	conn, err := metaroce.Dial(ctx, l.Addr().String(), metaroce.Config{})
	if err != nil {
		log.Fatal(err)
	}
	control, err := conn.AcceptStream(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := control.PostReceive(make([]byte, 8)); err != nil {
		log.Fatal(err)
	}
	told, err := control.Receive(ctx)
	if err != nil {
		log.Fatal(err)
	}
	key := metaroce.Key(binary.BigEndian.Uint64(told.Data))

	stream, err := conn.OpenStream()
	if err != nil {
		log.Fatal(err)
	}
	first, err := stream.StartWrite(ctx, metaroce.WriteRequest{Source: []byte("one-sided"), Key: key})
	if err != nil {
		log.Fatal(err)
	}
	second, err := stream.StartWrite(ctx, metaroce.WriteRequest{
		Source: []byte(" writes"), Key: key, At: 9, Immediate: true, Value: 42,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, op := range []*metaroce.Operation{first, second} {
		if err := op.Wait(ctx); err != nil {
			log.Fatal(err)
		}
	}
	<-done
	if err := conn.Close(); err != nil {
		log.Fatal(err)
	}
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: "one-sided writes", immediate value 42
}

// Messages of a stream arrive in order, each in the next buffer that was posted.
func ExampleStream_Send() {
	ctx := context.Background()
	l, err := metaroce.Listen("127.0.0.1:0", metaroce.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	conn, err := metaroce.Dial(ctx, l.Addr().String(), metaroce.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	stream, err := conn.OpenStream()
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"lossy", "but", "ordered"} {
		if _, err := stream.StartSend(ctx, metaroce.SendRequest{Data: []byte(text), Match: uint64(len(text))}); err != nil {
			log.Fatal(err)
		}
	}

	peer, err := l.Accept(ctx)
	if err != nil {
		log.Fatal(err)
	}
	incoming, err := peer.AcceptStream(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		if err := incoming.PostReceive(make([]byte, 64)); err != nil {
			log.Fatal(err)
		}
	}
	for range 3 {
		m, err := incoming.Receive(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %d\n", m.Data, m.Match)
	}
	// Output:
	// lossy 5
	// but 3
	// ordered 7
}
