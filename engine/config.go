// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/openmetaroce/metaroce/engine/internal/cc"
)

// Config holds what an Endpoint needs to know. A zero field takes its default.
type Config struct {
	// Seed feeds the endpoint's generator of tags, keys and first numbers. Real drivers fill it from the system's entropy.
	Seed [32]byte
	// Accept lets peers open connections.
	Accept bool
	// Chunk is the payload of a full packet in bytes: a multiple of 8 in 8..8872. Default 4096.
	Chunk int
	// Paths is the number of paths of a connection, 1..256; the smaller of both sides counts. Default 16.
	Paths int
	// Burst is the number of packets that stay on a path before the next one is picked. Default 1.
	Burst int
	// InitialWindow is the first window of a path in bytes. Default 16 packets.
	InitialWindow int
	// Addresses are where this endpoint receives, one for each plane; empty = one plane, at whatever address a peer sends to.
	Addresses []netip.AddrPort
	// Control chooses the controller of windows. Default ByMarks.
	Control Control
	// Capacity is the inbound capacity in kbit/s that is divided among the peers that send; 0 = not known, no hints.
	Capacity uint64
	// MaxWindow bounds the window of a connection in bytes. Default 4 MiB.
	MaxWindow int
	// MaxAckDelay is the longest time that an ACK is held back. Default 100 µs.
	MaxAckDelay time.Duration
	// AckEvery is the number of packets that make an ACK due at once. Default 4.
	AckEvery int
	// InitialRTT is assumed until the first sample. Default 10 ms.
	InitialRTT time.Duration
	// MinRTO bounds retransmission timers from below: the granularity of the driver's clock. Default 1 ms.
	MinRTO time.Duration
	// DeadAfter is the silence, with work outstanding, after which a connection fails. Default 10 s.
	DeadAfter time.Duration
	// StreamWindow is the number of messages accepted beyond the oldest incomplete one of a stream. Default 256.
	StreamWindow int
	// Span is the number of chunks accepted beyond the oldest unacknowledged one of a message. Default 65536.
	Span int
	// Messages is the number of messages begun and incomplete that a connection accepts. Default 4096.
	Messages int
	// Disorder is the number of bytes that a connection sets aside for what arrives out of order: records of messages and
	// bitmaps of chunks, no payload. Default 4 MiB.
	Disorder int
	// Requests is the number of reads and atomic operations that a connection serves at a time. Default 64.
	Requests int
	// Streams is the number of stream ids that a connection accepts. Default 4096.
	Streams int
	// Posted is the number of operations that may wait on a stream before Post answers ErrBusy. Default 65536.
	Posted int
	// SeqBits is the width of PSN and TSN: 32 on the wire, 8 to 32 in tests. Default 32.
	SeqBits int
}

// Control names a congestion controller.
type Control = cc.Kind

// The controllers.
const (
	// ByMarks is additive increase and multiplicative decrease on ECN marks, per path and per connection.
	ByMarks = cc.ByMarks
	// Constant keeps the first windows.
	Constant = cc.Constant
)

// Largest and smallest values of Config's fields.
const (
	MaxChunk = 8872
	MaxPaths = 256
)

// Overhead is the largest difference between a packet and its payload, in bytes.
const Overhead = 64

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// withDefaults fills zero fields and validates the rest.
func (c Config) withDefaults() (Config, error) {
	orDefault(&c.Chunk, 4096)
	orDefault(&c.Paths, 16)
	orDefault(&c.Burst, 1)
	orDefault(&c.InitialWindow, 16*(c.Chunk+Overhead))
	orDefault(&c.MaxWindow, 4<<20)
	orDefault(&c.MaxAckDelay, 100*time.Microsecond)
	orDefault(&c.AckEvery, 4)
	orDefault(&c.InitialRTT, 10*time.Millisecond)
	orDefault(&c.MinRTO, time.Millisecond)
	orDefault(&c.DeadAfter, 10*time.Second)
	orDefault(&c.StreamWindow, 256)
	orDefault(&c.Span, 65536)
	orDefault(&c.Messages, 4096)
	orDefault(&c.Disorder, 4<<20)
	orDefault(&c.Requests, 64)
	orDefault(&c.Streams, 4096)
	orDefault(&c.Posted, 65536)
	orDefault(&c.SeqBits, 32)
	limits := []struct {
		name        string
		value       int64
		least, most int64
	}{
		{"Chunk", int64(c.Chunk), 8, MaxChunk},
		{"Paths", int64(c.Paths), 1, MaxPaths},
		{"Burst", int64(c.Burst), 1, 256},
		{"InitialWindow", int64(c.InitialWindow), int64(c.Chunk + Overhead), 1 << 30},
		{"MaxWindow", int64(c.MaxWindow), int64(c.Chunk + Overhead), 1 << 30},
		{"MaxAckDelay", int64(c.MaxAckDelay), 1, int64(time.Second)},
		{"AckEvery", int64(c.AckEvery), 1, 256},
		{"InitialRTT", int64(c.InitialRTT), 1, int64(10 * time.Second)},
		{"MinRTO", int64(c.MinRTO), 1, int64(10 * time.Second)},
		{"DeadAfter", int64(c.DeadAfter), 1, int64(time.Hour)},
		{"StreamWindow", int64(c.StreamWindow), 1, 65536},
		{"Span", int64(c.Span), 1, 1 << 20},
		{"Messages", int64(c.Messages), 1, 1 << 20},
		{"Disorder", int64(c.Disorder), 1, 1 << 30},
		{"Requests", int64(c.Requests), 1, 4096},
		{"Streams", int64(c.Streams), 1, 65536},
		{"Posted", int64(c.Posted), 1, 1 << 24},
		{"SeqBits", int64(c.SeqBits), 8, 32},
	}
	for _, l := range limits {
		if l.value < l.least || l.value > l.most {
			return c, fmt.Errorf("%w: %s is %d, allowed %d..%d", ErrConfig, l.name, l.value, l.least, l.most)
		}
	}
	if len(c.Addresses) > mostPlanes {
		return c, fmt.Errorf("%w: %d Addresses, at most %d", ErrConfig, len(c.Addresses), mostPlanes)
	}
	if c.Chunk%8 != 0 {
		return c, fmt.Errorf("%w: Chunk is %d, not a multiple of 8", ErrConfig, c.Chunk)
	}
	return c, nil
}
