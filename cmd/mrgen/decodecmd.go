// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// maxInput bounds the hex digits and spaces that decode reads.
const maxInput = 1 << 20

type decodeCmd struct {
	Schema string   `help:"Schema, instead of the project's." placeholder:"FILE"`
	Packet string   `help:"Header or packet to decode; default: the first packet of the schema."`
	JSON   bool     `name:"json" help:"Print one JSON object."`
	Hex    []string `arg:"" help:"Hex digits; spaces, colons and 0x are ignored. - reads them from standard input."`
}

// Run prints the tree of a packet and, for a bad one, the rule that it breaks.
func (c *decodeCmd) Run(s streams) error {
	data, err := c.bytes(s.in)
	if err != nil {
		return err
	}
	p, err := c.load()
	if err != nil {
		return err
	}
	name, err := c.packet(p)
	if err != nil {
		return err
	}
	v, used, fault := gen.Decode(p, name, data)
	if fault == nil {
		fault = gen.VerifyPacket(p, name, data)
	}
	var broken *gen.DecodeError
	if fault != nil && !errors.As(fault, &broken) {
		return fault
	}
	r := result{p: p, name: name, v: v, used: used, left: len(data) - used, broken: broken}
	if c.JSON {
		err = r.json(s.out)
	} else {
		r.tree(s.out)
	}
	if err == nil && broken != nil {
		return errFault
	}
	return err
}

func (c *decodeCmd) bytes(in io.Reader) ([]byte, error) {
	text := strings.Join(c.Hex, "")
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(in, maxInput+1))
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	if len(text) > maxInput {
		return nil, fmt.Errorf("more than %d characters", maxInput)
	}
	text = strings.NewReplacer("0x", "", ":", "", "-", "").Replace(strings.ToLower(strings.Join(strings.Fields(text), "")))
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the bytes are not pairs of hex digits: %w", err)
	}
	return b, nil
}

func (c *decodeCmd) load() (*gen.Protocol, error) {
	if c.Schema != "" {
		return gen.Load(c.Schema)
	}
	p, err := findProject()
	if err != nil {
		return nil, err
	}
	return gen.Load(p.schemaPath())
}

// packet returns the name of the struct to decode.
func (c *decodeCmd) packet(p *gen.Protocol) (string, error) {
	if c.Packet == "" {
		for _, s := range p.Structs {
			if s.Packet && len(s.Params) == 0 {
				return s.Name.Schema, nil
			}
		}
		return "", errors.New("the schema has no packet without parameters: name a header with --packet")
	}
	s := p.StructNamed(c.Packet)
	if s == nil {
		return "", fmt.Errorf("the schema has no %s", c.Packet)
	}
	if len(s.Params) > 0 {
		return "", fmt.Errorf("%s needs %s and cannot be decoded alone", c.Packet, s.Params[0].Name.Schema)
	}
	return c.Packet, nil
}

// result is what decode found.
type result struct {
	p          *gen.Protocol
	name       string
	v          *gen.Value
	used, left int
	broken     *gen.DecodeError
}

// tree prints one line for each item: byte offset, width, name and value.
func (r result) tree(w io.Writer) {
	fmt.Fprintf(w, "%8s %8s  %s\n", "byte", "width", r.name)
	if r.v != nil {
		for _, f := range gen.Fields(r.v) {
			name := f.Path[strings.LastIndexByte(f.Path, '.')+1:]
			line := strings.Repeat("  ", f.Depth) + name
			if value := display(f); value != "" {
				line += " = " + value
			}
			fmt.Fprintf(w, "%8s %8s  %s\n", place(f.Node.Off, f.Node.Bit), width(f.Node.Width), line)
		}
	}
	switch {
	case r.broken != nil:
		fmt.Fprintf(w, "bad packet: %v\n", r.broken)
		if r.broken.Want != r.broken.Got {
			fmt.Fprintf(w, "  want %d (0x%x), got %d (0x%x)\n", r.broken.Want, r.broken.Want, r.broken.Got, r.broken.Got)
		}
	case r.left > 0:
		fmt.Fprintf(w, "%d bytes, %d more bytes are left\n", r.used, r.left)
	default:
		fmt.Fprintf(w, "%d bytes\n", r.used)
	}
}

// place prints a byte offset and, within a byte, the bit.
func place(off, bit int) string {
	if bit == 0 {
		return strconv.Itoa(off)
	}
	return fmt.Sprintf("%d.%d", off, bit)
}

func width(bits int) string {
	if bits%8 != 0 {
		return fmt.Sprintf("%d bit", bits)
	}
	return fmt.Sprintf("%d B", bits/8)
}

// display prints a value for people: enums by name, @fmt(hex) in hex, with its unit.
func display(f gen.Field) string {
	n := f.Node
	text := f.Text
	if n.Item == nil || text == "" {
		return text
	}
	if s := n.Scalar; s != nil && s.Enum != nil {
		if name := memberName(s.Enum, n.Num); name != "" {
			text += " (" + name + ")"
		}
	}
	if n.Scalar != nil && n.Item.Format == "hex" {
		text = fmt.Sprintf("0x%x", n.Num)
	}
	if n.Item.Unit != "" {
		text += " " + n.Item.Unit
	}
	return text
}

func memberName(e *gen.Enum, n uint64) string {
	for _, m := range e.Members {
		if m.First <= n && n <= m.Last {
			return m.Name.Schema
		}
	}
	return ""
}

type jsonField struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	Name  string `json:"name,omitempty"` // of an enum's member
	Off   int    `json:"off"`            // bytes
	Bit   int    `json:"bit"`
	Width int    `json:"width"` // bits
}

type jsonError struct {
	Code   string `json:"code"`
	Number int    `json:"number"`
	Field  string `json:"field"`
	Off    int    `json:"off"`
	Bit    int    `json:"bit"`
	Want   string `json:"want,omitempty"`
	Got    string `json:"got,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Text   string `json:"text"`
}

type jsonResult struct {
	Packet   string      `json:"packet"`
	Schema   string      `json:"schema"` // wire hash
	OK       bool        `json:"ok"`
	Consumed int         `json:"consumed"`
	Left     int         `json:"left"`
	Fields   []jsonField `json:"fields"`
	Error    *jsonError  `json:"error,omitempty"`
}

// json prints the same as one object; numbers are decimal texts, so that no reader rounds them.
func (r result) json(w io.Writer) error {
	out := jsonResult{Packet: r.name, Schema: r.p.WireHash, OK: r.broken == nil, Consumed: r.used, Left: r.left, Fields: []jsonField{}}
	if r.v != nil {
		for _, f := range gen.Fields(r.v) {
			if f.Text == "" {
				continue
			}
			j := jsonField{Path: f.Path, Value: f.Text, Off: f.Node.Off, Bit: f.Node.Bit, Width: f.Node.Width}
			if s := f.Node.Scalar; s != nil && s.Enum != nil {
				j.Name = memberName(s.Enum, f.Node.Num)
			}
			out.Fields = append(out.Fields, j)
		}
	}
	if e := r.broken; e != nil {
		out.Error = &jsonError{Code: e.Code.Name, Number: e.Code.Number, Field: e.Field, Off: e.Off, Bit: e.Bit, Rule: e.Text, Text: e.Code.Text}
		if e.Want != e.Got {
			out.Error.Want, out.Error.Got = strconv.FormatUint(e.Want, 10), strconv.FormatUint(e.Got, 10)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
