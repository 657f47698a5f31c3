// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/engine/sim"
)

// runCommand is `mrsim run`. Its flags and their defaults are stable.
type runCommand struct {
	Workload  string        `default:"perm" placeholder:"NAME|FILE.cm" help:"Who sends to whom: perm, incast, all-to-all, ring, one, or a file. Default ${default}; this version serves one."`
	Size      size          `default:"2MiB" help:"Bytes of each flow."`
	Hosts     int           `default:"128" help:"Number of hosts. This version serves 2."`
	Topology  string        `default:"fat-tree" placeholder:"NAME" help:"fat-tree, two-tier or rail. Default ${default}; this version serves fat-tree; with 2 hosts it has 6 links each way."`
	Rate      rate          `default:"400Gbps" help:"Speed of every link."`
	Latency   time.Duration `default:"1us" help:"Delay of every link."`
	Chunk     int           `default:"4096" help:"Payload bytes of a packet, a multiple of 8."`
	Buffer    buffer        `default:"1bdp" help:"Length of every queue: bytes, or a multiple of the bandwidth-delay product."`
	ECN       thresholds    `default:"0.2,0.8" name:"ecn" help:"Fractions of the queue at which marking begins and is certain, or off."`
	Planes    int           `default:"1" help:"Number of separate networks, each with its own links, 1 to 16; --rate is that of each link."`
	Paths     int           `default:"128" help:"Number of paths of a connection, 1 to 256."`
	Loss      float64       `default:"0" help:"Probability that a data packet is dropped, once, end to end."`
	LossAcks  bool          `help:"Drop feedback too."`
	Fail      script        `placeholder:"SCRIPT" help:"What breaks and when, such as \"plane 2 down at 50us for 200us\"; times count from the start of the flows, parts are separated by \";\". Planes and paths count from 0."`
	Transport string        `default:"metaroce" placeholder:"NAME" help:"metaroce, rocev2-pfc or rocev2-lossy. Default ${default}; this version serves metaroce."`
	Seed      uint64        `default:"1" help:"What all randomness comes from."`
	JSON      string        `name:"json" placeholder:"FILE|-" help:"Write the figures as JSON to a file, or to the standard output instead of the table."`
}

// hops is the number of output ports between two hosts of a fat-tree with two pods: edge, aggregation, core,
// aggregation, edge.
const hops = 5

// Run carries out the command.
func (c *runCommand) Run(s streams) error {
	if err := c.served(); err != nil {
		return err
	}
	cfg := c.config()
	machine := startMachine()
	bar := newBar(s.tty, int64(c.Size))
	cfg.Progress = bar.set
	res, err := sim.Run(cfg)
	bar.done()
	rep := newReport(c, &cfg, &res)
	rep.Machine = machine.stop()
	if werr := rep.write(c, s.out); err == nil {
		err = werr
	}
	return err
}

// served refuses what this version cannot do, and says what it can.
func (c *runCommand) served() error {
	var wrong []string
	refuse := func(name string, value any, served string) {
		wrong = append(wrong, fmt.Sprintf("--%s %v: this version serves %s", name, value, served))
	}
	if c.Workload != "one" {
		refuse("workload", c.Workload, "one")
	}
	if c.Hosts != 2 {
		refuse("hosts", c.Hosts, "2")
	}
	if c.Topology != "fat-tree" {
		refuse("topology", c.Topology, "fat-tree")
	}
	if c.Transport != "metaroce" {
		refuse("transport", c.Transport, "metaroce")
	}
	if len(wrong) > 0 {
		return refusal("%s\n  try: %s", strings.Join(wrong, "\n  "), c.hint())
	}
	switch {
	case c.Size > 1<<32-1:
		return refusal("--size %v: a message has fewer than 4GiB", c.Size)
	case c.Latency < 0:
		return refusal("--latency %v: negative", c.Latency)
	case c.Chunk < 8 || c.Chunk > engine.MaxChunk || c.Chunk%8 != 0:
		return refusal("--chunk %d: not a multiple of 8 in 8..%d", c.Chunk, engine.MaxChunk)
	case c.Planes < 1 || c.Planes > mostPlanes:
		return refusal("--planes %d: not in 1..%d", c.Planes, mostPlanes)
	case c.Paths < c.Planes || c.Paths > engine.MaxPaths:
		return refusal("--paths %d: not in %d..%d", c.Paths, c.Planes, engine.MaxPaths)
	case !(c.Loss >= 0 && c.Loss <= 1):
		return refusal("--loss %v: not a probability, 0 to 1", c.Loss)
	}
	return c.Fail.fits(c)
}

// mostPlanes is what the engine allows a connection.
const mostPlanes = 16

// hint returns a command that works: the one given, but with served values.
func (c *runCommand) hint() string {
	b := []string{"mrsim run --workload one --hosts 2"}
	add := func(name string, value, standard any) {
		if value != standard {
			b = append(b, fmt.Sprintf("--%s %v", name, value))
		}
	}
	add("size", c.Size, size(2<<20))
	add("rate", c.Rate, rate(400e9))
	add("latency", c.Latency, time.Microsecond)
	add("chunk", c.Chunk, 4096)
	add("buffer", c.Buffer.text, "1bdp")
	add("ecn", c.ECN.text, "0.2,0.8")
	add("planes", c.Planes, 1)
	add("paths", c.Paths, 128)
	add("loss", c.Loss, 0.0)
	if c.LossAcks {
		b = append(b, "--loss-acks")
	}
	if c.Fail.text != "" {
		b = append(b, fmt.Sprintf("--fail '%s'", c.Fail.text))
	}
	add("seed", c.Seed, uint64(1))
	add("json", c.JSON, "")
	return strings.Join(b, " ")
}

// config translates the flags.
func (c *runCommand) config() sim.Config {
	link := sim.Hop{Rate: sim.Rate(c.Rate), Latency: c.Latency}
	n := sim.Network{Rate: link.Rate, Latency: c.Latency, Planes: c.Planes, Paths: c.Paths, Hops: make([]sim.Hop, hops)}
	for i := range n.Hops {
		n.Hops[i] = link
	}
	base := n.RoundTrip(c.Chunk)
	product := base.Seconds() * float64(c.Rate) / 8 // of a plane
	all := product * float64(c.Planes)
	start := 20 * base
	packet := c.Chunk + engine.Overhead
	for i := range n.Hops {
		h := &n.Hops[i]
		h.Queue = max(c.Buffer.of(product), packet+engine.Overhead)
		h.MarkFrom, h.MarkTo = int(c.ECN.from*float64(h.Queue)), int(c.ECN.to*float64(h.Queue))
	}
	cfg := sim.Config{
		Seed:     c.Seed,
		Network:  n,
		Faults:   c.faults(start),
		Streams:  []sim.Stream{{Messages: []sim.Message{{Op: engine.OpWrite, Size: int(c.Size)}}}},
		Start:    start,
		Deadline: time.Hour,
	}
	cfg.MaxEvents = 10_000_000 + 200*uint64(c.Size)/uint64(c.Chunk)
	cfg.Engine = engine.Config{
		Chunk:         c.Chunk,
		Capacity:      uint64(c.Rate) * uint64(c.Planes) / 1000,
		MaxAckDelay:   4 * time.Microsecond,
		InitialRTT:    max(base, time.Microsecond),
		MinRTO:        max(base/4, time.Microsecond),
		MaxWindow:     max(int(1.4*all), 4*packet),
		InitialWindow: packet * int(math.Ceil(1.05*all/float64(c.Paths*packet))),
	}
	return cfg
}
