// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"github.com/openmetaroce/metaroce/gen"
)

// Class is what a change changes.
type Class string

// The classes, the gravest first.
const (
	Wire   Class = "WIRE"   // the bytes, or which bytes are a packet
	Source Class = "SOURCE" // names and constants in programs and filters
	Doc    Class = "DOC"    // documentation
)

// Change is one difference between two schemas.
type Change struct {
	Class Class  `json:"class"`
	Where string `json:"where"` // "Base.path", "enum Opcode.Write", "Body.kind 0x01"
	What  string `json:"what"`
}

// Direction is one reader that meets one writer.
type Direction struct {
	Reader  string   `json:"reader"` // "old" or "new"
	Writer  string   `json:"writer"`
	Breaks  bool     `json:"breaks"`
	Witness *Witness `json:"witness,omitempty"` // a packet that proves it
}

// Witness is a packet about which the two sides do not agree.
type Witness struct {
	Packet string `json:"packet"`
	ID     string `json:"id"` // of the vector
	Hex    string `json:"hex"`
	Old    string `json:"old"` // what the old schema makes of it
	New    string `json:"new"`
}

// Report is all that Compare finds.
type Report struct {
	OldHash    string      `json:"oldWireHash"`
	NewHash    string      `json:"newWireHash"`
	Changes    []Change    `json:"changes"`
	Directions []Direction `json:"directions"`        // old reader and new writer, then new reader and old writer
	Grew       *Witness    `json:"grew,omitempty"`    // a packet that only the new schema accepts
	Shrank     *Witness    `json:"shrank,omitempty"`  // a packet that only the old schema accepts
	Verdict    Class       `json:"verdict,omitempty"` // the gravest class; empty when nothing changes
	Compared   int         `json:"vectorsCompared"`   // packets that both interpreters have read
}

// Compare compares two protocols. Errors come from making the vectors only.
func Compare(old, new *gen.Protocol) (*Report, error) {
	r := &Report{OldHash: old.WireHash, NewHash: new.WireHash, Changes: differences(old, new)}
	if err := r.search(old, new); err != nil {
		return nil, err
	}
	if len(r.Changes) == 0 && old.WireHash != new.WireHash {
		r.Changes = append(r.Changes, Change{Wire, "schema", "the wire hash changes, and no declaration tells why"})
	}
	if r.disagree() && !r.has(Wire) {
		r.Changes = append(r.Changes, Change{Wire, "schema", "a packet is read in two ways, and no declaration tells why"})
	}
	for _, c := range []Class{Doc, Source, Wire} {
		if r.has(c) {
			r.Verdict = c
		}
	}
	return r, nil
}

func (r *Report) has(c Class) bool {
	for _, x := range r.Changes {
		if x.Class == c {
			return true
		}
	}
	return false
}

// disagree tells whether a packet shows a difference.
func (r *Report) disagree() bool {
	for _, d := range r.Directions {
		if d.Breaks {
			return true
		}
	}
	return r.Grew != nil || r.Shrank != nil
}
