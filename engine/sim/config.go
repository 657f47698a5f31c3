// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// Errors that Run's errors wrap.
var (
	// ErrConfig: the Config makes no sense.
	ErrConfig = errors.New("sim: bad config")
	// ErrViolation: the engine broke a promise.
	ErrViolation = errors.New("sim: violation")
	// ErrUnfinished: the run reached its deadline or its bound on events, or nothing was left to happen.
	ErrUnfinished = errors.New("sim: unfinished")
)

// Config describes a run. What is zero takes the default named at the field.
type Config struct {
	// Seed feeds every generator of the run, each for one concern.
	Seed uint64
	// Engine configures both hosts. Its Seed, Accept and Paths are set by Run.
	Engine engine.Config
	// Network lies between the hosts.
	Network Network
	// Faults are what goes wrong on purpose, until HealAt.
	Faults []Fault
	// HealAt is the end of the faults. Default: never.
	HealAt time.Duration
	// Streams are what the hosts do.
	Streams []Stream
	// Start is when the applications begin, if the connection stands by then. Default: as soon as it stands.
	Start time.Duration
	// Deadline is the virtual time by which everything must be over. Default 1 min.
	Deadline time.Duration
	// MaxEvents bounds the run. Default 100 million.
	MaxEvents uint64
	// CheckEvery is the number of turns of a host between two calls of Endpoint.Check. Default: Check is not called.
	CheckEvery int
	// Progress, if set, is called now and then with the payload bytes that have been placed and those of all streams.
	Progress func(placed, total uint64)
}

// Network is planes of two links, one at each host, and the hops between them. Everything exists once per direction.
type Network struct {
	// Rate and Latency are those of the hosts' own links, one to each plane.
	Rate    Rate
	Latency time.Duration
	// Planes is the number of separate networks, 1 to 16, each with links, hops and paths of its own. Default 1.
	Planes int
	// Paths is the number of paths of all planes together, Planes to 256; path i lies on plane i modulo Planes.
	Paths int
	// Hops are passed in order.
	Hops []Hop
	// Skew makes each path and direction slower by its own draw from 0 to Skew, so that paths reorder.
	Skew time.Duration
}

// Hop is an output port of a switch, and the link behind it.
type Hop struct {
	Rate    Rate
	Latency time.Duration
	// Queue is how many bytes may wait, the packet on the link included; what does not fit is dropped. 0: no limit.
	Queue int
	// Packets that find MarkFrom bytes or fewer are never marked, those that find MarkTo or more always are, and
	// between the two the probability grows linearly. MarkTo 0: no marks.
	MarkFrom, MarkTo int
	// Own gives every path a hop of its own. Otherwise all paths of a plane share one.
	Own bool
}

// Stream is one outgoing stream: a sequence of messages from a host to the other one.
type Stream struct {
	// From is the sending host: 0, the opener, or 1.
	From int
	// Messages are posted in order.
	Messages []Message
	// Depth is the number of operations outstanding. Default: all.
	Depth int
	// Receives is the number of posted receives that the receiver keeps ready. Default: all from the beginning.
	Receives int
	// Pause is the time between the use of a receive and the moment at which its successor is posted. Default 0.
	Pause time.Duration
}

// Message is one operation.
type Message struct {
	Op        engine.Op
	Immediate bool // hand over a value: a Write then consumes a posted receive
	Fence     bool // begin only when all earlier operations of the stream are complete
	Pieces    int  // Write, Send: number of pieces that the source bytes are in. Default: 1, as Data
	Size      int  // bytes; of no meaning for atomic operations
}

func (c Config) withDefaults() (Config, error) {
	if c.HealAt == 0 {
		c.HealAt = never.since()
	}
	if c.Deadline == 0 {
		c.Deadline = time.Minute
	}
	if c.MaxEvents == 0 {
		c.MaxEvents = 100_000_000
	}
	if c.Network.Planes == 0 {
		c.Network.Planes = 1
	}
	c.Engine.Accept = true
	c.Engine.Paths = c.Network.Paths
	if err := c.validateNetwork(); err != nil {
		return c, err
	}
	if err := c.validateStreams(); err != nil {
		return c, err
	}
	for i := range c.Faults {
		if err := c.validate(i); err != nil {
			return c, err
		}
	}
	return c, nil
}

// maxPlanes is what the engine allows a connection.
const maxPlanes = 16

// listens are the addresses at which host 1 accepts connections, one for each plane.
func (n *Network) listens() []netip.AddrPort {
	list := make([]netip.AddrPort, n.Planes)
	for plane := range list {
		list[plane] = netip.AddrPortFrom(address(plane, 1), wire.Port)
	}
	return list
}

func (c *Config) validateNetwork() error {
	n := &c.Network
	switch {
	case n.Planes < 1 || n.Planes > maxPlanes:
		return fmt.Errorf("%w: %d planes, allowed 1..%d", ErrConfig, n.Planes, maxPlanes)
	case n.Paths < n.Planes || n.Paths > engine.MaxPaths:
		return fmt.Errorf("%w: %d paths, allowed %d..%d", ErrConfig, n.Paths, n.Planes, engine.MaxPaths)
	case n.Rate < 0 || n.Latency < 0 || n.Skew < 0 || c.Start < 0 || c.CheckEvery < 0:
		return fmt.Errorf("%w: a rate, a time or a count is negative", ErrConfig)
	}
	for i, h := range n.Hops {
		if h.Rate < 0 || h.Latency < 0 || h.Queue < 0 || h.MarkFrom < 0 || h.MarkTo < 0 {
			return fmt.Errorf("%w: hop %d has a negative figure", ErrConfig, i)
		}
		if h.MarkTo != 0 && h.MarkTo < h.MarkFrom {
			return fmt.Errorf("%w: hop %d marks from %d to %d", ErrConfig, i, h.MarkFrom, h.MarkTo)
		}
	}
	return nil
}

func (c *Config) validateStreams() error {
	if len(c.Streams) > 1<<15 {
		return fmt.Errorf("%w: %d streams", ErrConfig, len(c.Streams))
	}
	for i, s := range c.Streams {
		if s.From&^1 != 0 || s.Depth < 0 || s.Receives < 0 || s.Pause < 0 {
			return fmt.Errorf("%w: stream %d", ErrConfig, i)
		}
		for k, m := range s.Messages {
			if m.Size < 0 || int64(m.Size) > 1<<32-1 || m.Pieces < 0 || m.Op < engine.OpWrite || m.Op > engine.OpCompareSwap {
				return fmt.Errorf("%w: message %d of stream %d", ErrConfig, k, i)
			}
		}
	}
	return nil
}
