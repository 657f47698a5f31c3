// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"

	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

type vectorsCmd struct {
	Packet []string `help:"Only vectors of these packets." placeholder:"NAME"`
	JSON   string   `name:"json" xor:"do" help:"Write them as the file that codecs replay; - is standard output." placeholder:"FILE|-"`
	Check  string   `xor:"do" help:"Compare with the vectors of a file, by their ids; exit status 1 when they differ." placeholder:"FILE"`
	File   string   `arg:"" optional:"" help:"Schema. Without it, the project's."`
}

// vectorFile is a file of vectors, with one of them on a line.
type vectorFile struct {
	Format  int                `json:"format"`
	Package string             `json:"package"`
	Schema  string             `json:"schema"` // wire hash
	Vectors []vectorgen.Vector `json:"vectors"`
}

// Run prints the test vectors of a schema, writes them, or compares them with those of a file.
func (c *vectorsCmd) Run(s streams) error {
	have, err := c.generate()
	if err != nil {
		return err
	}
	switch {
	case c.Check != "":
		return c.compare(s.out, have)
	case c.JSON != "":
		return c.write(s.out, have)
	}
	rejects := 0
	for _, v := range have.Vectors {
		fmt.Fprintf(s.out, "%-6s  %-48s  %-16s  %s\n", verdict(v), v.ID, v.Packet, answer(v))
		if !v.OK {
			rejects++
		}
	}
	n := len(have.Vectors)
	fmt.Fprintf(s.out, "%d %s, %d of them rejected, wire hash %s\n", n, plural(n, "vector"), rejects, have.Schema)
	return nil
}

func (c *vectorsCmd) generate() (*vectorFile, error) {
	p, err := loadSchema(c.File)
	if err != nil {
		return nil, err
	}
	for _, name := range c.Packet {
		if st := p.StructNamed(name); st == nil || !st.Packet {
			return nil, fmt.Errorf("the schema has no packet %s", name)
		}
	}
	files, err := vectorgen.Generate(p)
	if err != nil {
		return nil, err
	}
	return c.parse(files[0].Data)
}

// parse reads a file of vectors and keeps those of the wanted packets.
func (c *vectorsCmd) parse(data []byte) (*vectorFile, error) {
	f := &vectorFile{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, err
	}
	if f.Format != 1 {
		return nil, fmt.Errorf("format %d is unknown", f.Format)
	}
	f.Vectors = slices.DeleteFunc(f.Vectors, func(v vectorgen.Vector) bool {
		return len(c.Packet) > 0 && !slices.Contains(c.Packet, v.Packet)
	})
	return f, nil
}

func verdict(v vectorgen.Vector) string {
	if v.OK {
		return "ok"
	}
	return "reject"
}

// answer says in a few words what must come of a vector.
func answer(v vectorgen.Vector) string {
	if e := v.Error; e != nil {
		return fmt.Sprintf("%s at %s (byte %d) of %d", e.Code, e.Field, e.Off, len(v.Hex)/2)
	}
	return fmt.Sprintf("%d of %d bytes, %d fields", v.Consumed, len(v.Hex)/2, len(v.Fields))
}

// write writes a file of vectors, one a line.
func (c *vectorsCmd) write(w io.Writer, f *vectorFile) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"format\":%d,\"package\":%q,\"schema\":%q,\"vectors\":[\n", f.Format, f.Package, f.Schema)
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for i, v := range f.Vectors {
		if i > 0 {
			out.Truncate(out.Len() - 1)
			out.WriteString(",\n")
		}
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	out.WriteString("]}\n")
	if c.JSON == "-" {
		_, err := w.Write(out.Bytes())
		return err
	}
	_, err := replaceFile(c.JSON, out.Bytes())
	return err
}

// compare names the vectors that differ from those of a file.
func (c *vectorsCmd) compare(w io.Writer, want *vectorFile) error {
	data, err := os.ReadFile(c.Check)
	if err != nil {
		return err
	}
	have, err := c.parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Check, err)
	}
	faults := 0
	report := func(state, id string) {
		fmt.Fprintln(w, state, id)
		faults++
	}
	if have.Schema != want.Schema {
		report("other", "wire hash "+have.Schema+", the schema has "+want.Schema)
	}
	there := map[string]vectorgen.Vector{}
	for _, v := range have.Vectors {
		there[v.ID] = v
	}
	for _, v := range want.Vectors {
		switch old, ok := there[v.ID]; {
		case !ok:
			report("missing", v.ID)
		case !reflect.DeepEqual(old, v):
			report("stale", v.ID+": "+answer(old)+"; the schema says "+answer(v))
		}
		delete(there, v.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		report("orphan", id)
	}
	if faults > 0 {
		return errFault
	}
	fmt.Fprintf(w, "%d vectors are those of the schema\n", len(want.Vectors))
	return nil
}
