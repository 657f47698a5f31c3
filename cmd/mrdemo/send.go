// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/openmetaroce/metaroce/go-sdk/metaroce"
)

// sendCommand sends one file.
type sendCommand struct {
	To      string `arg:"" help:"Address of the receiver, host:port."`
	File    string `arg:"" type:"existingfile" help:"File to send."`
	Message int    `default:"1048576" help:"Bytes of one Write."`
	Rounds  int    `default:"1" help:"Times that the file is moved over the connection."`
	sideFlags
}

// Run sends the file and reports.
func (c *sendCommand) Run(s streams) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	data, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	r := &sideReport{Role: "sender", Name: filepath.Base(c.File), Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}
	me := side{flags: &c.sideFlags}
	conn, err := metaroce.Dial(ctx, c.To, me.config())
	if err != nil {
		return err
	}
	err = c.transfers(ctx, conn, data, r)
	if e := conn.Close(); err == nil {
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

// transfers moves the data as often as asked for.
func (c *sendCommand) transfers(ctx context.Context, conn *metaroce.Conn, data []byte, r *sideReport) error {
	control, err := conn.OpenStream()
	if err != nil {
		return err
	}
	replies, err := conn.IncomingStream(0)
	if err != nil {
		return err
	}
	if err := expect(replies, 1); err != nil {
		return err
	}
	if _, err := hear(ctx, replies, matchReady); err != nil {
		return err
	}
	for round := range c.Rounds {
		offer := note{Name: r.Name, Bytes: r.Bytes, SHA256: r.SHA256, Last: round == c.Rounds-1}
		if err := c.transfer(ctx, wires{conn, control, replies, offer}, data, r); err != nil {
			return err
		}
	}
	return nil
}

// wires are the ways to the receiver, and what it is offered.
type wires struct {
	conn    *metaroce.Conn
	control *metaroce.Stream
	replies *metaroce.IncomingStream
	offer   note
}

// transfer offers the data, writes it where the receiver says, and hears whether it arrived.
func (c *sendCommand) transfer(ctx context.Context, w wires, data []byte, r *sideReport) error {
	if err := expect(w.replies, 2); err != nil {
		return err
	}
	if err := tell(ctx, w.control, matchOffer, w.offer); err != nil {
		return err
	}
	grant, err := hear(ctx, w.replies, matchGrant)
	if err != nil {
		return err
	}
	if grant.Bytes < r.Bytes {
		return fmt.Errorf("the receiver has room for %d bytes of %d", grant.Bytes, r.Bytes)
	}
	watch := startWatch()
	if err := c.write(ctx, w.conn, data, metaroce.Key(grant.Key)); err != nil {
		return err
	}
	r.time(watch)
	if err := tell(ctx, w.control, matchDone, w.offer); err != nil {
		return err
	}
	result, err := hear(ctx, w.replies, matchResult)
	if err != nil {
		return err
	}
	if result.SHA256 != r.SHA256 {
		return fmt.Errorf("the receiver has sha256 %s, sent was %s", result.SHA256, r.SHA256)
	}
	return nil
}

// write puts the data into the region, message by message, as many under way at once as the SDK allows.
func (c *sendCommand) write(ctx context.Context, conn *metaroce.Conn, data []byte, key metaroce.Key) error {
	stream, err := conn.OpenStream()
	if err != nil {
		return err
	}
	size := max(c.Message, 1)
	var all []*metaroce.Operation
	for at := 0; at < len(data); at += size {
		op, err := stream.StartWrite(ctx, metaroce.WriteRequest{
			Source: data[at:min(at+size, len(data))], Key: key, At: uint64(at),
		})
		if err != nil {
			return err
		}
		all = append(all, op)
	}
	for _, op := range all {
		if err := op.Wait(ctx); err != nil {
			return err
		}
	}
	return stream.Close()
}
