// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/openmetaroce/metaroce/go-sdk/metaroce"
)

// receiveCommand receives one file.
type receiveCommand struct {
	Listen string `default:"127.0.0.1:4797" help:"Address to listen on; port 0 lets the system choose."`
	Out    string `type:"path" placeholder:"FILE" help:"Write what arrives to a file. Default: only hash it."`
	Most   int64  `default:"4294967296" help:"Refuse larger files."`
	sideFlags
}

// listening is the first line of the report: where the receiver listens.
type listening struct {
	Listening string `json:"listening"`
}

// Run receives a file and reports.
func (c *receiveCommand) Run(s streams) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	me := side{flags: &c.sideFlags}
	l, err := metaroce.Listen(c.Listen, me.config())
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(s.out).Encode(listening{l.Addr().String()})
	} else {
		_, err = fmt.Fprintf(s.out, "listening on %v\n", l.Addr())
	}
	if err != nil {
		return err
	}
	r := &sideReport{Role: "receiver"}
	conn, err := c.serve(ctx, l, r)
	if e := l.Close(); err == nil {
		err = e
	}
	if e := me.finish(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	r.fill(conn.Stats(), &me)
	return c.print(s.out, r)
}

// serve takes one connection to its end.
func (c *receiveCommand) serve(ctx context.Context, l *metaroce.Listener, r *sideReport) (*metaroce.Conn, error) {
	conn, err := l.Accept(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.transfers(ctx, conn, r); err != nil {
		return nil, err
	}
	select {
	case <-conn.Done():
		return conn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// transfers takes what is offered, up to the last offer.
func (c *receiveCommand) transfers(ctx context.Context, conn *metaroce.Conn, r *sideReport) error {
	control, err := conn.IncomingStream(0)
	if err != nil {
		return err
	}
	replies, err := conn.OpenStream()
	if err != nil {
		return err
	}
	if err := expect(control, 2); err != nil {
		return err
	}
	if err := tell(ctx, replies, matchReady, note{}); err != nil {
		return err
	}
	var memory []byte
	for {
		offer, err := hear(ctx, control, matchOffer)
		if err != nil {
			return err
		}
		if offer.Bytes < 0 || offer.Bytes > c.Most {
			return fmt.Errorf("%d bytes are offered, taken are up to %d", offer.Bytes, c.Most)
		}
		memory = resident(memory, int(offer.Bytes))
		if err := c.transfer(ctx, receiving{conn, control, replies, memory, offer}, r); err != nil {
			return err
		}
		if offer.Last {
			return c.keep(memory)
		}
	}
}

// receiving is one transfer.
type receiving struct {
	conn    *metaroce.Conn
	control *metaroce.IncomingStream
	replies *metaroce.Stream
	memory  []byte
	offer   note
}

// transfer grants what is offered, waits until it is there, and says what arrived.
func (c *receiveCommand) transfer(ctx context.Context, t receiving, r *sideReport) error {
	region, err := t.conn.RegisterRegion(t.memory, metaroce.RemoteWrite)
	if err != nil {
		return err
	}
	r.Name, r.Bytes = t.offer.Name, t.offer.Bytes
	watch := startWatch()
	if err := tell(ctx, t.replies, matchGrant, note{Bytes: r.Bytes, Key: uint64(region.Key())}); err != nil {
		return err
	}
	if _, err := hear(ctx, t.control, matchDone); err != nil {
		return err
	}
	r.time(watch)
	if err := region.Close(); err != nil {
		return err
	}
	sum := sha256.Sum256(t.memory)
	r.SHA256 = hex.EncodeToString(sum[:])
	if err := expect(t.control, 2); err != nil {
		return err
	}
	err = tell(ctx, t.replies, matchResult, note{Bytes: r.Bytes, SHA256: r.SHA256})
	if errors.Is(err, metaroce.ErrClosed) {
		// The sender closes once it has the result, perhaps before we hear that it has.
		err = nil
	}
	return err
}

// keep writes what has arrived to a file, if one is named.
func (c *receiveCommand) keep(memory []byte) error {
	if c.Out == "" {
		return nil
	}
	return os.WriteFile(c.Out, memory, 0o644)
}

// resident returns memory that is present, as registered memory is on a device that pins it, and that holds nothing of an
// earlier transfer.
func resident(memory []byte, n int) []byte {
	if len(memory) != n {
		memory = make([]byte, n)
	}
	for i := range memory {
		memory[i] = 0xee
	}
	return memory
}
