// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/openmetaroce/metaroce/gen"
)

// result is what decode found.
type result struct {
	p          *gen.Protocol
	name       string
	data       []byte
	from       *datagram // nil = bytes from the command line
	v          *gen.Value
	used, left int
	broken     *gen.DecodeError
	lints      []*gen.DecodeError // rules that the packet breaks and may break
	unverified []string           // checksums over bytes that are not here
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
		r.fault(w)
	case r.left > 0:
		fmt.Fprintf(w, "%d bytes, %d more bytes are left\n", r.used, r.left)
	default:
		fmt.Fprintf(w, "%d bytes\n", r.used)
	}
	for _, e := range r.lints {
		fmt.Fprintf(w, "note: %s at %s (byte %d): %s\n", e.Code.Name, e.Field, e.Off, e.Text)
	}
	for _, path := range r.unverified {
		fmt.Fprintf(w, "note: %s covers bytes that are not here; it was not looked at\n", path)
	}
}

// compared tells whether a check wants one number, and whether it looks at one.
func compared(e *gen.DecodeError) (wanted, got bool) {
	if e.Code.Number == gen.ChecksumNumber {
		return true, true
	}
	if e.Rule == nil {
		return false, false
	}
	switch e.Rule.Kind {
	case gen.CheckFixed, gen.CheckReserved, gen.CheckDerived:
		return true, true
	}
	last := e.Rule.Item.Last()
	return false, last != nil && last.Scalar != nil
}

// fault names the failing check, and shows the bytes around the place.
func (r result) fault(w io.Writer) {
	e := r.broken
	fmt.Fprintf(w, "bad packet: %v\n", e)
	switch wanted, got := compared(e); {
	case wanted:
		fmt.Fprintf(w, "  want %d (0x%x), got %d (0x%x)\n", e.Want, e.Want, e.Got, e.Got)
	case got:
		fmt.Fprintf(w, "  got %d (0x%x)\n", e.Got, e.Got)
	}
	first := min(e.Off, len(r.data)) / 16 * 16
	end := min(first+16, len(r.data))
	if first == end {
		fmt.Fprintf(w, "  %04x  (end)\n", first)
		return
	}
	fmt.Fprintf(w, "  %04x  % x\n        %s^^\n", first, r.data[first:end], strings.Repeat(" ", 3*(min(e.Off, len(r.data))-first)))
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
	Bits  [2]int `json:"bits"`  // first bit of the packet and the one behind the last
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

// jsonFrame says where in a capture a packet stood.
type jsonFrame struct {
	Frame int    `json:"frame"`
	Time  string `json:"time"`
	Src   string `json:"src"`
	Dst   string `json:"dst"`
	Size  int    `json:"size"`          // bytes of the datagram
	Cut   bool   `json:"cut,omitempty"` // the capture has only its beginning
}

type jsonResult struct {
	*jsonFrame
	Packet     string      `json:"packet"`
	Schema     string      `json:"schema"` // wire hash
	OK         bool        `json:"ok"`
	Consumed   int         `json:"consumed"`
	Left       int         `json:"left"`
	Fields     []jsonField `json:"fields"`
	Error      *jsonError  `json:"error,omitempty"`
	Notes      []jsonError `json:"notes,omitempty"` // broken rules that may be broken
	Unverified []string    `json:"unverified,omitempty"`
}

// json prints the same as one object on one line; numbers are decimal texts, so that no reader rounds them.
func (r result) json(w io.Writer) error {
	out := jsonResult{Packet: r.name, Schema: r.p.WireHash, OK: r.broken == nil, Consumed: r.used, Left: r.left, Unverified: r.unverified, Fields: []jsonField{}}
	if d := r.from; d != nil {
		out.jsonFrame = &jsonFrame{d.number, d.time.UTC().Format(time.RFC3339Nano), d.src, d.dst, d.size, d.size > len(d.payload)}
	}
	if r.v != nil {
		for _, f := range gen.Fields(r.v) {
			if f.Text == "" {
				continue
			}
			j := jsonField{Path: f.Path, Value: f.Text, Off: f.Node.Off, Bit: f.Node.Bit, Width: f.Node.Width}
			start := f.Node.Off*8 + f.Node.Bit
			j.Bits = [2]int{start, start + f.Node.Width}
			if s := f.Node.Scalar; s != nil && s.Enum != nil {
				j.Name = memberName(s.Enum, f.Node.Num)
			}
			out.Fields = append(out.Fields, j)
		}
	}
	for _, e := range r.lints {
		out.Notes = append(out.Notes, jsonError{Code: e.Code.Name, Number: e.Code.Number, Field: e.Field, Off: e.Off, Bit: e.Bit, Rule: e.Text, Text: e.Code.Text})
	}
	if e := r.broken; e != nil {
		out.Error = &jsonError{Code: e.Code.Name, Number: e.Code.Number, Field: e.Field, Off: e.Off, Bit: e.Bit, Rule: e.Text, Text: e.Code.Text}
		wanted, got := compared(e)
		if wanted {
			out.Error.Want = strconv.FormatUint(e.Want, 10)
		}
		if got {
			out.Error.Got = strconv.FormatUint(e.Got, 10)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
