// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzExampleSchemas decodes bytes with every packet of the example schemas: what decodes is encoded, and what is encoded
// decodes to the same values.
func FuzzExampleSchemas(f *testing.F) {
	var schemas []*Protocol
	for _, name := range []string{"ip", "vxlan", "geneve", "gre", "rocev2", "ptp", "bfd"} {
		p := exampleSchema(f, name)
		schemas = append(schemas, p)
		for _, e := range p.Examples {
			f.Add(e.Bytes)
		}
	}
	for _, b := range frames(f) {
		f.Add(b[14:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range schemas {
			for _, s := range p.Structs {
				if s.Packet {
					reencode(t, p, s, b)
				}
			}
		}
	})
}

func reencode(t *testing.T, p *Protocol, s *Struct, b []byte) {
	name := s.Name.Schema
	v, n, err := Decode(p, name, b)
	if err != nil {
		return
	}
	if n > len(b) {
		t.Fatalf("%s used %d of %d bytes", name, n, len(b))
	}
	if _, err := VerifySums(p, name, b); err != nil {
		var e *DecodeError
		if !errors.As(err, &e) || e.Code.Number != ChecksumNumber {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if _, err := Lint(p, name, b); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	again, err := Encode(p, v)
	if err != nil {
		t.Fatalf("%s % x: %v", name, b, err)
	}
	w, m, err := Decode(p, name, again)
	if err != nil || m != len(again) {
		t.Fatalf("%s % x was encoded as % x: used %d: %v", name, b, again, m, err)
	}
	if diff := cmp.Diff(lasting(v), lasting(w)); diff != "" {
		t.Fatalf("%s % x was encoded as % x (-want +got):\n%s", name, b, again, diff)
	}
}

// lasting are the values that encoding keeps: all but checksums and the fields that hold a size.
func lasting(v *Value) map[string]string {
	out := map[string]string{}
	for _, f := range Fields(v) {
		s := f.Node.Scalar
		if f.Text == "" || s != nil && (s.Sum != nil || s.Solve != nil || s.Reserved != NotReserved) {
			continue
		}
		out[f.Path] = f.Text
	}
	return out
}

func TestProtocolsOfExampleSchemasAreComplete(t *testing.T) {
	for _, name := range []string{"ip", "rocev2"} {
		p := exampleSchema(t, name)
		known := map[*Struct]bool{}
		for _, s := range p.Structs {
			known[s] = true
			for _, q := range s.Params {
				for _, a := range append([]*Struct{q.Struct}, q.Any...) {
					if a != nil && !known[a] {
						t.Errorf("%s: %s takes %s, which does not stand before it", name, s.Name.Schema, a.Name.Schema)
					}
				}
			}
			for _, it := range s.Items {
				if it.Struct != nil && !known[it.Struct] {
					t.Errorf("%s: %s.%s has an unknown type", name, s.Name.Schema, it.Name.Schema)
				}
			}
		}
	}
}
