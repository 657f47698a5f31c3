// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// search gives the vectors of both protocols to both interpreters. The shortest witness of each kind is kept.
func (r *Report) search(old, new *gen.Protocol) error {
	r.Directions = []Direction{{Reader: "old", Writer: "new"}, {Reader: "new", Writer: "old"}}
	mine, err := vectorsOf(old)
	if err != nil {
		return fmt.Errorf("vectors of the old schema: %w", err)
	}
	theirs, err := vectorsOf(new)
	if err != nil {
		return fmt.Errorf("vectors of the new schema: %w", err)
	}
	seen := map[string]bool{}
	for _, v := range slices.Concat(mine, theirs) {
		if key := v.Packet + v.Hex; !seen[key] && readable(old, v.Packet) && readable(new, v.Packet) {
			seen[key] = true
			if err := r.ask(old, new, v); err != nil {
				return err
			}
		}
	}
	r.Compared = len(seen)
	return nil
}

func vectorsOf(p *gen.Protocol) ([]vectorgen.Vector, error) {
	files, err := vectorgen.Generate(p)
	if err != nil {
		return nil, err
	}
	var all struct {
		Vectors []vectorgen.Vector `json:"vectors"`
	}
	if err := json.Unmarshal(files[0].Data, &all); err != nil {
		return nil, err
	}
	return all.Vectors, nil
}

// readable tells whether a packet can be decoded without the values of a caller.
func readable(p *gen.Protocol, name string) bool {
	st := p.StructNamed(name)
	return st != nil && !slices.ContainsFunc(st.Params, func(q *gen.Param) bool { return q.Default == nil && !q.Cover })
}

// reading is what one side makes of a packet.
type reading struct {
	fault     *gen.DecodeError
	used      int
	fields    map[string]string // value and place by path
	canonical bool              // its writer would send exactly this
}

func (x reading) ok() bool { return x.fault == nil }

// text says for people what became of a packet; other is what the other side makes of it.
func (x reading) text(other reading) string {
	if !x.ok() {
		return "refuses it: " + x.fault.Error()
	}
	if other.ok() {
		for _, path := range slices.Sorted(maps.Keys(x.fields)) {
			if v, both := other.fields[path]; both && v != x.fields[path] {
				return "reads " + path + " = " + x.fields[path]
			}
		}
		if x.used != other.used {
			return fmt.Sprintf("takes %d bytes of it", x.used)
		}
	}
	return "accepts it"
}

func read(p *gen.Protocol, name string, b []byte) (reading, error) {
	v, n, err := gen.Decode(p, name, b)
	if err == nil {
		err = gen.VerifyPacket(p, name, b)
	}
	x := reading{used: n}
	if err != nil {
		if !errors.As(err, &x.fault) {
			return x, err
		}
		return x, nil
	}
	x.fields = map[string]string{}
	for _, f := range gen.Fields(v) {
		if f.Text != "" && f.Node.Item != nil && f.Node.Item.Name.Schema != "_" {
			x.fields[f.Path] = fmt.Sprintf("%s at bit %d", f.Text, f.Node.Off*8+f.Node.Bit)
		}
	}
	again, err := gen.Encode(p, v)
	x.canonical = err == nil && string(again) == string(b)
	return x, nil
}

// differs tells whether two readings of one packet give a name two values or places.
func (x reading) differs(other reading) bool {
	if x.used != other.used {
		return true
	}
	for path, v := range x.fields {
		if w, both := other.fields[path]; both && v != w {
			return true
		}
	}
	return false
}

// ask reads one packet on both sides.
func (r *Report) ask(old, new *gen.Protocol, v vectorgen.Vector) error {
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		return err
	}
	x, err := read(old, v.Packet, b)
	if err != nil {
		return err
	}
	y, err := read(new, v.Packet, b)
	if err != nil {
		return err
	}
	w := &Witness{Packet: v.Packet, ID: v.ID, Hex: v.Hex, Old: x.text(y), New: y.text(x)}
	switch {
	case y.ok() && !x.ok():
		r.Grew = shorter(r.Grew, w)
	case x.ok() && !y.ok():
		r.Shrank = shorter(r.Shrank, w)
	}
	misread := x.ok() && y.ok() && x.differs(y)
	if y.ok() && y.canonical && (!x.ok() || misread) {
		r.Directions[0].Breaks, r.Directions[0].Witness = true, shorter(r.Directions[0].Witness, w)
	}
	if x.ok() && x.canonical && (!y.ok() || misread) {
		r.Directions[1].Breaks, r.Directions[1].Witness = true, shorter(r.Directions[1].Witness, w)
	}
	return nil
}

// shorter is the witness with fewer bytes; the first one of two that are as long.
func shorter(a, b *Witness) *Witness {
	if a == nil || len(b.Hex) < len(a.Hex) {
		return b
	}
	return a
}
