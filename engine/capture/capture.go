// SPDX-License-Identifier: Apache-2.0

// Package capture records what passes an engine.Port in a pcapng file that Wireshark reads: one packet for each datagram,
// also where the kernel moves many at once, with the addresses, ports and ECN bits that it had, in IP and UDP headers made
// up for it. Each path, that is each pair of ports, is an interface of its own.
//
// Put next to the engine, inside of any impairment, it records what the engine sent and what it was given: as many packets
// of each opcode as the endpoint's own counters say.
package capture

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// ErrConfig is wrapped by the errors of a bad Config.
var ErrConfig = errors.New("capture: bad configuration")

// Config says how much is recorded. A zero field takes its default.
type Config struct {
	// Limit is the number of packets written; what comes later is only counted. Default 100,000.
	Limit int
	// Name begins the names of the interfaces. Default "metaroce".
	Name string
	// Clock gives the packets' times. Default time.Now.
	Clock func() time.Time
}

// Counts tells what has passed so far.
type Counts struct {
	// Sent and Received count datagrams by opcode; those too short to have one count under 0.
	Sent, Received [256]uint64
	// Written and Skipped count packets in the file and packets beyond Limit.
	Written, Skipped uint64
}

// maxInterfaces bounds the interfaces of a file; further routes share the last one.
const maxInterfaces = 4096

// Port is an engine.Port that records what passes it. Like the Port inside, it belongs to one goroutine.
type Port struct {
	under  engine.Port
	out    io.Writer
	cfg    Config
	writer *pcapgo.NgWriter
	ids    map[engine.Route]int
	buffer gopacket.SerializeBuffer
	counts Counts
	err    error
}

var _ engine.Port = (*Port)(nil)

// Wrap records what passes p into out. The caller closes out, after Flush.
func Wrap(p engine.Port, out io.Writer, cfg Config) (*Port, error) {
	if cfg.Limit < 0 {
		return nil, fmt.Errorf("%w: Limit is %d", ErrConfig, cfg.Limit)
	}
	if cfg.Limit == 0 {
		cfg.Limit = 100_000
	}
	if cfg.Name == "" {
		cfg.Name = "metaroce"
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Port{
		under: p, out: out, cfg: cfg, ids: map[engine.Route]int{}, buffer: gopacket.NewSerializeBuffer(),
	}, nil
}

// Receive returns what the wrapped Port has received.
func (p *Port) Receive() ([]engine.Datagram, error) {
	in, err := p.under.Receive()
	if len(in) > 0 {
		p.record(in, incoming)
	}
	return in, err
}

// Buffers lends the wrapped Port's buffers.
func (p *Port) Buffers() [][]byte { return p.under.Buffers() }

// Send passes datagrams on.
func (p *Port) Send(out []engine.Datagram) error {
	p.record(out, outgoing)
	return p.under.Send(out)
}

// Counts returns what has passed so far.
func (p *Port) Counts() Counts { return p.counts }

// Flush writes out what is buffered. It returns the first error of writing the file; recording ended there.
func (p *Port) Flush() error {
	if p.writer == nil && p.err == nil {
		p.start(p.cfg.Name)
	}
	if p.err == nil {
		p.err = p.writer.Flush()
	}
	if p.err != nil {
		return fmt.Errorf("capture: writing %s: %w", p.cfg.Name, p.err)
	}
	return nil
}

// direction tells in which way a datagram passes.
type direction uint8

const (
	incoming direction = iota
	outgoing
)

// record counts datagrams, and writes them as far as the limit allows.
func (p *Port) record(list []engine.Datagram, way direction) {
	now := p.cfg.Clock()
	by := &p.counts.Received
	if way == outgoing {
		by = &p.counts.Sent
	}
	for i := range list {
		opcode := wire.Opcode(0)
		if base, ok := wire.AsBaseView(list[i].Bytes); ok {
			opcode = base.Opcode()
		}
		by[opcode]++
		switch {
		case p.counts.Written >= uint64(p.cfg.Limit), p.err != nil:
			p.counts.Skipped++
		default:
			p.write(&list[i], way, now)
		}
	}
}

// write adds one packet to the file.
func (p *Port) write(d *engine.Datagram, way direction, now time.Time) {
	id, ok := p.ids[d.Route]
	if !ok {
		if id = p.add(d.Route); p.err != nil {
			return
		}
	}
	from, to := d.Route.Remote, d.Route.Local
	if way == outgoing {
		from, to = to, from
	}
	if p.err = p.frame(from, to, d); p.err != nil {
		return
	}
	b := p.buffer.Bytes()
	p.err = p.writer.WritePacket(gopacket.CaptureInfo{
		Timestamp: now, CaptureLength: len(b), Length: len(b), InterfaceIndex: id,
	}, b)
	if p.err == nil {
		p.counts.Written++
	}
}

// add gives a route its interface, the first one together with the file's head.
func (p *Port) add(r engine.Route) (id int) {
	name := fmt.Sprintf("%s %v-%v", p.cfg.Name, r.Local, r.Remote)
	switch {
	case p.writer == nil:
		p.start(name)
	case len(p.ids) < maxInterfaces:
		id, p.err = p.writer.AddInterface(description(name))
	default:
		id = maxInterfaces - 1
	}
	p.ids[r] = id
	return id
}

func (p *Port) start(name string) {
	options := pcapgo.DefaultNgWriterOptions
	options.SectionInfo.Application = "metaroce"
	p.writer, p.err = pcapgo.NewNgWriterInterface(p.out, description(name), options)
}

func description(name string) pcapgo.NgInterface {
	i := pcapgo.DefaultNgInterface
	i.Name, i.LinkType = name, layers.LinkTypeRaw
	return i
}
