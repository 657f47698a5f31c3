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
	if err := c.transfer(ctx, conn, r); err != nil {
		return nil, err
	}
	select {
	case <-conn.Done():
		return conn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// transfer grants what is offered, waits until it is there, and says what arrived.
func (c *receiveCommand) transfer(ctx context.Context, conn *metaroce.Conn, r *sideReport) error {
	control, err := conn.IncomingStream(0)
	if err != nil {
		return err
	}
	for range 2 {
		if err := control.PostReceive(make([]byte, noteSize)); err != nil {
			return err
		}
	}
	replies, err := conn.OpenStream()
	if err != nil {
		return err
	}
	offer, err := hear(ctx, control, matchOffer)
	if err != nil {
		return err
	}
	if offer.Bytes < 0 || offer.Bytes > c.Most {
		return fmt.Errorf("%d bytes are offered, taken are up to %d", offer.Bytes, c.Most)
	}
	region, err := conn.RegisterRegion(resident(offer.Bytes), metaroce.RemoteWrite)
	if err != nil {
		return err
	}
	watch := startWatch()
	if err := tell(ctx, replies, matchGrant, note{Bytes: offer.Bytes, Key: uint64(region.Key())}); err != nil {
		return err
	}
	if _, err := hear(ctx, control, matchDone); err != nil {
		return err
	}
	r.Name, r.Bytes = offer.Name, offer.Bytes
	r.time(watch)
	if err := region.Close(); err != nil {
		return err
	}
	sum := sha256.Sum256(region.Bytes())
	r.SHA256 = hex.EncodeToString(sum[:])
	if c.Out != "" {
		if err := os.WriteFile(c.Out, region.Bytes(), 0o644); err != nil {
			return err
		}
	}
	err = tell(ctx, replies, matchResult, note{Bytes: offer.Bytes, SHA256: r.SHA256})
	if errors.Is(err, metaroce.ErrClosed) {
		// The sender closes once it has the result, perhaps before we hear that it has.
		err = nil
	}
	return err
}

// resident returns memory that is present, as registered memory is on a device that pins it.
func resident(n int64) []byte {
	memory := make([]byte, n)
	for at := 0; at < len(memory); at += os.Getpagesize() {
		memory[at] = 1
	}
	return memory
}
