// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

type decodeCmd struct {
	Schema string   `help:"Schema, instead of the project's." placeholder:"FILE"`
	Packet string   `help:"Header or packet to decode; default: the first packet of the schema."`
	Port   []int    `help:"UDP ports of a capture to look at; default: those that the schema binds, 0 = all."`
	JSON   bool     `name:"json" help:"Print one JSON object a line for each packet."`
	Input  []string `arg:"" help:"Hex digits; spaces, colons and 0x are ignored. Or a file with hex digits, a pcap or a pcapng. - is standard input."`
}

// Run prints the tree of each packet and, for a bad one, the rule that it breaks.
func (c *decodeCmd) Run(s streams) error {
	in, err := openInput(c.Input, s.in)
	if err != nil {
		return err
	}
	defer in.close()
	p, err := loadSchema(c.Schema)
	if err != nil {
		return err
	}
	name, err := c.packet(p)
	if err != nil {
		return err
	}
	if in.capture != nil {
		return c.captured(s.out, in, source{p, name, c.ports(p)})
	}
	r, err := decode(p, name, in.bytes)
	if err != nil {
		return err
	}
	if c.JSON {
		err = r.json(s.out)
	} else {
		r.tree(s.out)
	}
	if err == nil && r.broken != nil {
		return errFault
	}
	return err
}

// ports are the UDP ports whose datagrams are decoded; none = all.
func (c *decodeCmd) ports(p *gen.Protocol) []int {
	switch {
	case slices.Contains(c.Port, 0):
		return nil
	case len(c.Port) > 0:
		return c.Port
	case p.Targets.UDPPort != 0:
		return append([]int{p.Targets.UDPPort}, p.Targets.MorePorts...)
	}
	return nil
}

// packet returns the name of the struct to decode.
func (c *decodeCmd) packet(p *gen.Protocol) (string, error) {
	if c.Packet == "" {
		for _, s := range p.Structs {
			if s.Packet && needs(s) == "" {
				return s.Name.Schema, nil
			}
		}
		return "", errors.New("the schema has no packet without parameters: name a header with --packet")
	}
	s := p.StructNamed(c.Packet)
	if s == nil {
		return "", fmt.Errorf("the schema has no %s", c.Packet)
	}
	if name := needs(s); name != "" {
		return "", fmt.Errorf("%s needs %s and cannot be decoded alone", c.Packet, name)
	}
	return c.Packet, nil
}

// needs names a parameter without which a struct cannot be decoded; empty when there is none.
func needs(s *gen.Struct) string {
	for _, q := range s.Params {
		if q.Default == nil && !q.Cover {
			return q.Name.Schema
		}
	}
	return ""
}

// decode runs the interpreter on one packet. A bad packet is a result, not an error.
func decode(p *gen.Protocol, name string, data []byte) (result, error) {
	v, used, fault := gen.Decode(p, name, data)
	r := result{p: p, name: name, data: data, v: v, used: used, left: len(data) - used}
	if fault == nil {
		r.unverified, fault = gen.VerifySums(p, name, data)
	}
	if fault == nil {
		r.lints, fault = gen.Lint(p, name, data)
	}
	if fault != nil && !errors.As(fault, &r.broken) {
		return r, fault
	}
	return r, nil
}

// source says what is looked for in a capture.
type source struct {
	p     *gen.Protocol
	name  string
	ports []int
}

// captured decodes the datagrams of a capture.
func (c *decodeCmd) captured(w io.Writer, in *input, src source) error {
	bad, seen, others := 0, 0, 0
	for {
		d, err := in.capture.next(src.ports)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if d == nil {
			others++
			continue
		}
		r, err := decode(src.p, src.name, d.payload)
		if err != nil {
			return err
		}
		r.from = d
		seen++
		if r.broken != nil {
			bad++
		}
		if c.JSON {
			if err := r.json(w); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(w, d)
		r.tree(w)
		fmt.Fprintln(w)
	}
	if !c.JSON {
		fmt.Fprintf(w, "%d %s, %d bad, %d other %s\n", seen, plural(seen, "packet"), bad, others, plural(others, "frame"))
	}
	if bad > 0 {
		return errFault
	}
	return nil
}
