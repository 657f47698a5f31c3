// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/openmetaroce/metaroce/gen"
)

type layoutCmd struct {
	JSON bool   `name:"json" help:"Print one JSON object a line for each header and packet."`
	Only string `name:"struct" help:"Only this header, packet or body." placeholder:"NAME"`
	File string `arg:"" optional:"" help:"Schema. Without it, the project's."`
}

// Run prints where the items of each header and packet lie.
func (c *layoutCmd) Run(s streams) error {
	p, err := loadSchema(c.File)
	if err != nil {
		return err
	}
	if c.Only != "" && p.StructNamed(c.Only) == nil {
		return fmt.Errorf("the schema has no %s", c.Only)
	}
	for i, st := range p.Structs {
		switch {
		case c.Only != "" && st.Name.Schema != c.Only:
			continue
		case c.JSON:
			err = json.NewEncoder(s.out).Encode(layoutOf(st))
		default:
			if i > 0 && c.Only == "" {
				fmt.Fprintln(s.out)
			}
			printLayout(s.out, st)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loadSchema compiles a schema: the named file, or the project's when there is no name.
func loadSchema(file string) (*gen.Protocol, error) {
	if file == "" {
		p, err := findProject()
		if err != nil {
			return nil, err
		}
		file = p.schemaPath()
	}
	return gen.Load(file)
}

func printLayout(w io.Writer, st *gen.Struct) {
	fmt.Fprintf(w, "%s %s: %s bytes\n", kindOf(st), st.Name.Schema, interval(gen.Bound{Min: st.Min, Max: st.Max}, strconv.Itoa))
	places := gen.Places(st)
	if len(places) > 0 {
		fmt.Fprintf(w, "%16s %16s  %s\n", "byte", "width", "item")
	}
	for _, x := range places {
		line := x.Item.Name.Schema
		if x.Item.When != nil {
			line += "  if " + x.Item.When.Text()
		}
		fmt.Fprintf(w, "%16s %16s  %s\n", interval(x.Off, atByte), widthOf(x.Width), line)
	}
}

// interval prints a number, or both ends of an interval.
func interval(b gen.Bound, show func(int) string) string {
	switch {
	case b.Exact():
		return show(b.Min)
	case b.Max < 0:
		return show(b.Min) + "..."
	}
	return show(b.Min) + ".." + show(b.Max)
}

func atByte(bit int) string { return place(bit/8, bit%8) }

func widthOf(b gen.Bound) string {
	if b.Exact() {
		return width(b.Min)
	}
	return interval(b, func(n int) string { return strconv.Itoa(n / 8) }) + " B"
}

func kindOf(st *gen.Struct) string {
	switch {
	case st.List != nil:
		return "element"
	case st.Owner != nil:
		return "body"
	case st.Packet:
		return "packet"
	}
	return "header"
}

// jsonBound is an interval of bits or bytes; max is null when only the container bounds it.
type jsonBound struct {
	Min int  `json:"min"`
	Max *int `json:"max"`
}

type jsonItem struct {
	Name  string    `json:"name"`
	Off   jsonBound `json:"offBits"`
	Width jsonBound `json:"widthBits"`
	If    string    `json:"if,omitempty"`
}

type jsonLayout struct {
	Name  string     `json:"name"`
	Kind  string     `json:"kind"`
	Owner string     `json:"owner,omitempty"`
	Bytes jsonBound  `json:"bytes"`
	Items []jsonItem `json:"items"`
}

func toJSON(b gen.Bound) jsonBound {
	if b.Max < 0 {
		return jsonBound{b.Min, nil}
	}
	return jsonBound{b.Min, &b.Max}
}

func layoutOf(st *gen.Struct) jsonLayout {
	l := jsonLayout{Name: st.Name.Schema, Kind: kindOf(st), Bytes: toJSON(gen.Bound{Min: st.Min, Max: st.Max}), Items: []jsonItem{}}
	if st.Owner != nil {
		l.Owner = st.Owner.Name.Schema
	}
	for _, x := range gen.Places(st) {
		l.Items = append(l.Items, jsonItem{x.Item.Name.Schema, toJSON(x.Off), toJSON(x.Width), x.Item.When.Text()})
	}
	return l
}
