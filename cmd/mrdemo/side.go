// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/capture"
	"github.com/openmetaroce/metaroce/engine/impair"
	"github.com/openmetaroce/metaroce/go-sdk/metaroce"
)

// sideFlags are the options that sender and receiver share.
type sideFlags struct {
	Paths    int           `default:"16" help:"Paths, each with a source port of its own."`
	Chunk    int           `help:"Payload of a full packet in bytes. Default: the SDK's."`
	Burst    int           `help:"Packets that stay on a path. Default: the SDK's."`
	Window   int           `help:"Bytes in flight at most. Default: the SDK's."`
	Loss     float64       `default:"0" help:"Probability that a datagram sent by this side vanishes."`
	Seed     uint64        `default:"1" help:"Seed of the losses."`
	Capture  string        `placeholder:"FILE" help:"Write all packets of this side as pcapng."`
	Limit    int           `default:"1000000" help:"Packets that the capture holds at most."`
	Timeout  time.Duration `default:"2m" help:"Give up after this time."`
	Insecure bool          `help:"Allow addresses other than loopback; nothing is encrypted."`
	JSON     bool          `help:"Report as JSON, one object on a line."`
}

// Validate tells kong what is wrong with the values.
func (f *sideFlags) Validate() error {
	return impair.Config{Loss: f.Loss}.Validate()
}

// side is one process's view of a transfer: its sockets' impairment and capture.
type side struct {
	flags   *sideFlags
	impair  *impair.Port
	capture *capture.Port
	file    *os.File
	err     error
}

// config returns the SDK's configuration, with loss and capture around the sockets: the engine's packets are recorded
// first and lost afterwards.
func (s *side) config() metaroce.Config {
	return metaroce.Config{
		Paths: s.flags.Paths, Chunk: s.flags.Chunk, Burst: s.flags.Burst, Window: s.flags.Window, Insecure: s.flags.Insecure,
		Wrap: s.wrap,
	}
}

func (s *side) wrap(p engine.Port) engine.Port {
	s.impair = impair.Wrap(p, impair.Config{Loss: s.flags.Loss}, rand.New(rand.NewPCG(s.flags.Seed, 0)))
	if s.flags.Capture == "" {
		return s.impair
	}
	if s.file, s.err = os.Create(s.flags.Capture); s.err != nil {
		return s.impair
	}
	if s.capture, s.err = capture.Wrap(s.impair, s.file, capture.Config{Limit: s.flags.Limit}); s.err != nil {
		return s.impair
	}
	return s.capture
}

// finish completes the capture. The endpoint has ended.
func (s *side) finish() error {
	if s.capture != nil && s.err == nil {
		s.err = s.capture.Flush()
	}
	if s.file != nil {
		if err := s.file.Close(); s.err == nil {
			s.err = err
		}
	}
	return s.err
}

// What the two processes tell each other over a stream each, by the match bits of the message.
const (
	matchReady  = 1 // receiver: there are receives for what follows
	matchOffer  = 2 // sender: what is coming
	matchGrant  = 3 // receiver: where it goes
	matchDone   = 4 // sender: all of it is there
	matchResult = 5 // receiver: what it looks like
)

// note is the text of all these messages.
type note struct {
	Name   string `json:"name,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
	Key    uint64 `json:"key,omitempty"`
	Last   bool   `json:"last,omitempty"` // no offer follows
}

// noteSize is room for a note.
const noteSize = 64 << 10

// expect posts receives for n notes.
func expect(s *metaroce.IncomingStream, n int) error {
	for range n {
		if err := s.PostReceive(make([]byte, noteSize)); err != nil {
			return err
		}
	}
	return nil
}

// tell sends a note.
func tell(ctx context.Context, s *metaroce.Stream, match uint64, n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.Send(ctx, text, match)
}

// hear waits for a note.
func hear(ctx context.Context, s *metaroce.IncomingStream, match uint64) (n note, err error) {
	m, err := s.Receive(ctx)
	if err != nil {
		return n, err
	}
	if m.Match != match {
		return n, fmt.Errorf("the peer says %d instead of %d", m.Match, match)
	}
	return n, json.Unmarshal(m.Data, &n)
}

// stopwatch measures wall time and this process's CPU time.
type stopwatch struct {
	wall time.Time
	cpu  time.Duration
}

func startWatch() stopwatch { return stopwatch{time.Now(), cpuTime()} }

func (w stopwatch) stop() (wall, cpu time.Duration) { return time.Since(w.wall), cpuTime() - w.cpu }

func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// print writes a report as one line of JSON, or as text.
func (f *sideFlags) print(out io.Writer, r *sideReport) error {
	if f.JSON {
		return json.NewEncoder(out).Encode(r)
	}
	_, err := fmt.Fprintf(out, "%s %s: %d bytes in %.3f s, %.0f MB/s, sha256 %s\n",
		r.Role, r.Name, r.Bytes, r.Seconds, r.Goodput/1e6, r.SHA256)
	return err
}
